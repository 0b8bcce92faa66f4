package main

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/servicetest"
)

// TestReplaceTokens uses two tokens of an account, and replaces them. With an overlap both work, and the log warns that
// the old one ends; then at once.
// Promise P10: a token that was replaced is refused on its next request.
func TestReplaceTokens(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account, other accountView
	e.must(&account, "account add a --all-organizations")
	e.must(&other, "account add b --all-organizations")
	id := account.UUID.String()
	s := e.serve()
	statuses := func(want ...int) func(tokens ...string) {
		return func(tokens ...string) {
			t.Helper()
			for i, token := range tokens {
				s.replies(t, "/api/v1/persons", token, want[i])
			}
		}
	}
	before := time.Now().UTC()
	statuses(200)(account.Token)
	s.stop()
	var accounts []listedAccount
	e.must(&accounts, "account list")
	a, b := accounts[0], accounts[1]
	if len(a.Tokens) != 1 ||
		*a.Tokens[0].ExpiresAt != *account.ExpiresAt ||
		*a.ExpiresAt != *account.ExpiresAt ||
		len(b.Tokens) != 1 {
		t.Fatalf("got %+v and %+v, want when the tokens end", a, b)
	}
	_, text, _ := e.run("account list")
	ends := account.ExpiresAt.UTC().Format(time.DateOnly)
	if !strings.Contains(text, "active  ends "+ends+"  a\n") || !strings.Contains(text, "active  ends "+ends+"  b\n") {
		t.Errorf("got\n%s, want for both when they end", text)
	}

	s = e.serve()
	var second tokenView
	e.must(&second, "token issue", id, "--replace", "--overlap", "1h")
	if len(second.Replaced) != 1 ||
		second.Replaced[0].UUID != a.Tokens[0].UUID ||
		second.Replaced[0].EndedAt.Before(before.Add(time.Hour)) ||
		second.Replaced[0].EndedAt.After(time.Now().Add(time.Hour)) {
		t.Errorf("got %+v, want that the first token ends in an hour", second.Replaced)
	}
	statuses(200, 200, 200)(account.Token, second.Token, other.Token)
	log := s.log.String()
	if strings.Count(log, "a token ends soon") != 1 ||
		!strings.Contains(log, second.Replaced[0].EndedAt.UTC().Format(time.RFC3339)) {
		t.Errorf("got log %s, want that the first token ends soon", log)
	}
	code, third, told := e.run("token issue", id, "--replace")
	if code != exitDone ||
		strings.Count(third, "\n") != 1 ||
		strings.Count(told, "\n") != 2 ||
		!strings.Contains(told, "token "+a.Tokens[0].UUID.String()+", issued on "+before.Format(time.DateOnly)) {
		t.Errorf("got code %d, %s%s, want which tokens end", code, third, told)
	}
	third = strings.TrimSpace(third)
	statuses(401, 401, 200, 200)(account.Token, second.Token, third, other.Token)
	s.stop()
	e.must(&accounts, "account list")
	got := accounts[0].Tokens
	if len(got) != 1 || slices.ContainsFunc(second.Replaced, func(t service.IssuedToken) bool {
		return t.UUID == got[0].UUID
	}) {
		t.Errorf("got %+v, want the third token", got)
	}
	e.must(&account, "account revoke", id)
	e.must(&accounts, "account list")
	servicetest.Same(t, "Tokens", 0, len(accounts[0].Tokens))
	for _, test := range []struct {
		want string
		args string
	}{
		{"--overlap is for --replace only", "--overlap 1h"},
		{"is not from 0s to less than --ttl", "--replace --overlap 24h --ttl 24h"},
		{"is not from 0s to less than --ttl", "--replace --overlap -1h"},
	} {
		e.try(
			"token issue", append([]string{id}, servicetest.Words(test.args)...)...,
		).Ends(exitUsage, test.want).PrintsOnly("")
	}
	e.try("token issue", apitype.NewUUID().String(), "--replace").Ends(exitFailure, "there is no account")
}

// TestTokensOfProgramsStay tries to replace the tokens of accounts that the demo and the sandbox keep for themselves.
// Both are refused, the program's token still works, and a second token is issued.
func TestTokensOfProgramsStay(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	file := filepath.Join(e.folder, "fundeskd.db")
	demo, err := embedded.Open(t.Context(), embedded.Options{Path: file, Sample: true})
	servicetest.Check(t, err)
	tokens := []string{demo.Token()}
	servicetest.Check(t, demo.Close())
	p := e.program("", io.Discard, io.Discard)
	p.database = "sqlite:" + file
	token, err := p.fillSandbox(t.Context(), sandboxOptions{persons: 1, seed: 1}, time.Now())
	servicetest.Check(t, err)
	tokens = append(tokens, token)
	var accounts []listedAccount
	e.must(&accounts, "account list")
	names := map[string]bool{}
	for _, account := range accounts {
		names[account.Name] = true
		id := account.UUID.String()
		e.try("token issue", id, "--replace").Ends(exitFailure, "keeps for itself").PrintsOnly("")
		e.done("token issue", id)
	}
	if !names["embedded"] || !names["sandbox"] {
		t.Errorf("got %v, want the accounts of the demo and the sandbox", names)
	}
	s := e.serve()
	defer s.stop()
	for _, token := range tokens {
		s.replies(t, "/api/v1/persons", token, 200)
	}
}

// A token ends 90 days after its issue, unless --ttl has another period.
func TestTokenEndsAfterNinetyDays(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account, issued struct {
		UUID      string
		ExpiresAt apitype.Time
	}
	before := time.Now().Add(-time.Second) // A token's times are whole seconds.
	e.must(&account, "account add a --all-organizations")
	e.must(&issued, "token issue", account.UUID)
	after := time.Now()
	const life = 90 * 24 * time.Hour
	for name, ends := range map[string]apitype.Time{"account add": account.ExpiresAt, "token issue": issued.ExpiresAt} {
		if ends.Before(before.Add(life)) || ends.After(after.Add(life)) {
			t.Errorf("%s: got an end at %v, want one in 90 days", name, ends)
		}
	}
}

// The list of accounts shows for each whether it is valid, and on which days its tokens end: of a token that ends
// before it expires the earlier day, and of one of an earlier version that the day is unknown.
func TestAccountsInAList(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	on := func(days int) *apitype.Time { return new(apitype.NewTime(now.AddDate(0, 0, days))) }
	id := apitype.NewUUID()
	for name, test := range map[string]struct {
		revoked *apitype.Time
		tokens  []service.IssuedToken
		want    []string
		expires *apitype.Time
	}{
		"without a token": {nil, nil, []string{"active", "no token"}, nil},
		"with two": {
			tokens:  []service.IssuedToken{{ExpiresAt: on(90)}, {ExpiresAt: on(30)}},
			want:    []string{"active", "ends 2027-02-18, 2026-12-20"},
			expires: on(90),
		},
		"with two in another order": {
			tokens:  []service.IssuedToken{{ExpiresAt: on(30)}, {ExpiresAt: on(90)}},
			want:    []string{"active", "ends 2026-12-20, 2027-02-18"},
			expires: on(90),
		},
		"with one that was replaced": {
			tokens:  []service.IssuedToken{{ExpiresAt: on(90), EndedAt: on(2)}, {ExpiresAt: on(1), EndedAt: on(2)}},
			want:    []string{"active", "ends 2026-11-22, 2026-11-21"},
			expires: on(2),
		},
		"with one that has ended": {
			tokens: []service.IssuedToken{{ExpiresAt: on(0)}, {ExpiresAt: on(90), EndedAt: on(-1)}},
			want:   []string{"active", "no token"},
		},
		"with one of an earlier version": {
			tokens:  []service.IssuedToken{{}, {ExpiresAt: on(1)}},
			want:    []string{"active", "ends unknown, 2026-11-21"},
			expires: on(1),
		},
		"that is revoked, though it lasts": {
			revoked: on(-1),
			tokens:  []service.IssuedToken{{ExpiresAt: on(90)}},
			want:    []string{"revoked", ""},
		},
	} {
		l := listAccount(service.Account{UUID: id, Name: "N", RevokedAt: test.revoked}, test.tokens, now)
		want := append(append([]string{id.String()}, test.want...), "N")
		servicetest.Same(t, name, want, l.cells())
		if (l.ExpiresAt == nil) != (test.expires == nil) || l.ExpiresAt != nil && !l.ExpiresAt.Equal(*test.expires) {
			t.Errorf("%s: got its last end at %v, want %v", name, l.ExpiresAt, test.expires)
		}
	}
}

// TestKeyRotate replaces the key while two programs serve the database. It counts the tokens that end and asks. Then
// both programs refuse every earlier token and cursor.
// Promise S52: there is one signing key, and a rotation ends every token.
func TestKeyRotate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account, other struct{ UUID, Token string }
	e.must(&account, "account add a --all-organizations")
	e.must(&other, "account add b --all-organizations")
	e.done("account revoke", other.UUID)
	e.must(&map[string]int{}, "sample --persons 20")
	first, second := e.serve(), e.serve()
	ask := func(path, token string, want int) (answer string) {
		t.Helper()
		for _, s := range []serving{first, second} {
			for begun := time.Now(); ; {
				status, body := s.get(t, path, token)
				if status == want {
					answer = body
					break
				}
				if time.Since(begun) > *takeover { // A process knows the new key within seconds.
					t.Fatalf("%s: got %d %s, want %d", path, status, body, want)
				}
			}
		}
		return answer
	}
	_, cursor, _ := strings.Cut(ask("/api/v1/persons?first=1", account.Token, 200), `"endCursor":"`)
	next := "/api/v1/persons?first=1&after=" + strings.SplitN(cursor, `"`, 2)[0]

	e.try("key rotate").Ends(exitUsage, "ends every token, 1 of them", "--yes")
	ask("/api/v1/persons", account.Token, 200)
	var rotation struct {
		Key   string
		Ended int
	}
	if e.must(&rotation, "key rotate --yes"); rotation.Key == "" || rotation.Ended != 1 {
		t.Errorf("got %+v, want a key, and that one token ended", rotation)
	}
	ask("/api/v1/persons", account.Token, 401)
	var issued struct{ Token string }
	e.must(&issued, "token issue", account.UUID)
	ask("/api/v1/persons", issued.Token, 200)
	ask(next, issued.Token, 400)
	var accounts []listedAccount
	if e.must(&accounts, "account list"); len(accounts[0].Tokens) != 1 {
		t.Errorf("got %+v, want the new token alone", accounts[0].Tokens)
	}
	if code, out, errs := e.run("audit list -o ndjson"); code != exitDone || strings.Count(out, `"key.rotate"`) != 1 {
		t.Errorf("audit: got code %d, %s%s, want one rotation", code, out, errs)
	}
}

// TestOneFileIsEverything looks what lies in the folder of a database and of a backup, and serves the copies: their
// tokens are good.
func TestOneFileIsEverything(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	account := e.account("a --all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	for _, folder := range []string{e.folder, filepath.Dir(backup)} {
		if files := listing(folder); len(files) != 1 {
			t.Errorf("got %v, want the database alone", files)
		}
	}
	e.done("dump", backup+".lines")
	e.done("load", backup+".lines", "--database", "sqlite:"+backup+".copy")
	for _, file := range []string{backup, backup + ".copy"} {
		other := e
		other.database = "sqlite:" + file
		replies(t, other.serve().url+"/api/v1/persons", account.Token, 200)
	}
}

// TestTokenOfARevokedAccountIsNotAwaited revokes an account whose token ends soon. The metric that warns of tokens
// which end no longer counts it.
func TestTokenOfARevokedAccountIsNotAwaited(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	leaver := e.account("leaver", "--all-organizations", "--ttl", "1h")
	e.account("stays", "--all-organizations", "--ttl", "240h")
	e.done("account revoke", leaver.UUID)
	s := e.serve()
	defer s.stop()

	_, page := s.get(t, "/metrics", "")

	found := regexp.MustCompile(`\nfundeskd_token_ends_seconds ([0-9.e+]+)\n`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the metric is missing")
	}
	left, err := strconv.ParseFloat(found[1], 64)
	servicetest.Check(t, err)
	if left < (239 * time.Hour).Seconds() {
		t.Errorf("got %v seconds, want those of the token that is valid", left)
	}
}
