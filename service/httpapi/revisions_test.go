package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestRevisionsInLists holds the revision of each edge against the entity tag of its record, before and after a
// change, and sees that lists without the parameter are as before.
func TestRevisionsInLists(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.Sample(12)
		for _, list := range []struct{ path, more string }{
			{"/api/v1/persons", ""},
			{"/api/v1/calls", ""},
			{"/api/v1/calls", "&include=person,personQualityResult,pledge,transactions"},
			{"/api/v1/pledges", ""},
			{"/api/v1/pledges", "&include=transactions"},
		} {
			plain := f.get(list.path + "?first=100" + list.more)
			got := f.get(list.path + "?first=100&revisions=false" + list.more)
			if string(got.Body) != string(plain.Body) {
				t.Errorf("%s with revisions=false: got %s, want %s", list.path, got.Body, plain.Body)
			}
			for _, edge := range revisionsOf(t, plain) {
				if edge.Revision != nil {
					t.Errorf("%s without the parameter: got revision %d", list.path, *edge.Revision)
				}
			}
			first := revisionsOf(t, f.get(list.path+"?first=100&revisions=true"+list.more))
			if len(first) == 0 {
				t.Fatalf("%s: got no record", list.path)
			}
			for _, edge := range first {
				f.wantRevision(list.path, edge)
			}
			changed := first[0]
			for i := 0; !f.touch(list.path, first[i].Node.UUID); i++ {
				changed = first[i+1]
			}
			after := revisionsOf(t, f.get(list.path+"?last=500&revisions=true"+list.more))
			for _, edge := range after {
				if edge.Node.UUID != changed.Node.UUID {
					continue
				}
				f.wantRevision(list.path, edge)
				if *edge.Revision <= *changed.Revision {
					t.Errorf("%s: got revision %d after a change of %d", list.path, *edge.Revision, *changed.Revision)
				}
			}
			for _, wrong := range []string{"revisions=1", "revisions=", "revisions=true&revisions=true"} {
				f.want(http.StatusBadRequest, "GET", list.path+"?"+wrong, "")
			}
		}
		f.want(http.StatusBadRequest, "GET", "/fundesk/v1/erasures?revisions=true", "")
		if got := string(f.get("/fundesk/v1").Body); !strings.Contains(got, `"revisions"`) {
			t.Errorf("got %s, want revisions announced", got)
		}
	})
}

// revisionEdge is an edge of a list with revisions.
type revisionEdge struct {
	Node struct {
		UUID string `json:"uuid"`
	} `json:"node"`
	Revision *int64 `json:"revision"`
}

func revisionsOf(t *testing.T, answer servicetest.Answer) []revisionEdge {
	t.Helper()
	var page struct {
		Edges []revisionEdge `json:"edges"`
	}
	if err := json.Unmarshal(answer.Body, &page); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("got %d %s, want a page", answer.Status, answer.Body)
	}
	return page.Edges
}

func (f *floor) wantRevision(path string, edge revisionEdge) {
	f.t.Helper()
	tag := f.get(path + "/" + edge.Node.UUID).Header.Get("Etag")
	if edge.Revision == nil {
		f.t.Fatalf("%s/%s: got no revision, want that of the entity tag %s", path, edge.Node.UUID, tag)
	}
	if got := fmt.Sprintf(`"%d"`, *edge.Revision); got != tag {
		f.t.Errorf("%s/%s: got revision %s, want that of the entity tag %s", path, edge.Node.UUID, got, tag)
	}
}

// touch changes a record, and reports whether its state allowed that.
func (f *floor) touch(path, id string) bool {
	bodies := map[string][2]string{
		"/api/v1/persons": {"/actions/update", `{"email":"touched` + apitype.NewUUID().String() + `@example.org"}`},
		"/api/v1/calls":   {"/actions/add-attempt", `{"userUuid":"` + user + `"}`},
		"/api/v1/pledges": {"/actions/update", `{"recruitingLocationLabel":"` + apitype.NewUUID().String() + `"}`},
	}
	change := bodies[path]
	return f.Do(f.token, http.MethodPut, path+"/"+id+change[0], change[1]).Status == http.StatusOK
}

// Restored records have no revision that was given out before. Otherwise the next change could get the revision of a
// lost one: a caller with that revision would overwrite this change with If-Match, and miss it with If-None-Match.
func TestRevisionsOfRecordsThatWerePutBack(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.Sample(12)
		for _, list := range []string{"/api/v1/persons", "/api/v1/calls", "/api/v1/pledges"} {
			path := list + "?first=1&revisions=true"
			before := revisionsOf(t, f.get(path))[0]
			if err := f.Service.ChangeEpoch(t.Context()); err != nil {
				t.Fatal(err)
			}
			after := revisionsOf(t, f.get(path))[0]
			f.wantRevision(list, after)
			if *after.Revision < *before.Revision+1_000_000 {
				t.Errorf("%s: got revision %d after %d", list, *after.Revision, *before.Revision)
			}
		}
	})
}
