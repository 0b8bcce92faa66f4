package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestPointInTime runs the commands of PRIVACY.md that archive and restore a PostgreSQL server. The server then holds
// the data of that moment, and later erasures are repeated. By night it also runs those that rewrite a table and that
// dump and load the database, without gpg.
func TestPointInTime(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	r := newRecovery(t)
	r.run(r.commands("**Point in time.**")[0:3])
	r.server.Stop()
	r.server.Start(t)
	organization := r.e.organization("A")
	erased, kept, later := r.person(organization.UUID), "", ""
	leaver := r.e.account("leaver", "--all-organizations")
	r.run(r.commands("**Point in time.**")[3:])
	// The new server is reached as the one before.
	r.shell(fmt.Sprintf(`echo "unix_socket_directories = '%s'" >> %s/base/postgresql.conf`, r.socket, r.folder))
	r.shell(fmt.Sprintf(`echo "listen_addresses = ''" >> %s/base/postgresql.conf`, r.folder))
	kept = r.person(organization.UUID)
	r.moment = r.shell(`psql "$FUNDESKD_DATABASE" -At -c "SELECT clock_timestamp()"`)
	later = r.person(organization.UUID)
	r.e.done("person erase", erased, "--reason", "r", "--yes")
	r.e.done("account revoke", leaver.UUID)
	data := r.shell(`psql "$FUNDESKD_DATABASE" -At -c "SHOW data_directory"`)
	r.shell(`pg_ctl -D ` + data + ` -m fast -W stop`)
	r.server.Wait()

	t.Cleanup(func() { r.shell(`pg_ctl -D ` + r.folder + `/restored -m immediate -W stop`) })
	commands := r.commands("Stop the processes of `fundeskd`")
	replay := len(commands) - 2 // A check comes after it.
	r.run(commands[:replay])
	if !r.there(erased) || !r.there(kept) || r.there(later) {
		t.Errorf("of those erased since, made before and made since are there: %t, %t, %t; want the first two",
			r.there(erased), r.there(kept), r.there(later))
	}
	epoch := func() string {
		return r.shell(`psql "$FUNDESKD_DATABASE" -At -c "SELECT value FROM settings WHERE name = 'epoch'"`)
	}
	before := epoch()
	r.e.try("erasures replay", "--from", os.DevNull).Ends(exitDone).Prints("copies of the records begin again")
	if epoch() == before {
		t.Error("copies of the lost records go on after a replay of no erasure")
	}
	r.run(commands[replay:])
	if r.there(erased) || !r.there(kept) {
		t.Errorf("after the replay the erased person is there: %t, the other one: %t", r.there(erased), r.there(kept))
	}
	r.e.accepts(leaver.Token, false)
	if *long {
		r.dump(erased, kept)
	}
}

// dump rewrites a table, and loads a dump into an empty database.
func (r *recovery) dump(erased, kept string) {
	r.t.Helper()
	r.run(regexp.MustCompile("`(psql [^`]*VACUUM FULL[^`]*)`").FindStringSubmatch(r.page)[1:])

	// As it is before it is encrypted.
	r.shell(regexp.MustCompile(`\n +(pg_dump .*)gpg --encrypt`).FindStringSubmatch(r.page)[1] + "cat > dump")
	r.shell(`psql "$FUNDESKD_DATABASE" -c "CREATE DATABASE empty"`)
	r.e.database = strings.Replace(r.e.database, "/postgres?", "/empty?", 1)
	r.shell("cat dump " + regexp.MustCompile(`gpg --decrypt \S+ (\| psql .*)`).FindStringSubmatch(r.page)[1])
	if r.there(erased) || !r.there(kept) {
		r.t.Errorf("of a dump the erased person is there: %t, the other one: %t", r.there(erased), r.there(kept))
	}
}

// recovery is a server with an archived log, and the page with the commands.
type recovery struct {
	t              *testing.T
	e              environment
	server         *servicetest.Cluster
	attributes     *syscall.SysProcAttr
	folder, socket string
	page, moment   string
}

func newRecovery(t *testing.T) *recovery {
	t.Helper()
	page, err := os.ReadFile("../../service/PRIVACY.md")
	servicetest.Check(t, err)
	r := &recovery{t: t, e: newFileEnvironment(t), page: string(page), moment: "2026-11-20 09:15:00+00"}
	r.server = servicetest.NewServer(t, "wal_level=replica", "max_wal_senders=2")
	r.e.database = servicetest.Clusters("", r.server)
	// Not below the test's own folder, which the server's user may not enter.
	r.folder, err = os.MkdirTemp("", "fundesk-archive-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		servicetest.Report(t, os.RemoveAll(r.folder))
	})
	r.attributes, err = servicetest.Unprivileged(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	r.shell(`mkdir -m 700 ` + r.folder + `/wal`)
	r.socket = filepath.Dir(r.shell(`psql "$FUNDESKD_DATABASE" -At -c "SHOW data_directory"`))
	return r
}

// commands returns the commands of the page after some words, with the names of this machine.
func (r *recovery) commands(after string) []string {
	r.t.Helper()
	_, text, found := strings.Cut(r.page, after)
	if !found {
		r.t.Fatalf("PRIVACY.md has no %q", after)
	}
	names := strings.NewReplacer("/var/backups", r.folder, "/var/lib/postgresql", r.folder, "DATABASE.erasures",
		filepath.Join(r.e.folder, "postgres.erasures"),
		// A log of its own, so that no process waits for its end.
		"2026-11-20 09:15:00+00", r.moment, "pg_ctl -D", "pg_ctl -l "+r.folder+"/log -D")
	var commands []string
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "    ")
		switch {
		case ok:
			commands = append(commands, names.Replace(strings.TrimSpace(command)))
		case len(commands) > 0:
			return commands
		}
	}
	return commands
}

// run runs commands: those of fundeskd in this process, the others in a shell.
func (r *recovery) run(commands []string) {
	r.t.Helper()
	for _, command := range commands {
		args, ours := strings.CutPrefix(command, "fundeskd ")
		if !ours {
			// The page names the wait: the server reads before it has taken over.
			for begun := time.Now(); !strings.Contains(r.shell(command), " f\n") &&
				strings.Contains(command, "pg_is_in_recovery()"); {
				if time.Since(begun) > *takeover {
					r.t.Fatal("the server does not take over")
				}
			}
		} else if code, _, errs := r.e.run(args); code != exitDone {
			r.t.Fatalf("%s: got code %d, %s", command, code, errs)
		}
	}
}

// shell runs one command as the server's user, and returns its output.
func (r *recovery) shell(text string) string {
	r.t.Helper()
	c := exec.Command("sh", "-c", text) //nolint:noctx // It ends a server when the test's context has ended.
	c.Dir, c.SysProcAttr = r.folder, r.attributes
	c.Env = []string{
		"PATH=" + filepath.Dir(servicetest.Program("postgres")) + ":" + os.Getenv("PATH"),
		"FUNDESKD_DATABASE=" + r.e.database,
		"LC_ALL=C.UTF-8",
	}
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v: %s", text, err, out)
	}
	return strings.TrimSpace(string(out))
}

// person returns a new person.
func (r *recovery) person(organization string) string {
	r.t.Helper()
	id := apitype.NewUUID().String()
	line := fmt.Sprintf(`{"kind":"person","data":{"uuid":%q,"createdAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}}`, id, organization, organization)
	r.e.reading(line).done("load -")
	return id
}

// there reports whether a person is, and was not erased.
func (r *recovery) there(id string) bool {
	r.t.Helper()
	code, out, _ := r.e.run("person export", id)
	return code == exitDone && !strings.Contains(out, "erasedAt")
}
