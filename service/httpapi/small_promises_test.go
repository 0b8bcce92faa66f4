package httpapi_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestNumbersOutsideADouble refuses them wherever a caller may send what it likes, and keeps digits exactly.
func TestNumbersOutsideADouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := func(properties string) servicetest.Answer {
		return w.Do(w.all, http.MethodPost, "/api/v1/calls", fmt.Sprintf(
			`{"personUuid":%q,"requestedAt":"2026-11-20","externalMetadata":{"applicationName":"d","referenceId":"r","additionalProperties":%s}}`, w.a.person, properties))
	}
	for _, test := range []struct{ properties, place string }{
		{`{"e":1e400}`, "/externalMetadata/additionalProperties/e"},
		{`{"e":[1,-1E+999]}`, "/externalMetadata/additionalProperties/e/1"},
		{`{"e":` + strings.Repeat("9", 400) + `}`, "/externalMetadata/additionalProperties/e"},
		{`"{\"e\":1e400}"`, "/externalMetadata/additionalProperties"},
	} {
		answer := call(test.properties)
		_, places := problemOf(t, answer)
		if answer.Status != 400 || len(places) != 1 || !strings.HasPrefix(places[0], test.place) {
			t.Errorf("%.40s: got %d %s, want 400 at %s", test.properties, answer.Status, answer.Body, test.place)
		}
	}
	answer := call(`{"e":1e300,"small":1e-400,"digits":0.1000000000000000055511151231257827,"text":"1e400"}`)
	if answer.Status != 201 || !strings.Contains(string(answer.Body), "0.1000000000000000055511151231257827") {
		t.Errorf("got %d %s, want the digits as they were sent", answer.Status, answer.Body)
	}
	pledge := w.Do(
		w.all,
		http.MethodPut,
		pledgePath(w.a.pledge)+"/actions/update",
		`{"externalMetadata":{"a":{"b":1e400}}}`,
	)
	_, places := problemOf(t, pledge)
	if pledge.Status != 400 || len(places) != 1 || !strings.HasPrefix(places[0], "/externalMetadata/a/b") {
		t.Errorf("got %d %s, want 400 with its place", pledge.Status, pledge.Body)
	}
}

// TestRecordsThatAreSame answers 304 for a person that the caller has. Calls and pledges are sent: their answers
// contain the person, who changes without their entity tag.
func TestRecordsThatAreSame(t *testing.T) {
	t.Parallel()
	f := &floor{Harness: servicetest.New(t), t: t}
	w := newWorldOn(t, f.Harness)
	person := personPath(w.a.person)
	for i, path := range []string{person, callPath(w.a.call), pledgePath(w.a.pledge)} {
		tag, same, name := w.get(path).Header.Get("Etag"), 304, ""
		if path != person {
			same, name = 200, fmt.Sprintf("Changed %d", i)
			w.Want(200, w.all, http.MethodPut, person+"/actions/update", fmt.Sprintf(`{"name":{"lastName":%q}}`, name))
		}
		for value, want := range map[string]int{
			tag:           same,
			"W/" + tag:    same,
			`"0", ` + tag: same,
			"*":           same,
			`"0"`:         200,
		} {
			answer := f.asked(w.all, http.MethodGet, path, "", "If-None-Match", value)
			if answer.Status != want || answer.Header.Get("Etag") != tag || want == 304 && len(answer.Body) > 0 {
				t.Errorf("%s, %s: got %d %s, want %d", path, value, answer.Status, answer.Body, want)
			}
			if !strings.Contains(string(answer.Body), name) {
				t.Errorf("%s, %s: got %s, want the person as she is now", path, value, answer.Body)
			}
		}
	}
}

// TestTokenHasOneSpelling refuses the other spellings of a signature's last character.
func TestTokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	good := 0
	for _, last := range alphabet {
		if w.Do(w.all[:len(w.all)-1]+string(last), http.MethodGet, "/fundesk/v1", "").Status == 200 {
			good++
		}
	}
	if good != 1 {
		t.Errorf("got %d spellings of one token, want 1", good)
	}
}

// TestListsOfOrganizations takes 500 of them and no more.
func TestListsOfOrganizations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, want := range map[int]int{500: 200, 501: 400} {
		list := strings.Repeat(w.a.organization.String()+",", n)
		answer := w.get("/api/v1/persons?first=1&owningOrganizationUuids=" + strings.TrimSuffix(list, ","))
		if answer.Status != want {
			t.Errorf("%d organizations: got %d %s, want %d", n, answer.Status, answer.Body, want)
		}
	}
}

// TestFailingEntryIsCut repeats no more of a failing entry than its description allows.
func TestFailingEntryIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("é", 5000)
	answer := w.Do(w.all, http.MethodPost, "/api/v1/entity-access/actions/mark-processed",
		fmt.Sprintf(`{"entries":[{"entityName":%q,"entityUuid":%q,"processedAt":"2026-11-20T09:00:00Z"}]}`,
			long, w.a.call))
	if answer.Status != 400 || strings.Count(string(answer.Body), "é") != 1000 {
		t.Errorf("got %d with %d characters, want 1000", answer.Status, strings.Count(string(answer.Body), "é"))
	}
}

// The page of the API has a row for each extension that is announced, and for no other.
func TestPageNamesExtensions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/api.md")
	servicetest.Check(t, err)
	_, table, _ := strings.Cut(string(page), "| extension | what it adds |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Split(line, "`")[1])
	}
	h := servicetest.New(t)
	var announced apitype.Extensions
	h.Do(h.Token(servicetest.May(service.PersonsErase)), http.MethodGet, "/fundesk/v1", "").Decode(&announced)
	slices.Sort(announced.Extensions)
	slices.Sort(rows)
	servicetest.Same(t, "docs/api.md", announced.Extensions, rows)
}
