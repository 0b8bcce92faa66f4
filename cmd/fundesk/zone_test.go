package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TZ holds in an image without zone files, and a zone that does not exist is refused.
func TestZoneOfTheEnvironment(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can hide the zone files of the system")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("unshare, which hides the zone files of the system, is not installed")
	}
	program := filepath.Join(programs, "fundesk")
	home := t.TempDir()
	run := func(zone string, args ...string) (string, int) {
		const hide = `mount -t tmpfs tmpfs /usr/share/zoneinfo && exec "$@"`
		command := exec.CommandContext(t.Context(), "unshare",
			append([]string{"-m", "sh", "-c", hide, "sh", program}, args...)...)
		command.Env = []string{"HOME=" + home, "TZ=" + zone, "PATH=" + os.Getenv("PATH")}
		out, err := command.CombinedOutput()
		exit, _ := errors.AsType[*exec.ExitError](err)
		if exit != nil {
			return string(out), exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(out), 0
	}
	// The next 1 March: a callback is at most 400 days ahead, and in no zone is it summer time.
	first := strconv.Itoa(time.Now().AddDate(0, 10, 0).Year()) + "-03-01"
	later := []string{
		"--profile", "demo", "queue", "later", "3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11",
		"--at", first + " 10:00", "--anyone", "--dry-run",
	}
	zones := map[string]string{
		"Europe/Amsterdam":  first + "T09:00:00",
		":America/New_York": first + "T15:00:00",
		"UTC":               first + "T10:00:00",
	}
	for zone, want := range zones {
		if out, code := run(zone, later...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("TZ=%s: got exit code %d and %s, want %s", zone, code, out, want)
		}
	}
	if out, code := run("Nonsense/Zone", later...); code != 2 || !strings.Contains(out, `TZ="Nonsense/Zone"`) {
		t.Errorf("got exit code %d and %s, want 2 and the name of the zone", code, out)
	}
	for _, args := range [][]string{{"version"}, {"--help"}, {"help", "filters"}, {"completion", "bash"}} {
		if out, code := run("Nonsense/Zone", args...); code != 0 {
			t.Errorf("%s: got exit code %d and %s", args, code, out)
		}
	}
}
