package httpapi_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// TestAttacks goes through the OWASP API Security Top Ten of 2023, a scenario each.
// API1, on object level authorization, is TestForeignRecords. Injection, which that list no longer names, has a
// file of its own.
// Promise P9: an unknown member of a body is refused.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(*testing.T, *world){
		"API2 authentication":               attackAuthentication,
		"API3 property level authorization": attackProperties,
		"API4 resource consumption":         attackResources,
		"API5 function level authorization": attackFunctions,
		"API6 business flows":               attackFlows,
		"API7 request forgery":              attackByAddresses,
		"API8 misconfiguration":             attackConfiguration,
		"API9 inventory":                    attackInventory,
		"API10 what other systems send":     attackByOtherSystems,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attack(t, newWorld(t).unchecked())
		})
	}
}

// state is everything that an account sees of the records, with their revisions.
func (w *world) state(token string) []string {
	var all []string
	for _, list := range []string{"persons", "calls", "pledges"} {
		answer := w.Do(token, "GET", "/api/v1/"+list+"?first=500", "")
		all = append(
			all,
			fmt.Sprint(answer.Status, " ",
				regexp.MustCompile(`expires=[^"]*`).ReplaceAllString(string(answer.Body), "")),
		)
	}
	return all
}

// attackAuthentication sends foreign tokens to every operation. The forgeries are in TestForgedTokens.
func attackAuthentication(t *testing.T, w *world) {
	seed, err := w.Store.SigningSeed(t.Context())
	servicetest.Check(t, err)
	ours := ed25519.NewKeyFromSeed(seed)
	head, payload, _ := strings.Cut(w.all, ".")
	payload, _, _ = strings.Cut(payload, ".")
	var good map[string]any
	if data, err := base64.RawURLEncoding.DecodeString(payload); errors.Join(err, json.Unmarshal(data, &good)) != nil {
		t.Fatal("the token cannot be read")
	}
	sign := func(method jwt.SigningMethod, key any, change func(jwt.MapClaims)) string {
		claims := jwt.MapClaims{
			"iss": "fundeskd",
			"jti": good["jti"],
			"sub": w.account.UUID.String(),
			"iat": w.Clock.Now().Unix(),
			"exp": w.Clock.Now().Add(time.Hour).Unix(),
		}
		if change != nil {
			change(claims)
		}
		made := jwt.NewWithClaims(method, claims)
		var header map[string]any
		data, _ := base64.RawURLEncoding.DecodeString(head)
		servicetest.Check(t, json.Unmarshal(data, &header))
		made.Header["kid"] = header["kid"]
		text, err := made.SignedString(key)
		servicetest.Check(t, err)
		return text
	}
	w.Want(http.StatusOK, sign(jwt.SigningMethodEdDSA, ours, nil), "GET", "/api/v1/persons", "")
	attacks := map[string]string{
		"another service's": servicetest.New(t).Token(),
		"of nobody": sign(jwt.SigningMethodEdDSA, ours, func(c jwt.MapClaims) {
			c["sub"] = apitype.NewUUID().String()
		}),
		"that was never issued": sign(jwt.SigningMethodEdDSA, ours, func(c jwt.MapClaims) {
			c["jti"] = apitype.NewUUID().String()
		}),
		"that names no token": sign(jwt.SigningMethodEdDSA, ours, func(c jwt.MapClaims) { delete(c, "jti") }),
		"with another's name": sign(jwt.SigningMethodEdDSA, ours, func(c jwt.MapClaims) {
			c["sub"] = w.Account().UUID.String()
		}),
		"five kilobytes": w.all + strings.Repeat("A", 5<<10),
		"two":            w.all + " " + w.b.token,
		"a list":         w.all + "," + w.b.token,
		"nothing":        "",
	}
	for name, attack := range attacks {
		for _, operation := range httpapi.Routes() {
			method, path, _ := strings.Cut(operation, " ")
			request := httptest.NewRequestWithContext(t.Context(), method,
				strings.ReplaceAll(path, "{uuid}", w.a.call.String()), http.NoBody)
			request.Header.Set("Authorization", "Bearer "+attack)
			refused(t, name+" at "+operation, w.Send(request))
		}
	}
	for _, query := range []string{"access_token", "token", "authorization", "bearer"} {
		refused(t, query+" in the query", w.Do("", "GET", "/api/v1/persons?"+query+"="+w.all, ""))
	}
	for name, header := range map[string]http.Header{
		"a cookie":       {"Cookie": {"token=" + w.all}},
		"another header": {"X-Api-Key": {w.all}},
		"Basic":          {"Authorization": {"Basic " + w.all}},
		"twice":          {"Authorization": {"Bearer " + w.all, "Bearer " + w.all}},
		"no scheme":      {"Authorization": {w.all}},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/persons", http.NoBody)
		maps.Copy(request.Header, header)
		refused(t, name, w.Send(request))
	}
}

// refused expects a 401 without a reason.
func refused(t *testing.T, name string, answer servicetest.Answer) {
	t.Helper()
	const detail = `"detail":"the bearer token is missing or not valid"`
	if answer.Status != http.StatusUnauthorized ||
		!bytes.Contains(answer.Body, []byte(detail)) ||
		answer.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%s: got %d %s, want 401", name, answer.Status, answer.Body)
	}
}

// attackProperties sends every field of an answer that its body does not have, and those
// that the service keeps to itself: each is refused by its name, and nothing changes.
func attackProperties(t *testing.T, w *world) {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("rev owner external private doc permissions scope admin id _id __proto__ constructor paymentQr hasSignature signature Uuid UUID") {
		names[name] = true
	}
	for _, path := range []string{
		"persons/" + w.a.person.String(),
		"calls/" + w.a.call.String(),
		"pledges/" + w.a.pledge.String(),
	} {
		for name := range w.get("/api/v1/" + path).Object() {
			names[name] = true
		}
	}
	operations := w.operations()
	before := w.state(w.all)
	tried := 0
	for _, o := range operations {
		known := map[string]bool{"type": true, "cancelledAt": true, "droppedAt": true} // Fields of the other mode.
		for name := range decoded(t, []byte(o.body)).(map[string]any) {
			known[name] = true
		}
		if strings.HasPrefix(o.name, "create") {
			for _, other := range operations {
				if other.path != o.path {
					continue
				}
				for name := range decoded(t, []byte(other.body)).(map[string]any) {
					known[name] = true
				}
			}
		} else if !strings.HasPrefix(o.name, "cancel") {
			clear(known)
			for name := range decoded(t, []byte(o.body)).(map[string]any) {
				known[name] = true
			}
		}
		for name := range names {
			if known[name] {
				continue
			}
			tried++
			body := strings.Replace(fresh(o.body), "{", fmt.Sprintf(`{%q:"x",`, name), 1)
			answer := w.Do(w.all, o.method, o.path, body)
			if answer.Status != http.StatusBadRequest || !bytes.Contains(answer.Body, []byte(`"pointer":"/`+name+`"`)) {
				t.Errorf("%s with %s: got %d %s", o.name, name, answer.Status, answer.Body)
			}
		}
	}
	if tried < 300 {
		t.Errorf("got %d fields tried, want all of them", tried)
	}
	servicetest.Same(t, "something changed", before, w.state(w.all))
}

// attackResources asks for more than anybody needs.
func attackResources(t *testing.T, w *world) {
	for _, test := range []struct {
		name, path string
		status     int
	}{
		{"page beyond numbers", "/api/v1/calls?first=99999999999999999999", 400},
		{"many includes", "/api/v1/calls?include=" + strings.Repeat("person,", 5000) + "person", 200},
		{"many parameters", "/api/v1/calls?" + strings.Repeat("x=1&", 5000), 400},
	} {
		if got := w.get(test.path); got.Status != test.status || len(got.Body) > 1<<20 {
			t.Errorf("%s: got %d with %d bytes, want %d", test.name, got.Status, len(got.Body), test.status)
		}
	}
	large := `{"a":"` + strings.Repeat("x", 100<<10) + `"}`
	pledge := pledgePath(w.a.pledge) + "/actions/update"
	for _, test := range []struct {
		name, method, path, body string
		status                   int
		place                    string
	}{
		{
			name:   "deep",
			method: "POST",
			path:   "/api/v1/persons",
			body:   `{"name":` + strings.Repeat(`[`, 1<<19) + strings.Repeat(`]`, 1<<19) + `}`,
			status: 413,
		},
		{
			name:   "deep within a mebibyte",
			method: "POST",
			path:   "/api/v1/persons",
			body:   `{"name":` + strings.Repeat(`[`, 500_000),
			status: 400,
			place:  "/name" + strings.Repeat("/0", 63),
		},
		{
			name:   "a digit too many",
			method: "POST",
			path:   "/api/v1/pledges",
			body:   w.pledgeBody(w.a, `,"preferredPaymentDay":`+strings.Repeat("9", 100_000)),
			status: 400,
			place:  "/preferredPaymentDay",
		},
		{"exponent", "PUT", pledge, `{"donationAmount":1e999999999}`, 400, "/donationAmount"},
		{"large metadata in an update", "PUT", pledge, `{"externalMetadata":` + large + `}`, 400, "/externalMetadata"},
		{
			name:   "large properties",
			method: "POST",
			path:   "/api/v1/calls",
			body:   strings.Replace(w.externalCallBody(w.a), `"{\"b\":1.50,\"a\":2}"`, large, 1),
			status: 400,
			place:  "/externalMetadata/additionalProperties",
		},
	} {
		got := w.Do(w.all, test.method, test.path, test.body)
		if got.Status != test.status ||
			!bytes.Contains(got.Body, []byte(`"pointer":"`+test.place+`"`)) && test.place != "" ||
			len(got.Body) > 64<<10 {
			t.Errorf("%s: got %d %.300s, want %d at %s", test.name, got.Status, got.Body, test.status, test.place)
		}
	}
}

// attackFunctions tries ways around the permission of an operation, with an account that
// has none but to mark. That each permission opens its own operations and no others is
// TestWhatRoutesShow.
func attackFunctions(t *testing.T, w *world) {
	before := w.state(w.all)
	weak := w.Token(servicetest.May(service.EntitiesMark))
	for _, operation := range httpapi.Routes() {
		method, path, _ := strings.Cut(operation, " ")
		if strings.HasSuffix(path, "mark-processed") || path == "/fundesk/v1" { // Which any account may.
			continue
		}
		path = strings.NewReplacer("{uuid}", w.a.call.String(), "{statusUpdateAction}", "drop").Replace(path)
		ways := map[string]*http.Request{
			"plain": httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody),
			"HEAD":  httptest.NewRequestWithContext(t.Context(), http.MethodHead, path, http.NoBody),
			"escaped": httptest.NewRequestWithContext(t.Context(), method,
				strings.Replace(path, "v1", "%76%31", 1), http.NoBody),
			"another host": httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody),
			"override": httptest.NewRequestWithContext(t.Context(), http.MethodPost,
				"/api/v1/entity-access/actions/mark-processed?_method="+method, http.NoBody),
		}
		ways["override"].Header.Set("X-Http-Method-Override", method)
		ways["override"].Header.Set("X-Original-Url", path)
		for name, request := range ways {
			request.Header.Set("Authorization", "Bearer "+weak)
			got := w.Send(request)
			allowed := got.Status == http.StatusForbidden ||
				name == "HEAD" && got.Status == http.StatusMethodNotAllowed ||
				name == "override" && got.Status == http.StatusBadRequest
			if !allowed {
				t.Errorf("%s by %s: got %d %s", operation, name, got.Status, got.Body)
			}
		}
		for _, variant := range []string{
			path + "/", "/" + path, "/x/.." + path, strings.ToUpper(path), path + "%00",
			path + ";x=1",
		} {
			request := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
			if unescaped, err := request.URL.Parse("http://x" + variant); err == nil {
				request.URL = unescaped
			}
			request.Header.Set("Authorization", "Bearer "+weak)
			if got := w.Send(request); got.Status != http.StatusNotFound && got.Status != http.StatusForbidden {
				t.Errorf("%s %s: got %d", method, variant, got.Status)
			}
		}
	}
	servicetest.Same(t, "something changed", before, w.state(w.all))
}

// attackFlows hurries what has a maximum. What may be done once is in TestTransitions. Spec gap: C5.
func attackFlows(t *testing.T, w *world) {
	maximum := 3
	limited := service.Organization{MaxCallAttempts: &maximum, CoolingOff: time.Hour}
	limited.Name, limited.Abbreviation = "L", "L"
	o := owned{organization: w.OrganizationWith(limited), focusArea: apitype.NewUUID()}
	o.person = w.create("/api/v1/persons", w.personBody(o))
	call := callPath(w.create(
		"/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, o.person),
	))
	attempts := parallel(32, func(int) int { return w.Do(w.all, "PUT", call+"/actions/add-attempt", "").Status })
	if attempts[200] != maximum || attempts[409] != 32-maximum {
		t.Errorf("got %v, want three attempts", attempts)
	}
}

// attackByAddresses sends the address of a listener in every string field: the service connects to nothing.
func attackByAddresses(t *testing.T, w *world) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // Closed below.
	servicetest.Check(t, err)
	called := make(chan bool, 1)
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			_ = connection.Close()
		}
		called <- err == nil
	}()
	for _, o := range w.operations() {
		for _, place := range stringFields(t, o.body) {
			text, _ := json.Marshal("http://" + listener.Addr().String() + "/x")
			w.Do(w.all, o.method, o.path, fresh(with(t, o.body, place, string(text))))
		}
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+listener.Addr().String()+"/api/v1/persons", http.NoBody)
	for _, name := range []string{
		"X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "Referer", "Origin", "X-Callback-Url",
		"Webhook-Url",
	} {
		request.Header.Set(name, "http://"+listener.Addr().String())
	}
	request.Header.Set("Authorization", "Bearer "+w.all)
	w.Send(request)
	servicetest.Report(t, listener.Close())
	if <-called {
		t.Error("the service opened a connection to an address that it was sent")
	}
}

// attackConfiguration looks for needless details in answers.
func attackConfiguration(t *testing.T, w *world) {
	person := personPath(w.a.person)
	tells := regexp.MustCompile(`(?i)goroutine|\.go:\d|panic|sqlite|postgres|pgx|SELECT |INSERT |/tmp/|/work/|go1\.|version`)
	answers := map[string]servicetest.Answer{
		"200":     w.get(person),
		"list":    w.get("/api/v1/calls?include=person"),
		"201":     w.Do(w.all, "POST", "/api/v1/persons", w.personBody(w.a)),
		"400":     w.Do(w.all, "POST", "/api/v1/persons", "{"),
		"401":     w.Do("", "GET", person, ""),
		"403":     w.Do(w.Token(servicetest.May(service.CallsRead)), "GET", person, ""),
		"404":     w.get("/.git/config"),
		"405":     w.Do(w.all, "PATCH", person, ""),
		"409":     w.Do(w.all, "POST", "/api/v1/persons", w.personBody(w.a, `,"uuid":"`+w.a.person.String()+`"`)),
		"413":     w.Do(w.all, "POST", "/api/v1/persons", strings.Repeat(" ", 1<<20+1)),
		"healthz": w.Do("", "GET", "/healthz", ""),
		"readyz":  w.Do("", "GET", "/readyz", ""),
	}
	for _, method := range []string{"OPTIONS", "TRACE", "CONNECT", "PATCH", "DELETE", "PROPFIND", "get", "X"} {
		answer := w.Do(w.all, method, person, "")
		if answer.Status != http.StatusMethodNotAllowed && answer.Status != http.StatusNotFound {
			t.Errorf("%s: got %d", method, answer.Status)
		}
		answers[method] = answer
	}
	for _, path := range []string{
		"/", "/debug/pprof/", "/metrics/", "/admin", "/.env", "/api", "/api/v1", "/api/v2/persons",
		"/v1/persons", "/swagger", "/graphql", "/server-status",
	} {
		answers[path] = w.get(path)
		if answers[path].Status != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, answers[path].Status)
		}
	}
	servicetest.Check(t, w.Store.Close())
	answers["500"], answers["503"] = w.get(person), w.Do("", "GET", "/readyz", "")
	for name, answer := range answers {
		for header, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: got %s %q, want %q", name, header, got, want)
			}
		}
		for header := range answer.Header {
			known := "Fundesk-Extensions Fundesk-Settled Fundesk-Epoch Cache-Control X-Content-Type-Options X-Request-Id Content-Type Content-Length Etag Allow Www-Authenticate Retry-After Connection Vary"
			if !slices.Contains(strings.Fields(known), header) {
				t.Errorf("%s: got the header %s", name, header)
			}
		}
		if told := tells.Find(answer.Body); told != nil {
			t.Errorf("%s tells %q", name, told)
		}
	}
}

// attackInventory compares what is served with what is described.
func attackInventory(t *testing.T, _ *world) {
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	servicetest.Check(t, json.Unmarshal(httpapi.OpenAPI, &document))
	var described []string
	for path, item := range document.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	plain := func(routes []string) (names []string) {
		for _, r := range routes {
			names = append(names, parameter.ReplaceAllString(r, "{}"))
		}
		slices.Sort(names)
		return names
	}
	servicetest.Same(t, "what is described and what is served differ", plain(described), plain(httpapi.Routes()))
}

// attackByOtherSystems sends what an external system might put into the texts that the
// service passes on: they are read as strictly as a body.
func attackByOtherSystems(t *testing.T, w *world) {
	for name, properties := range map[string]string{
		"not JSON": `{`, "an array": `[]`, "trailing": `{} {}`, "twice the same name": `{"a":1,"a":2}`,
		"deep":           strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100),
		"NUL":            `{"a":"\u0000"}`,
		"lone surrogate": `{"a":"\ud800"}`,
		"prototype":      `{"__proto__":{"admin":true}}`,
	} {
		text, err := json.Marshal(properties)
		servicetest.Check(t, err)
		body := strings.Replace(w.externalCallBody(w.a), `"{\"b\":1.50,\"a\":2}"`, string(text), 1)
		answer := w.Do(w.all, "POST", "/api/v1/calls", body)
		if name == "prototype" { // Only text to this service, and passed on as that.
			if answer.Status != http.StatusCreated ||
				!bytes.Contains(answer.Body, []byte(`"additionalProperties":{"__proto__":{"admin":true}}`)) {
				t.Errorf("%s: got %d %s", name, answer.Status, answer.Body)
			}
			continue
		}
		if answer.Status != http.StatusBadRequest ||
			!bytes.Contains(answer.Body, []byte(`"pointer":"/externalMetadata/additionalProperties`)) {
			t.Errorf("%s: got %d %s", name, answer.Status, answer.Body)
		}
	}
}
