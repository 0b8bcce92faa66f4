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

	"fundesk/service/servicetest"
)

// build builds a program into a folder of the test.
func build(tb testing.TB, pkg string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), filepath.Base(pkg))
	command := exec.CommandContext(tb.Context(), "go", "build", "-ldflags=-w", "-o", path, pkg)
	if out, err := command.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// mostInit is how many bytes a package of ours may allocate before main.
const mostInit = 8192

// Commands do not wait for what only one of them needs: expressions and tables are built on first use.
func TestInit(t *testing.T) {
	servicetest.Slow(t)
	cmd := exec.CommandContext(t.Context(), build(t, "fundesk/cmd/fundesk"), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "/clipboard @") {
		t.Error("a clipboard looks for its programs before main")
	}
	ours := 0
	for line := range strings.Lines(string(out)) {
		var name string
		var at, spent float64
		var size int
		// init fundesk/render @0.9 ms, 0.028 ms clock, 960 bytes, 12 allocs
		n, _ := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes", &name, &at, &spent, &size)
		if n < 4 || !strings.HasPrefix(name, "fundesk/") {
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

// spy is a program that writes down what the system shows of it and of its parent.
const spy = `#!/bin/bash
tr '\0' '\n' < /proc/$$/environ > "$HOME/spied-environ"
tr '\0' '\n' < /proc/$$/cmdline > "$HOME/spied-cmdline"
tr '\0' '\n' < /proc/$PPID/cmdline > "$HOME/spied-parent"
`

// addSpy puts a spy that goes on with more into the home folder.
func (h home) addSpy(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(h.dir, "spy")
	servicetest.Check(t, os.WriteFile(path, []byte(spy+more), 0o700))
	return path
}

// wantHidden looks for secrets in what the spy saw.
func (h home) wantHidden(t *testing.T, secrets ...string) {
	t.Helper()
	for _, name := range []string{"environ", "cmdline", "parent"} {
		data, err := os.ReadFile(filepath.Join(h.dir, "spied-"+name))
		if err != nil {
			t.Fatalf("the child never ran: %v", err)
		}
		if len(data) == 0 {
			t.Errorf("%s of the child is empty", name)
		}
		for _, secret := range secrets {
			if strings.Contains(string(data), secret) {
				t.Errorf("got %s in the %s of the child:\n%s", secret, name, data)
			}
		}
	}
}

// The program that prints the token does not see another service's token in its environment, and no process sees the
// printed one.
func TestTokenCommandSeesNoToken(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	url := h.serve(t)
	token := h.must(t, "fundeskd account add desk --all-organizations")
	servicetest.Check(t, os.WriteFile(filepath.Join(h.dir, "token"), []byte(token), 0o600))
	path := h.addSpy(t, `cat "$HOME/token"`)
	h.must(t, "fundesk profile add prod --base-url "+url+" --set token_storage=command --set token_command="+path)
	h.env = append(h.env, "FUNDESK_BASE_URL=https://other.example", "FUNDESK_TOKEN=another")
	if out := h.must(t, "fundesk auth status --profile prod -o json"); !strings.Contains(out, `"accepted":true`) {
		t.Errorf("got %s, want an accepted token", out)
	}
	h.wantHidden(t, token, "FUNDESK_TOKEN", "another")
}
