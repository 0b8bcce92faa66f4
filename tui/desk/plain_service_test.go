package desk_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/desk/queue"
)

// counted counts what a desk asks for, and the pages of calls among that.
type counted struct {
	http.RoundTripper
	pages, all *atomic.Int64
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if r.URL.Path == "/api/v1/calls" {
		c.pages.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// plainDesk returns a desk at a service without a queue, with a state folder.
func (f *floor) plainDesk(dir, account string, user *apitype.UUID) (*agent, *atomic.Int64) {
	f.t.Helper()
	pages, all := new(atomic.Int64), new(atomic.Int64)
	line := f.Transport()
	if f.line != nil {
		line = f.line(line)
	}
	client, err := apiclient.New(apiclient.Options{
		BaseURL: f.URL, Token: func(context.Context) (string, error) { return f.token, nil },
		Transport: counted{line, pages, all}, Now: f.Clock.Now,
	})
	servicetest.Check(f.t, err)
	box, err := outbox.Open(filepath.Join(dir, "outbox"), outbox.Options{
		BaseURL: f.URL,
		Account: account,
		Now:     f.Clock.Now,
	})
	servicetest.Check(f.t, err)
	a := &agent{Day: desk.New(desk.Options{
		Client:    client,
		Outbox:    box,
		Now:       f.Clock.Now,
		Languages: []string{"nl"},
		Agent:     user,
		StateFile: filepath.Join(dir, "desk", "test.json"),
	}), f: f, requests: all}
	a.Changes.Sender = box.Sender(client, outbox.SenderOptions{})
	a.perform(a.Begin())
	return a, pages
}

// Agents of a service without a queue are spread over the newest calls, each always to the
// same one; two terminals of one agent never show one donor.
func TestAgentsAreSpreadWithoutAQueue(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 60)
	f.InterfaceOnly()
	for n := range 12 {
		user := apitype.MustParseUUID(fmt.Sprintf("e0000000-0000-4000-8000-%012d", n))
		want := queue.Spread(user.String(), f.calls[10:], func(id apitype.UUID) apitype.UUID { return id })[0]
		for range 2 {
			a, _ := f.plainDesk(t.TempDir(), "x", &user)
			a.perform(a.Next())
			if a.Call == nil || a.Call.UUID != want {
				t.Fatalf("agent %d: got %+v, want %s, the first of the newest fifty spread for this agent",
					n, a.Call, want)
			}
		}
	}
	dir, user := t.TempDir(), apitype.NewUUID()
	one, _ := f.plainDesk(dir, "x", &user)
	one.perform(one.Next())
	two, _ := f.plainDesk(dir, "x", &user)
	two.perform(two.Next())
	if one.Call == nil || two.Call == nil || one.Call.UUID == two.Call.UUID {
		t.Errorf("got %+v and %+v, want two calls", one.Call, two.Call)
	}
	shown := one.Call.UUID
	one.perform(one.Next())
	two.perform(two.Take(shown))
	if two.Call == nil || two.Call.UUID != shown {
		t.Errorf("got %+v (%q), want the call that the other terminal has left", two.Call, two.told)
	}
}

// longList is a service with a list of calls that does not end. One in every few of them is requested; none is if every
// is 0. The call that is read first has ended since it was listed.
type longList struct {
	http.RoundTripper
	every  int
	listed int
	ended  string
}

func (l *longList) node(n int) string {
	id := fmt.Sprintf("c0000000-0000-4000-8000-%012d", n)
	status := "completed"
	if l.every > 0 && n%l.every == 0 && id != l.ended {
		status = "requested"
	}
	return fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"status":%q,"type":"happy","attemptsCount":0,`+
		`"requestedAt":"2026-11-01T00:00:00Z","lastUpdatedAt":"2026-11-01T00:00:00Z"}`, id, "d"+id[1:], status)
}

func (l *longList) RoundTrip(r *http.Request) (*http.Response, error) {
	id, isOne := strings.CutPrefix(r.URL.Path, "/api/v1/calls/")
	query := r.URL.Query()
	if !isOne && r.URL.Path != "/api/v1/calls" || query.Has("updatedAfter") {
		return l.RoundTripper.RoundTrip(r)
	}
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	if isOne {
		l.ended = cmp.Or(l.ended, id)
		n, err := strconv.Atoi(id[len(id)-12:])
		fmt.Fprint(answer, l.node(n))
		return answer.Result(), err
	}
	start, _ := strconv.Atoi(query.Get("after"))
	size, err := strconv.Atoi(query.Get("first"))
	var edges []string
	for n := start; n < start+size; n++ {
		edges = append(edges, fmt.Sprintf(`{"cursor":"%d","node":%s}`, n+1, l.node(n)))
	}
	l.listed += size
	fmt.Fprintf(answer, `{"pageInfo":{"hasNextPage":true,"hasPreviousPage":false,"endCursor":"%d"},"edges":[%s]}`,
		start+size, strings.Join(edges, ","))
	return answer.Result(), err
}

// At a service without a queue, the Desk reads from the newest call on until it has fifty that may be made, and never
// more than 2,000. A call is read again before it is shown.
func TestWalkThroughALongList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ every, listed int }{{1, 500}, {19, 1000}, {100, 2000}, {0, 2000}} {
		f := newFloor(t, 0)
		f.InterfaceOnly()
		list := &longList{every: test.every}
		f.line = func(line http.RoundTripper) http.RoundTripper {
			list.RoundTripper = line
			return list
		}
		user := apitype.NewUUID()
		a, _ := f.plainDesk(t.TempDir(), "x", &user)
		a.perform(a.Next())
		if list.listed != test.listed {
			t.Errorf("one of %d is requested: got %d calls listed, want %d", test.every, list.listed, test.listed)
		}
		if isCut := test.listed == 2000; a.Walk.IsCut() != isCut {
			t.Errorf("one of %d is requested: got the end of a walk %t, want %t", test.every, a.Walk.IsCut(), isCut)
		}
		switch {
		case test.every == 0 && (a.Call != nil || !a.IsNoneLeft()):
			t.Errorf("got %+v, want no call and that there is none", a.Call)
		case test.every > 0 &&
			(a.Call == nil || a.Call.Status != apitype.CallRequested || list.ended == a.Call.UUID.String()):
			t.Errorf("one of %d is requested: got %+v, want a requested call other than %s",
				test.every, a.Call, list.ended)
		}
	}
}

// A change with a commit that waits for minutes is dated before it is visible. The Desk asks from the settled time on,
// so it gets the change once it is visible.
func TestChangeThatIsSettledLate(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	f.InterfaceOnly()
	waiting := &servicetest.WaitingCommit{Call: f.calls[2]}
	f.line = func(line http.RoundTripper) http.RoundTripper {
		waiting.RoundTripper = line
		return waiting
	}
	a, _ := f.plainDesk(t.TempDir(), "x", nil)
	attempts := func() int {
		all := a.Offers(10)
		at := slices.IndexFunc(all, func(c queue.Candidate) bool { return c.ID == f.calls[2] })
		if at < 0 {
			return -1
		}
		return all[at].Attempts
	}
	poll := func(times int) {
		for range times {
			f.Clock.Advance(15 * time.Second)
			a.perform(a.Poll())
		}
	}
	poll(4)
	waiting.Settled = f.Clock.Now()
	f.Clock.Advance(time.Second)
	answer := f.Do(f.token, http.MethodPut, "/api/v1/calls/"+f.calls[2].String()+"/actions/add-attempt", `{}`)
	if answer.Status != http.StatusOK {
		t.Fatal(answer.Status)
	}
	poll(80) // Twenty minutes.
	if got := attempts(); got != 0 {
		t.Fatalf("got %d attempts before the change is seen, want 0", got)
	}
	waiting.Settled = time.Time{}
	poll(8)
	f.Clock.Advance(24 * time.Hour) // The pause after an attempt is over.
	if got := attempts(); got != 1 {
		t.Errorf("got %d attempts, want the one that was seen late", got)
	}
}
