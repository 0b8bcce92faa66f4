package httpapi_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// world is two organizations with the same records each, and tokens of both.
type world struct {
	*servicetest.Harness
	a, b    owned
	all     string // Token of an account that sees everything.
	account service.Account
}

// owned holds the records of one organization.
type owned struct {
	organization, person, pledge, call, transaction, focusArea apitype.UUID
	token                                                      string
}

const user = "5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b11"

func newWorld(t testing.TB, options ...servicetest.Option) *world {
	t.Helper()
	return newWorldOn(t, servicetest.New(t, options...))
}

func newWorldOn(t testing.TB, h *servicetest.Harness) *world {
	t.Helper()
	w := &world{Harness: h}
	w.account = w.Account(servicetest.Sources("crm"))
	w.all = w.TokenOf(w.account)
	w.a, w.b = w.owned("A"), w.owned("B")
	return w
}

// unchecked no longer holds answers against openapi.json, for tests of very many answers
// that are alike: the check costs ten times more than the answer.
func (w *world) unchecked() *world {
	w.Serve(w.Service)
	return w
}

func (w *world) owned(name string) owned {
	area := service.LoadedFocusArea{OrganizationUUID: w.Organization(name)}
	area.UUID, area.Name = apitype.NewUUID(), "Boats"
	w.LoadAll(area)
	o := owned{organization: area.OrganizationUUID, focusArea: area.UUID}
	o.token = w.Token(servicetest.For(o.organization), servicetest.Sources("crm"))
	o.person = w.create("/api/v1/persons", w.personBody(o))
	o.pledge = w.create("/api/v1/pledges", w.pledgeBody(o))
	o.call = w.create("/api/v1/calls", w.callBody(o))
	paid := servicetest.NewTransaction(o.pledge, o.person, apitype.NewTime(servicetest.Start))
	paid.Amount, paid.Method = apitype.Cents(1250), new(apitype.PaymentQRMethod)
	w.LoadAll(paid)
	o.transaction = paid.UUID
	return o
}

func (w *world) personBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"firstName":"Ada","lastName":"Jansen"}%s}`,
		o.organization, o.organization, strings.Join(more, ""))
}

func (w *world) pledgeBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"createdAt":"2026-11-20T09:00:00Z","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,`+
		`"initialDonationInterval":"monthly","initialDonationAmount":12.50,"recruiterUserUuid":%q,"startsAt":"2026-12-01","focusAreaUuids":[%q]%s}`,
		o.person, o.organization, o.organization, user, o.focusArea, strings.Join(more, ""))
}

func (w *world) callBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","type":"happy_call"%s}`,
		o.person, o.pledge, strings.Join(more, ""))
}

func (w *world) externalCallBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","externalMetadata":{"applicationName":"dialler","referenceId":"7","statusCode":"S1","additionalProperties":"{\"b\":1.50,\"a\":2}"}%s}`,
		o.person, strings.Join(more, ""))
}

// create makes a record and is its uuid.
func (w *world) create(path, body string) apitype.UUID {
	answer := w.Do(w.all, http.MethodPost, path, body)
	if answer.Status != http.StatusCreated {
		panic(fmt.Sprintf("create at %s: %d %s", path, answer.Status, answer.Body))
	}
	return apitype.MustParseUUID(answer.Object()["uuid"].(string))
}

// get reads a path with the account that sees everything.
func (w *world) get(path string) servicetest.Answer { return w.Do(w.all, http.MethodGet, path, "") }

// problemOf returns the places that a problem names.
func problemOf(t *testing.T, a servicetest.Answer) (apitype.Problem, []string) {
	t.Helper()
	if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("got %d with Content-Type %q and body %s, want a problem", a.Status, kind, a.Body)
	}
	var problem apitype.Problem
	a.Decode(&problem)
	if problem.Status != a.Status ||
		problem.Instance != a.Header.Get("X-Request-Id") ||
		!strings.HasPrefix(problem.Type, "urn:fundesk:problem:") ||
		problem.Title == "" {
		t.Errorf("got problem %+v for status %d", problem, a.Status)
	}
	var places []string
	for _, v := range problem.Errors {
		places = append(places, cmp.Or(v.Pointer+v.Parameter, "(body)"))
	}
	return problem, places
}

type envelope struct {
	PageInfo apitype.PageInfo `json:"pageInfo"`
	Edges    []struct {
		Node   map[string]any `json:"node"`
		Cursor string         `json:"cursor"`
	} `json:"edges"`
}

func page(t *testing.T, a servicetest.Answer) envelope {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("got %d %s, want a page", a.Status, a.Body)
	}
	var e envelope
	a.Decode(&e)
	return e
}

// ids returns the identifiers of the records of a page.
func (e envelope) ids() []string {
	var ids []string
	for _, edge := range e.Edges {
		ids = append(ids, edge.Node["uuid"].(string))
	}
	return ids
}

// walk reads a list by pages of a size, from its end if asked to, and returns its records in order. see gets each page,
// and may be nil.
func walk(
	h *servicetest.Harness,
	t *testing.T,
	token, path string,
	size int,
	backward bool,
	see func(answer servicetest.Answer, p envelope),
) []string {
	t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	count := "first="
	if backward {
		count = "last="
	}
	cursor := ""
	var ids []string
	for range 2000 {
		answer := h.Do(token, http.MethodGet, path+separator+count+strconv.Itoa(size)+cursor, "")
		p := page(t, answer)
		if see != nil {
			see(answer, p)
		}
		hasMore := p.PageInfo.HasNextPage
		if backward {
			ids, hasMore = append(p.ids(), ids...), p.PageInfo.HasPreviousPage
		} else {
			ids = append(ids, p.ids()...)
		}
		switch {
		case !hasMore:
			return ids
		case backward:
			cursor = "&before=" + *p.PageInfo.StartCursor
		default:
			cursor = "&after=" + *p.PageInfo.EndCursor
		}
	}
	t.Fatalf("%s: the walk does not end", path)
	return nil
}

// parallel runs n requests at once, and counts their statuses.
func parallel(n int, send func(i int) int) map[int]int {
	var mu sync.Mutex
	var group sync.WaitGroup
	statuses := map[int]int{}
	for i := range n {
		group.Go(func() {
			status := send(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	group.Wait()
	return statuses
}

func TestConcurrentCreation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := apitype.NewUUID().String()
	bodies := map[string]string{
		"persons": w.personBody(w.a, `,"uuid":"`+id+`"`),
		"pledges": w.pledgeBody(w.a, `,"uuid":"`+id+`"`),
		"calls":   w.callBody(w.a, `,"uuid":"`+id+`"`),
	}
	for kind, body := range bodies {
		statuses := parallel(32, func(int) int { return w.Do(w.all, "POST", "/api/v1/"+kind, body).Status })
		if statuses[201] != 1 || statuses[409] != 31 {
			t.Errorf("%s: got %v, want one 201 and 31 conflicts", kind, statuses)
		}
	}
}

// Promise S25: X-RateLimit-Limit is a whole number, 1 at least.
func TestRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, servicetest.WithRate(100))
	statuses := map[int]int{}
	for range 110 {
		statuses[w.Do(w.b.token, "GET", "/api/v1/persons?first=0", "").Status]++
	}
	if statuses[200] != 100 || statuses[429] != 10 {
		t.Errorf("got %v, want 100 answers and 10 refusals", statuses)
	}
	refused := w.Do(w.b.token, "GET", "/api/v1/persons", "")
	if refused.Header.Get("Retry-After") != "1" {
		t.Errorf("got Retry-After %q, want 1", refused.Header.Get("Retry-After"))
	}
	got := w.Do(w.a.token, "GET", "/api/v1/persons", "")
	if got.Status != 200 || got.Header.Get("X-RateLimit-Limit") != "100" {
		t.Errorf("got %d and the limit %q for another account, want 200 and 100",
			got.Status, got.Header.Get("X-RateLimit-Limit"))
	}
	w.Clock.Advance(time.Second)
	w.Want(200, w.b.token, "GET", "/api/v1/persons", "")
}

// TestLog shows that a line of the log holds no value of the request.
func TestLog(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := newWorld(t, servicetest.WithLog(&log))
	w.get("/api/v1/persons?iban=NL91ABNA0417164300")
	w.Do(w.all, "PUT", personPath(w.a.person)+"/actions/update", `{"email":"secret@example.org"}`)
	text := log.String()
	for _, secret := range []string{"NL91", "secret@", w.all, w.a.person.String(), "Jansen"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(text, `route="PUT /api/v1/persons/{uuid}/actions/update" account=`+w.account.UUID.String()+
		" status=200") {
		t.Errorf("got log %s", text)
	}
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the text.
func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		w.Want(200, "", "GET", path, "")
	}
	servicetest.Check(t, w.Store.Close())
	w.Want(503, "", "GET", "/readyz", "")
	w.Want(200, "", "GET", "/healthz", "")
	if got := w.get("/api/v1/persons"); got.Status != 500 || anyTime.Match(got.Body) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

// TestHead shows that HEAD is GET without a body, over a real connection.
func TestHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead,
		w.URL+"/api/v1/persons/"+w.a.person.String(), http.NoBody)
	servicetest.Check(t, err)
	request.Header.Set("Authorization", "Bearer "+w.all)
	for name, transport := range map[string]http.RoundTripper{
		"server":  http.DefaultTransport,
		"process": w.Transport(),
	} {
		response, err := transport.RoundTrip(request)
		servicetest.Check(t, err)
		servicetest.Report(t, response.Body.Close())
		if response.StatusCode != 200 || response.ContentLength <= 0 {
			t.Errorf("%s: got %d with %d bytes", name, response.StatusCode, response.ContentLength)
		}
	}
}
