package cli

import (
	"cmp"
	"net/url"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
)

// embeddedURL is the address that requests to an embedded service carry; nothing
// listens there.
const embeddedURL = "http://embedded.localhost"

// Target is the service and account that a command works with.
type Target struct {
	Name    string // Of the profile; "" without one.
	Profile profile.Profile
	BaseURL string
	// FromProfile is set if the base URL is the profile's own, so that its stored token may go there.
	FromProfile bool
	EnvToken    string
	fromEnv     bool // The environment names the base URL: commands of the same shell go there without more.
	// foreignToken is the service of FUNDESK_TOKEN, if it is another one.
	foreignToken string
}

// IsEmbedded reports whether the service runs inside the process.
func (t *Target) IsEmbedded() bool { return strings.HasPrefix(t.BaseURL, profile.EmbeddedPrefix) }

// Label returns the name of the target for users.
func (t *Target) Label() string {
	if t.Name != "" {
		return t.Name
	}
	return ShownURL(t.BaseURL)
}

// Service names the target in one way everywhere: its address with the port, and the
// profile.
func (t *Target) Service() string {
	address := ShownURL(apitype.BaseURL(t.BaseURL))
	if u, err := url.Parse(address); err == nil && u.Host != "" && u.Port() == "" {
		port := "443"
		if u.Scheme == "http" {
			port = "80"
		}
		address = strings.Replace(address, u.Host, u.Host+":"+port, 1)
	}
	if t.Name == "" {
		return address
	}
	if t.FromProfile {
		return address + " (profile " + t.Name + ")"
	}
	return address + " (settings of profile " + t.Name + ")"
}

// ShownURL returns an address without a user, query and fragment, which may contain secrets. An ellipsis replaces them.
func ShownURL(text string) string {
	shown, _, cut := strings.Cut(text, "?")
	shown, _, cutToo := strings.Cut(shown, "#")
	if scheme, after, ok := strings.Cut(shown, "://"); ok {
		host, path, _ := strings.Cut(after, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			shown = scheme + "://…@" + strings.TrimSuffix(host[at+1:]+"/"+path, "/")
		}
	}
	if cut || cutToo {
		shown += "…"
	}
	return shown
}

// TokenSource returns the source of the target's token.
func (t *Target) TokenSource() string {
	if t.IsEmbedded() {
		return "embedded"
	}
	if t.EnvToken != "" {
		return "FUNDESK_TOKEN"
	}
	return cmp.Or(t.Profile.Storage(), "none")
}

// TargetFlag returns the flag that names a target on a command line: its profile, or its address if the profile is for
// another service.
func TargetFlag(t *Target) string {
	if t.fromEnv {
		return ""
	}
	if t.FromProfile && t.Name != "" {
		return " --profile " + t.Name
	}
	return " --base-url " + ShownURL(t.BaseURL)
}

// SettingHint returns the alternative to a missing flag, beginning with ", or": a setting of the profile. It returns ""
// if no profile is for the service.
func (s *Session) SettingHint(key, value string) string {
	t, err := s.Resolve()
	if err != nil || !t.FromProfile {
		return ""
	}
	return ", or let the profile supply it: fundesk profile set " + t.Name + " " + key + "=" + value
}

// loginCommand returns the command that stores a token for a target. It never names a profile that is for
// another service.
func loginCommand(t *Target) string {
	if t.Name == "" {
		return "fundesk auth login --base-url " + ShownURL(t.BaseURL)
	}
	if t.FromProfile {
		return "fundesk auth login --profile " + t.Name
	}
	return "fundesk auth login --profile NAME --base-url " + ShownURL(t.BaseURL)
}

// AnotherToken returns how a running program gets another token for a target.
func AnotherToken(t *Target) string {
	if t.EnvToken != "" {
		return "Quit, and start again with another FUNDESK_TOKEN"
	}
	if t.Profile.Storage() == profile.StorageCommand {
		return "The token_command" + strings.TrimSuffix(" of profile "+t.Name, " of profile ") +
			" must print another token"
	}
	return "Log in from another terminal: " + loginCommand(t)
}

// LoginHint returns how to get another token for a target. t may be nil.
func LoginHint(t *Target) string {
	if t == nil {
		return "log in: fundesk auth login; or try the demo: fundesk demo"
	}
	command := loginCommand(t)
	if t.EnvToken != "" { // It would be used after a login, too.
		return "set another FUNDESK_TOKEN, or unset it and log in: " + command
	}
	return "log in: " + command + "; or set FUNDESK_TOKEN; or try the demo: fundesk demo"
}
