package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// readWorld is a service that notes reads. Each of its donors has a name that nothing else has.
type readWorld struct {
	*floor
	random  *rand.Rand
	persons []apitype.UUID
	calls   []apitype.UUID
	pledges []apitype.UUID
	tokens  []string
	shown   map[apitype.UUID][]string // The requests that showed a donor.
}

func donorName(n int) string { return fmt.Sprintf("Donor%04dx", n) }

// newReadWorld loads donors of two organizations. Some have paid.
func newReadWorld(t *testing.T, f *floor) *readWorld {
	t.Helper()
	w := &readWorld{floor: f, random: rand.New(rand.NewPCG(4, 19)), shown: map[apitype.UUID][]string{}}
	noted, err := service.New(t.Context(), service.Options{Store: f.Store, Now: f.Clock.Now, AuditReads: true})
	servicetest.Check(t, err)
	f.Serve(noted)
	other := f.Organization("B")
	at := f.In(-time.Hour)
	var persons, pledges, calls, transactions []any
	for n := range 12 {
		owner := []apitype.UUID{f.organization, other}[n%2]
		person := servicetest.NewPerson(owner, at)
		person.LastName = new(donorName(n))
		pledge := servicetest.NewPledge(person.UUID, owner, at)
		pledge.RecruitingOrganizationUUID = f.organization
		call := servicetest.NewCall(person.UUID, at)
		call.RelatedCaseUUID = &pledge.UUID
		w.persons, w.pledges, w.calls = append(w.persons, person.UUID), append(w.pledges, pledge.UUID), append(w.calls, call.UUID)
		persons, pledges, calls = append(persons, person), append(pledges, pledge), append(calls, call)
		if n < 6 {
			transaction := servicetest.NewTransaction(pledge.UUID, person.UUID, at)
			transaction.Name, transaction.Method = new(donorName(n)), new("m")
			transactions = append(transactions, transaction)
		}
	}
	f.LoadAll(slices.Concat(persons, pledges, calls, transactions)...)
	may := append(slices.Clone(service.Permissions), service.PersonsErase)
	w.tokens = []string{
		f.Token(servicetest.May(may...)),
		f.Token(servicetest.May(may...), servicetest.For(f.organization)),
		f.Token(servicetest.MayNot(service.PersonsRead)),
		f.Token(servicetest.MayNot(service.PledgesRead), servicetest.For(other)),
	}
	return w
}

// donors returns the names of the donors.
func (w *readWorld) donors(t *testing.T) map[apitype.UUID]string {
	t.Helper()
	names := map[apitype.UUID]string{}
	for _, id := range w.persons {
		names[id] = w.Do(w.token, http.MethodGet, personPath(id), "").Object()["lastName"].(string)
	}
	return names
}

// request returns a request that may show donors.
func (w *readWorld) request() (method, path, body string, isList bool) {
	one := func(ids []apitype.UUID) string { return ids[w.random.IntN(len(ids))].String() }
	page := url.Values{"first": {fmt.Sprint(1 + w.random.IntN(8))}}
	list := func(path string, filters ...string) (string, string, string, bool) {
		for _, filter := range filters {
			name, value, _ := strings.Cut(filter, "=")
			page.Set(name, value)
		}
		return http.MethodGet, path + "?" + page.Encode(), "", true
	}
	lease := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":60,"count":3}`, apitype.NewUUID(), w.users[0])
	switch w.random.IntN(15) {
	case 0:
		return http.MethodGet, "/api/v1/persons/" + one(w.persons), "", false
	case 1:
		return http.MethodGet, "/api/v1/calls/" + one(w.calls), "", false
	case 2:
		return http.MethodGet, "/api/v1/pledges/" + one(w.pledges), "", false
	case 3:
		return http.MethodGet, "/fundesk/v1/persons/" + one(w.persons) + "/export", "", false
	case 4:
		return http.MethodPost, "/fundesk/v1/queue/take", lease, false
	case 5:
		later := fmt.Sprintf(`{"notBefore":%q}`, w.In(time.Hour))
		return http.MethodPut, "/fundesk/v1/queue/calls/" + one(w.calls) + "/later", later, false
	case 6:
		return list("/api/v1/persons")
	case 7:
		return list("/api/v1/persons", "search="+donorName(w.random.IntN(14))[:8+w.random.IntN(2)])
	case 8:
		return list("/api/v1/calls", "include=person")
	case 9:
		return list("/api/v1/calls", "include=pledge,transactions")
	case 10:
		return list("/api/v1/calls", "personUuid="+one(w.persons), "include=person,transactions")
	case 11:
		return list("/api/v1/pledges", "include=person")
	case 12:
		return list("/api/v1/pledges", "include=transactions")
	case 13:
		return list("/fundesk/v1/queue/calls")
	default:
		return list("/fundesk/v1/queue/deferrals")
	}
}

// TestWhoReadWhom sends requests of several accounts by chance, and looks for the donors' names in the answers. The
// audit of each donor has the requests that showed the name, and no others.
// Promise S44: the audit answers which requests read a donor.
func TestWhoReadWhom(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		w := newReadWorld(t, f)
		names := w.donors(t)
		w.Clock.Advance(time.Second)
		since := w.Now()
		changes := map[string]bool{}
		lists := 0
		for range servicetest.Times(200, 600) {
			w.Clock.Advance(time.Second)
			method, path, body, isList := w.request()
			answer := w.Do(w.tokens[w.random.IntN(len(w.tokens))], method, path, body)
			id := answer.Header.Get("X-Request-Id")
			changes[id] = method == http.MethodPut
			for person, name := range names {
				if answer.Status == http.StatusOK && strings.Contains(string(answer.Body), name) {
					w.shown[person] = append(w.shown[person], id)
					if isList {
						lists++
					}
				}
			}
		}
		if lists < 300 {
			t.Errorf("lists showed donors %d times, want more", lists)
		}
		for person, name := range names {
			got := []string{}
			filter := service.AuditFilter{Person: &person, Since: &since}
			servicetest.Check(t, w.Privacy.Audit(t.Context(), filter, func(line service.AuditLine) error {
				if !changes[line.RequestID] {
					got = append(got, line.RequestID)
				}
				return nil
			}))
			servicetest.Same(t, "requests that showed "+name, w.shown[person], got)
		}
		export := string(
			w.Do(w.tokens[0], http.MethodGet, "/fundesk/v1/persons/"+w.persons[0].String()+"/export", "").Body,
		)
		if !strings.Contains(export, `"person.list"`) || strings.Contains(export, w.persons[2].String()) {
			t.Errorf("got the export %s, want its lists without the other donors of them", export)
		}
	})
}
