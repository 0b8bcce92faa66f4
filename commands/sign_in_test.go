package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/commands/cli"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/service/signin"
	"fundesk/service/signin/signintest"
)

// signInDesk is the computer of a person with a sign-in.
type signInDesk struct {
	t        *testing.T
	provider *signintest.Provider
	env      map[string]string
	url      string
	stdin    string
	ahead    time.Duration // Of the computer's clock.
}

func newSignInDesk(t *testing.T) *signInDesk {
	t.Helper()
	provider := signintest.Start(t)
	provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "groups": "agents"})
	provider.AddUser("nora", map[string]any{"name": "Nora Body"})
	provider.ApproveAs = "anneke"
	table, err := signin.ParseMap("[[map]]\nclaim = \"groups\"\nvalue = \"agents\"\nrole = \"agent\"\nall_organizations = true\n")
	servicetest.Check(t, err)
	verifier, err := signin.New(signin.Options{Issuer: provider.URL, Audience: signintest.Audience, Map: table})
	servicetest.Check(t, err)
	servicetest.Check(t, verifier.Read(t.Context()))
	h := servicetest.NewWithSignIn(t, servicetest.NewFile(t), verifier, func(o *httpapi.Options) {
		o.SignIn = &httpapi.SignIn{
			Issuer:   provider.URL,
			ClientID: signintest.ClientID,
			Scopes:   []string{"openid", "offline_access"},
		}
	})
	h.Clock.Set(time.Now())
	home := t.TempDir()
	return &signInDesk{t: t, provider: provider, url: h.URL, env: map[string]string{"HOME": home}}
}

// run runs one command. It enters the code of a sign-in on the provider's page as soon as the command shows it.
func (d *signInDesk) run(line string) (code int, out, errs string) {
	d.t.Helper()
	var stdout bytes.Buffer
	stderr := &enteringCode{t: d.t}
	code = Run(d.t.Context(), strings.Fields(line), cli.App{
		In:      strings.NewReader(d.stdin),
		Out:     &stdout,
		Err:     stderr,
		Getenv:  func(name string) string { return d.env[name] },
		Now:     func() time.Time { return time.Now().Add(d.ahead) },
		Version: func() string { return "test" },
		Sleep:   func(context.Context, time.Duration) error { return nil },
	})
	return code, stdout.String(), stderr.String()
}

// try runs one command. What it returns says what the test wants of it.
func (d *signInDesk) try(line string) servicetest.Ran {
	d.t.Helper()
	code, out, errs := d.run(line)
	return servicetest.Ran{T: d.t, Words: strings.Fields(line), Stdout: out, Stderr: errs, Code: code}
}

// login signs in.
func (d *signInDesk) login() {
	d.t.Helper()
	d.try(
		"auth login --insecure-storage --no-browser --base-url "+d.url,
	).MustEnd(0, "signed in to "+d.url+" as Anneke de Vries")
}

// enteringCode is a terminal with a reader who enters the shown code.
type enteringCode struct {
	t    *testing.T
	mu   sync.Mutex
	text bytes.Buffer
}

var shownCode = regexp.MustCompile(`Open (\S+) and enter the code (\S+)\n`)

// Write shows a text.
func (e *enteringCode) Write(data []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if found := shownCode.FindSubmatch(data); found != nil {
		request, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet,
			string(found[1])+"?user_code="+string(found[2]), http.NoBody)
		servicetest.Check(e.t, err)
		answer, err := http.DefaultClient.Do(request)
		servicetest.Check(e.t, err)
		servicetest.Report(e.t, answer.Body.Close())
	}
	return e.text.Write(data)
}

func (e *enteringCode) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// A person signs in with the base URL alone, and signs out at the provider too.
func TestSignIn(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.provider.RefuseTokens("slow_down")
	d.login()
	code, out, errs := d.run("auth status -o json")
	var status struct {
		Accepted bool
		User     struct{ UUID, Name string }
	}
	servicetest.Check(t, json.Unmarshal([]byte(out), &status))
	if code != 0 || !status.Accepted || status.User.Name != "Anneke de Vries" {
		t.Errorf("got %d %s %s, want the person", code, out, errs)
	}
	d.try("auth status").Prints("; the session renews it before")
	_, out, _ = d.run("profile show -o json")
	if !strings.Contains(out, status.User.UUID) {
		t.Errorf("got %s, want the person as the agent", out)
	}
	d.try("doctor").Ends(0).Prints("signed in as Anneke de Vries")
	if got := d.provider.Sessions(); got != 1 {
		t.Fatalf("got %d sessions at the provider, want one", got)
	}
	d.try("auth logout").Ends(0)
	servicetest.Same(t, "d.provider.Sessions()", 0, d.provider.Sessions())
	d.try("call list").Ends(4)
}

// A new sign-in ends the session that it replaces, at the provider too.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.login()
	d.login()
	servicetest.Same(t, "sessions at the provider after two sign-ins", 1, d.provider.Sessions())
	d.try("call list").Ends(0)
	d.stdin = d.provider.Token(t, "anneke", nil)
	d.try("auth login --insecure-storage --with-token --base-url " + d.url).Ends(0)
	servicetest.Same(t, "sessions at the provider after a login with a token", 0, d.provider.Sessions())
}

// A session that is removed or replaced ends at the provider, and a program that renews it at that moment does not
// store it again.
func TestRenewalBesideItsEnd(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for name, ends := range map[string]string{
		"logout":          "auth logout",
		"another token":   "auth login --insecure-storage --with-token --base-url ",
		"another address": "profile set default base_url=https://b.example --yes",
		"removed":         "profile remove default --yes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newSignInDesk(t)
			d.provider.TokenLife = time.Second
			d.login()
			time.Sleep(time.Second) //nolint:forbidigo // The life of a token is counted in seconds.
			d.stdin = d.provider.Token(t, "anneke", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
			if strings.HasSuffix(ends, " ") {
				ends += d.url
			}
			held := d.provider.Hold()
			var group sync.WaitGroup
			group.Go(func() { d.run("call list") })
			<-held
			ended := make(chan struct{})
			group.Go(func() {
				defer close(ended)
				d.try(ends).Ends(0)
			})
			select {
			case <-ended:
				t.Error("it did not wait for the renewal")
			case <-time.After(300 * time.Millisecond):
			}
			d.provider.Release()
			group.Wait()
			servicetest.Same(t, "sessions at the provider", 0, d.provider.Sessions())
			stored, _ := os.ReadFile(filepath.Join(d.env["HOME"], ".config", "fundesk", "tokens", "default"))
			servicetest.Same(
				t,
				"stored",
				map[bool]string{true: d.stdin}[name == "another token"],
				strings.TrimSpace(string(stored)),
			)
		})
	}
}

// A session that could not be stored is stored later, but never over the one of a newer sign-in, which then counts. It
// does not come back after a logout.
func TestSessionThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, meanwhile string
		isKept          bool // The session of the terminal is stored.
	}{
		{"nothing else happens", "", true},
		{"another sign-in", "auth login --insecure-storage --no-browser", false},
		{"a token of a program", "auth login --insecure-storage --with-token", false},
		{"logout", "auth logout", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newSignInDesk(t)
			d.login()
			ahead := time.Duration(0) // Of the clock of the terminal, which stays open.
			s := cli.NewSession(cli.App{
				Err:    io.Discard,
				Getenv: func(name string) string { return d.env[name] },
				Now:    func() time.Time { return time.Now().Add(ahead) },
			}, nil)
			target, err := s.Resolve()
			servicetest.Check(t, err)
			path := filepath.Join(d.env["HOME"], ".config", "fundesk", "tokens", "default")
			former, err := os.ReadFile(path)
			servicetest.Check(t, err)

			// The session is renewed while its file cannot be written.
			const life = 5 * time.Minute // Of the provider's access tokens.
			ahead = life
			held := d.provider.Hold()
			renewed := make(chan string, 1)
			go func() {
				token, err := s.Token(t.Context(), target)
				servicetest.Report(t, err)
				renewed <- token
			}()
			<-held
			servicetest.Check(t, os.Remove(path))
			servicetest.Check(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
			d.provider.Release()
			token := <-renewed
			servicetest.Check(t, os.RemoveAll(path))
			servicetest.Check(t, os.WriteFile(path, former, 0o600))
			ahead = 0

			if test.meanwhile != "" {
				d.provider.EndSessions() // Another program used the former refresh token again.
				d.stdin = d.provider.Token(t, "anneke", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
				d.try(test.meanwhile).MustEnd(0)
			}
			before, _ := os.ReadFile(path) // There is none after the logout.
			got, err := s.Token(t.Context(), target)
			if err != nil || got != token {
				t.Errorf("got another token, %v, want the renewed one until its end", err)
			}
			after, _ := os.ReadFile(path)
			if isKept := strings.Contains(string(after), token); isKept != test.isKept {
				t.Errorf("got the session stored: %v, want %v", isKept, test.isKept)
			}
			if !test.isKept && !bytes.Equal(before, after) {
				t.Error("what was stored since was overwritten")
			}

			// At the end of its access token the terminal goes on with what is stored.
			ahead = life
			_, err = s.Token(t.Context(), target)
			if isLoggedOut := test.meanwhile == "auth logout"; isLoggedOut != (err != nil) {
				t.Errorf("got %v at the end of the access token", err)
			}
		})
	}
}

// A command whose renewed session cannot be stored says that the person has to sign in again: the stored refresh token
// is used up.
func TestCommandThatCannotStoreItsSession(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.login()
	path := filepath.Join(d.env["HOME"], ".config", "fundesk", "tokens", "default")
	d.ahead = 24 * time.Hour // The access token has ended.
	held := d.provider.Hold()
	ended := make(chan servicetest.Ran, 1)
	go func() { ended <- d.try("call list") }()
	<-held
	servicetest.Check(t, os.Remove(path))
	servicetest.Check(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	d.provider.Release()
	(<-ended).Ends(
		0,
		"your renewed session was not stored in the file: write "+path,
		"sign in again: fundesk auth login --profile default",
	)
}

// A program logs in while another one logs out or removes the profile, after that one has removed the former session.
// The profile keeps the place of the new token: the next logout or removal finds it.
func TestLoginDuringALogout(t *testing.T) {
	t.Parallel()
	for ending, want := range map[string]int{"auth logout": 0, "profile remove default --yes": 1} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			d := newSignInDesk(t)
			d.login()
			token := d.provider.Token(t, "anneke", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
			d.stdin = token
			held := d.provider.Hold()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				d.try(ending).Ends(want, "another program logged in")
			}()
			<-held // It ends the session at the provider.
			d.try("auth login --insecure-storage --with-token").Ends(0)
			d.provider.Release()
			<-ended
			d.try("auth token").Ends(0).PrintsLine(token)
			d.try(ending).Ends(0)
			stored, _ := filepath.Glob(filepath.Join(d.env["HOME"], ".config", "fundesk", "tokens", "*"))
			if len(stored) > 0 {
				t.Errorf("got %q, want no stored token", stored)
			}
		})
	}
}

// A failed sign-in is explained in words, and nothing is stored.
func TestSignInRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		prepare func(*signintest.Provider)
		want    string
		code    int
	}{
		{
			name:    "denied",
			prepare: func(p *signintest.Provider) { p.RefuseTokens("access_denied") },
			want:    "was refused at the identity provider",
			code:    4,
		},
		{"expired", func(p *signintest.Provider) { p.RefuseTokens("expired_token") }, "the code expired", 4},
		{"no role", func(p *signintest.Provider) { p.ApproveAs = "nora" }, "no entry of the service's map", 5},
		{
			name:    "no JWT",
			prepare: func(p *signintest.Provider) { p.IsOpaque = true },
			want:    "nothing was stored; the access tokens of the provider are no JWTs",
			code:    4,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newSignInDesk(t)
			test.prepare(d.provider)
			d.try("auth login --insecure-storage --no-browser --base-url "+d.url).Ends(test.code, test.want)
			if got := d.provider.Sessions(); got != 0 {
				t.Errorf("%d sessions are left at the provider", got)
			}
		})
	}
}

// An access token is renewed before it ends. Programs that renew at one time use the refresh token once.
func TestRenewal(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.provider.TokenLife = 2 * time.Second // It is never fresh for long.
	d.login()
	before := d.provider.Renewals()
	time.Sleep(2 * time.Second) //nolint:forbidigo // The life of a token is counted in seconds.
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			d.try("call list").Ends(0)
		})
	}
	group.Wait()
	if d.provider.Renewals() == before || d.provider.Sessions() != 1 {
		t.Errorf("got %d renewals and %d sessions, want one session", d.provider.Renewals(), d.provider.Sessions())
	}
	d.provider.EndSessions()
	time.Sleep(2 * time.Second) //nolint:forbidigo // The same.
	d.try("call list").Ends(4, "your session at "+d.provider.URL+" has ended", "sign in again: fundesk auth login")
}

// A provider like dex calls a used-up refresh token an invalid request, and has no way to end a session. Glewlwyd's
// refusal has no words at all.
func TestPlainProvider(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.provider.IsPlain = true
	d.login()
	d.provider.EndSessions()
	d.ahead = 24 * time.Hour // The access token has ended.
	d.try("call list").Ends(4, "your session at "+d.provider.URL+" has ended")
	d.provider.RefuseTokens("", "", "", "")
	d.try("call list").Ends(4, "your session at "+d.provider.URL+" has ended")
	d.try("auth logout").Ends(0, "did not confirm the end of the session: it has no way to end one")
}

// A session that cannot be renewed is said to end.
func TestSignInWithoutRenewal(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.provider.IsBrief = true
	d.try(
		"auth login --insecure-storage --no-browser --base-url "+d.url,
	).Ends(0, "signed in to ", d.provider.URL+" gave no refresh token: you have to sign in again after ")
	if _, out, errs := d.run("auth status"); !strings.Contains(out, "expires") || strings.Contains(out, "renews") {
		t.Errorf("got %s %s, want that the token ends", out, errs)
	}
}

// Shell completion ends after a second, whatever it is doing. It begins no renewal, whose answer has the next refresh
// token.
func TestCompletionRenewsNoSession(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.login()
	before := d.provider.Renewals()
	d.ahead = 24 * time.Hour // The access token has ended.
	if _, out, errs := d.run("__complete person get 1"); d.provider.Renewals() != before {
		t.Errorf("got %s %s and a renewal, want none", out, errs)
	}
	if code, _, errs := d.run("call list"); code != 0 || d.provider.Renewals() == before {
		t.Errorf("got %d %s from a command, want a renewal", code, errs)
	}
}

// The program ends after a renewal that is under way, whose answer has the next refresh token: a quit Desk has requests
// in the background. The limit of the requests does not cut the renewal off.
func TestTheEndWaitsForARenewal(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.login()
	path := filepath.Join(d.env["HOME"], ".config", "fundesk", "tokens", "default")
	before, err := os.ReadFile(path)
	servicetest.Check(t, err)
	s := cli.NewSession(cli.App{
		In:     strings.NewReader(""),
		Out:    io.Discard,
		Err:    io.Discard,
		Getenv: func(name string) string { return d.env[name] },
		Now:    func() time.Time { return time.Now().Add(24 * time.Hour) }, // The access token has ended.
	}, nil)
	s.Flags.Timeout = time.Millisecond
	client, err := s.Connect(t.Context())
	servicetest.Check(t, err)
	held := d.provider.Hold()
	var group sync.WaitGroup
	group.Go(func() { _, _ = client.SignedIn(t.Context()) })
	<-held
	isReleased := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() {
		close(isReleased)
		d.provider.Release()
	})
	s.Close()
	select {
	case <-isReleased:
	default:
		t.Error("the program ended during the renewal")
	}
	after, err := os.ReadFile(path)
	servicetest.Check(t, err)
	if bytes.Equal(before, after) {
		t.Error("got the session of before stored, want the renewed one")
	}
	group.Wait()
}

// A provider that is away ends no sign-in, and a service without sign-in is asked for a token.
func TestSignInAway(t *testing.T) {
	t.Parallel()
	d := newSignInDesk(t)
	d.provider.TokenLife = 2 * time.Second
	d.login()
	time.Sleep(2 * time.Second) //nolint:forbidigo // The life of a token is counted in seconds.
	d.provider.SetDown(true)
	code, _, errs := d.run("call list --retry 0")
	if code != 8 && code != 7 || !strings.Contains(errs, "your sign-in could not be renewed") {
		t.Errorf("got %d %s while the provider is away, want unavailable", code, errs)
	}
	d.provider.SetDown(false)
	d.try("call list").Ends(0)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	code, _, errs = d.run("auth login --profile plain --base-url " + plain.URL)
	if code != 2 || !strings.Contains(errs, "the token cannot be asked for without a terminal") {
		t.Errorf("got %d %s for a service without sign-in, want the question for a token", code, errs)
	}
}
