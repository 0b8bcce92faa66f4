package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// node returns the record number n of a made-up list.
func node(n int) string {
	return fmt.Sprintf(`{"uuid":"00000000-0000-4000-8000-%012d","n":%d}`, n, n)
}

// listServer answers pages of a list of total records with cursors that are positions.
func listServer(total int, write func(w http.ResponseWriter, from, to, total int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		first, _ := strconv.Atoi(r.URL.Query().Get("first"))
		after, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("after"), "c"))
		write(w, after, min(after+first, total), total)
	}
}

// envelope writes the records from to to as the interface has them.
func envelope(w http.ResponseWriter, from, to, total int) {
	answer(w, 200, fmt.Sprintf(`{"pageInfo":{"startCursor":"c%d","endCursor":"c%d","hasPreviousPage":%t,"hasNextPage":%t},"edges":[%s]}`,
		from+1, to, from > 0, to < total, edges(from, to)))
}

func edges(from, to int) string {
	var all []string
	for n := from + 1; n <= to; n++ {
		all = append(all, fmt.Sprintf(`{"cursor":"c%d","node":%s}`, n, node(n)))
	}
	return strings.Join(all, ",")
}

// collect walks a list and returns how many records came and how it ended.
func collect(ctx context.Context, client *apiclient.Client, o apiclient.AllOptions) (int, error) {
	var count int
	for _, err := range client.Pledges.All(ctx, apitype.PledgeListOptions{}, o) {
		if err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// Pages that may be forgotten lie in the same memory; records of others may be kept.
func TestAllReusesMemory(t *testing.T) {
	t.Parallel()
	for _, reuse := range []bool{false, true} {
		t.Run(fmt.Sprintf("reuse %t", reuse), func(t *testing.T) {
			t.Parallel()
			client := serve(t, listServer(60, envelope))
			var kept []apiclient.Record[apitype.Pledge]
			var uuids []string
			starts := map[*byte]bool{}
			for record, err := range client.Pledges.All(t.Context(), apitype.PledgeListOptions{}, apiclient.AllOptions{
				PageSize: 5,
				Reuse:    reuse,
			}) {
				servicetest.Check(t, err)
				if len(kept)%5 == 0 {
					starts[unsafe.SliceData(record.Raw)] = true
				}
				uuids, kept = append(uuids, string(record.Raw)), append(kept, record)
			}
			for i := range kept {
				if want := node(i + 1); uuids[i] != want {
					t.Errorf("got record %s, want %s", uuids[i], want)
				} else if !reuse && string(kept[i].Raw) != want {
					t.Errorf("got %s of a record that was kept, want %s", kept[i].Raw, want)
				}
			}
			// All are kept, so that no other page gets the address of a released one.
			if got := len(starts); (got < 12) != reuse {
				t.Errorf("got 12 pages that begin at %d places", got)
			}
		})
	}
}

func TestAllShapes(t *testing.T) {
	t.Parallel()
	bare := func(from, to int) string {
		var all []string
		for n := from + 1; n <= to; n++ {
			all = append(all, node(n))
		}
		return strings.Join(all, ",")
	}
	tests := []struct {
		name  string
		total int
		write func(w http.ResponseWriter, from, to, total int)
	}{
		{"the envelope", 25, envelope},
		{"an empty envelope", 0, func(w http.ResponseWriter, _, _, _ int) {
			answer(
				w,
				200,
				`{"pageInfo":{"startCursor":null,"endCursor":null,"hasPreviousPage":false,"hasNextPage":false},"edges":[]}`,
			)
		}},
		{"edges before pageInfo", 25, func(w http.ResponseWriter, from, to, total int) {
			answer(
				w,
				200,
				fmt.Sprintf(`{"edges":[%s],"extra":["x"],"pageInfo":{"endCursor":"c%d","hasNextPage":%t}}`,
					edges(from, to), to, to < total),
			)
		}},
		{"something before pageInfo", 25, func(w http.ResponseWriter, from, to, total int) {
			answer(
				w,
				200,
				fmt.Sprintf(`{"total":25,"pageInfo":{"endCursor":"c%d","hasNextPage":%t},"edges":[%s],"extra":["x"]}`,
					to, to < total, edges(from, to)),
			)
		}},
		{"a position without a cursor", 25, func(w http.ResponseWriter, from, to, total int) {
			answer(w, 200, fmt.Sprintf(`{"pageInfo":{"hasNextPage":%t},"edges":[%s]}`, to < total, edges(from, to)))
		}},
		{"no flags at all", 25, func(w http.ResponseWriter, from, to, _ int) {
			answer(w, 200, fmt.Sprintf(`{"edges":[%s]}`, edges(from, to)))
		}},
		{"no flags and a full last page", 20, func(w http.ResponseWriter, from, to, _ int) {
			answer(w, 200, fmt.Sprintf(`{"edges":[%s]}`, edges(from, to)))
		}},
		{"no flags and a bound of the service's own", 25, func(w http.ResponseWriter, from, _, total int) {
			answer(w, 200, fmt.Sprintf(`{"edges":[%s]}`, edges(from, min(from+4, total))))
		}},
		{"no flags and one page whatever is asked", 3, func(w http.ResponseWriter, _, _, total int) {
			answer(w, 200, fmt.Sprintf(`{"edges":[%s]}`, edges(0, total)))
		}},
		{"an empty last page that was promised", 20, func(w http.ResponseWriter, from, to, total int) {
			answer(
				w,
				200,
				fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":%t},"edges":[%s]}`,
					to, from < total, edges(from, to)),
			)
		}},
		{"an empty last page that promises more, without a cursor", 20, func(w http.ResponseWriter, from, to, _ int) {
			answer(w, 200, fmt.Sprintf(`{"pageInfo":{"hasNextPage":true},"edges":[%s]}`, edges(from, to)))
		}},
		{"an empty last page that promises more, at its own cursor", 20, func(w http.ResponseWriter, from, to, _ int) {
			answer(w, 200,
				fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":true},"edges":[%s]}`, to, edges(from, to)))
		}},
		{"pages of one whatever is asked", 7, func(w http.ResponseWriter, from, _, total int) {
			envelope(w, from, min(from+1, total), total)
		}},
		{"everything at once", 25, func(w http.ResponseWriter, _, _, total int) { envelope(w, 0, total, total) }},
		{
			name:  "a bare array of everything",
			total: 25,
			write: func(w http.ResponseWriter, _, _, total int) { answer(w, 200, "["+bare(0, total)+"]") },
		},
		{"an object with one array", 25, func(w http.ResponseWriter, _, _, total int) {
			answer(w, 200, `{"total":7,"data":[`+bare(0, total)+`]}`)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, listServer(test.total, test.write))
			got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 10})
			if err != nil || got != test.total {
				t.Errorf("got %d records and %v, want %d", got, err, test.total)
			}
		})
	}
}

func TestAllIsNeverSilentlyShort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		write      func(w http.ResponseWriter, from, to, total int)
	}{
		{"a cursor that stands still", "the pages of the list repeat", func(w http.ResponseWriter, _, _, _ int) {
			answer(w, 200, `{"pageInfo":{"endCursor":"c1","hasNextPage":true},"edges":[`+edges(0, 1)+`]}`)
		}},
		{"cursors that go round", "the cursor of the list does not advance", func(
			w http.ResponseWriter,
			from, _, _ int,
		) {
			next := map[int]int{0: 1, 1: 2, 2: 1}[from]
			answer(
				w,
				200,
				fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":true},"edges":[%s]}`,
					next, edges(from, from+1)),
			)
		}},
		{"the same page for ever under new cursors", "the pages of the list repeat", func(
			w http.ResponseWriter,
			from, _, _ int,
		) {
			answer(w, 200,
				fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":true},"edges":[%s]}`, from+1, edges(0, 2)))
		}},
		{"empty pages for ever", "the list goes on for ever without a record", func(
			w http.ResponseWriter,
			from, _, _ int,
		) {
			answer(w, 200, fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":true},"edges":[]}`, from+1))
		}},
		{"more without a cursor", "the list goes on, but gives no cursor to go on with", func(
			w http.ResponseWriter,
			_, _, _ int,
		) {
			answer(w, 200, `{"pageInfo":{"hasNextPage":true},"edges":[{"node":`+node(1)+`}]}`)
		}},
		{
			name:  "a bare array that may be cut",
			want:  "10 records were asked for, the service sent 2, and nothing tells whether these are all",
			write: func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, "["+node(1)+","+node(2)+"]") },
		},
		{"a full bare array", "the list goes on, but gives no cursor to go on with", func(
			w http.ResponseWriter,
			_, _, _ int,
		) {
			var all []string
			for n := range 10 {
				all = append(all, node(n))
			}
			answer(w, 200, "["+strings.Join(all, ",")+"]")
		}},
		{"a page that fails", "500 broken", func(w http.ResponseWriter, from, to, total int) {
			if from >= 10 {
				answer(w, 500, `{"detail":"broken"}`)
				return
			}
			envelope(w, from, to, total)
		}},
		{"JSON that is cut", "it is not complete JSON", func(w http.ResponseWriter, _, _, _ int) {
			answer(w, 200, `{"pageInfo":{"endCursor":"c1","hasNextPage":false},"edges":[`+edges(0, 1))
		}},
		{"a body that is cut", "unexpected EOF", func(w http.ResponseWriter, from, to, _ int) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, `{"edges":[`+edges(from, to))
		}},
		{
			name:  "something after the list",
			want:  "it is not complete JSON",
			write: func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, `[]{}`) },
		},
		{
			name:  "no list",
			want:  "it holds no list of records",
			write: func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, `{"a":1}`) },
		},
		{
			name:  "two lists",
			want:  "it holds several lists, and none is called edges",
			write: func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, `{"a":[],"b":[]}`) },
		},
		{
			name:  "records that are none",
			want:  "an element of the list is not a record",
			write: func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, `[1,2]`) },
		},
		{"text", "it holds no list of records", func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, `"hello"`) }},
		{"nothing", "it holds no list of records", func(w http.ResponseWriter, _, _, _ int) { answer(w, 200, ``) }},
		{"HTML", "it is not JSON", func(w http.ResponseWriter, _, _, _ int) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<h1>Log in</h1>")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, listServer(100, test.write))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := collect(ctx, client, apiclient.AllOptions{PageSize: 10})
			if apiclient.KindOf(err) != apiclient.KindUnavailable || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("got %v of kind %q, want unavailable: %s", err, apiclient.KindOf(err), test.want)
			}
		})
	}
}

// A list that comes as an array and is shorter than the page is complete only if the service is known to send it so.
// Otherwise the client warns that it may be cut.
func TestUnpaged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(listServer(100, func(w http.ResponseWriter, _, _, _ int) {
		answer(w, 200, "["+node(1)+","+node(2)+","+node(3)+"]")
	}))
	t.Cleanup(server.Close)
	for _, size := range []int{3, 10} { // As many as were asked for, too.
		client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Unpaged: []string{"pledge"}})
		servicetest.Check(t, err)
		if got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: size}); got != 3 || err != nil {
			t.Errorf("pages of %d: got %d records and %v, want the 3 that there are", size, got, err)
		}
	}
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Unpaged: []string{"call"}})
	servicetest.Check(t, err)
	got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 10})
	if got != 3 || !errors.Is(err, apiclient.ErrUnpaged) || !errors.Is(err, apiclient.ErrAtEnd) {
		t.Errorf("got %d records and %v, want all three and that they may be cut", got, err)
	}
	page, err := client.Persons.List(t.Context(), apitype.PersonListOptions{Paging: apitype.Paging{First: new(10)}})
	if err != nil || !page.MayBeCut {
		t.Errorf("got %t, %v, want a page that may be cut", page.MayBeCut, err)
	}
}

// One embedded object that is not what the interface promises must not hide the others.
func TestEmbeddedObjects(t *testing.T) {
	t.Parallel()
	const head = `{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","status":"requested",`
	tests := []struct {
		name, record string
		omitted      []string
	}{
		{"nothing wrong", head + `"person":{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}}`, nil},
		{
			name:   "circular calls of the pledge",
			record: head + `"pledgeCase":{"status":"lead","calls":["[Circular]",{"status":"expired"},"[Circular]"]}}`,
		},
		{
			name:    "other texts among them",
			record:  head + `"pledgeCase":{"status":"lead","calls":["none",{"status":"expired"}]}}`,
			omitted: []string{"pledgeCase.calls.0"},
		},
		{
			name:    "a field of a person",
			record:  head + `"person":{"optInPhone":"perhaps"},"result":{"resultCode":"reached"}}`,
			omitted: []string{"person"},
		},
		{
			name:    "an object within an object",
			record:  head + `"person":{"lastName":"Jansen","address":{"street":7}}}`,
			omitted: []string{"person.address"},
		},
		{
			name:    "an object of another kind",
			record:  head + `"pledgeCase":{"externalMetadata":7,"donationInterval":"monthly"}}`,
			omitted: []string{"pledgeCase.externalMetadata"},
		},
		{
			name:    "one of several attempts",
			record:  head + `"attempts":[{"attemptAt":"2026-11-20T09:15:00Z"},{"attemptAt":"then"}]}`,
			omitted: []string{"attempts.1"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var omitted []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				answer(w, 200, test.record)
			}))
			t.Cleanup(server.Close)
			client, err := apiclient.New(apiclient.Options{
				BaseURL: server.URL,
				Omitted: func(_, place string) { omitted = append(omitted, place) },
			})
			servicetest.Check(t, err)
			call, err := apiclient.Decoded(client.Calls.Get(t.Context(),
				apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")))
			if err != nil || call.Status != "requested" {
				t.Errorf("got %+v, %v, want the call", call, err)
			}
			if !slices.Equal(omitted, test.omitted) {
				t.Errorf("got %v left out, want %v", omitted, test.omitted)
			}
		})
	}
	// Calls in calls are read as often as they are nested, and no deeper than a request may be.
	nested := func(depth int) string {
		return strings.Repeat(head+`"pledgeCase":{"calls":[`,
			depth) + head + `"result":{"resultCode":7}}` + strings.Repeat("]}}", depth)
	}
	for depth, isRead := range map[int]bool{20: true, 21: false} {
		_, err := apiclient.Record[apitype.Call]{Raw: []byte(nested(depth))}.Decode()
		if isRead && err != nil || !isRead && !errors.Is(err, apiclient.ErrUnreadable) {
			t.Errorf("%d calls in calls: got %v, want the rest read %t", depth, err, isRead)
		}
	}
	// A hundred bad parts are left out; a record that has more is bad itself, and takes no time.
	for bad, isRead := range map[int]bool{100: true, 101: false} {
		raw := head + `"attempts":[{"attemptAt":"2026-11-20T09:15:00Z"}` + strings.Repeat(",[]", bad) + `]}`
		call, err := apiclient.Record[apitype.Call]{Raw: []byte(raw)}.Decode()
		if isRead && (err != nil || len(call.Attempts.Value()) != 1) ||
			!isRead && !errors.Is(err, apiclient.ErrUnreadable) {
			t.Errorf("%d bad attempts: got %v, %v, want the good one read %t", bad, call.Attempts, err, isRead)
		}
	}
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, head+`"attemptsCount":"many","person":{"optInPhone":7}}`)
	}))
	_, err := apiclient.Decoded(client.Calls.Get(t.Context(),
		apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")))
	if err == nil ||
		err.Error() != "the record 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 is not what the interface promises: the field /attemptsCount is of another kind" {
		t.Errorf("got %v, want the fault of the record itself", err)
	}
}

// Other services write a whole number as 2.0, which is the same number.
func TestWholeNumbersOfOthers(t *testing.T) {
	t.Parallel()
	raw := `{"attemptsCount":2.0,"pledgeCase":{"preferredPaymentDay":1.5e1},"person":{"optInPhone":true}}`
	call, err := apiclient.Record[apitype.Call]{Raw: []byte(raw)}.Decode()
	servicetest.Check(t, err)
	day, isIn := call.PledgeCase.Value().PreferredPaymentDay, call.Person.Value().OptInPhone
	if call.AttemptsCount != 2 || day == nil || *day != 15 || isIn == nil || !*isIn {
		t.Errorf("got %d attempts, the day %v and the opt-in %v, want 2, 15 and true", call.AttemptsCount, day, isIn)
	}
}

// A broken page yields nothing, and the records of the pages before it have come.
func TestAllEndsAtABrokenPage(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, tail string }{
		{"an element that is not a record", `,7]}`},
		{"JSON that is cut", `,{"node":{"uuid"`},
		{"JSON that is none", `,{"node":}]}`},
		{"a list that does not end", ``},
		{"an envelope that does not end", `]`},
		{"something after the envelope", `]}]`},
		{"edges once more", `],"edges":[]}`},
	}
	for _, test := range tests {
		for page := range 2 {
			t.Run(fmt.Sprintf("%s on page %d", test.name, page+1), func(t *testing.T) {
				t.Parallel()
				client := serve(t, listServer(100, func(w http.ResponseWriter, from, to, total int) {
					if from < 10*page {
						envelope(w, from, to, total)
						return
					}
					body := fmt.Sprintf(`{"pageInfo":{"endCursor":"c%d","hasNextPage":true},"edges":[%s%s`,
						to, edges(from, from+2), test.tail)
					answer(w, 200, body)
				}))
				got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 10})
				if apiclient.KindOf(err) != apiclient.KindUnavailable || got != 10*page {
					t.Errorf("got %d records and %v, want %d and that it is unavailable", got, err, 10*page)
				}
			})
		}
	}
}

func TestAllFallsBackToSmallerPages(t *testing.T) {
	t.Parallel()
	var sizes []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size := r.URL.Query().Get("first")
		sizes = append(sizes, size)
		if size == "500" {
			answer(w, 422, `{"message":"too many"}`)
			return
		}
		listServer(150, envelope)(w, r)
	})
	got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 500})
	if err != nil || got != 150 || !slices.Equal(sizes, []string{"500", "100", "100"}) {
		t.Errorf("got %d records, %v, sizes %v, want 150 by pages of 100", got, err, sizes)
	}
}

func TestAllStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		limit    int
		total    int
		more     bool
		requests int32
	}{
		{"within the first page", 5, 25, true, 1},
		{"the whole list", 25, 25, false, 3},
		{"more than there is", 30, 25, false, 3},
		{"on the border of a page", 20, 25, true, 2},
		{"on the border of the first page", 10, 25, true, 1},
		{"on the border of the only page", 10, 10, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			handler := listServer(test.total, envelope)
			client := serve(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); handler(w, r) })
			more := false
			got, err := collect(t.Context(), client, apiclient.AllOptions{
				PageSize: 10,
				Limit:    test.limit,
				More:     func() { more = true },
			})
			if err != nil ||
				got != min(test.limit, test.total) ||
				more != test.more ||
				requests.Load() != test.requests {
				t.Errorf("got %d records, more %v, %d requests, %v; want more %v, %d requests",
					got, more, requests.Load(), err, test.more, test.requests)
			}
		})
	}
}

func TestAllStopsWithTheCaller(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	handler := listServer(1000, envelope)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); handler(w, r) })
	for range client.Calls.All(t.Context(), apitype.CallListOptions{}, apiclient.AllOptions{PageSize: 10}) {
		break
	}
	if got := requests.Load(); got > 2 {
		t.Errorf("got %d requests, want the page and at most the prefetched one", got)
	}
}

// The next page is requested while the records of the current one are in use.
func TestAllPrefetches(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") != "" {
			close(second)
		}
		listServer(20, envelope)(w, r)
	})
	got := 0
	for _, err := range client.Pledges.All(t.Context(), apitype.PledgeListOptions{},
		apiclient.AllOptions{PageSize: 10}) {
		servicetest.Check(t, err)
		got++
		if got == 1 {
			select {
			case <-second:
			case <-time.After(10 * time.Second):
				t.Fatal("the second page was not requested")
			}
		}
	}
	if got != 20 {
		t.Errorf("got %d records, want 20", got)
	}
}

func TestPageKeepsBytesAndFlags(t *testing.T) {
	t.Parallel()
	client := serve(t, listServer(25, envelope))
	page, err := client.Calls.List(t.Context(), apitype.CallListOptions{
		Paging: apitype.Paging{First: new(2), After: "c2"},
	})
	servicetest.Check(t, err)
	if string(page.Records[1].Raw) != node(4) || page.Records[1].Cursor != "c4" || page.StartCursor != "c3" ||
		page.EndCursor != "c4" || !page.HasPreviousPage || !page.HasNextPage {
		t.Errorf("got %+v, want records 3 and 4 between others", page)
	}
}

func TestPaymentQRParameter(t *testing.T) {
	t.Parallel()
	var query string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { query = r.URL.RawQuery; envelope(w, 0, 0, 0) },
		func(o *apiclient.Options) { o.PaymentQRParameter = "withSchemeQr" })
	if _, err := client.Pledges.List(t.Context(), apitype.PledgeListOptions{WithPaymentQR: new(true)}); err != nil {
		t.Fatalf("List: %v", err)
	}
	if query != "withSchemeQr=true" {
		t.Errorf("got query %q, want the name of the profile", query)
	}
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// If a page does not arrive in time, the client asks for fewer records, as many as the line carries. Later pages keep
// that size.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const total, inTime = 120, 20
		var asked []int
		var missing int
		pages := listServer(total, func(w http.ResponseWriter, from, to, total int) {
			asked = append(asked, to-from)
			missing = max(0, to-from-inTime)
			envelope(w, from, to, total)
		})
		line := transport(func(r *http.Request) (*http.Response, error) {
			answer := httptest.NewRecorder()
			pages(answer, r)
			length := answer.Body.Len() - len(edges(0, missing))
			rest, never := io.Pipe() // It blocks until the client closes the answer.
			response := answer.Result()
			response.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(answer.Body, int64(length)), rest), rest}
			if missing == 0 {
				servicetest.Check(t, never.Close())
			}
			return response, nil
		})
		client, err := apiclient.New(apiclient.Options{
			BaseURL:   "https://api.example.org",
			Transport: line,
			Timeout:   time.Second,
		})
		servicetest.Check(t, err)
		got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 100})
		if err != nil || got != total {
			t.Errorf("got %d records and %v, want %d", got, err, total)
		}
		if len(asked) == 0 || asked[0] != 100 || slices.Max(asked[1:]) > inTime {
			t.Errorf("got pages of %v, want 100 once, and then at most %d", asked, inTime)
		}
	})
}

// A list from a service that filters after cutting pages, and names no next page, is read up to an empty page.
func TestListWithoutFlagIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	pages := []int{50, 30, 50, 7, 0}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("after"))
		from := 100 * page
		answer(w, 200,
			fmt.Sprintf(`{"pageInfo":{"endCursor":"%d"},"edges":[%s]}`, page+1, edges(from, from+pages[page])))
	})
	if got, err := collect(t.Context(), client, apiclient.AllOptions{PageSize: 500}); err != nil || got != 137 {
		t.Errorf("got %d records and %v, want 137", got, err)
	}
}

// If a token ends in the middle of a list, the request runs once more. A token that is refused at the start gets no
// second try.
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
