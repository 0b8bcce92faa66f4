package servicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a PostgreSQL server of one test, which is killed and promoted by it.
type Cluster struct {
	folder     string // Of its data and its socket.
	args       []string
	attributes *syscall.SysProcAttr
	running    *exec.Cmd
	log        bytes.Buffer
	isKept     bool      // By a program that ends it when this program has ended.
	keeping    io.Closer // What that program waits for.
}

// NewCluster starts a server with commits that wait for one standby.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	return startCluster(t, newFolder(t), newData(t), "synchronous_standby_names=*")
}

// NewServer starts a server by itself, with more settings.
func NewServer(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	return startServer(t, newFolder(t), settings)
}

func startServer(t testing.TB, folder string, settings []string) *Cluster {
	t.Helper()
	return startCluster(
		t,
		folder,
		newData(t),
		append([]string{"wal_level=minimal", "max_wal_senders=0"}, settings...)...)
}

// ProcessorTime returns the processor time of the server's present sessions.
func (c *Cluster) ProcessorTime(t testing.TB) time.Duration {
	t.Helper()
	pid := c.running.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip("this system does not tell what other processes use: ", err)
	}
	var used time.Duration
	for child := range strings.FieldsSeq(string(children)) {
		var nanoseconds int64
		text, _ := os.ReadFile("/proc/" + child + "/schedstat") // It may have ended.
		_, _ = fmt.Sscan(string(text), &nanoseconds)
		used += time.Duration(nanoseconds)
	}
	return used
}

// Execute runs a statement at a server.
func (c *Cluster) Execute(t testing.TB, text string) {
	t.Helper()
	if err := c.Try(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// Try runs a statement that may fail.
func (c *Cluster) Try(ctx context.Context, text string) error {
	return execute(ctx, Clusters("", c), text)
}

// Await asks a server, each time by a new connection, until a question is answered with true.
func (c *Cluster) Await(t testing.TB, question string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience(t, 2*time.Minute))
	defer cancel()
	for is := false; !is; {
		connection, err := pgx.Connect(ctx, Clusters("", c))
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		err = connection.QueryRow(ctx, question).Scan(&is)
		if err := errors.Join(err, connection.Close(t.Context())); err != nil {
			t.Fatalf("%s: %v", question, err)
		}
	}
}

// Stop ends a server at once, and is its log.
func (c *Cluster) Stop() string {
	c.end(syscall.SIGQUIT)
	return c.log.String()
}

// Wait waits for the end of a server that another process ends.
func (c *Cluster) Wait() { _ = c.running.Wait() }

// initdb makes the data of a server.
var initdb = []string{"initdb", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-U", "fundesk", "--no-sync", "-D"}

// unusedData is the folder with the shared server's data as initdb made them. Servers get a copy, which takes a tenth
// of the processor time.
const unusedData = "unused"

func copyOf(data string) []string { return []string{"cp", "-R", "-p", data} }

// newData returns the command that makes the data of a server.
func newData(t testing.TB) []string {
	t.Helper()
	c, err := shared()
	Check(t, err)
	return copyOf(filepath.Join(c.folder, unusedData))
}

// Standby starts a server that follows this one, and that its commits wait for.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	return startCluster(
		t,
		newFolder(t),
		[]string{
			"pg_basebackup",
			"-h",
			c.folder,
			"-U",
			"fundesk",
			"-R",
			"-X",
			"stream",
			"-c",
			"fast",
			"--no-sync",
			"-D",
		},
		"hot_standby=on",
	)
}

// newFolder returns a folder that is removed after the test. It is outside the test's own, which may have a name too
// long for a socket.
func newFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "fundesk-cluster-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// startCluster starts a server in a folder, with the data that a program makes.
func startCluster(t testing.TB, folder string, create []string, settings ...string) *Cluster {
	t.Helper()
	c := &Cluster{folder: folder}
	t.Cleanup(func() { c.end(syscall.SIGQUIT) })
	if err := c.make(t.Context(), create, settings...); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Cluster) make(ctx context.Context, create []string, settings ...string) error {
	var err error
	c.attributes, err = Unprivileged(c.folder)
	if err != nil {
		return err
	}
	data := filepath.Join(c.folder, "data")
	if err := c.run(ctx, create[0], append(create[1:], data)...); err != nil {
		return err
	}
	c.args = []string{"-D", data, "-k", c.folder, "-c", "listen_addresses=", "-c", "fsync=off"}
	for _, setting := range settings {
		c.args = append(c.args, "-c", setting)
	}
	return c.start(ctx)
}

// run runs one of PostgreSQL's programs to its end.
func (c *Cluster) run(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, Program(program), args...)
	command.Dir, command.SysProcAttr = c.folder, c.attributes
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
	return nil
}

// Start starts a server, also after its end.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) start(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	c.running = exec.CommandContext(ctx, Program("postgres"), c.args...)
	var err error
	if c.isKept {
		kept := append([]string{"-c", keep, "sh", c.folder, Program("postgres")}, c.args...)
		c.running = exec.CommandContext(ctx, "sh", kept...)
		c.keeping, err = c.running.StdinPipe()
		if err != nil {
			return err
		}
	}
	c.running.Dir, c.running.SysProcAttr, c.running.Stdout, c.running.Stderr = c.folder, c.attributes, &c.log, &c.log
	if err := c.running.Start(); err != nil {
		return err
	}
	if err := answers(ctx, Clusters("", c)); err != nil {
		c.end(syscall.SIGQUIT)
		return fmt.Errorf("start the server: %w: %s", err, c.log.String())
	}
	return nil
}

// Clusters names the first of some servers that takes a kind of sessions, such as
// read-write; "" is any.
func Clusters(sessions string, clusters ...*Cluster) string {
	hosts := make([]string, len(clusters))
	for i, c := range clusters {
		hosts[i] = c.folder
	}
	query := url.Values{"user": {"fundesk"}, "host": {strings.Join(hosts, ",")}}
	if sessions != "" {
		query.Set("target_session_attrs", sessions)
	}
	return "postgres:///postgres?" + query.Encode()
}

// Kill ends a server as a power cut does, with all that belongs to it.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	c.end(syscall.SIGKILL)
}

// end sends a signal to the server and waits for its end.
func (c *Cluster) end(signal syscall.Signal) {
	if c.running == nil || c.running.ProcessState != nil {
		return
	}
	_ = c.running.Process.Signal(signal)
	_ = c.running.Wait() // Ended by the signal, as requested.
}

// Promote lets a standby take over.
func (c *Cluster) Promote(ctx context.Context) error {
	return c.run(ctx, "pg_ctl", "promote", "-w", "-D", filepath.Join(c.folder, "data"))
}
