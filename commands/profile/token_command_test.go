package profile_test

import (
	"os"
	"strings"
	"testing"

	"fundesk/commands/profile"
)

// The rest of a token command's output is neither printed nor kept without a bound.
func TestTokenCommandOutput(t *testing.T) {
	t.Parallel()
	const secret = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI2NDc1ZmY2MSJ9.c2lnbmF0dXJl"
	tests := []struct {
		name    string
		script  string
		want    string
		problem string
	}{
		{"two lines", "echo abc; echo def", "", "more than one line"},
		{"two lines of another system", `printf 'abc\r\ndef\r\n'`, "", "more than one line"},
		{"one line of another system", `printf 'abc\r\n'`, "abc", ""},
		{"64 KiB", "head -c 65536 /dev/zero | tr '\\0' a", strings.Repeat("a", 65536), ""},
		{"more than 64 KiB", "head -c 65537 /dev/zero | tr '\\0' a", "", "too much"},
		{"without end", "exec yes " + secret + " | head -c 8388608", "", "too much"},
		{"complains and works", "echo " + secret + " >&2; echo abc", "abc", ""},
		{"leaves a child behind", "sleep 60 & echo abc", "abc", ""},
		{
			name:    "complains with a header",
			script:  "echo 'Authorization: Bearer " + secret + "' >&2; exit 3",
			problem: "exit status 3: Authorization: Bearer ***",
		},
		{"complains with the token alone", "echo " + secret + " >&2; exit 3", "", "***"},
		{
			name:    "complains with a named secret",
			script:  "echo 'cannot use password=c2lnbmF0 now' >&2; exit 3",
			problem: "cannot use password=*** now",
		},
		{
			name:    "complains about a file",
			script:  "echo /home/desk/.password-store/fundesk/prod.gpg: not there >&2; exit 3",
			problem: "/home/desk/.password-store/fundesk/prod.gpg: not there",
		},
		{"complains without end", "yes 'no way' | tr '\\n' ' ' | head -c 8388608 >&2; exit 3", "", "no way"},
		{"says nothing", "exit 3", "", "exit status 3"},
	}
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := tokens.Get(t.Context(), "prod", profile.Profile{
				TokenStorage: profile.StorageCommand, TokenCommand: []string{"sh", "-c", test.script},
			})
			if got != test.want || (err == nil) != (test.problem == "") {
				t.Fatalf("got %.100q, %v, want %.100q", got, err, test.want)
			}
			if err == nil {
				return
			}
			text := err.Error()
			if !strings.Contains(text, test.problem) || strings.Contains(text, "c2lnbmF0") || len(text) > 300 {
				t.Errorf("got %s, want %q and no secret", text, test.problem)
			}
		})
	}
}
