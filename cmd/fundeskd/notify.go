package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// notify tells the service manager that started the program how it is (sd_notify of systemd). Without
// one, or when it does not listen, nothing is sent, and requests are served all the same.
func (s *server) notify(ctx context.Context, state string) {
	path := s.program.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if name, abstract := strings.CutPrefix(path, "@"); abstract {
		path = "\x00" + name
	}
	c, err := new(net.Dialer).DialContext(ctx, "unixgram", path)
	if err != nil {
		s.logger.Warn("the service manager does not listen", "error", err.Error())
		return
	}
	_, _ = c.Write([]byte(state)) // A manager that does not read restarts the program by its watchdog.
	_ = c.Close()
}

// watch tells the service manager, twice in the time that it waits for that, that requests are
// answered, until the context ends.
func (s *server) watch(ctx context.Context) {
	wait, err := strconv.ParseInt(s.program.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || wait <= 0 {
		return
	}
	tick := time.NewTicker(time.Duration(wait) * time.Microsecond / 2)
	defer tick.Stop()
	for {
		_ = isWell(ctx, s.front, "/healthz") // What hangs is not told to be well.
		s.notify(ctx, "WATCHDOG=1")
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
