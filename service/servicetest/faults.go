package servicetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Fault spoils one change on its way.
type Fault string

// The faults. If only some variants of a fault process the change, the variant decides.
const (
	FaultRefused     Fault = "refused"
	FaultResetBefore Fault = "reset before"
	FaultResetAfter  Fault = "reset after processing"
	FaultCut         Fault = "answer cut"
	FaultDelayed     Fault = "delayed beyond the time-out and delivered afterwards"
	FaultDuplicated  Fault = "duplicated"
	Fault502         Fault = "502 after processing"
	Fault503         Fault = "503 with Retry-After"
	FaultHTML        Fault = "HTML"
	FaultWrongType   Fault = "wrong type"
	FaultRedirect    Fault = "redirect"
	FaultDrip        Fault = "drip"
	FaultGarbage     Fault = "garbage"
	FaultKilled      Fault = "service killed and restarted"
)

// Faults returns all faults.
var Faults = []Fault{
	FaultRefused, FaultResetBefore, FaultResetAfter, FaultCut, FaultDelayed, FaultDuplicated, Fault502, Fault503,
	FaultHTML, FaultWrongType, FaultRedirect, FaultDrip, FaultGarbage, FaultKilled,
}

// Faulty spoils the next change of the service behind it, once. Reads pass. A refusal repeats each time.
type Faulty struct {
	Inner http.Handler
	Kill  func() // Ends the server that is being asked; for FaultKilled.

	mu      sync.Mutex
	fault   Fault
	variant int
	late    []*http.Request
	applied int
}

// Arm chooses what happens to the next change; variants differ in whether it is
// processed, and where an answer is cut.
func (f *Faulty) Arm(fault Fault, variant int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.variant = fault, variant
}

// Applied returns how many changes the service has answered with a 2xx.
func (f *Faulty) Applied() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

// Delayed reports whether a change is still to be handed over by DeliverLate.
func (f *Faulty) Delayed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.late) > 0
}

// DeliverLate hands over what was delayed.
func (f *Faulty) DeliverLate() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, r := range late {
		f.deliver(r)
	}
}

// Serve serves on a free port of this machine until the test ends. A kill ends the server with all connections, and
// starts the next one at once.
func (f *Faulty) Serve(t testing.TB) string {
	t.Helper()
	opened, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := lasting{opened.(*net.TCPListener)}
	var mu sync.Mutex
	server, ended := port.serve(f)
	end := func() {
		_ = server.Close()
		<-ended
	}
	f.Kill = func() {
		mu.Lock()
		defer mu.Unlock()
		end()
		server, ended = port.serve(f)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		end()
		_ = opened.Close()
	})
	return "http://" + opened.Addr().String()
}

// lasting is a port that outlives its servers. Another program could take a port that is free in between.
type lasting struct{ *net.TCPListener }

// Close makes a server stop waiting for connections.
func (l lasting) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

func (l lasting) serve(handler http.Handler) (*http.Server, <-chan struct{}) {
	_ = l.SetDeadline(time.Time{})
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	InOrder(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return server, done
}

// ServeHTTP answers as the service does, or worse.
func (f *Faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		f.Inner.ServeHTTP(w, r)
		return
	}
	f.mu.Lock()
	fault, variant := f.fault, f.variant
	if fault != FaultRefused {
		f.fault = ""
	}
	f.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client went away before it had sent everything.
	}
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	f.spoil(w, copied, fault, variant)
}

// deliver hands a request to the service; the same request may be handed over again.
func (f *Faulty) deliver(r *http.Request) *httptest.ResponseRecorder {
	body, _ := io.ReadAll(r.Body) // It is in memory.
	r.Body = io.NopCloser(bytes.NewReader(body))
	again := httptest.NewRequestWithContext(
		context.WithoutCancel(r.Context()),
		r.Method,
		r.URL.RequestURI(),
		bytes.NewReader(body),
	)
	again.Header = r.Header
	answer := httptest.NewRecorder()
	f.Inner.ServeHTTP(answer, again)
	if answer.Code/100 == 2 {
		f.mu.Lock()
		f.applied++
		f.mu.Unlock()
	}
	return answer
}

func (f *Faulty) spoil(w http.ResponseWriter, r *http.Request, fault Fault, variant int) {
	processed := variant%2 == 0
	maybe := func() {
		if processed {
			f.deliver(r)
		}
	}
	switch fault {
	case FaultRefused:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"title":"refused","detail":"not today"}`)
	case FaultResetBefore:
		sendRaw(w, "")
	case FaultResetAfter:
		f.deliver(r)
		sendRaw(w, "")
	case FaultCut:
		answer := wire(f.deliver(r))
		sendRaw(w, answer[:(variant*37+1)%len(answer)])
	case FaultDelayed:
		f.mu.Lock()
		f.late = append(f.late, r)
		f.mu.Unlock()
		<-r.Context().Done()
	case FaultDuplicated:
		f.deliver(r)
		write(w, f.deliver(r))
	case Fault502:
		f.deliver(r)
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
	case Fault503:
		w.Header().Set("Retry-After", "7")
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case FaultHTML:
		maybe()
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>log in to the hotel's network</html>")
	case FaultWrongType:
		maybe()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, []string{`[]`, `"done"`, `{"uuid":7}`, `{}`}[variant/2%4])
	case FaultRedirect:
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	case FaultDrip:
		drip(w, wire(f.deliver(r)))
	case FaultGarbage:
		maybe()
		sendRaw(w, "\x00\x01nonsense\r\n\r\n")
	case FaultKilled:
		maybe()
		go f.Kill() // It does not wait for requests, not even for this one.
		<-r.Context().Done()
	default:
		write(w, f.deliver(r))
	}
}

func write(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// wire returns an answer in its form on the wire.
func wire(answer *httptest.ResponseRecorder) string {
	return fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		answer.Code, answer.Header().Get("Content-Type"), answer.Body.Len(), answer.Body)
}

// sendRaw sends bytes and closes the connection.
func sendRaw(w http.ResponseWriter, text string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(connection, text)
	_ = connection.Close()
}

// drip sends all of an answer but its last byte, and that never.
func drip(w http.ResponseWriter, answer string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer func() { _ = connection.Close() }()
	for i := range len(answer) - 1 {
		if _, err := io.WriteString(connection, answer[i:i+1]); err != nil {
			return
		}
	}
	// Until the client has given up and closed its end.
	_, _ = connection.Read(make([]byte, 1))
}
