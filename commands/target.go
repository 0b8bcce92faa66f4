package commands

import (
	"cmp"
	"net/url"
	"strings"

	"fundesk/commands/profile"
)

// embeddedURL is the address that requests to an embedded service carry; nothing
// listens there.
const embeddedURL = "http://embedded.localhost"

// target is the service and account that a command works with.
type target struct {
	name    string // Of the profile; "" without one.
	profile profile.Profile
	baseURL string
	// fromProfile says that the base URL is the profile's own, so that its stored token
	// may go there.
	fromProfile bool
	envToken    string
	// foreignToken is the service that FUNDESK_TOKEN belongs to where that is another one.
	foreignToken string
}

func (t *target) isEmbedded() bool { return strings.HasPrefix(t.baseURL, profile.EmbeddedPrefix) }

// label is the target as a person knows it.
func (t *target) label() string {
	if t.name != "" {
		return t.name
	}
	return shownURL(t.baseURL)
}

// service names the target in one way everywhere: its address with the port, and the
// profile.
func (t *target) service() string {
	address := shownURL(t.baseURL)
	if u, err := url.Parse(address); err == nil && u.Host != "" && u.Port() == "" {
		port := "443"
		if u.Scheme == "http" {
			port = "80"
		}
		address = strings.Replace(address, u.Host, u.Host+":"+port, 1)
	}
	switch {
	case t.name == "":
		return address
	case t.fromProfile:
		return address + " (profile " + t.name + ")"
	default:
		return address + " (settings of profile " + t.name + ")"
	}
}

// shownURL is an address as it may be shown: a user, a query and a fragment may hold what
// is secret, and are told of by an ellipsis.
func shownURL(text string) string {
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

// tokenSource is where the token of a target comes from.
func (t *target) tokenSource() string {
	switch {
	case t.isEmbedded():
		return "embedded"
	case t.envToken != "":
		return "FUNDESK_TOKEN"
	default:
		return cmp.Or(t.profile.Storage(), "none")
	}
}

// profileFlag names a profile for a command that is to be typed.
func profileFlag(t *target) string {
	if t.name == "" {
		return ""
	}
	return " --profile " + t.name
}

// anotherToken says how a running program gets another token for a target.
func anotherToken(t *target) string {
	switch {
	case t.envToken != "":
		return "Quit, and start again with another FUNDESK_TOKEN"
	case t.profile.Storage() == profile.StorageCommand:
		return "The token_command" + strings.TrimSuffix(" of profile "+t.name, " of profile ") + " must print another token"
	default:
		return "Log in from another terminal: fundesk auth login" + profileFlag(t)
	}
}

// loginHint is the way to another token for a target, nil when none was chosen.
func loginHint(t *target) string {
	command := "fundesk auth login"
	if t == nil {
		return "log in: " + command + "; or try the demo: fundesk demo"
	}
	if t.name != "" {
		command += " --profile " + t.name
	}
	if !t.fromProfile {
		command += " --base-url " + shownURL(t.baseURL)
	}
	if t.envToken != "" { // It would be used after a login, too.
		return "set another FUNDESK_TOKEN, or unset it and log in: " + command
	}
	return "log in: " + command + "; or set FUNDESK_TOKEN; or try the demo: fundesk demo"
}
