package outbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Sending four times as many entries is four times the work, and not sixteen times. Each
// look at a queued entry asks for the time once.
func TestSendingIsLinear(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"uuid": strings.Split(r.URL.Path, "/")[4], "status": "requested"})
	}))
	defer service.Close()
	client, err := apiclient.New(apiclient.Options{BaseURL: service.URL})
	servicetest.Check(t, err)
	looks := func(n, records int) int64 {
		var looked atomic.Int64
		box, err := Open(t.TempDir(), Options{BaseURL: service.URL, Account: "embedded", Now: func() time.Time {
			looked.Add(1)
			return time.Now()
		}})
		servicetest.Check(t, err)
		ids := make([]apitype.UUID, records)
		for i := range ids {
			ids[i] = apitype.NewUUID()
		}
		for i := range n {
			add(t, box, attempt(t, ids[i%records]))
		}
		looked.Store(0)
		report, err := box.Sender(client, SenderOptions{}).SendDue(t.Context())
		if err != nil || report.Accepted != n {
			t.Fatalf("got %+v and %v, want %d accepted", report, err, n)
		}
		return looked.Load()
	}
	for _, records := range []int{1, 40, 100} {
		if few, many := looks(100, records), looks(400, records); many > 5*few {
			t.Errorf("%d records: got %d looks at 100 entries and %d at 400, want at most 5 times as many", records, few, many)
		}
	}
}

// Adding an entry is as much work beside many as beside few. (Allocations are not counted
// in tests that run in parallel.)
func TestAddingIsLinear(t *testing.T) {
	box := open(t, t.TempDir(), "https://api.example.org")
	id := apitype.NewUUID()
	entry := attempt(t, id)
	work := func() float64 { return testing.AllocsPerRun(20, func() { add(t, box, entry) }) }
	add(t, box, entry)
	few := work()
	for range 300 {
		add(t, box, entry)
	}
	if many := work(); many > 2*few {
		t.Errorf("got %.0f allocations beside 20 entries and %.0f beside 320, want about as many", few, many)
	}
}
