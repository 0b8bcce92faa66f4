package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// searched returns the uuids of a page of persons.
func (f *floor) searched(token, text string) []string {
	f.t.Helper()
	return page(f.t, f.Do(token, http.MethodGet, "/api/v1/persons?search="+url.QueryEscape(text), "")).ids()
}

// A searching is a store in which something happens between the questions of a search.
type searching struct {
	service.Store
	between func()
}

// Read searches twice in what has to be one state of the data.
func (s searching) Read(ctx context.Context, mode service.ReadMode, read func(service.Reader) error) error {
	return s.Store.Read(ctx, mode, func(r service.Reader) error { return read(searchingReader{r, s.between}) })
}

type searchingReader struct {
	service.Reader
	between func()
}

func (r searchingReader) Persons(f service.PersonFilter, part service.Range) ([]service.PersonRow, error) {
	if _, err := r.Reader.Persons(f, part); err != nil {
		return nil, err
	}
	r.between()
	return r.Reader.Persons(f, part)
}

// A search asks several questions. A donor who is erased in between does not end the list, and one who gets another
// name in between is not missing.
func TestSearchSeesOneState(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		var want []string
		for range 4 {
			f.Clock.Advance(time.Second)
			donor := f.donorWith(f.organization, `,"name":{"lastName":"Jansen"},"iban":"NL91ABNA0417164300"`)
			want = slices.Insert(want, 0, donor.String())
		}
		for _, query := range []string{"search=jansen", "iban=NL91ABNA0417164300"} {
			f.Serve(f.On(searching{f.Store, sync.OnceFunc(func() { f.erase(apitype.MustParseUUID(want[0])) })}))
			got := page(t, f.get("/api/v1/persons?first=2&"+query)).ids()
			servicetest.Same(t, query, want[:2], got)
			want = want[1:]
		}
	})
}

// TestSearchPersons finds a person by each kind of text until it is changed or erased, within the scope and page by
// page, the newest first.
// Promise S83: a person is found by what is known of them now.
func TestSearchPersons(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		other := f.Organization("other")
		create := func(owner apitype.UUID, name, more string) string {
			return f.created("/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":%q}%s}`,
				owner, owner, name, more)).String()
		}
		first := create(f.organization, "Ĳssel", `,"mobilePhoneNumber":"+31612345678","iban":"NL91ABNA0417164300","email":"a@example.org",
			"address":{"street":"S","houseNumber":"12","zipCode":"1234 AB","city":"C","country":"NL"}`)
		f.Clock.Advance(1e9)
		second := create(other, "van IJsselmuiden", "")
		scoped := f.Token(servicetest.For(other))
		want := func(token, text string, ids ...string) {
			t.Helper()
			if got := f.searched(token, text); strings.Join(got, " ") != strings.Join(ids, " ") {
				t.Errorf("%s: got %v, want %v", text, got, ids)
			}
		}
		for _, text := range []string{
			"06 1234 5678", "+31612345678", "0612", "06 1234", "+31612", "345678", "ijssel 06",
			"nl91 abna 0417 1643 00", "A@EXAMPLE.ORG", "1234ab 12", "ijssel 5678",
		} {
			want(f.token, text, first)
			want(scoped, text)
		}
		for _, text := range []string{"0613", "+32612", "+31613", "piet", "piet ijssel", "piet jansen 9999"} {
			want(f.token, text)
		}
		want(f.token, "ijssel", second, first)
		want(scoped, "IJSSEL", second)
		want(f.token, "ijsselm van", second)
		f.Do(f.token, http.MethodPut, "/api/v1/persons/"+first+"/actions/update",
			`{"name":{"lastName":"Waal"},"mobilePhoneNumber":null}`)
		want(f.token, "0612345678")
		want(f.token, "ijssel", second)
		want(f.token, "waal", first)
		loaded := servicetest.NewPerson(other, f.In(-1e12))
		loaded.LastName = new("Waal")
		f.LoadAll(loaded)
		if got := f.searched(f.token, "waal"); len(got) != 2 || got[0] != first {
			t.Errorf("got %v, want also the person who was loaded, behind the newer one", got)
		}
		eraser := f.Token(servicetest.May(service.PersonsErase, service.PersonsRead))
		f.Want(http.StatusOK, eraser, http.MethodPost, "/fundesk/v1/persons/"+first+"/erase", `{"reason":"r"}`)
		for _, text := range []string{"nl91abna0417164300", "a@example.org", "1234 ab"} {
			want(f.token, text)
		}
	})
}

// TestSearchPages walks the pages of a search in both directions, and refuses what no person can be searched by
// without repeating it, in the answer and in the log.
func TestSearchPages(t *testing.T) {
	var log bytes.Buffer
	f := newFloor(t, servicetest.New(t, servicetest.WithLog(&log)))
	for i := range 7 {
		f.created("/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"firstName":"Geheim","lastName":"Geheimer%d"}}`,
			f.organization, f.organization, i))
		if i%3 > 0 { // Some have one time.
			f.Clock.Advance(1e9)
		}
	}
	all := f.searched(f.token, "geheim")
	for size := 1; size < 9; size++ {
		for _, backward := range []bool{false, true} {
			got := walk(f.Harness, t, f.token, "/api/v1/persons?search=geheim", size, backward, nil)
			servicetest.Same(t, fmt.Sprintf("pages of %d, backward %t", size, backward), all, got)
		}
	}
	for text, want := range map[string]string{
		"":                            "must not be empty",
		" ":                           "must have a letter or a digit",
		"-.,!":                        "must have a letter or a digit",
		strings.Repeat("Geheim", 40):  "must have 200 characters at most",
		strings.Repeat("Geheim ", 11): "must have 10 words at most",
		"Geheim\x00":                  "must not contain a NUL character",
	} {
		answer := f.get("/api/v1/persons?search=" + url.QueryEscape(text))
		body := string(answer.Body)
		if answer.Status != http.StatusBadRequest || !strings.Contains(body, want) || strings.Contains(body, "Geheim") {
			t.Errorf("%q: got %d %s, want 400 and: %s", text, answer.Status, body, want)
		}
	}
	if strings.Contains(strings.ToLower(log.String()), "geheim") {
		t.Errorf("the log has what was searched for: %s", log.String())
	}
}

// TestPledgesIncludePersons lists pledges with their persons, within what the account may see.
func TestPledgesIncludePersons(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		_, _, pledge := f.LoadForChanges(f.organization)
		whole := f.get(pledgePath(pledge)).Object()["person"].(map[string]any)
		delete(whole, "qualityResult")
		person := func(token, include string) (any, bool) {
			answer := f.Do(token, http.MethodGet, "/api/v1/pledges?first=1&include="+include, "")
			node := answer.Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)
			value, has := node["person"]
			return value, has
		}
		for _, include := range []string{"person", "person,transactions"} {
			got, _ := person(f.token, include)
			servicetest.Same(t, "include="+include, fmt.Sprint(whole), fmt.Sprint(got))
		}
		if got, has := person(f.token, "transactions"); has {
			t.Errorf("got the person %v, which was not asked for", got)
		}
		f.Want(
			http.StatusForbidden,
			f.Token(servicetest.MayNot(service.PersonsRead)),
			http.MethodGet,
			"/api/v1/pledges?include=person",
			"",
		)
	})
}
