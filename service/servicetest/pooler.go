package servicetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// NewPooler starts PgBouncer in front of a server, as it is installed except for its mode and its number of sessions.
// Zero sessions keeps the installed number. It returns the name of the database behind it. If PgBouncer is not
// installed, the test is skipped. In CI it fails.
func NewPooler(t testing.TB, c *Cluster, mode string, sessions int) string {
	t.Helper()
	installed := "/usr/sbin/pgbouncer"
	if _, err := os.Stat(installed); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	folder := newFolder(t)
	attributes, err := Unprivileged(folder)
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(
		"[databases]\npostgres = host=%s user=fundesk\n[pgbouncer]\nunix_socket_dir = %s\nlisten_port = 6432\n"+
			"auth_type = any\npool_mode = %s\n",
		c.folder,
		folder,
		mode,
	)
	if sessions > 0 {
		settings += fmt.Sprintf("default_pool_size = %d\n", sessions)
	}
	file := filepath.Join(folder, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	running := exec.CommandContext(context.Background(), installed, "-q", file)
	running.Dir, running.SysProcAttr = folder, attributes
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = running.Process.Signal(syscall.SIGKILL)
		_ = running.Wait() // The signal ended it.
	})
	database := "postgres:///postgres?" + url.Values{"user": {"fundesk"}, "host": {folder}, "port": {"6432"}}.Encode()
	if err := answers(t.Context(), database); err != nil {
		t.Fatalf("start the pooler: %v", err)
	}
	return database
}
