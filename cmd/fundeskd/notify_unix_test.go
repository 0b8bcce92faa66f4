//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// TestNotify runs the program as systemd does with Type=notify: it says when it listens, that it
// answers, and that it ends.
func TestNotify(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	path := filepath.Join(e.folder, "n")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	servicetest.Check(t, err)
	defer manager.Close()
	p := e.program("", io.Discard, io.Discard)
	p.Getenv = func(name string) string {
		switch name {
		case "NOTIFY_SOCKET":
			return path
		case "WATCHDOG_USEC":
			return "2000"
		}
		return e.getenv(name)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, p) }()
	said := func() string {
		t.Helper()
		text := make([]byte, 64)
		n, err := manager.Read(text)
		servicetest.Check(t, err)
		return string(text[:n])
	}
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := said(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	stop()
	got := said()
	for got == "WATCHDOG=1" {
		got = said()
	}
	if code := <-ended; got != "STOPPING=1" || code != exitDone {
		t.Errorf("got %q and code %d, want that it says that it ends", got, code)
	}
}
