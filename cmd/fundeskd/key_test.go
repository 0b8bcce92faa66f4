package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestKeyRotate renews the key while two programs serve the database: old and new tokens are good
// at both, cursors too, and so they are in a backup; then what was signed before is voided.
// Promise S52: earlier keys go on verifying, unless their end is asked for.
func TestKeyRotate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account struct{ UUID, Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	e.must(&map[string]int{}, "", "sample", "--persons", "20")
	first, second := e.serve(), e.serve()
	ask := func(path, token string, want int) (answer string) {
		t.Helper()
		for _, s := range []serving{first, second} {
			status, body := get(t, http.DefaultClient, s.url+path, token)
			if status != want {
				t.Errorf("%s: got %d %s, want %d", path, status, body, want)
			}
			answer = body
		}
		return answer
	}
	issue := func() string {
		t.Helper()
		var issued struct{ Token string }
		e.must(&issued, "", "token", "issue", account.UUID)
		return issued.Token
	}
	_, cursor, _ := strings.Cut(ask("/api/v1/persons?first=1", account.Token, 200), `"endCursor":"`)
	next := "/api/v1/persons?first=1&after=" + strings.SplitN(cursor, `"`, 2)[0]

	var rotation, again service.KeyRotation
	e.must(&rotation, "", "key", "rotate")
	fresh := issue()
	ask("/api/v1/persons", fresh, 200)
	ask("/api/v1/persons", account.Token, 200)
	ask(next, fresh, 200)
	e.must(&again, "", "key", "rotate")
	if len(again.Earlier) != 2 || again.Earlier[0] != rotation.Key || again.Key == rotation.Key {
		t.Errorf("got %+v after %+v, want both earlier keys", again, rotation)
	}
	ask("/api/v1/persons", account.Token, 200)

	e.must(&rotation, "", "key", "rotate", "--end-old-tokens")
	if len(rotation.Earlier) > 0 {
		t.Errorf("got %+v, want no earlier keys", rotation)
	}
	last := issue()
	ask("/api/v1/persons", last, 200)
	ask("/api/v1/persons", account.Token, 401)
	ask("/api/v1/persons", fresh, 401)
	ask(next, last, 400)
	if code, out, errs := e.run("", "audit", "list", "-o", "ndjson"); code != exitDone || strings.Count(out, `"key.rotate"`) != 3 {
		t.Errorf("audit: got code %d, %s%s, want three rotations", code, out, errs)
	}
}

// TestKeyGoesWhileServed takes the key of a served file away: nothing is answered, and nothing
// makes another one.
func TestKeyGoesWhileServed(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var account struct{ Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	s := e.serve()
	key := filepath.Join(e.folder, "fundeskd.db.key")
	servicetest.Check(t, os.Rename(key, key+".away"))
	await := func(path string, want int) (body string) {
		t.Helper()
		for begun := time.Now(); ; {
			status, body := get(t, http.DefaultClient, s.url+path, account.Token)
			if status == want {
				return body
			}
			if time.Since(begun) > *takeover {
				t.Fatalf("%s: got %d %s, want %d", path, status, body, want)
			}
		}
	}
	await("/readyz", 503)
	if body := await("/api/v1/persons", 503); !strings.Contains(body, "signing key") || strings.Contains(body, e.folder) {
		t.Errorf("got %s, want that the signing key cannot be read, and no path", body)
	}
	if !strings.Contains(s.log.String(), key) {
		t.Errorf("the log does not name %s: %s", key, s.log)
	}
	servicetest.Check(t, os.Rename(key+".away", key))
	await("/readyz", 200)
	await("/api/v1/persons", 200)
}

// TestBackupOfEarlierKeys restores a backup of a database whose key was renewed: tokens of the
// earlier key are good there.
func TestBackupOfEarlierKeys(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var account struct{ Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	e.must(&service.KeyRotation{}, "", "key", "rotate")
	backup := filepath.Join(t.TempDir(), "backup.db")
	for _, args := range [][]string{{"backup", backup}, {"dump", backup + ".lines"}, {"load", backup + ".lines", "--database", "sqlite:" + backup + ".copy"}} {
		if code, _, errs := e.run("", args...); code != exitDone {
			t.Fatalf("%s: %s", args[0], errs)
		}
	}
	for _, file := range []string{backup, backup + ".copy"} {
		other := e
		other.database = "sqlite:" + file
		if status, body := get(t, http.DefaultClient, other.serve().url+"/api/v1/persons", account.Token); status != 200 {
			t.Errorf("%s: got %d %s, want 200", file, status, body)
		}
	}
}
