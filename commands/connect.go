package commands

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/commands/profile"
)

// resolve finds the target: --base-url, else --profile, which names the target whole, else
// the environment's address, else its profile, else the current one.
func (s *session) resolve() (*target, error) {
	if s.target != nil {
		return s.target, nil
	}
	config, err := s.config()
	if err != nil && (s.flags.profile != profile.Demo || s.store().Dir == "") {
		return nil, err // --profile demo works even beside a broken configuration.
	}
	t := &target{name: s.profileName(config)}
	if t.name != "" {
		if t.profile, err = findProfile(config, t.name); err != nil {
			return nil, err
		}
	}
	fromEnv := s.app.Getenv("FUNDESK_BASE_URL")
	switch {
	case s.flags.baseURL != "":
		t.baseURL = s.flags.baseURL
	case s.flags.profile == "" && fromEnv != "":
		t.baseURL = fromEnv
	default:
		t.baseURL = t.profile.BaseURL
	}
	if t.baseURL == "" {
		return nil, withHint(failure(apiclient.KindUnauthenticated, "no service is chosen"),
			"log in: fundesk auth login --profile NAME --base-url https://…; or try the demo: fundesk demo, or any command with --profile demo")
	}
	t.fromProfile = isSameURL(t.baseURL, t.profile.BaseURL)
	if fromEnv == "" || isSameURL(t.baseURL, fromEnv) {
		t.envToken = s.app.Getenv("FUNDESK_TOKEN")
	} else if s.app.Getenv("FUNDESK_TOKEN") != "" {
		t.foreignToken = fromEnv
	}
	s.target = t
	return t, nil
}

func isSameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// profileName is the name of the profile that is asked for, "" when none is.
func (s *session) profileName(config profile.Config) string {
	return cmp.Or(s.flags.profile, s.app.Getenv("FUNDESK_PROFILE"), config.Current)
}

// config is the configuration with the profile that is always there.
func (s *session) config() (profile.Config, error) {
	config, err := s.store().Load()
	if demo := config.Profiles[profile.Demo]; demo.BaseURL == "" { // It may say how it is worked with.
		demo.BaseURL = profile.DemoURL
		config.Profiles[profile.Demo] = demo
	}
	if err != nil {
		err = usageError(err.Error())
	}
	return config, err
}

// findProfile is the profile of a name; without one the error tells the nearest.
func findProfile(config profile.Config, name string) (profile.Profile, error) {
	p, ok := config.Profiles[name]
	if ok {
		return p, nil
	}
	names := slices.Sorted(maps.Keys(config.Profiles))
	hint := "there are " + strings.Join(names, ", ") + "; another one: fundesk profile add NAME --base-url https://…"
	if near := nearest(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return p, withHint(usageError("there is no profile "+quote(name)), hint)
}

// defaults is the profile in use, empty when there is none: what it says of the user
// must not stand in the way of a --dry-run.
func (s *session) defaults() profile.Profile {
	t, err := s.resolve()
	if err != nil {
		return profile.Profile{}
	}
	return t.profile
}

// token finds the token of a target.
func (s *session) token(ctx context.Context, t *target) (string, error) {
	if t.envToken != "" {
		return t.envToken, nil
	}
	if t.foreignToken != "" && (t.profile.Storage() == "" || !t.fromProfile) {
		return "", withHint(failure(apiclient.KindUnauthenticated, "no token for %s: FUNDESK_TOKEN belongs to %s (FUNDESK_BASE_URL), and is not sent elsewhere", shownURL(t.baseURL), shownURL(t.foreignToken)),
			"set FUNDESK_BASE_URL to the same service, or unset it")
	}
	if t.profile.Storage() != "" && !t.fromProfile {
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

// openEmbedded opens the service of an embedded: base URL.
func (s *session) openEmbedded(ctx context.Context, t *target) error {
	if s.embedded != nil {
		return nil
	}
	if s.app.OpenEmbedded == nil {
		return failure(apiclient.KindUsage, "this program has no embedded service")
	}
	dir, err := s.dataDir()
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(t.baseURL, profile.EmbeddedPrefix)
	embedded, err := s.app.OpenEmbedded(ctx, name, dir)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return failure(apiclient.KindInterrupted, "interrupted")
	case err != nil:
		return withHint(failure(apiclient.KindFailure, "open the embedded service: %s", err), "its data is in "+dir+"; FUNDESK_DATA_DIR names another folder")
	}
	s.embedded = embedded
	return nil
}

// serviceName is the service that changes go to, "" where none is chosen.
func (s *session) serviceName() (string, error) {
	t, err := s.resolve()
	switch {
	case err == nil:
		return t.service(), nil
	case apiclient.KindOf(err) == apiclient.KindUnauthenticated: // What would be sent can be seen without.
		return "", nil
	default:
		return "", err
	}
}

// connect is the client of the chosen service.
func (s *session) connect(ctx context.Context) (*apiclient.Client, error) {
	if s.client != nil {
		return s.client, nil
	}
	t, err := s.resolve()
	if err != nil {
		return nil, err
	}
	options := apiclient.Options{
		Timeout: s.flags.timeout, UserAgent: "fundesk/" + s.version(), Now: s.app.Now, Sleep: s.app.Sleep,
		PaymentQRParameter: t.profile.PaymentQRParameter, BaseURL: t.baseURL,
		Network: s.network(t), Tries: s.flags.retries + 1,
		Unpaged: t.profile.Unpaged, Omitted: s.omitted.add,
		Token: func(ctx context.Context) (string, error) {
			token, err := s.token(ctx, t)
			s.tokenEnds.Store(new(expiry(token)))
			return token, err
		},
	}
	options.Account = accountOf(t.name)
	if s.unpaged {
		options.Unpaged = listNouns
	}
	if s.flags.debug {
		options.Trace = cleaned{s.app.Err}
	}
	if t.isEmbedded() {
		if err := s.openEmbedded(ctx, t); err != nil {
			return nil, err
		}
		options.BaseURL, options.Transport = embeddedURL, s.embedded
		options.Token = func(context.Context) (string, error) { return s.embedded.Token(), nil }
	}
	s.client, err = apiclient.New(options)
	return s.client, err
}

// accountOf names the account of a profile, or of none, whose token does not name one.
func accountOf(profile string) string { return "profile-" + profile }

// endsSoon is how long before its end a token is told of.
const endsSoon = 14 * 24 * time.Hour

// tokenEnd is in how many days the token that was used ends, and on which, for one that ends soon: the
// day after, nothing works. Empty for every other one.
func (s *session) tokenEnd() string {
	ends := s.tokenEnds.Load()
	if ends == nil || ends.IsZero() || s.target == nil {
		return ""
	}
	left := ends.Sub(s.app.Now())
	if left <= 0 || left > endsSoon {
		return ""
	}
	return "ends in " + count(int(left/(24*time.Hour)), "day") + ", on " + ends.Local().Format(time.DateOnly)
}

// noteTokenEnd tells of it.
func (s *session) noteTokenEnd() {
	ends := s.tokenEnd()
	if ends == "" {
		return
	}
	next := "fundesk auth login" + profileFlag(s.target)
	if s.target.envToken != "" {
		next = "set another FUNDESK_TOKEN"
	}
	s.note("the token for %s %s; ask who operates the service for another one, then: %s", s.target.service(), ends, next)
}

// network is the way to the service, as the profile and --ca-cert have it.
func (s *session) network(t *target) apiclient.Network {
	p := t.profile
	if !t.fromProfile { // They are of another service.
		p = profile.Profile{}
	}
	return apiclient.Network{CACert: cmp.Or(s.flags.caCert, p.CACert), ClientCert: p.ClientCert, ClientKey: p.ClientKey, Proxy: p.Proxy}
}

// listNouns are those that the interface lists.
var listNouns = []string{"person", "call", "pledge"}
