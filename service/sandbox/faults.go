package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"fundesk/service/httpapi"
)

// The faults.
const (
	TooManyRequests    = "429"                  // Refused with Retry-After; nothing is done.
	Unavailable        = "503"                  // Refused with Retry-After; nothing is done.
	Slow               = "slow"                 // Done and answered after the delay.
	DroppedAfterCommit = "dropped-after-commit" // Done; the connection ends without an answer.
)

var faults = []string{TooManyRequests, Unavailable, Slow, DroppedAfterCommit}

// Fault is what happens to the next requests that it fits.
type Fault struct {
	Fault  string `json:"fault"`           // One of the faults; empty when none is left.
	Times  int    `json:"times"`           // To how many requests; an order that does not say: one.
	Method string `json:"method,omitzero"` // Only to requests of this method.
	Path   string `json:"path,omitzero"`   // Only to requests whose path has this in it.
	Delay  string `json:"delay,omitzero"`  // Of slow, such as 2s.
}

// maxDelay keeps a slow answer within the time that the server gives any.
const maxDelay = 90 * time.Second

func (s *Sandbox) fault() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending
}

// setFault replaces what was pending.
func (s *Sandbox) setFault(f Fault) error {
	if !slices.Contains(faults, f.Fault) {
		return fmt.Errorf("there is no fault %q; there are %s", f.Fault, strings.Join(faults, ", "))
	}
	if f.Times < 1 {
		return fmt.Errorf("times is %d; it must be 1 at least", f.Times)
	}
	if (f.Fault == Slow) != (f.Delay != "") {
		return fmt.Errorf("a delay such as 2s belongs to the fault %s, and to no other", Slow)
	}
	if delay, err := time.ParseDuration(f.Delay); f.Delay != "" && (err != nil || delay <= 0 || delay > maxDelay) {
		return fmt.Errorf("delay %q is not a duration up to %s", f.Delay, maxDelay)
	}
	f.Method = strings.ToUpper(f.Method)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = f
	return nil
}

func (s *Sandbox) clearFault() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = Fault{}
}

// take is what happens to a request; it happens to one less afterwards.
func (s *Sandbox) take(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.pending
	if f.Fault == "" || f.Method != "" && f.Method != r.Method || !strings.Contains(r.URL.Path, f.Path) {
		return Fault{}
	}
	s.pending.Times--
	if s.pending.Times == 0 {
		s.pending = Fault{}
	}
	return f
}

func (s *Sandbox) spoiled(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f := s.take(r); f.Fault {
		case TooManyRequests:
			refuse(w, http.StatusTooManyRequests)
		case Unavailable:
			refuse(w, http.StatusServiceUnavailable)
		case Slow:
			delay, _ := time.ParseDuration(f.Delay) // Checked when it was set.
			wait := time.NewTimer(delay)
			defer wait.Stop()
			select {
			case <-wait.C:
				inner.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		case DroppedAfterCommit:
			inner.ServeHTTP(unheard{header: http.Header{}}, r)
			panic(http.ErrAbortHandler) // How net/http is told to end a connection.
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Retry-After", "1")
	httpapi.WriteProblem(w, status, "the sandbox was asked for this answer")
}

// unheard takes an answer that nobody gets.
type unheard struct{ header http.Header }

func (u unheard) Header() http.Header            { return u.header }
func (u unheard) Write(body []byte) (int, error) { return len(body), nil }
func (u unheard) WriteHeader(int)                {}
