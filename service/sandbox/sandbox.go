// Package sandbox lets integrators try what a service does on bad days and at other
// times: it stands before the interface, sets the service's clock and spoils answers on
// demand. It must not know the rules of the service, and is never part of one with real
// records: whoever reaches it may use it.
//
//	box := sandbox.New(time.Now)
//	rules, err := service.New(ctx, service.Options{Store: store, Now: box.Now})
//	handler := box.Wrap(httpapi.New(httpapi.Options{Service: rules}))
//
//	curl -X PUT localhost:8080/sandbox/clock -d '{"move":"36h"}'
//	curl -X PUT localhost:8080/sandbox/fault -d '{"fault":"503","times":2}'
package sandbox

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
)

// Sandbox is the clock and the faults of one service. It may be used by several
// goroutines.
type Sandbox struct {
	system func() time.Time

	mu      sync.Mutex
	set     time.Time  // What the clock was set to, and by the system's clock when.
	since   time.Time  // Without its monotonic part, which stands still while a machine sleeps.
	stopped *time.Time // Where the clock stands; nil while it goes.
	pending Fault      // Times is how often it still comes.
}

// New is a sandbox whose clock shows the system's time.
func New(system func() time.Time) *Sandbox {
	now := system().Round(0)
	return &Sandbox{system: system, set: now, since: now}
}

// maxBody is more than any order to a sandbox needs, in bytes.
const maxBody = 4 << 10

// Wrap is the interface with the sandbox before it: /sandbox/clock and /sandbox/fault
// are answered here, without a token, everything else by the inner handler.
func (s *Sandbox) Wrap(inner http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandbox/clock", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.clock()) })
	mux.HandleFunc("PUT /sandbox/clock", func(w http.ResponseWriter, r *http.Request) {
		var o clockOrder
		if read(w, r, &o) {
			reply(w, s.clock, s.setClock(o))
		}
	})
	mux.HandleFunc("GET /sandbox/fault", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.fault()) })
	mux.HandleFunc("PUT /sandbox/fault", func(w http.ResponseWriter, r *http.Request) {
		f := Fault{Times: 1}
		if read(w, r, &f) {
			reply(w, s.fault, s.setFault(f))
		}
	})
	mux.HandleFunc("DELETE /sandbox/fault", func(w http.ResponseWriter, _ *http.Request) {
		s.clearFault()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.Handle("/", s.spoiled(inner))
	return mux
}

// read reads an order, or refuses it.
func read(w http.ResponseWriter, r *http.Request, order any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		httpapi.WriteProblem(w, http.StatusBadRequest, "the body could not be read")
		return false
	}
	if violations := service.DecodeStrict(body, order); len(violations) > 0 {
		httpapi.WriteProblem(w, http.StatusBadRequest, "the body: "+violations.Error())
		return false
	}
	return true
}

// reply answers with what holds now, or says why nothing changed.
func reply[T any](w http.ResponseWriter, now func() T, refused error) {
	if refused != nil {
		httpapi.WriteProblem(w, http.StatusBadRequest, refused.Error())
		return
	}
	answer(w, now())
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, value) // The caller has gone away.
}

// clockOrder sets the clock or moves it on.
type clockOrder struct {
	Time    *apitype.Time `json:"time"`
	Move    string        `json:"move"`    // A duration such as 36h or -10m.
	Stopped *bool         `json:"stopped"` // Whether the clock stands; without it, as it was.
}

// Clock is what the clock shows.
type Clock struct {
	Time    apitype.Time `json:"time"`
	Stopped bool         `json:"stopped"`
}
