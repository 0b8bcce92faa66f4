package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// newAccount is an account as account add prints it.
type newAccount struct{ UUID, Token string }

// account adds an account: words are its name and flags.
func (e environment) account(words string, more ...string) newAccount {
	e.t.Helper()
	var a newAccount
	e.must(&a, "account add "+words, more...)
	return a
}

// organization adds an organization with one name.
func (e environment) organization(name string) struct{ UUID string } {
	e.t.Helper()
	var o struct{ UUID string }
	e.must(&o, "organization add --name", name, "--abbreviation", name)
	return o
}

// accepts wants a token to be accepted, or refused.
func (e environment) accepts(token string, want bool) {
	e.t.Helper()
	s := e.serve()
	defer s.stop()
	status, body := get(e.t, http.DefaultClient, s.url+"/api/v1/persons", token)
	if status != http.StatusOK && status != http.StatusUnauthorized || (status == http.StatusOK) != want {
		e.t.Errorf("got %d %s, want that the token is accepted: %t", status, body, want)
	}
}

// TestRestoreEndsTokens revokes an account after a backup, and restores it in place and to a new path. Neither its
// token nor any other works, unless tokens are kept, and the restore explains how to issue new ones.
// Promise S51: a restore undoes no revocation.
func TestRestoreEndsTokens(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	leaver, stays := e.account("leaver", "--all-organizations"), e.account("stays", "--all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	e.done("account revoke", leaver.UUID)
	for _, there := range []environment{e, newFileEnvironment(t)} {
		code, out, errs := there.run("restore", backup)
		if code != exitDone ||
			!strings.Contains(out, "2 tokens ended") ||
			!strings.Contains(out, "fundeskd token issue UUID") ||
			!strings.Contains(out, "repeat every later revocation") {
			t.Errorf("got code %d, %s%s, want that two tokens ended, and how to go on", code, out, errs)
		}
		there.accepts(leaver.Token, false)
		there.accepts(stays.Token, false)
		var issued struct{ Token string }
		there.must(&issued, "token issue", stays.UUID)
		there.accepts(issued.Token, true)

		code, out, errs = there.run("restore", backup, "--keep-tokens")
		if code != exitDone ||
			!strings.Contains(out, "revoked since the backup are valid again") ||
			!strings.Contains(out, "narrowed") {
			t.Errorf("got code %d, %s%s, want what is undone", code, out, errs)
		}
		there.accepts(leaver.Token, true)
		there.accepts(stays.Token, true)
	}
}

// TestUnreadReplaced restores over a damaged file: that is the purpose of a restore.
func TestUnreadReplaced(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	same := e.account("same", "--all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	write(t, filepath.Join(e.folder, "fundeskd.db"), []byte("not a database"))
	e.done("restore", backup)
	e.accepts(same.Token, false)
}

// TestReplayEndsTokens puts a database back without restore, as pg_restore does. A replay that finds an erasure ends
// every token. One that finds none, or is refused, ends none.
func TestReplayEndsTokens(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		c := newCharity(t, e)
		account := e.account("a", "--all-organizations")
		person := c.must("POST", "/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
		garbled := filepath.Join(t.TempDir(), "garbled")
		none := filepath.Join(t.TempDir(), "none")
		one := filepath.Join(t.TempDir(), "one")
		write(t, garbled, []byte("{\n"))
		write(t, none, "")
		write(t, one, fmt.Appendf(nil, `{"uuid":%q,"erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n", person))
		e.try("erasures replay --from", garbled).Ends(exitFailure)
		e.done("erasures replay --from", none)
		e.accepts(account.Token, true)
		code, out, errs := e.run("erasures replay --from", one, "--keep-tokens")
		if code != exitDone || !strings.Contains(out, "revoked since the backup are valid again") {
			t.Errorf("got code %d, %s%s, want what is undone", code, out, errs)
		}
		e.accepts(account.Token, true)
		other := bytes.ReplaceAll(readFile(t, one), []byte(person), []byte("11111111-2222-4333-8444-555555555555"))
		servicetest.Check(t, os.WriteFile(one, other, 0o600))
		code, out, errs = e.run("erasures replay --from", one)
		if code != exitDone || !strings.Contains(out, "ended; fundeskd account list") {
			t.Errorf("got code %d, %s%s, want that tokens ended", code, out, errs)
		}
		e.accepts(account.Token, false)
		var issued struct{ Token string }
		e.must(&issued, "token issue", account.UUID)
		e.done("erasures replay --from", one)
		e.accepts(issued.Token, true)
	})
}
