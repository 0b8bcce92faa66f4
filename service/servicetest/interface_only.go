package servicetest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
)

// InterfaceOnly hides the extensions of the service, except the named ones: it answers like a service with the
// interface alone.
func (h *Harness) InterfaceOnly(but ...string) { h.interfaceOnly.Store(&but) }

// withoutExtensions hides the extensions of a handler once the remaining ones are stored.
func withoutExtensions(inner http.Handler, left *atomic.Pointer[[]string]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left := left.Load()
		switch {
		case left == nil:
			inner.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/fundesk/") && (r.URL.Path != "/fundesk/v1" || len(*left) == 0):
			httpapi.WriteProblem(w, http.StatusNotFound, "there is no such path")
		case r.URL.Path == "/fundesk/v1":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"extensions":["%s"]}`, strings.Join(*left, `","`))
		default:
			inner.ServeHTTP(&silentWriter{ResponseWriter: w, left: *left}, r)
		}
	})
}

// silentWriter announces few extensions, or none.
type silentWriter struct {
	http.ResponseWriter
	left []string
}

func (w *silentWriter) WriteHeader(status int) {
	w.Header().Del(apitype.ExtensionsHeader)
	if len(w.left) > 0 {
		w.Header().Set(apitype.ExtensionsHeader, strings.Join(w.left, ", "))
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *silentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
