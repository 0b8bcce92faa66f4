package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// detailEdge is an edge of a list that was asked for details.
type detailEdge struct {
	Node     struct{ UUID apitype.UUID }
	Consents json.RawMessage
	Checks   json.RawMessage
}

type detailPage struct {
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       string
	}
	Edges []detailEdge
}

// details reads a page.
func (f *floor) details(path string) (detailPage, int) {
	f.t.Helper()
	answer := f.get(path)
	if answer.Status != http.StatusOK {
		f.t.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
	}
	var p detailPage
	answer.Decode(&p)
	return p, len(answer.Body)
}

// The lists bring the consents and checks of their records as the paths of the records do, if they are asked to.
func TestListsBringDetails(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donor, other := f.person("null"), f.person("null")
		for _, what := range []string{"phone consent", "email withdrawn"} {
			servicetest.Same(t, what, http.StatusCreated, f.addConsent(donor, what, 5))
		}
		call, plain := f.call(donor, time.Hour, "verification"), f.call(other, 2*time.Hour, "verification")
		at := f.Now().String()
		body := fmt.Sprintf(`{"userUuid":%q,"items":[{"name":"mobile","at":%q}]}`, f.users[0], at)
		f.want(http.StatusOK, http.MethodPut, "/fundesk/v1/calls/"+call.String()+"/checks", body)

		var consents struct{ Consents json.RawMessage }
		f.get(consentsPath(donor)).Decode(&consents)
		want := map[apitype.UUID]string{donor: string(consents.Consents), other: "", call: body, plain: ""}
		got := map[apitype.UUID]string{}
		for _, path := range []string{"/api/v1/persons?consents=true", "/api/v1/calls?checks=true&include=person"} {
			page, _ := f.details(path)
			for _, edge := range page.Edges {
				got[edge.Node.UUID] = string(edge.Consents) + string(edge.Checks)
			}
		}
		servicetest.Same(t, "the details", want, got)
		for _, path := range []string{"/api/v1/persons", "/api/v1/calls", "/api/v1/persons?consents=false"} {
			answer := f.get(path)
			if strings.Contains(string(answer.Body), `"consents"`) ||
				strings.Contains(string(answer.Body), `"checks"`) {
				t.Errorf("%s: the list brings details without being asked", path)
			}
		}
		none := fmt.Sprintf(`{"userUuid":%q,"items":[]}`, f.users[0])
		f.want(http.StatusOK, http.MethodPut, "/fundesk/v1/calls/"+call.String()+"/checks", none)
		page, _ := f.details("/api/v1/calls?checks=true")
		if slices.ContainsFunc(page.Edges, func(e detailEdge) bool { return e.Checks != nil }) {
			t.Error("a call without checks has the member")
		}
	})
}

// A page with long consents ends before 4 MiB, and the pages together have each person once with all consents.
func TestConsentsEndPages(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const persons, each = 7, 120
		wording := strings.Repeat("🙂", 2000)
		var want []apitype.UUID
		for range persons {
			f.Clock.Advance(time.Minute)
			want = append(want, f.person("null"))
		}
		err := f.Service.Write(t.Context(), service.WriteIsolated, "add consents", func(tx service.Tx) error {
			for _, person := range want {
				for n := range each {
					c := apitype.Consent{
						Channel: apitype.ChannelMail,
						Basis:   apitype.BasisCustomer,
						Wording: &wording,
						At:      apitype.NewTime(f.base),
					}
					if err := tx.InsertConsent(person, n+1, c); err != nil {
						return err
					}
				}
			}
			return nil
		})
		servicetest.Check(t, err)
		slices.Reverse(want) // The newest first.
		for _, direction := range []string{"first", "last"} {
			var got []apitype.UUID
			pages, cursor := 0, ""
			for {
				page, size := f.details("/api/v1/persons?consents=true&" + direction + "=100" + cursor)
				pages++
				if size > apitype.MaxPageBytes {
					t.Errorf("%s: a page has %d bytes, want %d at most", direction, size, apitype.MaxPageBytes)
				}
				var ids []apitype.UUID
				for _, edge := range page.Edges {
					ids = append(ids, edge.Node.UUID)
					var consents []apitype.Consent
					servicetest.Check(t, json.Unmarshal(edge.Consents, &consents))
					if len(consents) != each {
						t.Errorf("%s: a person has %d consents, want %d", direction, len(consents), each)
					}
				}
				if direction == "first" {
					got, cursor = append(got, ids...), "&after="+page.PageInfo.EndCursor
				} else {
					got, cursor = append(ids, got...), "&before="+page.PageInfo.StartCursor
				}
				hasMore := page.PageInfo.HasNextPage
				if direction == "last" {
					hasMore = page.PageInfo.HasPreviousPage
				}
				if !hasMore || pages > persons {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || pages < 2 {
				t.Errorf("%s: got %d pages, and the persons (-want +got):\n%s", direction, pages, diff)
			}
		}
	})
}
