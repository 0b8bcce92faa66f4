package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

var maxInit = flag.Float64("init", 0, "what a linked package may spend before main, in milliseconds: 0: not measured")

// No package may make every command wait. The least of several runs counts: a busy
// machine slows single ones.
func TestInit(t *testing.T) {
	if *maxInit == 0 {
		t.Skip("a measurement, for a machine with nothing else to do: -init 0.3")
	}
	program := build(t, "fundesk/cmd/fundesk")
	least := map[string]float64{}
	for range 12 {
		cmd := exec.CommandContext(t.Context(), program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("run: %v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
			fields := strings.Fields(line)
			if len(fields) < 6 || fields[0] != "init" {
				continue
			}
			spent, err := strconv.ParseFloat(fields[4], 64)
			if err != nil {
				t.Fatalf("read %q: %v", line, err)
			}
			if before, seen := least[fields[1]]; !seen || spent < before {
				least[fields[1]] = spent
			}
		}
	}
	if len(least) == 0 {
		t.Fatal("got no trace of initialisation")
	}
	for name, spent := range least {
		if spent > *maxInit && name != "runtime" {
			t.Errorf("%s spends %.2f ms before main, want at most %.1f", name, spent, *maxInit)
		}
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
