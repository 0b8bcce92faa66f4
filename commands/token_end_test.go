package commands

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tokenOf returns a token that ends after a time.
func tokenOf(left time.Duration) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"EdDSA"}`) + "." + part(`{"sub":"a","exp":`+strconv.FormatInt(time.Now().Add(left).Unix(),
		10)+`}`) + ".c2ln"
}

// Every command that uses a token in its last 14 days warns of it, unless it has --quiet.
func TestTokenEndsSoon(t *testing.T) {
	t.Parallel()
	address := serving(t, status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[]}`))
	const day = 24 * time.Hour
	for _, test := range []struct {
		left time.Duration
		args string
		want string
	}{
		{13*day + day/2, "call list", " ends in 13 days, on 20"},
		{day + day/2, "call list -o json", " ends in 1 day, on 20"},
		{5*time.Hour + time.Minute, "call list", " ends in 5h, at 20"},
		{15 * day, "call list", ""},
		{day + day/2, "call list --quiet", ""},
	} {
		token := tokenOf(test.left)
		_, errs, code := lineAt(t, address, token).run(t, test.args)
		told := strings.Contains(errs, " ends in ")
		if code != 0 || told != (test.want != "") || !strings.Contains(errs, test.want) {
			t.Errorf("%s with %s left: got exit code %d and %q, want %q", test.args, test.left, code, errs, test.want)
		}
	}
	login := line{environment: map[string]string{"HOME": t.TempDir()}, stdin: tokenOf(day)}
	words := "auth login --profile p --with-token --insecure-storage --base-url " + address
	login.try(t, words).Ends(0, "another one, then: fundesk auth login --profile p\n")
}

// A 401 for an ended token names its end.
func TestAnExpiredTokenIsToldAsExpired(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	environment := map[string]string{
		"HOME":          t.TempDir(),
		"FUNDESK_TOKEN": text(`{"alg":"none"}`) + "." + text(`{"exp":1700000000}`) + ".",
	}
	h := plain(t)
	environment["FUNDESK_BASE_URL"] = h.URL
	(line{environment: environment}).try(t, "call list").Ends(4, "the token from FUNDESK_TOKEN expired 20")
}
