package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// newAccount is an account as account add prints it.
type newAccount struct{ UUID, Token string }

func (e environment) account(name string, flags ...string) (a newAccount) {
	e.t.Helper()
	e.must(&a, "", append([]string{"account", "add", name}, flags...)...)
	return a
}

func (e environment) isRevoked(id string) bool {
	e.t.Helper()
	var all []struct {
		UUID      string
		RevokedAt *string
	}
	e.must(&all, "", "account", "list")
	for _, a := range all {
		if a.UUID == id {
			return a.RevokedAt != nil
		}
	}
	e.t.Fatalf("there is no account %s", id)
	return false
}

// TestRestoreRevokes takes access away after a backup: the restored database does not give it back.
// Promise S51: what was revoked in the replaced database stays revoked.
func TestRestoreRevokes(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var organization struct{ UUID string }
	e.must(&organization, "", "organization", "add", "--name", "A", "--abbreviation", "A")
	leaver, narrowed := e.account("leaver", "--all-organizations"), e.account("narrowed", "--all-organizations")
	replaced, same, widened := e.account("replaced", "--all-organizations"), e.account("same", "--all-organizations"), e.account("widened", "--all-organizations", "--permission", "calls:read")
	backup := filepath.Join(t.TempDir(), "backup.db")
	run := func(line string) (out string) {
		t.Helper()
		code, out, errs := e.run("", strings.Fields(line)...)
		if code != exitDone {
			t.Fatalf("%s: got code %d, %s", line, code, errs)
		}
		return out
	}
	run("backup " + backup)
	run("account revoke " + leaver.UUID)
	run("account set " + narrowed.UUID + " --permission calls:read --organization " + organization.UUID)
	run("account set " + widened.UUID + " --permission calls:read --permission persons:read")
	run("token issue " + replaced.UUID + " --replace")
	if out := run("restore " + backup); !strings.Contains(out, "as in the replaced database: 3\n") {
		t.Errorf("got %q, want that three lost something again", out)
	}
	want := func(token string, calls, persons int) {
		t.Helper()
		s := e.serve()
		for path, status := range map[string]int{"calls": calls, "persons": persons} {
			if got, body := get(t, http.DefaultClient, s.url+"/api/v1/"+path, token); got != status {
				t.Errorf("%s: got %d %s, want %d", path, got, body, status)
			}
		}
	}
	want(leaver.Token, 401, 401)
	want(narrowed.Token, 200, 403)
	want(replaced.Token, 401, 401)
	want(same.Token, 200, 200)
	want(widened.Token, 200, 403)

	run("backup " + backup + "2")
	run("key rotate --end-old-tokens")
	run("restore " + backup + "2")
	want(same.Token, 401, 401)
}

// TestUnreadReplaced restores in the place of a file that is damaged: that is what restores are for, and
// the operator is told that nothing could be carried over.
func TestUnreadReplaced(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	same := e.account("same", "--all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("", "backup", backup)
	servicetest.Check(t, os.WriteFile(filepath.Join(e.folder, "fundeskd.db"), []byte("not a database"), 0o600))
	code, _, errs := e.run("", "restore", backup)
	if code != exitDone || !strings.Contains(errs, "are good again; revoke them before you serve it") {
		t.Errorf("got code %d, %s", code, errs)
	}
	if status, _ := get(t, http.DefaultClient, e.serve().url+"/api/v1/calls", same.Token); status != 200 {
		t.Errorf("got %d after the restore", status)
	}
}

// TestKeysGoWithTheirTokens rotates the key: one that signed no token that is still good is removed.
// Promise S52: a key goes with the last token that it signed.
func TestKeysGoWithTheirTokens(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(new(struct{}), "", "organization", "add", "--name", "A", "--abbreviation", "A")
	var rotation service.KeyRotation
	for range 3 {
		if e.must(&rotation, "", "key", "rotate"); len(rotation.Earlier) > 0 {
			t.Fatalf("got %+v, want no key without a token", rotation)
		}
	}
	first := rotation.Key
	held, leaver := e.account("held", "--all-organizations"), e.account("leaver", "--all-organizations")
	e.must(&rotation, "", "key", "rotate")
	if !slices.Equal(rotation.Earlier, []string{first}) {
		t.Errorf("got %+v, want the key of the accounts' tokens", rotation)
	}
	second := rotation.Key
	e.must(new(issuedToken), "", "token", "issue", leaver.UUID)
	e.must(&rotation, "", "key", "rotate")
	if !slices.Equal(rotation.Earlier, []string{second, first}) {
		t.Errorf("got %+v, want both keys", rotation)
	}
	e.must(new(accountView), "", "account", "revoke", leaver.UUID)
	e.must(&rotation, "", "key", "rotate")
	if !slices.Equal(rotation.Earlier, []string{first}) {
		t.Errorf("got %+v, want the key of the token that is left", rotation)
	}
	if status, _ := get(t, http.DefaultClient, e.serve().url+"/api/v1/calls", held.Token); status != 200 {
		t.Errorf("got %d for the token that is left", status)
	}
}
