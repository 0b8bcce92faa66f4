package sandbox

import (
	"net/http"
	"net/url"
	"strings"
)

// fromHere reports whether an origin is a page of this machine, as programs are served where they
// are written.
func fromHere(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != origin {
		return false
	}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return true
	default:
		return false
	}
}

// shared lets pages of this machine ask the interface, which no service with real records does: what
// is below /sandbox only the sandbox's own pages may order. It reports whether the request was a
// browser's question beforehand, which is answered then. No answer may be kept by a cache, so that
// none says that it varies.
func shared(w http.ResponseWriter, r *http.Request) (answered bool) {
	if strings.HasPrefix(r.URL.Path, "/sandbox/") {
		return false
	}
	header, origin := w.Header(), r.Header.Get("Origin")
	if !fromHere(origin) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, Fundesk-Extensions")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, PUT")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Traceparent, X-Request-Id")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
