package apiclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"fundesk/apiclient"
)

// A service on this machine is not asked to compress its answers.
func TestNoCompressionOnLoopback(t *testing.T) {
	t.Parallel()
	accepts := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts <- r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Token: func(context.Context) (string, error) { return "t", nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Calls.Get(t.Context(), [16]byte{6: 0x40, 8: 0x80})
	if got := <-accepts; got != "" {
		t.Errorf("got Accept-Encoding %q, want none", got)
	}
}
