package commands

import (
	"context"
	"errors"
	"strings"

	"fundesk/apiclient"
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
}

func (t *target) isEmbedded() bool { return strings.HasPrefix(t.baseURL, profile.EmbeddedPrefix) }

// label is the target as a person knows it.
func (t *target) label() string {
	if t.name != "" {
		return t.name
	}
	return shownURL(t.baseURL)
}

// place is the target with its address.
func (t *target) place() string {
	if t.name == "" {
		return t.label()
	}
	return t.name + " at " + shownURL(t.baseURL)
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

// resolve finds the target: flag, environment, profile, in this order.
func (s *session) resolve() (*target, error) {
	if s.target != nil {
		return s.target, nil
	}
	t, err := s.findProfile()
	if err != nil {
		return nil, err
	}
	switch {
	case s.flags.baseURL != "":
		t.baseURL = s.flags.baseURL
	case t.profile.IsEmbedded() && s.flags.profile != "": // --profile demo wins over the environment.
		t.baseURL = t.profile.BaseURL
	case s.app.Getenv("FUNDESK_BASE_URL") != "":
		t.baseURL = s.app.Getenv("FUNDESK_BASE_URL")
	default:
		t.baseURL = t.profile.BaseURL
	}
	if t.baseURL == "" {
		return nil, noTarget("no service is chosen")
	}
	t.fromProfile = strings.TrimRight(t.baseURL, "/") == strings.TrimRight(t.profile.BaseURL, "/")
	t.envToken = s.app.Getenv("FUNDESK_TOKEN")
	s.target = t
	return t, nil
}

// profileName is the name of the profile that is asked for, "" when none is.
func (s *session) profileName(config profile.Config) string {
	for _, name := range []string{s.flags.profile, s.app.Getenv("FUNDESK_PROFILE"), config.Current} {
		if name != "" {
			return name
		}
	}
	return ""
}

// findProfile finds the profile; without one everything may come from the environment.
func (s *session) findProfile() (*target, error) {
	if s.flags.profile == profile.Demo { // Works even beside a broken configuration.
		if config, err := s.store().Load(); err == nil {
			if p, ok := config.Profiles[profile.Demo]; ok {
				return &target{name: profile.Demo, profile: p}, nil
			}
		}
		return &target{name: profile.Demo, profile: profile.Profile{BaseURL: profile.DemoURL}}, nil
	}
	config, err := s.store().Load()
	if err != nil {
		return nil, usageError(err.Error())
	}
	name := s.profileName(config)
	if name == "" {
		return &target{}, nil
	}
	p, ok := config.Profiles[name]
	switch {
	case ok:
	case name == profile.Demo:
		p = profile.Profile{BaseURL: profile.DemoURL}
	case s.flags.baseURL != "" || s.app.Getenv("FUNDESK_BASE_URL") != "":
	default:
		return nil, noTarget("there is no profile " + quote(name))
	}
	return &target{name: name, profile: p}, nil
}

func noTarget(message string) error {
	return withHint(failure(apiclient.KindUnauthenticated, "%s", message),
		"log in: fundesk auth login --profile NAME --base-url https://…; or try the demo: fundesk demo, or any command with --profile demo")
}

// token finds the token of a target.
func (s *session) token(ctx context.Context, t *target) (string, error) {
	if t.envToken != "" {
		return t.envToken, nil
	}
	stored := t.profile.TokenStorage != ""
	if stored && !t.fromProfile {
		return "", withHint(failure(apiclient.KindUnauthenticated, "the stored token of profile %s belongs to %s and is not sent to %s", quote(t.name), shownURL(t.profile.BaseURL), shownURL(t.baseURL)),
			"set FUNDESK_TOKEN, or log in there: fundesk auth login --profile NAME --base-url "+shownURL(t.baseURL))
	}
	token, err := s.tokens().Get(ctx, t.name, t.profile)
	elsewhere, isElsewhere := errors.AsType[*profile.OriginError](err)
	switch {
	case err == nil:
		return token, nil
	case isElsewhere:
		return "", withHint(failure(apiclient.KindUnauthenticated, "the base URL of profile %s was changed: %s", quote(t.name), elsewhere),
			"log in to "+elsewhere.Named+": fundesk auth login"+profileFlag(t)+"; or change it back in "+s.store().Path())
	case errors.Is(err, profile.ErrNoToken):
		return "", withHint(failure(apiclient.KindUnauthenticated, "no token for %s", quote(t.label())), loginHint(t))
	case errors.Is(ctx.Err(), context.Canceled): // A token command ends with it.
		return "", failure(apiclient.KindInterrupted, "interrupted")
	default:
		return "", withHint(failure(apiclient.KindUnauthenticated, "the token of profile %s cannot be read: %s", quote(t.name), err),
			"set FUNDESK_TOKEN, or log in again: fundesk auth login"+profileFlag(t))
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

// openEmbedded opens the service of an embedded: base URL.
func (s *session) openEmbedded(ctx context.Context, t *target) error {
	if s.embedded != nil {
		return nil
	}
	if s.app.OpenEmbedded == nil {
		return failure(apiclient.KindUsage, "this program has no embedded service")
	}
	name := strings.TrimPrefix(t.baseURL, profile.EmbeddedPrefix)
	embedded, err := s.app.OpenEmbedded(ctx, name, s.dataDir())
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return failure(apiclient.KindInterrupted, "interrupted")
	case err != nil:
		return withHint(failure(apiclient.KindFailure, "open the embedded service: %s", err), "its data is in "+s.dataDir()+"; FUNDESK_DATA_DIR names another folder")
	}
	s.embedded = embedded
	return nil
}
