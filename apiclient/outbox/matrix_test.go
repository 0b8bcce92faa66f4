package outbox

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/service/servicetest"
)

var matrixSeeds = flag.Int("seeds", 0,
	"how many variants of each fault are tried with each operation; 0 tries each fault with three operations")

// matrixTimeout is how long the client waits for an answer. On a slow machine it may time out without a fault; it then
// finds what it has sent.
const matrixTimeout = 400 * time.Millisecond

// Every change through every fault takes effect exactly once, or is refused and kept. The client's tests cover one
// sending. This one covers rounds, with a change that arrives late and a record that cannot be read at first.
func TestMatrix(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	h := servicetest.New(t)
	owner, token := h.Organization("Sea Rescue"), h.Token()
	cases := servicetest.NewCases(t, 8) // The time-outs are of one service that is not overrun.
	defer cases.Wait()
	all := len(h.Changes(owner))
	for j, fault := range servicetest.Faults {
		for i := range all {
			if *matrixSeeds == 0 && (i+j)%4 != 0 {
				continue
			}
			for seed := range max(*matrixSeeds, 1) {
				cases.Run(fmt.Sprintf("%d/%s/%d", i, fault, seed), func(t *testing.T) {
					playMatrix(t, h, token, h.Changes(owner)[i], fault, seed+i/4)
				})
			}
		}
	}
}

// playMatrix sends a change with a fault on its way until nothing is left to do.
func playMatrix(
	t *testing.T,
	h *servicetest.Harness,
	token string,
	change servicetest.Change,
	fault servicetest.Fault,
	seed int,
) {
	var once sync.Once
	faulty := &servicetest.Faulty{Inner: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isHidden := false
		if r.Method == http.MethodGet && seed%2 == 1 {
			once.Do(func() { isHidden = true })
		}
		if isHidden {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.Handler.ServeHTTP(w, r)
	})}
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   faulty.Serve(t),
		Token:     func(context.Context) (string, error) { return token, nil },
		Timeout:   matrixTimeout,
		Transport: &http.Transport{DisableKeepAlives: true},
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	now := time.Now()
	account, err := client.Identity(t.Context())
	servicetest.Check(t, err)
	box, err := Open(t.TempDir(), Options{
		BaseURL: client.BaseURL(),
		Account: account,
		Now:     func() time.Time { return now },
	})
	servicetest.Check(t, err)
	sent := apiclient.Change{
		Op:        change.Op,
		UUID:      change.UUID,
		Method:    change.Method,
		Path:      change.Path,
		Body:      []byte(change.Body),
		Generated: true,
	}
	add(t, box, Entry{Change: sent})
	sender := box.Sender(client, SenderOptions{Patience: time.Minute})
	faulty.Arm(fault, seed)
	left := list(t, box)
	for round := 0; round < 40 && len(left) > 0 && left[0].State != StateRejected; round++ { // Some may be in vain.
		_, err := sender.SendDue(t.Context())
		servicetest.Check(t, err)
		if round == seed%2 { // Before or after it was looked up once.
			faulty.DeliverLate()
		}
		now = now.Add(20 * time.Second)
		left = list(t, box)
		if len(left) > 0 && string(left[0].Body) != change.Body {
			t.Fatalf("%s: got the body %s in the outbox, want %s", change.Op, left[0].Body, change.Body)
		}
	}
	faulty.DeliverLate()
	effects := h.Effects(token, change, faulty)
	if fault == servicetest.FaultRefused {
		if effects != 0 ||
			len(left) != 1 ||
			left[0].State != StateRejected ||
			!strings.Contains(left[0].LastError, "not today") {
			t.Errorf("%s: got %+v and %d effects, want the refused change with its reason", change.Op, left, effects)
		}
		return
	}
	most := 1
	if change.RepeatsAddUp && fault == servicetest.FaultDuplicated {
		most = 2
	}
	if len(left) != 0 || effects < 1 || effects > most {
		t.Errorf("%s: got %+v left and %d effects, want the change done once", change.Op, left, effects)
	}
}
