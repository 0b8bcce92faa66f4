package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/service/servicetest"
)

// patroni is three servers of PostgreSQL under Patroni with three members of etcd, and HAProxy
// and PgBouncer before them, each as deploy/patroni has it but for names, addresses and folders.
type patroni struct {
	t      *testing.T
	folder string
	net    string // 127.x.y: servers are .1 to .3, the proxy and the pooler are at .9.
	etcd   [3]*exec.Cmd
	agents [3]*exec.Cmd // Patroni itself.
}

func newPatroni(t *testing.T) *patroni {
	t.Helper()
	for _, program := range []string{"etcd", "patroni", "haproxy", "pgbouncer"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip("a cluster of Debian's packages wants etcd-server, patroni, haproxy and pgbouncer: ", err)
		}
	}
	servicetest.NeedPostgres(t)
	folder, err := os.MkdirTemp("", "fundesk-patroni-") // Short enough for a socket.
	servicetest.Check(t, err)
	pid := os.Getpid()
	p := &patroni{t: t, folder: folder, net: fmt.Sprintf("127.%d.%d.", 64+pid>>8%64, pid%256)}
	t.Cleanup(p.end)
	if _, err := servicetest.Unprivileged(folder); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p.startEtcd(i)
	}
	for i := range 3 {
		p.startPatroni(i)
	}
	p.start("haproxy", "haproxy", "-db", "-f", p.settings("haproxy.cfg", "db9"))
	p.write("userlist.txt", `"fundesk" "secret"`)
	p.start("pgbouncer", "pgbouncer", "-q", p.settings("pgbouncer.ini", "db9"))
	p.await("a leader and its standbys", p.whole)
	p.execute(`CREATE ROLE fundesk LOGIN PASSWORD 'secret'`)
	p.execute(`CREATE DATABASE fundesk OWNER fundesk`)
	return p
}

// ways returns the names by which a program may reach the database.
func (p *patroni) ways() []string {
	return []string{
		"postgres://fundesk:secret@" + p.net + "9:5000/fundesk",
		"postgres://fundesk:secret@" + p.net + "9:6432/fundesk",
	}
}

// settings returns a file of deploy/patroni as one server has it.
func (p *patroni) settings(file, node string) string {
	p.t.Helper()
	number := strings.TrimPrefix(node, "db")
	text := strings.NewReplacer("NODE:", p.net+number+":", "NODE", node, "ADDRESS", p.net+number,
		"db1:", p.net+"1:", "db2:", p.net+"2:", "db3:", p.net+"3:", "127.0.0.1", p.net+"9",
		"/var/lib/etcd", filepath.Join(p.folder, "etcd"+
			number), "/var/lib/postgresql/15", filepath.Join(p.folder, node),
		"/var/lib/postgresql", filepath.Join(p.folder, node), "/var/run/postgresql", filepath.Join(p.folder, node), "/etc/pgbouncer", p.folder,
		"/usr/lib/postgresql/15/bin", filepath.Dir(servicetest.Program("pg_controldata")),
	).Replace(string(readFile(p.t, filepath.Join("deploy", "patroni", file))))
	return p.write(node+"-"+file, text)
}

func (p *patroni) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.folder, name)
	servicetest.Check(p.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// start runs a program of the cluster. Its output goes to a file.
func (p *patroni) start(name string, args ...string) *exec.Cmd {
	p.t.Helper()
	attributes, err := servicetest.Unprivileged(p.folder)
	servicetest.Check(p.t, err)
	log, err := os.OpenFile(filepath.Join(p.folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	servicetest.Check(p.t, err)
	defer func() { _ = log.Close() }()            // The program has it.
	command := exec.Command(args[0], args[1:]...) //nolint:noctx // It is ended after the test.
	command.Dir, command.SysProcAttr, command.Stdout, command.Stderr = p.folder, attributes, log, log
	servicetest.Check(p.t, command.Start())
	p.t.Cleanup(func() { kill(command) })
	return command
}

func kill(command *exec.Cmd) {
	if command.ProcessState == nil {
		_ = command.Process.Kill()
		_ = command.Wait() // Ended by the signal, as requested.
	}
}

func (p *patroni) startEtcd(i int) {
	p.t.Helper()
	node := "db" + strconv.Itoa(i+1)
	p.etcd[i] = p.start("etcd-"+node, "etcd", "--config-file", p.settings("etcd.yml", node))
}

func (p *patroni) startPatroni(i int) {
	p.t.Helper()
	node := "db" + strconv.Itoa(i+1)
	servicetest.Check(p.t, os.MkdirAll(filepath.Join(p.folder, node), 0o700))
	if _, err := servicetest.Unprivileged(filepath.Join(p.folder, node)); err != nil {
		p.t.Fatal(err)
	}
	p.agents[i] = p.start("patroni-"+node, "patroni", p.settings("patroni.yml", node))
}

// end ends what Patroni has started; it does not end with it.
func (p *patroni) end() {
	for i := range 3 {
		if pid, err := p.postgres(i); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if p.t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(p.folder, "*.log"))
		for _, log := range logs {
			text := readFile(p.t, log)
			p.t.Logf("%s: …%s", filepath.Base(log), text[max(0, len(text)-4000):])
		}
	}
	// Its sessions write until they notice.
	for range 100 {
		if os.RemoveAll(p.folder) == nil {
			return
		}
	}
	p.t.Errorf("%s is left", p.folder)
}

// postgres returns the first process of a server.
func (p *patroni) postgres(i int) (int, error) {
	text, err := os.ReadFile(filepath.Join(p.folder, "db"+strconv.Itoa(i+1), "fundesk", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// signalPostgres signals a server, and all that belongs to it.
func (p *patroni) signalPostgres(i int, signal syscall.Signal) {
	p.t.Helper()
	pid, err := p.postgres(i)
	servicetest.Check(p.t, err)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	servicetest.Check(p.t, errors.Join(err, syscall.Kill(pid, signal)))
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, signal) // A process that ended in between does no harm.
		}
	}
}

// member is Patroni's report of a server.
type member struct{ Name, Role, State string }

// members asks any of the servers.
func (p *patroni) members() []member {
	client := http.Client{Timeout: 2 * time.Second}
	for i := range 3 {
		answer, err := client.Get(
			fmt.Sprintf("http://%s%d:8008/cluster", p.net, i+1),
		) //nolint:noctx // It has a time-out.
		if err != nil {
			continue
		}
		var cluster struct{ Members []member }
		err = json.NewDecoder(answer.Body).Decode(&cluster)
		if errors.Join(err, answer.Body.Close()) == nil {
			return cluster.Members
		}
	}
	return nil
}

// with returns the number of the server with a role, -1 if there is none.
func (p *patroni) with(role string) int {
	for _, m := range p.members() {
		if m.Role == role {
			return int(m.Name[len(m.Name)-1] - '1')
		}
	}
	return -1
}

// whole reports whether all servers work, one of which leads and one of which it waits for.
func (p *patroni) whole() bool {
	working := 0
	for _, m := range p.members() {
		if m.State == "running" || m.State == "streaming" {
			working++
		}
	}
	return working == 3 && p.with("leader") >= 0 && p.with("sync_standby") >= 0
}

// await waits for a state of the cluster.
func (p *patroni) await(state string, is func() bool) {
	p.t.Helper()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for begun := time.Now(); !is(); <-look.C {
		if time.Since(begun) > enoughTime {
			p.t.Fatalf("after %v there is not %s: %v", enoughTime, state, p.members())
		}
	}
}

// execute runs a statement at the leader, over the proxy.
func (p *patroni) execute(text string) {
	p.t.Helper()
	var connection *pgx.Conn
	p.await("a way to the leader", func() (there bool) {
		var err error
		connection, err = pgx.Connect(p.t.Context(), "postgres://postgres:PASSWORD-POSTGRES@"+p.net+"9:5000/postgres")
		return err == nil
	})
	_, err := connection.Exec(p.t.Context(), text)
	if err := errors.Join(err, connection.Close(p.t.Context())); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

// switchOver asks the leader to hand over to its standby.
func (p *patroni) switchOver(leader int) {
	p.t.Helper()
	body, err := json.Marshal(map[string]string{"leader": "db" + strconv.Itoa(leader+1)})
	servicetest.Check(p.t, err)
	address := url.URL{
		Scheme: "http",
		User:   url.UserPassword("operator", "PASSWORD-OPERATOR"),
		Host:   p.net + strconv.Itoa(leader+1) + ":8008",
		Path:   "/switchover",
	}
	answer, err := http.Post(address.String(), "application/json",
		bytes.NewReader(body)) //nolint:noctx // It answers when it is done.
	servicetest.Check(p.t, err)
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("switch over: got %d %s %v", answer.StatusCode, text, err)
	}
}
