package commands

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// callbacks is a floor with waiting calls. A hook sees each request before its answer.
type callbacks struct {
	*servicetest.Harness
	line
	t      *testing.T
	token  string
	calls  []string
	before func(r *http.Request) // Nil if nothing precedes a request.
	bodies []string              // Of the deferrals.
	hides  string                // An extension that is not announced.
}

func newCallbacks(t *testing.T) *callbacks {
	t.Helper()
	h := servicetest.New(t)
	c := &callbacks{Harness: h, t: t, token: h.Token()}
	h.Clock.Set(time.Now())
	owner := h.Organization("AID")
	created := func(path, body string) string {
		answer := h.Do(c.token, http.MethodPost, path, body)
		if answer.Status != http.StatusCreated {
			t.Fatalf("got %d %s", answer.Status, answer.Body)
		}
		return answer.Object()["uuid"].(string)
	}
	for i := range 3 {
		person := created("/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, owner, owner))
		requested := apitype.NewTime(h.Clock.Now().Add(time.Duration(i-9) * time.Hour))
		c.calls = append(
			c.calls,
			created("/api/v1/calls",
				fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"type":"happy_call"}`, person, requested)),
		)
	}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if c.before != nil {
			c.before(r)
		}
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			c.bodies = append(c.bodies, string(body))
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if c.hides != "" {
			w = &hiding{w, c.hides}
		}
		h.Handler.ServeHTTP(w, r)
	})
	c.line = lineAt(t, address, c.token)
	return c
}

// hiding takes an extension out of the header that announces them.
type hiding struct {
	http.ResponseWriter
	name string
}

func (w *hiding) WriteHeader(status int) {
	h := w.Header()
	h.Set(apitype.ExtensionsHeader, strings.ReplaceAll(h.Get(apitype.ExtensionsHeader), ", "+w.name, ""))
	w.ResponseWriter.WriteHeader(status)
}

func (c *callbacks) edges(path string) []map[string]any {
	c.t.Helper()
	answer := c.Do(c.token, http.MethodGet, path, "")
	if answer.Status != http.StatusOK {
		c.t.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
	}
	var nodes []map[string]any
	for _, edge := range answer.Object()["edges"].([]any) {
		nodes = append(nodes, edge.(map[string]any)["node"].(map[string]any))
	}
	return nodes
}

// keep defers a call for a user, and returns the time.
func (c *callbacks) keep(call, user string, ahead time.Duration) string {
	c.t.Helper()
	at := apitype.NewTime(c.Clock.Now().Add(ahead)).String()
	answer := c.Do(c.token, http.MethodPut, "/fundesk/v1/queue/calls/"+call+"/later",
		fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, at, user))
	if answer.Status != http.StatusNoContent {
		c.t.Fatalf("got %d %s", answer.Status, answer.Body)
	}
	return at
}

// due returns when a call is due, or "" if it is not deferred.
func (c *callbacks) due(call string) string {
	c.t.Helper()
	for _, node := range c.edges("/fundesk/v1/queue/deferrals") {
		if node["callUuid"] == call {
			return node["notBefore"].(string)
		}
	}
	return ""
}

// A callback of another user is moved only after a question, and names what it replaces.
func TestLaterAsksAboutAnotherUsersCallback(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	me, colleague := apitype.NewUUID().String(), apitype.NewUUID().String()
	call := c.calls[0]
	was := c.keep(call, colleague, 24*time.Hour)
	for _, args := range []string{"--user " + me, "--anyone", ""} {
		c.try(
			t, "queue later", append([]string{call, "--at", "in 3 hours"}, servicetest.Words(args)...)...,
		).Ends(2, "--yes", colleague)
		servicetest.Same(t, "c.due(call)", was, c.due(call))
	}
	if _, errs, code := c.run(
		t, "queue later", call, "--at", "in 3 hours", "--user", me, "--yes",
	); code != 0 || c.due(call) == was {
		t.Errorf("--yes: got exit code %d and %s", code, errs)
	}
	if want := `"replaces":{"notBefore":"` + was + `"}`; !strings.Contains(c.last(), want) {
		t.Errorf("got the body %s, want %s", c.last(), want)
	}
	// The agent's own callback, and one that stays with its user, are moved at once.
	c.try(t, "queue later", call, "--at", "in 5 hours", "--user", me).Ends(0)
	c.try(t, "queue later", c.calls[1], "--at", "in 5 hours", "--user", me).Ends(0)
	if got := c.last(); !strings.Contains(got, `"replaces":{"notBefore":null}`) {
		t.Errorf("got the body %s, want that it replaces nothing", got)
	}
	stdin := strings.Join(c.calls[:2], "\n")
	c.stdin = stdin
	other := []string{"queue", "later", "-", "--at", "in 6 hours", "--user", colleague}
	c.try(t, "", other...).Ends(2, "2 callbacks of other users")
	c.stdin = stdin
	if out, errs, code := c.run(
		t, "", append(other, "--yes", "-o", "ndjson")...,
	); code != 0 || strings.Count(out, `"ok":true`) != 2 {
		t.Errorf("several with --yes: got exit code %d, %s and %s", code, out, errs)
	}
}

// A colleague's callback from in between stays, and the error explains what to do.
func TestLaterKeepsANewerCallback(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	colleague, newer := apitype.NewUUID().String(), map[string]string{}
	c.before = func(r *http.Request) {
		for _, call := range c.calls[:2] {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, call) && newer[call] == "" {
				newer[call] = c.keep(call, colleague, 48*time.Hour)
			}
		}
	}
	_, errs, code := c.run(t, "queue later", c.calls[0], "--at", "in 3 hours", "--anyone")
	if code != 6 || !strings.Contains(errs, "hint: ") || c.due(c.calls[0]) != newer[c.calls[0]] {
		t.Errorf("got exit code %d, %s and due %s, want the newer callback of %s",
			code, errs, c.due(c.calls[0]), newer[c.calls[0]])
	}
	c.stdin = strings.Join(c.calls[1:], "\n")
	out, errs, code := c.run(t, "queue later - --at 'in 3 hours' --anyone --yes -o ndjson")
	if code != 9 ||
		strings.Count(out, `"ok":true`) != 1 ||
		c.due(c.calls[1]) != newer[c.calls[1]] ||
		c.due(c.calls[2]) == "" {
		t.Errorf("several: got exit code %d, %s and %s", code, out, errs)
	}
}

// A service without the extension gets no replaces, but the question still comes.
func TestLaterWithoutReplaces(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	c.hides = apitype.ExtensionPending
	c.keep(c.calls[0], apitype.NewUUID().String(), 24*time.Hour)
	args := []string{"queue", "later", c.calls[0], "--at", "in 3 hours", "--anyone"}
	c.try(t, "", args...).Ends(2, "--yes")
	if _, errs, code := c.run(
		t, "", append(args, "--yes")...,
	); code != 0 || strings.Contains(strings.Join(c.bodies, ""), "replaces") {
		t.Errorf("got exit code %d, %s and the bodies %s", code, errs, c.bodies)
	}
}

// A release with a time makes the callback even if its lease has ended, unless there is a newer callback.
func TestReleaseWithATimeAfterTheLease(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	me := apitype.NewUUID().String()
	lease := func() (call, id string) {
		answer := c.Do(c.token, http.MethodPost, "/fundesk/v1/queue/take",
			fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":30}`, apitype.NewUUID(), me))
		taken := answer.Object()["leases"].([]any)[0].(map[string]any)
		c.Clock.Advance(time.Minute)
		return taken["callUuid"].(string), taken["leaseUuid"].(string)
	}
	call, id := lease()
	if _, errs, code := c.run(
		t, "queue release", id, "--at", "in 3 hours", "--user", me,
	); code != 0 || c.due(call) == "" {
		t.Errorf("got exit code %d, %s and due %q, want a callback", code, errs, c.due(call))
	}
	call, id = lease()
	newer := c.keep(call, apitype.NewUUID().String(), 48*time.Hour)
	c.try(t, "queue release", id, "--at", "in 3 hours", "--user", me).Ends(6, "hint: ")
	servicetest.Same(t, "c.due(call)", newer, c.due(call))
}

// last returns the body of the last change, or "" if there is none.
func (c *callbacks) last() string {
	if len(c.bodies) == 0 {
		return ""
	}
	return c.bodies[len(c.bodies)-1]
}

// At a terminal the question names the user of the callback and its time, and no answer but yes moves it.
func TestLaterAsksAtATerminal(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"n\n": 0, "y\n": 1} {
		moved := 0
		service := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch filepath.Base(r.URL.Path) {
			case "v1":
				fmt.Fprint(w, `{"extensions":["queue","pending"]}`)
			case "deferrals":
				fmt.Fprintf(w,
					`{"edges":[{"node":{"callUuid":%q,"personUuid":%q,"type":"winback","notBefore":"2026-12-08T10:00:00Z",`+
						`"userUuid":%q,"name":"Anneke"},"cursor":"c"}],"pageInfo":{"hasNextPage":false}}`, testID, testID, testID)
			case "later":
				moved++
				w.WriteHeader(http.StatusNoContent)
			}
		}
		at := apitype.NewTime(time.Now().Add(48 * time.Hour)).String()
		said, code := askedOnTerminal(t, service, "queue later "+testID+" --anyone --at "+at, answer)
		if moved != want || (code == 0) != (want == 1) {
			t.Errorf("%q: got exit code %d, %d changes and %s", answer, code, moved, said)
		}
		if !strings.Contains(said, "replacing the callback of Anneke (") || !strings.Contains(said, "8 December 2026") {
			t.Errorf("got the question %s", said)
		}
	}
}

// A callback more than 60 days ahead is saved only after a question.
func TestLaterAsksAboutATimeFarAhead(t *testing.T) {
	t.Parallel()
	c := newCallbacks(t)
	me := apitype.NewUUID().String()
	later := func(at string, more ...string) (string, int) {
		_, errs, code := c.run(t, "queue later", append([]string{c.calls[0], "--at", at, "--user", me}, more...)...)
		return errs, code
	}
	errs, code := later("in 61 days")
	if code != 2 || !strings.Contains(errs, "more than 60 days ahead") || c.due(c.calls[0]) != "" {
		t.Errorf("got exit code %d and %s, want a question and nothing saved", code, errs)
	}
	if errs, code := later("in 61 days", "--yes"); code != 0 || c.due(c.calls[0]) == "" {
		t.Errorf("--yes: got exit code %d and %s", code, errs)
	}
	if errs, code := later("in 59 days"); code != 0 {
		t.Errorf("59 days: got exit code %d and %s", code, errs)
	}
}
