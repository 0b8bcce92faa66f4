package outbox

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable/powercut"
	"fundesk/service/servicetest"
)

// never is a moment after all.
const never = 1 << 30

// ledger holds the outbox's statements about one entry, by the moments of the disk.
type ledger struct {
	added    int // Add has returned: it is safe.
	arrived  int // Its request has come to the service: it is not to be sent blindly again.
	answered int // The service has taken or refused it: it may go.
	ended    int // The sender has returned: it is gone, or kept as refused.
	refused  bool
}

// wrong returns the damage of an entry after a power cut. It is empty if there is none.
func (l *ledger) wrong(moment int, e Entry, found bool) string {
	isKept := l.added <= moment && (l.refused || moment < l.answered)
	switch {
	case isKept && !found:
		return "it is lost"
	case found && l.ended <= moment && !l.refused:
		return "it was taken, and is still there as " + string(e.State)
	case found && l.arrived <= moment && e.State == StateQueued:
		return "it was sent, and would be sent again without a look"
	case found && l.ended <= moment && l.refused && e.State != StateRejected:
		return "it was refused, and is " + string(e.State)
	}
	return ""
}

// After any power cut, everything that was called safe is there and complete. Nothing that was sent is sent again
// without a look.
func TestPowerCut(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	folder := t.TempDir()
	disk := powercut.Record(t, folder)
	service := newService(t)
	var mu sync.Mutex
	entries := map[string]*ledger{} // By the path of the request.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		l := entries[r.URL.Path]
		l.arrived = min(l.arrived, disk.Now())
		mu.Unlock()
		service.ServeHTTP(w, r)
		mu.Lock()
		l.answered = min(l.answered, disk.Now())
		mu.Unlock()
	}))
	t.Cleanup(server.Close)
	service.URL = server.URL
	dir := filepath.Join(folder, "state", "outbox")
	box := open(t, dir, server.URL)
	put := func(e Entry) *ledger {
		l := &ledger{arrived: never, answered: never, ended: never}
		entries[e.Path] = l
		add(t, box, e)
		l.added = disk.Now()
		return l
	}
	call, other := apitype.NewUUID(), apitype.NewUUID()
	put(attempt(t, call))
	put(completion(t, call))
	drafts := []int{disk.Now()} // When the draft of that number was safe.
	for _, notes := range []string{"one", "two"} {
		servicetest.Check(t, box.SaveDraft(call, Draft{Notes: notes}))
		drafts = append(drafts, disk.Now())
	}
	lease := Lease{LeaseUUID: apitype.NewUUID(), CallUUID: call, ExpiresAt: time.Now().Add(time.Hour)}
	held, err := box.HoldLease(lease)
	servicetest.Check(t, err)
	noted := disk.Now()
	client := service.client(t)
	send := func() {
		if _, err := box.Sender(client, SenderOptions{}).SendDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, l := range entries {
			if l.answered != never {
				l.ended = min(l.ended, disk.Now())
			}
		}
	}
	send()
	service.faults = []fault{faultRefused}
	put(attempt(t, other)).refused = true
	send()
	forgetting := disk.Now()
	servicetest.Check(t, held.Forget())
	forgotten := disk.Now()
	servicetest.Check(t, box.DeleteDraft(call))
	erased := disk.Now()

	disk.Replay(t, func(t *testing.T, left string, moment int) {
		dir := filepath.Join(left, "state", "outbox")
		if moment%10 == 0 && moment >= entries["/api/v1/calls/"+call.String()+"/actions/add-attempt"].added {
			// The file of the last number is not flushed.
			servicetest.Check(t, os.WriteFile(filepath.Join(dir, "sequence"), []byte("\x00\x00"), 0o600))
		}
		box := open(t, dir, server.URL)
		found := map[string]Entry{}
		for _, e := range list(t, box) {
			found[e.Path] = e
		}
		for path, l := range entries {
			e, isThere := found[path]
			if problem := l.wrong(moment, e, isThere); problem != "" {
				t.Errorf("%s: %s", path, problem)
			}
		}
		wantDraft(t, box, call, drafts, erased, moment)
		adopted, err := box.AdoptLeases()
		isNoted := len(adopted) == 1
		if err != nil || noted <= moment && moment <= forgetting && !isNoted || moment >= forgotten && isNoted {
			t.Errorf("leases: got %v, %v, noted %d to %d", adopted, err, noted, forgotten)
		}
		for _, lease := range adopted { // A file of a lease stays open as long as it is held.
			_ = lease.lock.Close()
		}
		if moment%5 > 0 {
			return
		}
		// What is added now comes last, whatever became of the file of the last number.
		e := add(t, box, attempt(t, apitype.NewUUID()))
		if all := list(t, box); len(all) != len(found)+1 || all[len(all)-1].ID != e.ID {
			t.Errorf("after another change: got %d entries, want %d, and it at the end", len(all), len(found)+1)
		}
	})
}

// wantDraft expects the last safe draft, or the one that was being saved.
func wantDraft(t *testing.T, box *Outbox, call apitype.UUID, safe []int, erased, moment int) {
	t.Helper()
	draft, found, err := box.Draft(call)
	switch {
	case err != nil:
		t.Error(err)
	case moment >= erased && found:
		t.Errorf("draft: got %q, want it erased", draft.Notes)
	case moment >= safe[2] && moment < erased-1 && (!found || draft.Notes != "two"):
		t.Errorf("draft: got %q, want the second", draft.Notes)
	case moment >= safe[1] && moment < erased-1 && !found:
		t.Error("draft: got none, want one")
	}
}
