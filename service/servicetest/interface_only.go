package servicetest

import (
	"net/http"
	"strings"
	"sync/atomic"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
)

// InterfaceOnly takes the extensions away from the service: it answers as one that was
// written from the interface alone.
func (h *Harness) InterfaceOnly() { h.interfaceOnly.Store(true) }

// withoutExtensions hides the extensions of a handler while hidden is set.
func withoutExtensions(inner http.Handler, hidden *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !hidden.Load():
			inner.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/fundesk/"):
			httpapi.WriteProblem(w, http.StatusNotFound, "there is no such path")
		default:
			inner.ServeHTTP(&silentWriter{ResponseWriter: w}, r)
		}
	})
}

// silentWriter does not announce extensions.
type silentWriter struct{ http.ResponseWriter }

func (w *silentWriter) WriteHeader(status int) {
	w.Header().Del(apitype.ExtensionsHeader)
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *silentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
