package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"fundesk/apiclient"
)

// A page that does not come in within the time-out is asked for with fewer records, as many as
// the line can take, and so are those after it.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	const total, inTime = 120, 20
	var asked []int
	write := func(w http.ResponseWriter, from, to, total int) {
		asked = append(asked, to-from)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"pageInfo":{"endCursor":"c%d","hasNextPage":%t},"edges":[%s`, to, to < total, edges(from, min(to, from+inTime)))
		if to-from > inTime { // The rest does not come in time.
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * time.Second)
		}
		fmt.Fprint(w, "]}")
	}
	client := serve(t, listServer(total, write), func(o *apiclient.Options) { o.Timeout = time.Second })
	got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 100})
	if err != nil || got != total {
		t.Errorf("got %d records and %v, want %d", got, err, total)
	}
	if len(asked) == 0 || asked[0] != 100 || slices.Max(asked[1:]) > inTime {
		t.Errorf("got pages of %v, want 100 once, and then at most %d", asked, inTime)
	}
}

// A list whose service filters pages after it has cut them, and says nothing of a next one, is
// read until an empty page.
func TestListWithoutFlagIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	pages := []int{50, 30, 50, 7, 0}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("after"))
		from := 100 * page
		answer(w, 200, fmt.Sprintf(`{"pageInfo":{"endCursor":"%d"},"edges":[%s]}`, page+1, edges(from, from+pages[page])))
	})
	if got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 500}); err != nil || got != 137 {
		t.Errorf("got %d records and %v, want 137", got, err)
	}
}

// A token that ends in the middle of a list is asked for once more; one that is refused at once
// is not.
func TestTokenEndsInTheMiddleOfAList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		fresh string // The token that is given the second time.
		want  int    // Records.
		asked int
	}{{"a fresh token", "token-2", 40, 2}, {"the same token", "token-1", 20, 2}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			handler := listServer(40, envelope)
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("after") == "c20" && r.Header.Get("Authorization") == "Bearer token-1" {
					answer(w, 401, `{"detail":"expired"}`)
					return
				}
				handler(w, r)
			}, func(o *apiclient.Options) {
				o.Token = func(context.Context) (string, error) {
					if asked++; asked == 1 {
						return "token-1", nil
					}
					return test.fresh, nil
				}
			})
			got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 10})
			if got != test.want || asked != test.asked || (err == nil) != (test.want == 40) {
				t.Errorf("got %d records, %d tokens and %v, want %d and %d", got, asked, err, test.want, test.asked)
			}
		})
	}
}
