package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"fundesk/service/servicetest"
)

// discard is a ResponseWriter that keeps nothing, so that only the service is measured.
type discard struct {
	header http.Header
	status int
}

// Header is the answer's header.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader keeps the status.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write drops the data.
func (d *discard) Write(data []byte) (int, error) { return len(data), nil }

// BenchmarkRead answers requests from the sample, without a socket. measured.md's goals:
// one record 110 µs, a page of 100 plain 0.5 ms, with person and pledge 1.6 ms.
func BenchmarkRead(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(5000)
	token := h.Token()
	organization := h.Do(token, "GET", "/api/v1/persons?first=1", "").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)["owningOrganization"].(map[string]any)["uuid"].(string)
	one := h.Do(token, "GET", "/api/v1/calls?first=1", "").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)["uuid"].(string)
	deep := "/api/v1/calls?first=100"
	for range 20 {
		deep = "/api/v1/calls?first=100&after=" + h.Do(token, "GET", deep, "").Object()["pageInfo"].(map[string]any)["endCursor"].(string)
	}
	for _, bench := range []struct{ name, path string }{
		{"one call", "/api/v1/calls/" + one},
		{"page", "/api/v1/calls?first=100"},
		{"deep page", deep},
		{"page of one organization", "/api/v1/calls?first=100&owningOrganizationUuid=" + organization},
		{"page with person and pledge", "/api/v1/calls?first=100&include=person,pledge"},
		{"page with everything", "/api/v1/calls?first=100&include=personQualityResult,pledge,transactions"},
		{"page of persons", "/api/v1/persons?first=100"},
		{"page of pledges", "/api/v1/pledges?first=100"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, bench.path, http.NoBody)
			request.Header.Set("Authorization", "Bearer "+token)
			for b.Loop() {
				w := &discard{header: http.Header{}}
				h.Handler.ServeHTTP(w, request)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkCreate creates persons from many connections, each durable before it is
// answered: they share commits.
func BenchmarkCreate(b *testing.B) {
	for _, connections := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(connections), func(b *testing.B) {
			h := servicetest.New(b)
			token := h.Token()
			o := owned{organization: h.Organization("A")}
			body := (&world{Harness: h}).personBody(o)
			b.SetParallelism(connections)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if got := h.Do(token, "POST", "/api/v1/persons", body); got.Status != http.StatusCreated {
						b.Error(got.Status)
						return
					}
				}
			})
		})
	}
}
