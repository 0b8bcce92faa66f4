package servicetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fundesk/apiclient/durable/privileged"
)

// NewSmallServer starts a server of its own on a disk with a size that tmpfs reads, such as 64m.
func NewSmallServer(t testing.TB, size string, settings ...string) *Cluster {
	t.Helper()
	folder := newFolder(t)
	privileged.Mount(t, folder, size)
	return startServer(t, folder, settings)
}

// FillDisk leaves nothing free of the disk of [NewSmallServer]. Any goroutine may call it.
func (c *Cluster) FillDisk(t testing.TB) {
	t.Helper()
	ballast, err := os.Create(c.ballast())
	for block := make([]byte, 1<<16); err == nil; {
		_, err = ballast.Write(block)
	}
	if err := errors.Join(err, ballast.Close()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want a full disk", err)
	}
}

// FreeDisk takes back what FillDisk did.
func (c *Cluster) FreeDisk(t testing.TB) {
	t.Helper()
	if err := os.Remove(c.ballast()); err != nil {
		t.Error(err)
	}
}

func (c *Cluster) ballast() string { return filepath.Join(c.folder, "ballast") }

// FailDisk lets system calls of the server and all that belongs to it end with EIO, until heal is
// called. A server that only reads fails at pread64.
func (c *Cluster) FailDisk(t testing.TB, calls string) (heal func()) {
	t.Helper()
	args := []string{"strace", "-f", "-o", os.DevNull, "-e", "trace=" + calls, "-e", "inject=" + calls + ":error=EIO"}
	waited := map[int]bool{}
	for _, process := range c.processes(t) {
		args = append(args, "-p", strconv.Itoa(process))
		waited[process] = true
	}
	if os.Getuid() != 0 { // Only root may look at other users' processes.
		args = append([]string{"sudo", "-n"}, args...)
	}
	ctx, end := context.WithCancel(t.Context())
	tracer := exec.CommandContext(ctx, args[0], args[1:]...)
	tracer.Cancel = func() error { return tracer.Process.Signal(syscall.SIGTERM) }
	log, err := tracer.StderrPipe()
	if err == nil {
		err = tracer.Start()
	}
	said := bufio.NewScanner(log)
	for attached := 0; err == nil && (len(waited) > 0 || attached == 0); {
		if !said.Scan() {
			err = errors.Join(tracer.Wait(), errors.New(said.Text()))
			break
		}
		maps.DeleteFunc(waited, func(process int, _ bool) bool {
			if strings.Contains(said.Text(), fmt.Sprintf("Process %d attached", process)) {
				attached++
				return true
			}
			// The process has ended: No such process, or not permitted.
			return strings.Contains(said.Text(), fmt.Sprintf("SEIZE, %d)", process))
		})
	}
	if err != nil {
		end()
		privileged.LeaveOut(t, "trace a server with strace", err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // So that it goes on.
	return func() {
		end()
		_ = tracer.Wait() // The signal ended it.
	}
}
