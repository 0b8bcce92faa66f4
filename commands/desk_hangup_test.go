//go:build unix

package commands_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"fundesk/commands"
	"fundesk/service/servicetest"
)

// A terminal that is closed gives the call on the Desk back, also with ACCESSIBLE=1.
func TestLineDeskOnAClosedTerminal(t *testing.T) {
	t.Parallel()
	programs, err := commands.Programs()
	servicetest.Check(t, err)
	h := servicetest.New(t)
	h.LoadForChanges(h.Organization("AID"))
	token := h.Token()
	leases := func() int {
		answer := h.Do(token, http.MethodGet, "/fundesk/v1/queue/leases", "").Object()
		return len(answer["leases"].([]any))
	}
	command := exec.CommandContext(t.Context(), filepath.Join(programs, "fundesk"), "tui")
	command.Env = []string{
		"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "FUNDESK_BASE_URL=" + h.URL, "FUNDESK_TOKEN=" + token,
		"ACCESSIBLE=1",
	}
	tty, err := pty.Start(command)
	servicetest.Check(t, err)
	said, buffer := "", make([]byte, 4096)
	for err == nil && !strings.Contains(said, "q to end: ") {
		var n int
		n, err = tty.Read(buffer)
		said += string(buffer[:n])
	}
	if before := leases(); before != 1 {
		t.Errorf("got %d leases of the call on the Desk, want one:\n%s", before, said)
	}
	servicetest.Check(t, command.Process.Signal(syscall.SIGHUP)) // As the kernel sends it before the terminal is gone.
	servicetest.Check(t, tty.Close())
	_ = command.Wait()
	if after := leases(); after != 0 {
		t.Errorf("got %d leases after the terminal was closed, want none", after)
	}
}
