package commands

import (
	"testing"

	"fundesk/commands/profile"
)

// A refused token is replaced where it comes from.
func TestAnotherTokenComesFromWhereItCame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from target
		want string
	}{
		{target{name: "prod", envToken: "x"}, "Quit, and start again with another FUNDESK_TOKEN"},
		{target{name: "prod", profile: profile.Profile{TokenCommand: []string{"pass", "show"}}}, "The token_command of profile prod must print another token"},
		{target{name: "prod", profile: profile.Profile{TokenStorage: "keyring"}}, "Log in from another terminal: fundesk auth login --profile prod"},
	} {
		if got := anotherToken(&test.from); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
