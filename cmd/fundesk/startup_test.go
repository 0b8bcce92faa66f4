package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// build builds a program into a folder of the test.
func build(tb testing.TB, pkg string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), filepath.Base(pkg))
	if out, err := exec.CommandContext(tb.Context(), "go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// mostInit is what a package of ours may allocate before main, in bytes.
const mostInit = 8192

// Nothing that one command needs makes every command wait: expressions and tables are made where they are used.
func TestInit(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), build(t, "fundesk/cmd/fundesk"), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	ours := 0
	for line := range strings.Lines(string(out)) {
		var name string
		var at, spent float64
		var size int
		// init fundesk/render @0.9 ms, 0.028 ms clock, 960 bytes, 12 allocs
		if n, _ := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes", &name, &at, &spent, &size); n < 4 || !strings.HasPrefix(name, "fundesk/") {
			continue
		}
		if ours++; size > mostInit {
			t.Errorf("%s allocates %d bytes before main, want at most %d", name, size, mostInit)
		}
	}
	if ours == 0 {
		t.Fatalf("got no trace of initialisation:\n%s", out)
	}
}

// BenchmarkStartup compares commands that need nothing with a bare cobra program, run in
// turns. The ratio is the number to look at: at most 1.7.
func BenchmarkStartup(b *testing.B) {
	bare := build(b, "fundesk/cmd/fundesk/testdata/bare")
	program := build(b, "fundesk/cmd/fundesk")
	for _, args := range [][]string{{"version"}, {"--help"}, {"completion", "bash"}} {
		b.Run(args[0], func(b *testing.B) {
			var own, yardstick []time.Duration
			for b.Loop() {
				yardstick = append(yardstick, run(b, bare, "version"))
				own = append(own, run(b, program, args...))
			}
			b.ReportMetric(float64(median(own))/float64(median(yardstick)), "×bare")
			b.ReportMetric(float64(median(own).Microseconds())/1000, "ms")
		})
	}
}

func run(b *testing.B, program string, args ...string) time.Duration {
	b.Helper()
	started := time.Now()
	if err := exec.CommandContext(b.Context(), program, args...).Run(); err != nil {
		b.Fatalf("%s: %v", program, err)
	}
	return time.Since(started)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
