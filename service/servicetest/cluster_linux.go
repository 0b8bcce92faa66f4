package servicetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Hang stops the server and its processes at once: their connections stay open, the kernel accepts new ones, and no
// answer comes.
func (c *Cluster) Hang(t testing.TB) {
	t.Helper()
	c.signalAll(t, syscall.SIGSTOP)
}

// Resume lets a server go on that hung.
func (c *Cluster) Resume(t testing.TB) {
	t.Helper()
	c.signalAll(t, syscall.SIGCONT)
}

func (c *Cluster) signalAll(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := c.running.Process.Signal(signal); err != nil { // First, so that it starts no more.
		t.Fatal(err)
	}
	for _, process := range c.processes(t)[1:] {
		_ = syscall.Kill(process, signal) // A process may have ended in between.
	}
}

// processes returns the server, and then the processes that it has started.
func (c *Cluster) processes(t testing.TB) []int {
	t.Helper()
	all := []int{c.running.Process.Pid}
	id := strconv.Itoa(all[0])
	children, err := os.ReadFile(filepath.Join("/proc", id, "task", id, "children"))
	if err != nil {
		t.Fatal(err)
	}
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			all = append(all, n)
		}
	}
	return all
}
