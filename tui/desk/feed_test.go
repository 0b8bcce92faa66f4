package desk_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
)

// waitingCommit shows lists as a service does one of whose commits waits for its standby: a call is not in them
// while it waits, and the service says up to when its changes are settled.
type waitingCommit struct {
	http.RoundTripper
	call    apitype.UUID
	settled time.Time // Zero: nothing waits.
}

func (w *waitingCommit) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err != nil || w.settled.IsZero() || r.URL.Path != "/api/v1/calls" {
		return answer, err
	}
	var page struct {
		PageInfo json.RawMessage `json:"pageInfo"`
		Edges    []struct {
			Cursor string `json:"cursor"`
			Node   map[string]any
		} `json:"edges"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return nil, err
	}
	for i := range page.Edges {
		if page.Edges[i].Node["uuid"] == w.call.String() {
			page.Edges = slices.Delete(page.Edges, i, i+1)
			break
		}
	}
	body, err := json.Marshal(page)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set(apitype.SettledHeader, apitype.NewTime(w.settled).String())
	answer.Header.Del("Content-Length")
	return answer, err
}

// A change whose commit waits for minutes is dated before it is seen. The Desk asks on from where the service's
// changes are settled, so the change comes in when it is seen.
func TestChangeThatIsSettledLate(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	f.InterfaceOnly()
	waiting := &waitingCommit{call: f.calls[2]}
	f.line = func(line http.RoundTripper) http.RoundTripper {
		waiting.RoundTripper = line
		return waiting
	}
	a, _ := f.plainDesk(t.TempDir(), "x", nil)
	attempts := func() int {
		all := a.Offers(10)
		at := slices.IndexFunc(all, func(c desk.Candidate) bool { return c.ID == f.calls[2] })
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
	waiting.settled = f.Clock.Now()
	f.Clock.Advance(time.Second)
	if answer := f.Do(f.token, http.MethodPut, "/api/v1/calls/"+f.calls[2].String()+"/actions/add-attempt", `{}`); answer.Status != http.StatusOK {
		t.Fatal(answer.Status)
	}
	poll(80) // Twenty minutes.
	if got := attempts(); got != 0 {
		t.Fatalf("got %d attempts before the change is seen, want 0", got)
	}
	waiting.settled = time.Time{}
	poll(8)
	f.Clock.Advance(24 * time.Hour) // The pause after an attempt is over.
	if got := attempts(); got != 1 {
		t.Errorf("got %d attempts, want the one that was seen late", got)
	}
}
