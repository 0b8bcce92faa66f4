//go:build unix

package httpapi_test

import (
	"flag"
	"net/http"
	"syscall"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// discard is a ResponseWriter that keeps nothing, so that only the service is measured.
type discard struct {
	header http.Header
	status int
}

// Header returns the answer's header.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader keeps the status.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write drops the data.
func (d *discard) Write(data []byte) (int, error) { return len(data), nil }

// persons is the size of the sample that BenchmarkRead reads, with half as many calls
// again.
var persons = flag.Int("persons", 5000, "persons in the sample of benchmarks")

// processorTime returns the time of this process so far. Other work on the machine does not change it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	servicetest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
