package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/service"
	"fundesk/service/httpapi"
)

// The faults other than statuses.
const (
	Slow                = "slow"                  // Done and answered after the delay.
	SlowBody            = "slow-body"             // Done; half of the body is sent at once, the rest after the delay.
	Truncated           = "truncated"             // Done; the connection ends after half of the body.
	NotJSON             = "not-json"              // Done; the body is a page of HTML.
	DroppedBeforeCommit = "dropped-before-commit" // Nothing is done; the connection ends without an answer.
	DroppedAfterCommit  = "dropped-after-commit"  // Done; the connection ends without an answer.
)

// faults has all faults. A status is answered without performing the request, as the service would, or for a 502 as a
// proxy would.
var faults = []string{
	"401", "403", "429", "500", "502", "503",
	Slow, SlowBody, Truncated, NotJSON, DroppedBeforeCommit, DroppedAfterCommit,
}

// Fault spoils the next requests that match it.
type Fault struct {
	Fault   string `json:"fault"`            // One of the faults.
	Times   int    `json:"times"`            // How many requests it spoils. One by default.
	Percent int    `json:"percent,omitzero"` // How many of a hundred matching requests it spoils. Zero means all.
	Method  string `json:"method,omitzero"`  // Only requests of this method.
	Path    string `json:"path,omitzero"`    // Only requests whose path contains this text.
	Delay   string `json:"delay,omitzero"`   // Of slow and slow-body, such as 2s.

	seen int // How many requests it fitted.
}

// Faults are the remaining faults, in the order in which they are tried.
type Faults struct {
	Faults []Fault `json:"faults"`
}

// maxDelay keeps a slow answer within the time that the server gives any.
const maxDelay = 90 * time.Second

func (s *Sandbox) faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Faults{slices.Clone(s.pending)}
}

// addFault adds to what was pending, or replaces it.
func (s *Sandbox) addFault(f Fault, alone bool) error {
	if !slices.Contains(faults, f.Fault) {
		return invalid("there is no fault %q; there are %s", f.Fault, strings.Join(faults, ", "))
	}
	if f.Times < 1 {
		return invalid("times is %d; it must be 1 at least", f.Times)
	}
	if f.Percent < 0 || f.Percent > 100 {
		return invalid("percent is %d; it must be from 1 to 100", f.Percent)
	}
	if (f.Fault == Slow || f.Fault == SlowBody) != (f.Delay != "") {
		return invalid("a delay such as 2s belongs to the faults %s and %s, and to no other", Slow, SlowBody)
	}
	delay, err := time.ParseDuration(f.Delay)
	isDelay := err == nil && delay > 0 && delay <= maxDelay
	if f.Delay != "" && !isDelay {
		return invalid("delay %q is not a duration up to %s", f.Delay, maxDelay)
	}
	f.Method = strings.ToUpper(f.Method)
	s.mu.Lock()
	defer s.mu.Unlock()
	if alone {
		s.pending = nil
	}
	s.pending = append(s.pending, f)
	return nil
}

func (s *Sandbox) clearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = nil
}

// take returns the first fault that matches a request, and lowers its remaining number.
func (s *Sandbox) take(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pending {
		f := &s.pending[i]
		if f.Method != "" && f.Method != r.Method || !strings.Contains(r.URL.Path, f.Path) {
			continue
		}
		f.seen++
		if f.Percent > 0 && f.seen*f.Percent/100 == (f.seen-1)*f.Percent/100 {
			continue
		}
		f.Times--
		taken := *f
		if f.Times == 0 {
			s.pending = slices.Delete(s.pending, i, i+1)
		}
		return taken
	}
	return Fault{}
}

// spoiled answers a request that is not to the sandbox.
func (s *Sandbox) spoiled(w http.ResponseWriter, r *http.Request) {
	switch f := s.take(r); f.Fault {
	case "":
		s.serve(w, r)
	case Slow:
		if f.wait(r) {
			s.serve(w, r)
		}
	case DroppedBeforeCommit:
		drop()
	case DroppedAfterCommit:
		s.serve(&kept{header: http.Header{}}, r)
		drop()
	case SlowBody, Truncated, NotJSON:
		k := &kept{header: http.Header{}, status: http.StatusOK}
		s.serve(k, r)
		k.send(w, r, f)
	case "502":
		page(w, http.StatusBadGateway)
	default:
		status, _ := strconv.Atoi(f.Fault) // The faults that are left are numbers.
		httpapi.Refuse(w, r, status, "the sandbox was asked for this answer")
	}
}

// wait lets the delay pass, and reports whether the caller still waits.
func (f Fault) wait(r *http.Request) bool {
	delay, _ := time.ParseDuration(f.Delay) // Checked when it was set.
	return service.Pause(r.Context(), delay) == nil
}

// drop ends the connection.
func drop() { panic(http.ErrAbortHandler) } // net/http ends the connection for it.

func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<html><body><h1>%d %s</h1></body></html>\n", status, http.StatusText(status))
}

// kept is an answer that the caller does not get as it is.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) Write(part []byte) (int, error) { return k.body.Write(part) }

func (k *kept) WriteHeader(status int) { k.status = status }

// send spoils the answer.
func (k *kept) send(w http.ResponseWriter, r *http.Request, f Fault) {
	if f.Fault == NotJSON {
		page(w, k.status)
		return
	}
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body.Next(k.body.Len() / 2)) // The caller may have left.
	if http.NewResponseController(w).Flush() != nil || f.Fault == Truncated || !f.wait(r) {
		drop()
	}
	_, _ = io.Copy(w, &k.body)
}
