//go:build unix

package main

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"fundesk/service/servicetest"
)

// TestNotify runs the program as systemd does with Type=notify: it reports that it listens, that it answers, and that
// it ends.
func TestNotify(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	path := filepath.Join(e.folder, "n")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	servicetest.Check(t, err)
	defer manager.Close()
	running := e.child("NOTIFY_SOCKET="+path, "WATCHDOG_USEC=2000", "WATCHDOG_PID=")
	next := func() string {
		t.Helper()
		text := make([]byte, 64)
		n, err := manager.Read(text)
		servicetest.Check(t, err)
		return string(text[:n])
	}
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		got := next()
		servicetest.Same(t, "got", want, got)
	}
	servicetest.Check(t, running.command.Process.Signal(unix.SIGTERM))
	got := next()
	for got == "WATCHDOG=1" {
		got = next()
	}
	err = running.command.Wait()
	if got != "STOPPING=1" || err != nil {
		t.Errorf("got %q and %v, want that it reports its end", got, err)
	}
}
