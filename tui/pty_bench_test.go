//go:build unix

package tui

import (
	"os"
	"slices"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// Key to frame through a real pseudo-terminal: from the write of a key to the last byte
// of its frame, and the bytes that a key sends.
func BenchmarkKeyToFrame(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(300)
	p := startProcess(b, h.URL, h.Token(), b.TempDir())
	p.see("take the next call")
	p.write("2")
	p.see("100 calls")
	p.quiet()
	before := p.after.Len()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		key := "j"
		if i/90%2 == 1 {
			key = "k"
		}
		began := time.Now()
		p.write(key)
		<-p.wrote
		times = append(times, time.Since(began))
		p.quiet()
	}
	slices.Sort(times)
	if name := os.Getenv("FUNDESK_TEST_DUMP"); name != "" {
		_ = os.WriteFile(name, []byte(p.after.String()[before:]), 0o600)
	}
	b.ReportMetric(float64(p.after.Len()-before)/float64(len(times)), "bytes/key")
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// quiet waits until nothing was drawn for a while.
func (m *terminal) quiet() {
	for {
		select {
		case <-m.wrote:
		case <-time.After(30 * time.Millisecond):
			return
		}
	}
}
