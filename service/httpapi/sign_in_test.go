package httpapi_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/service/signin"
	"fundesk/service/signin/signintest"
)

// signedIn is a floor with agents who sign in.
type signedIn struct {
	*floor

	provider *signintest.Provider
	verifier *signin.Provider
	log      *bytes.Buffer
}

const signInMap = `
[[map]]
claim = "realm_access.roles"
value = "agents"
role = "agent"
all_organizations = true

[[map]]
claim = "groups"
value = "supervisors"
role = "supervisor"
all_organizations = true
`

// onEnginesSignedIn runs a test on SQLite, and on PostgreSQL if it is installed.
func onEnginesSignedIn(t *testing.T, test func(t *testing.T, s *signedIn)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newSignedIn(t, servicetest.NewFile(t)))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedServer(t)
		test(t, newSignedIn(t, servicetest.PostgresDatabase(t)))
	})
}

func newSignedIn(t *testing.T, database string, options ...servicetest.Option) *signedIn {
	t.Helper()
	provider := signintest.Start(t)
	agents := map[string]any{"roles": []string{"offline", "agents"}}
	provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "realm_access": agents})
	provider.AddUser("joost", map[string]any{"name": "Joost Bakker", "realm_access": agents})
	provider.AddUser("els", map[string]any{"name": "Els Prins", "groups": "supervisors"})
	provider.AddUser("nobody", map[string]any{"name": "Nora Body", "groups": []string{"others"}})
	table, err := signin.ParseMap(signInMap)
	servicetest.Check(t, err)
	log := new(bytes.Buffer)
	s := &signedIn{provider: provider, log: log}
	h := servicetest.NewWithSignIn(t, database, lazy{s}, append(options, servicetest.WithLog(log), func(o *httpapi.Options) {
		o.SignIn = &httpapi.SignIn{Issuer: provider.URL, ClientID: signintest.ClientID, Scopes: []string{"openid"}}
	})...)
	h.Clock.Set(time.Now().Truncate(time.Millisecond))
	s.verifier, err = signin.New(signin.Options{
		Issuer:   provider.URL,
		Audience: signintest.Audience,
		Map:      table,
		Now:      h.Clock.Now,
	})
	servicetest.Check(t, err)
	servicetest.Check(t, s.verifier.Read(t.Context()))
	s.floor = newFloor(t, h)
	return s
}

// lazy is the verifier of a floor, which needs the clock of the service that it is made for.
type lazy struct{ *signedIn }

func (l lazy) Issued(token string) bool { return l.verifier.Issued(token) }

func (l lazy) Verify(ctx context.Context, token string, now time.Time) (service.SignedIn, error) {
	return l.verifier.Verify(ctx, token, now)
}

// who returns the person that the service sees behind a token.
func (s *signedIn) who(t *testing.T, token string) apitype.UserName {
	t.Helper()
	answer := s.Do(token, http.MethodGet, "/fundesk/v1", "")
	if answer.Status != http.StatusOK {
		t.Fatalf("got %d %s, want the extensions", answer.Status, answer.Body)
	}
	var all apitype.Extensions
	answer.Decode(&all)
	if all.User == nil {
		t.Fatal("the service names no user")
	}
	return *all.User
}

// A person is the same user in each request and with each token, and a role comes from the first entry that matches.
func TestSignedInPerson(t *testing.T) { onEnginesSignedIn(t, testSignedInPerson) }

func testSignedInPerson(t *testing.T, s *signedIn) {
	anneke := s.who(t, s.provider.Token(t, "anneke", nil))
	if anneke.Name != "Anneke de Vries" {
		t.Errorf("got the name %q, want that of the token", anneke.Name)
	}
	again := s.who(t, s.provider.Token(t, "anneke", map[string]any{"name": "Anneke Bakker"}))
	if again != anneke {
		t.Errorf("got %v with another token, want %v", again, anneke)
	}
	_, _, err := s.Service.SetUser(t.Context(), anneke.UUID, service.UserChange{Name: "Anneke Jansen"})
	servicetest.Check(t, err)
	if renamed := s.who(t, s.provider.Token(t, "anneke", nil)); renamed.Name != "Anneke Jansen" {
		t.Errorf("got %q, want the name that the operator gave", renamed.Name)
	}
	unnamed := s.who(t, s.provider.Token(t, "joost", map[string]any{"name": nil}))
	if !strings.HasPrefix(unnamed.Name, "user ") {
		t.Errorf("got the name %q of a token without one", unnamed.Name)
	}
	var answered apitype.Extensions
	s.get("/fundesk/v1").Decode(&answered)
	if answered.User != nil {
		t.Errorf("got the user %v for the account of a program, want none", answered.User)
	}
	agent, supervisor := s.provider.Token(t, "anneke", nil), s.provider.Token(t, "els", nil)
	settings := "/fundesk/v1/do-not-call"
	body := `{"number":"+31612345678","organizationUuid":"` + s.organization.String() + `"}`
	s.Want(http.StatusForbidden, agent, http.MethodPost, settings, body)
	s.Want(http.StatusNoContent, supervisor, http.MethodPost, settings, body)
	refused := s.Do(s.provider.Token(t, "nobody", nil), http.MethodGet, "/api/v1/calls", "")
	if refused.Status != http.StatusForbidden ||
		!strings.Contains(string(refused.Body), "no entry of the service's map") {
		t.Errorf("got %d %s for a person without a role, want 403 that says so", refused.Status, refused.Body)
	}
	const why = "no entry of the map matches: the token has no claim realm_access.roles; the claim groups has other values"
	if !strings.Contains(s.log.String(), why) {
		t.Errorf("got the log %s, want %q", s.log, why)
	}
	users, err := s.Service.Users(t.Context())
	servicetest.Check(t, err)
	if slices.ContainsFunc(users, func(u service.User) bool { return u.Name == "Nora Body" }) {
		t.Error("a person without a role was stored")
	}
}

// Promise P12: forged and stale tokens are refused with one text. The log has the reason, and nothing of the token.
func TestForgedTokens(t *testing.T) { onEnginesSignedIn(t, testForgedTokens) }

func testForgedTokens(t *testing.T, s *signedIn) {
	p := s.provider
	id, public := p.PublicKey()
	other := signintest.Start(t)
	claims := p.Claims("anneke")
	now := s.Clock.Now()
	der, err := x509.MarshalPKIXPublicKey(public)
	servicetest.Check(t, err)
	asSecret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	servicetest.Check(t, err)
	unsigned := func(header, body map[string]any) string {
		return part(t, header) + "." + part(t, body) + "."
	}
	signedByUs := func(header map[string]any) string {
		return signintest.Sign(t, jose.ES256, own, header, claims)
	}
	big := strings.Repeat("x", 17<<10)
	tokens := map[string]string{
		"another audience":        p.Token(t, "anneke", map[string]any{"aud": "others' agents"}),
		"no audience":             p.Token(t, "anneke", map[string]any{"aud": nil}),
		"another issuer":          p.Token(t, "anneke", map[string]any{"iss": "https://other.example"}),
		"key of another provider": other.Token(t, "anneke", map[string]any{"iss": p.URL}),
		"ended":                   p.Token(t, "anneke", map[string]any{"exp": now.Add(-31 * time.Second).Unix()}),
		"no end":                  p.Token(t, "anneke", map[string]any{"exp": nil}),
		"not yet":                 p.Token(t, "anneke", map[string]any{"nbf": now.Add(32 * time.Second).Unix()}),
		"nbf of a wrong type":     p.Token(t, "anneke", map[string]any{"nbf": []string{"1"}}),
		"no subject":              p.Token(t, "anneke", map[string]any{"sub": nil}),
		"long subject":            p.Token(t, "anneke", map[string]any{"sub": strings.Repeat("s", 256)}),
		"oversized":               p.Token(t, "anneke", map[string]any{"more": big}),
		"NONE with a kid":         unsigned(map[string]any{"alg": "NONE", "kid": id}, claims),
		"HS256 with the public key": signintest.Sign(t, jose.HS256, asSecret,
			map[string]any{"kid": id}, claims),
		"our own key":            signedByUs(map[string]any{"kid": id}),
		"no kid and our own key": signedByUs(nil),
		"kid of SQL":             signedByUs(map[string]any{"kid": "' OR 1=1 --"}),
		"of a logout":            p.TokenTyped(t, "anneke", "logout+jwt", nil),
		"cut":                    strings.TrimSuffix(p.Token(t, "anneke", nil), "A") + "!",
		"no token":               "a.b.c",
	}
	good := p.Token(t, "anneke", nil)
	parts := strings.Split(good, ".")
	changed := maps.Clone(claims)
	changed["groups"] = "supervisors"
	tokens["other claims, same signature"] = parts[0] + "." + part(t, changed) + "." + parts[2]
	var texts []string
	for name, token := range tokens {
		answer := s.Do(token, http.MethodGet, "/api/v1/calls", "")
		if answer.Status != http.StatusUnauthorized {
			t.Errorf("%s: got %d %s, want 401", name, answer.Status, answer.Body)
			continue
		}
		var problem apitype.Problem
		answer.Decode(&problem)
		texts = append(texts, problem.Title+problem.Detail+problem.Type)
		if strings.Contains(s.log.String(), token) ||
			len(token) > 20 && strings.Contains(s.log.String(), token[len(token)-20:]) {
			t.Errorf("%s: the log has the token", name)
		}
	}
	if slices.Sort(texts); len(slices.Compact(texts)) != 1 {
		t.Errorf("got the texts %q, want one", slices.Compact(texts))
	}
	for _, reason := range []string{
		`error="the token is not for the audience \"fundesk\""`, `error="the token has ended"`,
		`error="the token has not begun"`, `error="the signature is wrong"`,
		`error="the token is not signed by RS256, PS256, ES256, EdDSA"`,
		`error="the typ of the token is not at+jwt or JWT"`, `error="the issuer has no key that has signed the token"`,
	} {
		if !strings.Contains(s.log.String(), reason) {
			t.Errorf("the log has no %s", reason)
		}
	}
	for name, token := range map[string]string{
		"within the leeway": p.Token(t, "anneke", map[string]any{"exp": now.Add(-28 * time.Second).Unix()}),
		"begins soon":       p.Token(t, "anneke", map[string]any{"nbf": now.Add(28 * time.Second).Unix()}),
		"audience as text":  p.Token(t, "anneke", map[string]any{"aud": signintest.Audience}),
		"typ JWT":           p.TokenTyped(t, "anneke", "JWT", nil),
		"typ application":   p.TokenTyped(t, "anneke", "application/at+jwt", nil),
	} {
		if answer := s.Do(token, http.MethodGet, "/api/v1/calls", ""); answer.Status != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", name, answer.Status, answer.Body)
		}
	}
	for _, private := range []string{"Anneke", "anneke", parts[1], "agents"} {
		if strings.Contains(s.log.String(), private) {
			t.Errorf("the log has %q of a token", private)
		}
	}
}

func part(t *testing.T, value map[string]any) string {
	t.Helper()
	text, err := json.Marshal(value)
	servicetest.Check(t, err)
	return base64.RawURLEncoding.EncodeToString(text)
}

// A new key of the issuer is found, at most once a minute, and a dead or slow issuer ends nothing that is known.
func TestKeyRotation(t *testing.T) { onEnginesSignedIn(t, testKeyRotation) }

func testKeyRotation(t *testing.T, s *signedIn) {
	p := s.provider
	status := func(token string) int { return s.Do(token, http.MethodGet, "/api/v1/calls", "").Status }
	before := p.Token(t, "anneke", nil)
	p.RotateKey(true)
	servicetest.Same(t, "with the new key", http.StatusOK, status(p.Token(t, "anneke", nil)))
	servicetest.Same(t, "with the old key, which is still published", http.StatusOK, status(before))
	p.RotateKey(false)
	read := p.Requests("/keys")
	for range 20 {
		servicetest.Same(
			t,
			"with another new key within the minute",
			http.StatusUnauthorized,
			status(p.Token(t, "anneke", nil)),
		)
	}
	servicetest.Same(t, "reads of the keys within a minute", 0, p.Requests("/keys")-read)
	s.Clock.Advance(time.Minute)
	p.SetDown(true)
	for range 2 {
		servicetest.Same(t, "with a key that cannot be read", http.StatusServiceUnavailable,
			status(p.Token(t, "anneke", nil)))
	}
	servicetest.Same(t, "with a known key while the issuer is dead", http.StatusOK, status(before))
	s.Want(http.StatusOK, "", http.MethodGet, "/readyz", "")
	p.SetDown(false)
	s.Clock.Advance(time.Minute)
	servicetest.Same(t, "after the issuer came back", http.StatusOK, status(p.Token(t, "anneke", nil)))
	p.RotateKey(true)
	s.Clock.Advance(time.Minute)
	held := p.Hold()
	waiting := make(chan int)
	go func() { waiting <- status(p.Token(t, "joost", nil)) }()
	<-held
	servicetest.Same(t, "a program while the issuer is slow", http.StatusOK, status(s.token))
	p.Release()
	servicetest.Same(t, "from the slow issuer", http.StatusOK, <-waiting)
}

// Tokens without a kid follow a rotation too, at most once a minute.
func TestRotationWithoutKid(t *testing.T) {
	t.Parallel()
	s := newSignedIn(t, servicetest.NewFile(t))
	p := s.provider
	status := func() int {
		token := p.TokenWithoutKid(t, "anneke")
		return s.Do(token, http.MethodGet, "/api/v1/calls", "").Status
	}
	servicetest.Same(t, "a token without a kid", http.StatusOK, status())
	p.RotateKey(false)
	servicetest.Same(t, "with the new key", http.StatusOK, status())
	p.RotateKey(false)
	read := p.Requests("/keys")
	for range 5 {
		servicetest.Same(t, "with another new key within the minute", http.StatusUnauthorized, status())
	}
	servicetest.Same(t, "reads of the keys within a minute", 0, p.Requests("/keys")-read)
	s.Clock.Advance(time.Minute)
	servicetest.Same(t, "a minute later", http.StatusOK, status())
}

// Before the issuer was read once, persons are asked to come again, and programs are served.
func TestIssuerUnread(t *testing.T) {
	t.Parallel()
	s := newSignedIn(t, servicetest.NewFile(t))
	table, err := signin.ParseMap(signInMap)
	servicetest.Check(t, err)
	s.provider.SetDown(true)
	s.verifier, err = signin.New(signin.Options{Issuer: s.provider.URL, Audience: signintest.Audience, Map: table})
	servicetest.Check(t, err)
	if s.verifier.Read(t.Context()) == nil {
		t.Error("a dead issuer was read")
	}
	answer := s.Do(s.provider.Token(t, "anneke", nil), http.MethodGet, "/api/v1/calls", "")
	if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("got %d, want 503 with Retry-After", answer.Status)
	}
	s.want(http.StatusOK, "GET", "/api/v1/calls", "")
}

// Promise P10: an ended user is refused at once, whatever the token says, and let in again.
func TestEndedUser(t *testing.T) { onEnginesSignedIn(t, testEndedUser) }

func testEndedUser(t *testing.T, s *signedIn) {
	token := s.provider.Token(t, "anneke", nil)
	anneke := s.who(t, token)
	for _, step := range []struct {
		isEnded bool
		want    int
	}{{true, http.StatusUnauthorized}, {true, http.StatusUnauthorized}, {false, http.StatusOK}} {
		_, _, err := s.Service.SetUser(t.Context(), anneke.UUID, service.UserChange{IsEnded: new(step.isEnded)})
		servicetest.Check(t, err)
		for _, one := range []string{token, s.provider.Token(t, "anneke", nil)} {
			if got := s.Do(one, http.MethodGet, "/api/v1/calls", "").Status; got != step.want {
				t.Errorf("ended %v: got %d, want %d", step.isEnded, got, step.want)
			}
		}
	}
	if !strings.Contains(s.log.String(), `error="the user's access has ended"`) {
		t.Errorf("got the log %s, want the reason", s.log)
	}
	_, _, err := s.Service.SetUser(t.Context(), anneke.UUID, service.UserChange{Name: "Anneke"})
	servicetest.Check(t, err)
	lines := 0
	for _, line := range auditOf(t, s.Harness) {
		if line.Operation == service.AuditUserSet && line.Fields == "endedAt" {
			lines++
		}
	}
	if lines != 2 {
		t.Errorf("got %d lines of the audit, want one for each change", lines)
	}
}

// auditOf returns all lines of the audit.
func auditOf(t *testing.T, h *servicetest.Harness) []service.AuditLine {
	t.Helper()
	return (&world{Harness: h}).lines(t, service.AuditFilter{})
}

// A signed-in person acts as themselves, and what they do carries them.
func TestActsAsThemselves(t *testing.T) { onEnginesSignedIn(t, testActsAsThemselves) }

func testActsAsThemselves(t *testing.T, s *signedIn) {
	token := s.provider.Token(t, "anneke", nil)
	anneke, other := s.who(t, token), s.who(t, s.provider.Token(t, "joost", nil))
	person := s.person(`"nl"`)
	call := s.call(person, time.Hour, "happy_call").String()
	take := func(user string) string {
		return `{"requestUuid":"` + apitype.NewUUID().String() + `"` + user + `}`
	}
	consent := `{"channel":"phone","basis":"consent","source":"call","at":"` + s.Now().String() + `"`
	requests := []struct{ method, path, body string }{
		{http.MethodPost, "/fundesk/v1/queue/take", take("")},
		{http.MethodPut, "/fundesk/v1/queue/calls/" + call + "/lease", take("")},
		{http.MethodPut, "/api/v1/calls/" + call + "/actions/add-attempt", `{}`},
		{http.MethodPut, "/fundesk/v1/calls/" + call + "/checks", `{"items":[]}`},
		{http.MethodPost, "/fundesk/v1/persons/" + person.String() + "/consents", consent + `}`},
		{http.MethodPut, "/api/v1/calls/" + call + "/actions/complete", `{"result":{"resultCode":"A1"}}`},
	}
	for _, r := range requests {
		with := func(user apitype.UUID) string {
			open := strings.TrimSuffix(r.body, "}")
			if open != "{" {
				open += ","
			}
			return open + `"userUuid":"` + user.String() + `"}`
		}
		refused := s.Do(token, r.method, r.path, with(other.UUID))
		if refused.Status != http.StatusForbidden {
			t.Errorf("%s as another user: got %d %s, want 403", r.path, refused.Status, refused.Body)
			continue
		}
		if _, places := problemOf(t, refused); !slices.Equal(places, []string{"/userUuid"}) {
			t.Errorf("%s as another user: got the places %q, want /userUuid", r.path, places)
		}
		if got := s.Do(token, r.method, r.path, r.body); got.Status >= http.StatusMultipleChoices {
			t.Errorf("%s without a user: got %d %s", r.path, got.Status, got.Body)
		}
	}
	var done, left, attempted bool
	for _, line := range auditOf(t, s.Harness) {
		if line.User == nil || *line.User != anneke.UUID {
			continue
		}
		done = done || line.Operation == service.AuditCallComplete
		left = left || line.Operation == service.AuditPersonConsent
		attempted = attempted || line.Operation == service.AuditCallAttempt
	}
	if !done || !left || !attempted {
		t.Errorf("the audit names the person: completion %v, consent %v, attempt %v", done, left, attempted)
	}
	calls := s.Do(token, http.MethodGet, "/api/v1/calls?completedByUserUuid="+anneke.UUID.String(), "")
	if !strings.Contains(string(calls.Body), call) {
		t.Errorf("got %s, want the call that the person completed", calls.Body)
	}
	named := s.Do(s.token, http.MethodPut, callPath(s.call(s.person(`"nl"`), time.Hour, "happy_call"))+
		"/actions/add-attempt", `{"userUuid":"`+other.UUID.String()+`"}`)
	if named.Status != http.StatusOK {
		t.Errorf("got %d for a program that names a user, want 200", named.Status)
	}
	for _, body := range []string{`{"userUuid":"` + other.UUID.String() + `"}`} { // The beneficiary, not the actor.
		s.Want(http.StatusOK, token, http.MethodPost, "/fundesk/v1/queue/release", body)
	}
}

// A supervisor who signed in is the user of the settings that they change.
// Promise S44: each change has a line in the audit.
func TestSettingsOfASignedInPerson(t *testing.T) {
	onEnginesSignedIn(t, func(t *testing.T, s *signedIn) {
		token := s.provider.Token(t, "els", nil)
		els := s.who(t, token)
		s.Want(200, token, http.MethodPut, settingsPath+"/"+s.organization.String(), effectsBody)
		lines := (&world{Harness: s.Harness}).lines(t, service.AuditFilter{User: &els.UUID})
		isChange := func(l service.AuditLine) bool { return l.Operation == service.AuditOrganizationSet }
		if !slices.ContainsFunc(lines, isChange) {
			t.Errorf("got the lines %+v of the supervisor, want the change of the settings", lines)
		}
	})
}

// The rate counts persons, not the issuer.
func TestRateOfPersons(t *testing.T) {
	t.Parallel()
	s := newSignedIn(t, servicetest.NewFile(t), servicetest.WithRate(2))
	anneke, joost := s.provider.Token(t, "anneke", nil), s.provider.Token(t, "joost", nil)
	last := 0
	for range 4 {
		last = s.Do(anneke, http.MethodGet, "/fundesk/v1", "").Status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("got %d for the fourth request of a person in a second, want 429", last)
	}
	s.Want(http.StatusOK, joost, http.MethodGet, "/fundesk/v1", "")
}

// The service names its identity provider, in a document and in each 401.
func TestProtectedResource(t *testing.T) {
	t.Parallel()
	s := newSignedIn(t, servicetest.NewFile(t), servicetest.WithBaseURL("https://calls.example/api"))
	path := "/.well-known/oauth-protected-resource"
	var got apitype.ProtectedResource
	s.Do("", http.MethodGet, path, "").Decode(&got)
	servicetest.Same(t, "the document", apitype.ProtectedResource{
		Resource:               "https://calls.example/api",
		AuthorizationServers:   []string{s.provider.URL},
		ScopesSupported:        []string{"openid"},
		BearerMethodsSupported: []string{"header"},
		ClientID:               signintest.ClientID,
	}, got)
	refused := s.Do("x", http.MethodGet, "/api/v1/calls", "")
	want := `Bearer realm="fundesk", resource_metadata="https://calls.example/api` + path + `"`
	servicetest.Same(t, "WWW-Authenticate", want, refused.Header.Get("WWW-Authenticate"))
	without := servicetest.New(t)
	without.Want(http.StatusNotFound, "", http.MethodGet, path, "")
}
