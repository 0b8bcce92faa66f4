package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
	"fundesk/render"
)

// Resolve finds the target: --base-url, else --profile, which names the target whole, else
// the environment's address, else its profile, else the current one.
func (s *Session) Resolve() (*Target, error) {
	if s.Target != nil {
		return s.Target, nil
	}
	config, err := s.Config()
	if err != nil && (s.Flags.Profile != profile.Demo || s.Store().Dir == "") {
		return nil, err // --profile demo works even with a broken configuration.
	}
	t := &Target{Name: s.ProfileName(config)}
	if t.Name != "" {
		t.Profile, err = FindProfile(config, t.Name)
		if err != nil {
			return nil, err
		}
	}
	fromEnv := s.App.Getenv("FUNDESK_BASE_URL")
	switch {
	case s.Flags.BaseURL != "":
		t.BaseURL = s.Flags.BaseURL
	case s.Flags.Profile == "" && fromEnv != "":
		t.BaseURL, t.fromEnv = fromEnv, true
	default:
		t.BaseURL = t.Profile.BaseURL
	}
	t.BaseURL = apitype.BaseURL(t.BaseURL)
	if t.BaseURL == "" {
		return nil, WithHint(
			Failure(apiclient.KindUnauthenticated, "no service is chosen"),
			"log in: fundesk auth login --profile NAME --base-url https://…; or try the demo: fundesk demo, or any "+
				"command with --profile demo",
		)
	}
	t.FromProfile = t.BaseURL == t.Profile.BaseURL
	if !t.FromProfile {
		t.Profile = t.Profile.Elsewhere()
	}
	if fromEnv == "" || t.BaseURL == apitype.BaseURL(fromEnv) {
		t.EnvToken = s.App.Getenv("FUNDESK_TOKEN")
	} else if s.App.Getenv("FUNDESK_TOKEN") != "" {
		t.foreignToken = fromEnv
	}
	s.Target = t
	return t, nil
}

// ProfileName returns the name of the requested profile, or "".
func (s *Session) ProfileName(config profile.Config) string {
	return cmp.Or(s.Flags.Profile, s.App.Getenv("FUNDESK_PROFILE"), config.Current)
}

// Config returns the configuration with the profile demo, which always exists.
func (s *Session) Config() (profile.Config, error) {
	config, err := s.Store().Load()
	demo := config.Profiles[profile.Demo] // The file may have its settings, and never another address.
	demo.BaseURL = profile.DemoURL
	config.Profiles[profile.Demo] = demo
	isNamed := s.App.Getenv("FUNDESK_BASE_URL") != "" && s.App.Getenv("FUNDESK_TOKEN") != ""
	if isNamed && errors.Is(err, profile.ErrNoFolder) {
		return config, nil // The environment is enough.
	}
	if err != nil {
		err = UsageError(err.Error())
	}
	return config, err
}

// FindProfile returns the profile of a name. Without one, the error has the nearest name.
func FindProfile(config profile.Config, name string) (profile.Profile, error) {
	p, ok := config.Profiles[name]
	if ok {
		return p, nil
	}
	names := slices.Sorted(maps.Keys(config.Profiles))
	hint := "add it: fundesk profile add NAME --base-url https://…"
	if len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ") + "; " + hint
	}
	if near := Nearest(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return p, WithHint(UsageError("there is no profile "+Quote(name)), hint)
}

// Defaults returns the profile in use, or an empty one: a broken profile must not block a --dry-run.
func (s *Session) Defaults() profile.Profile {
	t, err := s.Resolve()
	if err != nil {
		return profile.Profile{}
	}
	return t.Profile
}

// Token returns the token of requests to a target.
func (s *Session) Token(ctx context.Context, t *Target) (string, error) { return s.cachedToken(ctx, t) }

// storedToken finds the token of a target, or the session of a person.
func (s *Session) storedToken(ctx context.Context, t *Target) (string, error) {
	if t.EnvToken != "" {
		return t.EnvToken, nil
	}
	if t.foreignToken != "" && (t.Profile.Storage() == "" || !t.FromProfile) {
		return "", WithHint(
			Failure(
				apiclient.KindUnauthenticated,
				"no token for %s: FUNDESK_TOKEN belongs to %s (FUNDESK_BASE_URL), and is not sent elsewhere",
				ShownURL(t.BaseURL),
				ShownURL(t.foreignToken),
			),
			"set FUNDESK_BASE_URL to the same service, or unset it",
		)
	}
	if t.Profile.Storage() != "" && !t.FromProfile {
		return "", WithHint(
			Failure(
				apiclient.KindUnauthenticated,
				"the stored token of profile %s belongs to %s and is not sent to %s",
				Quote(t.Name),
				ShownURL(t.Profile.BaseURL),
				ShownURL(t.BaseURL),
			),
			"set FUNDESK_TOKEN, or log in there: "+loginCommand(t),
		)
	}
	token, err := s.Tokens().Get(ctx, t.Name, t.Profile)
	elsewhere, isElsewhere := errors.AsType[*profile.OriginError](err)
	if err == nil {
		return token, nil
	}
	if isElsewhere {
		return "", WithHint(
			Failure(
				apiclient.KindUnauthenticated,
				"the base URL of profile %s was changed: %s",
				Quote(t.Name),
				elsewhere,
			),
			"log in to "+elsewhere.Named+": "+loginCommand(t)+"; or change it back in "+s.Store().Path(),
		)
	}
	if errors.Is(err, profile.ErrNoToken) {
		return "", WithHint(Failure(apiclient.KindUnauthenticated, "no token for %s", Quote(t.Label())), LoginHint(t))
	}
	if errors.Is(ctx.Err(), context.Canceled) { // A token command ends with it.
		return "", Failure(apiclient.KindInterrupted, "interrupted")
	}
	return "", WithHint(
		Failure(apiclient.KindUnauthenticated, "the token of profile %s cannot be read: %s", Quote(t.Name), err),
		"set FUNDESK_TOKEN, or log in again: "+loginCommand(t),
	)
}

// CurrentToken returns the token of requests.
func (s *Session) CurrentToken(ctx context.Context, t *Target) (string, error) {
	if t.IsEmbedded() {
		return s.embedded.Token(), nil
	}
	return s.Token(ctx, t)
}

// OpenEmbedded opens the service of an embedded: base URL.
func (s *Session) OpenEmbedded(ctx context.Context, t *Target) error {
	if s.embedded != nil {
		return nil
	}
	if s.App.OpenEmbedded == nil {
		return Failure(apiclient.KindUsage, "this program has no embedded service")
	}
	dir, err := wantDir(s.dir("FUNDESK_DATA_DIR", "XDG_DATA_HOME", ".local/share"), "FUNDESK_DATA_DIR")
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(t.BaseURL, profile.EmbeddedPrefix)
	file := embeddedFile(name, dir)
	if s.isCompletion { // It opens what is there, and creates nothing.
		if _, err := os.Stat(file); err != nil {
			return err
		}
	}
	embedded, err := s.App.OpenEmbedded(ctx, name, dir)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return Failure(apiclient.KindInterrupted, "interrupted")
	}
	if err != nil {
		return WithHint(
			Failure(apiclient.KindFailure, "open the embedded service: %s", err),
			embeddedHint(t, file),
		)
	}
	s.embedded = embedded
	return nil
}

// embeddedFile returns the database of an embedded service: of its name, or at its path.
func embeddedFile(name, dir string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	return filepath.Join(dir, name+".db")
}

// embeddedHint names the database of an embedded service that cannot be opened. That of the demo may be deleted.
func embeddedHint(t *Target, file string) string {
	if t.BaseURL == profile.DemoURL {
		return "the demo has invented data alone: to begin again, delete " + file +
			" and what begins with that name; or set FUNDESK_DATA_DIR to another folder"
	}
	if t.BaseURL == profile.EmbeddedPrefix+file {
		return "its data is in " + file
	}
	return "its data is in " + file + "; FUNDESK_DATA_DIR names another folder"
}

// Embedded returns the service inside the process, nil while none is open.
func (s *Session) Embedded() Embedded { return s.embedded }

// ServiceName returns the service of changes, or "" if none is chosen.
func (s *Session) ServiceName() (string, error) {
	t, err := s.Resolve()
	if err == nil {
		return t.Service(), nil
	}
	if apiclient.KindOf(err) == apiclient.KindUnauthenticated { // What would be sent can be seen without.
		return "", nil
	}
	return "", err
}

// Connect returns the client of the chosen service.
func (s *Session) Connect(ctx context.Context) (*apiclient.Client, error) {
	if s.Client != nil {
		return s.Client, nil
	}
	t, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	options := apiclient.Options{
		Timeout:            s.Flags.Timeout,
		UserAgent:          "fundesk/" + s.Version(),
		Now:                s.App.Now,
		Sleep:              s.App.Sleep,
		PaymentQRParameter: t.Profile.PaymentQRParameter,
		BaseURL:            t.BaseURL,
		Network:            s.Network(t),
		Tries:              s.Flags.Retries + 1,
		Unpaged:            t.Profile.Unpaged,
		Omitted:            s.Omitted.add,
		Repaired:           func() { s.repaired.Store(true) },
		Token: func(ctx context.Context) (string, error) {
			token, err := s.Token(ctx, t)
			s.noteToken(token)
			return token, err
		},
		Refused:  s.token.refuse,
		Identify: func(ctx context.Context) string { return s.identify(ctx, t) },
	}
	options.Account = "profile-" + t.Name // The token names no account.
	if s.unpaged {
		options.Unpaged = ListNouns
	}
	options.Trace = s.Trace()
	if t.IsEmbedded() {
		if err := s.OpenEmbedded(ctx, t); err != nil {
			return nil, err
		}
		options.BaseURL, options.Transport = embeddedURL, s.embedded
		options.Token = func(context.Context) (string, error) { return s.embedded.Token(), nil }
		options.Refused = nil
		options.Identify = nil
	}
	s.Client, err = apiclient.New(options)
	return s.Client, err
}

// noteToken stores when the used token ends. The access token of a person is renewed by itself.
func (s *Session) noteToken(token string) {
	claims := apiclient.ClaimsOf(token)
	s.token.mu.Lock()
	isPersons := s.token.session != nil
	s.token.mu.Unlock()
	if isPersons {
		claims.Ends = time.Time{}
	}
	s.tokenEnds.Store(&claims.Ends)
}

// endsSoon is how long before its end a token's end is announced.
const endsSoon = 14 * 24 * time.Hour

// TokenEnd returns the day and the number of days until the used token ends, if it ends soon. It returns "" for every
// other token.
func (s *Session) TokenEnd() string {
	ends := s.tokenEnds.Load()
	if ends == nil || ends.IsZero() || s.Target == nil {
		return ""
	}
	left := ends.Sub(s.App.Now())
	if left <= 0 || left > endsSoon {
		return ""
	}
	if left < 24*time.Hour {
		return "ends " + render.RelativeTime(*ends, s.App.Now()) + ", at " + ends.Local().Format("2006-01-02 15:04")
	}
	return "ends in " + Count(int(left/(24*time.Hour)), "day") + ", on " + ends.Local().Format(time.DateOnly)
}

func (s *Session) noteTokenEnd() {
	ends := s.TokenEnd()
	if ends == "" {
		return
	}
	next := loginCommand(s.Target)
	if s.Target.EnvToken != "" {
		next = "set another FUNDESK_TOKEN"
	}
	s.Note("the token for %s %s; ask the service's operator for another one, then: %s", s.Target.Service(), ends, next)
}

// Network returns the way to the service according to the profile and --ca-cert.
func (s *Session) Network(t *Target) apiclient.Network {
	p := t.Profile
	return apiclient.Network{
		CACert:     cmp.Or(s.Flags.caCert, p.CACert),
		ClientCert: p.ClientCert,
		ClientKey:  p.ClientKey,
		Proxy:      p.Proxy,
	}
}

// ListNouns are the nouns with a list in the interface.
var ListNouns = []string{"person", "call", "pledge"}

// Probe asks the service for one call. Its error differs for a service that is away and one that does not speak version
// 1 of the interface.
func Probe(ctx context.Context, client *apiclient.Client) (*apiclient.Response, error) {
	answer, err := client.Do(ctx, http.MethodGet, "/api/v1/calls", url.Values{"first": {"1"}}, nil, nil)
	if err != nil {
		return nil, err
	}
	err = answer.Err()
	isOther := apiclient.KindOf(err) == apiclient.KindNotFound || err == nil && !json.Valid(answer.Body)
	if isOther {
		return answer, WithHint(
			Failure(
				apiclient.KindUnavailable,
				"%s answers, but not with version 1 of the interface (/api/v1/calls: status %d)",
				client.BaseURL(),
				answer.Status,
			),
			"check the base URL: fundesk profile show; its path is the part before /api/v1",
		)
	}
	return answer, err
}
