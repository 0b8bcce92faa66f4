package tui

import (
	"net/http"
	"testing"

	"fundesk/apiclient"
	"fundesk/service/embedded"
)

// faulty puts a service before the world's that answers some requests with a status of its own.
func (w *world) faulty(t *testing.T, status func(r *http.Request) int) {
	t.Helper()
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if code := status(r); code != 0 {
			rw.Header().Set("Content-Type", "application/problem+json")
			rw.WriteHeader(code)
			_, _ = rw.Write([]byte(`{"title":"as the test wants it"}`))
			return
		}
		w.Handler.ServeHTTP(rw, r)
	})
	var err error
	if w.options.Client, err = apiclient.New(apiclient.Options{BaseURL: w.URL, Token: staticToken(w.token), Transport: embedded.Transport(handler), Now: w.Clock.Now}); err != nil {
		t.Fatal(err)
	}
}
