//go:build unix

package tui

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// Key to frame through a real pseudo-terminal: from the write of a key to the last byte
// of its frame, with many rows loaded, and the bytes that a key sends. Beside it what the
// program uses when nobody does anything.
func BenchmarkKeyToFrame(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(300)
	p := startProcess(b, h.URL, h.Token(), b.TempDir())
	p.see("take the next call")
	p.write("2")
	p.see("100 calls")
	p.write("\x1b[200~" + fillText + "\x1b[201~j")
	p.see(strconv.Itoa(fillRows) + " calls")
	p.quiet()
	cpu, _ := p.usage()
	idle := time.Now()
	for time.Since(idle) < idleTime {
		p.quiet() // Once a second it draws what depends on the time.
	}
	after, memory := p.usage()
	share := 100 * float64(after-cpu) / float64(time.Since(idle))
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
	b.ReportMetric(share, "idle-cpu-%")
	b.ReportMetric(memory, "MB")
	slices.Sort(times)
	b.ReportMetric(float64(p.after.Len()-before)/float64(len(times)), "bytes/key")
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// idleTime is how long the program is left alone.
const idleTime = 5 * time.Second

// usage is the processor's time of the program so far, and its memory in megabytes;
// zero where the system does not tell.
func (p *process) usage() (time.Duration, float64) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	_, rest, found := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 22 {
		return 0, 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	pages, _ := strconv.Atoi(fields[21])
	return time.Duration(user+system) * (time.Second / 100), float64(pages*os.Getpagesize()) / 1e6
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
