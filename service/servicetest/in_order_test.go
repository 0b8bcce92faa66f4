package servicetest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A read after a change from a gone sender is answered after that change, however late.
func TestReadsWaitForWhatCameBefore(t *testing.T) {
	t.Parallel()
	applied := make(chan struct{})
	came, later := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			select {
			case <-applied:
				_, _ = io.WriteString(w, "applied")
			default:
				_, _ = io.WriteString(w, "not there")
			}
			return
		}
		close(came)
		<-later
		close(applied)
	}))
	InOrder(server.Config)
	server.Start()
	t.Cleanup(server.Close)

	sender, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(sender, "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	<-came
	_ = sender.Close()
	reader, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(reader, "GET / HTTP/1.0\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	close(later)
	answer, err := io.ReadAll(reader)
	if err != nil || string(answer[max(len(answer)-7, 0):]) != "applied" {
		t.Errorf("read: got %q %v, want the change applied", answer, err)
	}
}
