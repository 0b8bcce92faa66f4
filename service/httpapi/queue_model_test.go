package httpapi_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var (
	modelSeed  = flag.Uint64("seed", 1, "seed of the random work and records; 0: another one each time")
	modelSteps = flag.Int("steps", 120, "steps of TestQueueModel; by night 700")
)

// randomOf draws by -seed, which it logs.
func randomOf(t *testing.T) (*rand.Rand, uint64) {
	t.Helper()
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1)), seed
}

// TestQueueModel plays random work to the queue, and holds every take, list and count against
// what a plain reading of the rules gives.
// Promise S36: an attempt that is dated ahead counts as rung when it was recorded.
func TestQueueModel(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.Serve(f.Service) // Too many to check each.
		random, seed := randomOf(t)
		m := &queueModel{
			floor:    f,
			random:   random,
			persons:  map[apitype.UUID]*queuedPerson{},
			calls:    map[apitype.UUID]*queuedCall{},
			returned: map[apitype.UUID]map[apitype.UUID]time.Time{},
		}
		for range 12 {
			m.addPerson()
		}
		for step := range servicetest.Times(20, *modelSteps) {
			m.step()
			if step%5 == 0 {
				m.compare(step)
			}
			if t.Failed() {
				t.Fatalf("in step %d of seed %d", step, seed)
			}
		}
		m.drain()
	})
}

// queueModel is the queue as its rules read.
type queueModel struct {
	*floor
	random   *rand.Rand
	persons  map[apitype.UUID]*queuedPerson
	order    []apitype.UUID // Of persons.
	calls    map[apitype.UUID]*queuedCall
	ids      []apitype.UUID                              // Of calls.
	returned map[apitype.UUID]map[apitype.UUID]time.Time // By user and call.
	leases   []apitype.Lease                             // Given so far.
}

type queuedPerson struct {
	language  string
	optedOut  bool
	contacted time.Time
	leasedFor apitype.UUID // A call, with the lease below.
	lease     apitype.UUID
	user      apitype.UUID
	taken     time.Time
	until     time.Time
}

type queuedCall struct {
	id, person apitype.UUID
	kind       string
	requested  time.Time
	attempts   int
	external   bool
	open       bool
	due        *time.Time
	keptFor    *apitype.UUID
}

func (m *queueModel) now() time.Time { return m.Clock.Now() }

func (m *queueModel) addPerson() {
	language := []string{"", "nl", "de"}[m.random.IntN(3)]
	text := "null"
	if language != "" {
		text = `"` + language + `"`
	}
	id := m.person(text)
	m.persons[id] = &queuedPerson{language: language}
	m.order = append(m.order, id)
}

// anyOf returns one of some values.
func anyOf[T any](m *queueModel, values []T) T { return values[m.random.IntN(len(values))] }

// step does one thing.
func (m *queueModel) step() {
	user := anyOf(m, m.users)
	switch n := m.random.IntN(100); {
	case n < 22:
		m.addCall()
	case n < 47:
		m.takeOne(user)
	case n < 60:
		m.endLease()
	case n < 72:
		m.changeCall(user)
	case n < 76:
		m.choose(user)
	case n < 77:
		m.releaseUser(user)
	case n < 82:
		m.putOff()
	case n < 86:
		id := anyOf(m, m.order)
		m.persons[id].optedOut = !m.persons[id].optedOut
		m.update(id, fmt.Sprintf(`{"optIns":{"phone":%t}}`, !m.persons[id].optedOut))
	case n < 88:
		id := anyOf(m, m.order)
		m.persons[id].language = anyOf(m, []string{"nl", "de"})
		m.update(id, fmt.Sprintf(`{"language":%q}`, m.persons[id].language))
	default:
		m.Clock.Advance(time.Duration(1+m.random.IntN(20)) * anyOf(m, []time.Duration{
			time.Second,
			time.Minute,
			9 * time.Minute,
			25 * time.Minute,
		}))
	}
	m.Clock.Advance(time.Millisecond) // So that no two times are the same.
}

func (m *queueModel) addCall() {
	c := &queuedCall{
		person: anyOf(m, m.order),
		kind:   anyOf(m, []string{"happy_call", "winback", "verification"}),
		open:   true,
	}
	c.requested = m.now().Add(-time.Duration(
		m.random.Int64N(int64(30*time.Hour)),
	) + 2*time.Hour).Truncate(time.Millisecond)
	body := fmt.Sprintf(`"type":%q`, c.kind)
	if m.random.IntN(5) == 0 {
		c.external, c.kind = true, "verification"
		body = `"externalMetadata":{"applicationName":"dialler"}`
	}
	if c.external && m.random.IntN(2) == 0 { // It arrives with what a dialler did already.
		at := m.oddTime()
		body += fmt.Sprintf(`,"attempts":[{"createdAt":%q}]`, apitype.NewTime(at))
		c.attempts = 1
		m.persons[c.person].contact(at, m.now())
		if status := anyOf(m, []string{"requested", "completed", "cancelled", "expired"}); status != "requested" {
			c.open = false
			body += fmt.Sprintf(`,"status":%q`, status)
			if status == "completed" {
				at = m.oddTime()
				body += fmt.Sprintf(`,"completedAt":%q`, apitype.NewTime(at))
				m.persons[c.person].contact(at, m.now())
			}
		}
	}
	c.id = m.created("/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,%s}`, c.person, apitype.NewTime(c.requested), body))
	m.calls[c.id] = c
	m.ids = append(m.ids, c.id)
}

// eligible reads the rule plainly.
func (m *queueModel) eligible(c *queuedCall, user *apitype.UUID) bool {
	p := m.persons[c.person]
	switch {
	case !c.open, c.requested.After(m.now()), p.optedOut:
		return false
	case !p.contacted.IsZero() && m.now().Sub(p.contacted) < 4*time.Hour:
		return false
	case !c.external && c.attempts >= 3:
		return false
	case p.until.After(m.now()):
		return false
	case c.due == nil:
		return true
	case c.due.After(m.now()):
		return false
	}
	return c.keptFor == nil || (user != nil && *c.keptFor == *user) || m.now().Sub(*c.due) >= 30*time.Minute
}

// rank returns the place of a call for a user.
func (m *queueModel) rank(c *queuedCall, user *apitype.UUID) (int, time.Time) {
	if user != nil {
		if at, ok := m.returned[*user][c.id]; ok && m.now().Sub(at) < 10*time.Minute {
			return 3, c.requested
		}
	}
	switch {
	case c.due == nil:
		return 2, c.requested
	case user != nil && c.keptFor != nil && *c.keptFor == *user:
		return 0, *c.due
	default:
		return 1, *c.due
	}
}

// next returns the order for a user, narrowed.
func (m *queueModel) next(user *apitype.UUID, types, languages []string) []apitype.UUID {
	var calls []*queuedCall
	for _, c := range m.calls {
		language := m.persons[c.person].language
		if m.eligible(c, user) && (len(types) == 0 || slices.Contains(types, c.kind)) &&
			(len(languages) == 0 || language == "" || slices.Contains(languages, language)) {
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b *queuedCall) int {
		x, atX := m.rank(a, user)
		y, atY := m.rank(b, user)
		return cmp.Or(cmp.Compare(x, y), atX.Compare(atY), a.id.Compare(b.id))
	})
	var ids []apitype.UUID
	for _, c := range calls {
		ids = append(ids, c.id)
	}
	return ids
}

// takeOne takes some calls: the first of each person, in order.
func (m *queueModel) takeOne(user apitype.UUID) {
	var types, languages []string
	body, count := "", 1+m.random.IntN(3)
	if m.random.IntN(3) == 0 {
		types = []string{"winback", "happy_call"}
		body += `,"types":["winback","happy_call"]`
	}
	if m.random.IntN(3) == 0 {
		languages = []string{"de"}
		body += `,"languages":["de"]`
	}
	var want []apitype.UUID
	held := map[apitype.UUID]bool{}
	count = min(count, 10-m.held(user))
	for _, id := range m.next(&user, types, languages) {
		if person := m.calls[id].person; !held[person] && len(want) < count {
			held[person] = true
			want = append(want, id)
		}
	}
	request := apitype.NewUUID()
	taken := m.takeAs(request, user,
		fmt.Sprintf(`,"count":%d,"leaseSeconds":%d%s`, count, 300+m.random.IntN(900), body))
	if diff := gocmp.Diff(want, callsOf(taken)); diff != "" {
		m.t.Errorf("taken: %s", diff)
		return
	}
	for _, lease := range taken.Leases {
		c := m.calls[lease.CallUUID]
		if (lease.DueAt == nil) != (c.due == nil) {
			m.t.Errorf("got dueAt %v, want %v", lease.DueAt, c.due)
		}
		c.due, c.keptFor = nil, nil
		p := m.persons[c.person]
		p.leasedFor, p.lease, p.user, p.taken, p.until = c.id, lease.LeaseUUID, user, m.now(), lease.ExpiresAt.Time
		m.leases = append(m.leases, lease)
	}
	if rest := len(m.next(&user, types, languages)); taken.Waiting != rest {
		m.t.Errorf("got %d waiting, want %d", taken.Waiting, rest)
	}
	if m.random.IntN(4) == 0 {
		m.Clock.Advance(time.Duration(m.random.IntN(3)) * 7 * time.Minute)
		live := slices.DeleteFunc(slices.Clone(taken.Leases), func(l apitype.Lease) bool {
			return !l.ExpiresAt.After(m.now())
		})
		again := m.takeAs(request, user, "")
		if len(taken.Leases) > 0 {
			if want := callsOf(apitype.Taken{Leases: live}); !slices.Equal(callsOf(again), want) {
				m.t.Errorf("the same request: got %v, want %v", callsOf(again), want)
			}
			if rest := len(m.next(&user, nil, nil)); again.Waiting != rest {
				m.t.Errorf("the same request: got %d waiting, want %d", again.Waiting, rest)
			}
		} else {
			for _, lease := range again.Leases { // A second take.
				m.floor.release(lease.LeaseUUID, "")
				c := m.calls[lease.CallUUID]
				c.due, c.keptFor = nil, nil
				m.release(user, lease.CallUUID)
			}
		}
	}
}

// held counts the live leases of a user.
func (m *queueModel) held(user apitype.UUID) int {
	var n int
	for _, p := range m.persons {
		if p.user == user && p.until.After(m.now()) {
			n++
		}
	}
	return n
}

// choose leases a call that was not next, whatever keeps it out of the queue.
func (m *queueModel) choose(user apitype.UUID) {
	if len(m.ids) == 0 {
		return
	}
	c := m.calls[anyOf(m, m.ids)]
	p := m.persons[c.person]
	live := p.until.After(m.now())
	body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":600}`, apitype.NewUUID(), user)
	path := queuePath(c.id) + "/lease"
	if !c.open || (live && p.user != user) || (!live && m.held(user) >= 10) {
		m.want(409, "PUT", path, body)
		return
	}
	var lease apitype.Lease
	answer := m.Do(m.token, http.MethodPut, path, body)
	if answer.Status != 200 {
		m.t.Fatalf("lease: %d %s", answer.Status, answer.Body)
	}
	answer.Decode(&lease)
	until := m.now().Add(600 * time.Second)
	if live && p.leasedFor == c.id {
		if p.until.After(until) {
			until = p.until
		}
		p.until = until
	} else {
		p.leasedFor, p.lease, p.user, p.taken, p.until = c.id, lease.LeaseUUID, user, m.now(), until
		m.useUp(c)
		m.leases = append(m.leases, lease)
	}
	if !lease.ExpiresAt.Equal(apitype.NewTime(until)) || lease.CallUUID != c.id {
		m.t.Errorf("got %+v, want call %s until %s", lease, c.id, until)
	}
}

// useUp forgets the callback of a call if it is due.
func (m *queueModel) useUp(c *queuedCall) {
	if c.due != nil && !c.due.After(m.now()) {
		c.due, c.keptFor = nil, nil
	}
}

// releaseUser frees everything that a user holds.
func (m *queueModel) releaseUser(user apitype.UUID) {
	var want apitype.ReleasedUser
	for _, c := range m.calls {
		if c.keptFor != nil && *c.keptFor == user && c.open {
			c.keptFor = nil
			want.Deferrals++
		}
		if p := m.persons[c.person]; p.leasedFor == c.id && p.user == user && p.until.After(m.now()) {
			want.Leases++
			p.until = time.Time{}
			m.release(user, c.id)
		}
	}
	var got apitype.ReleasedUser
	m.Do(m.token, http.MethodPost, "/fundesk/v1/queue/release",
		fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, user)).Decode(&got)
	if got != want {
		m.t.Errorf("released %+v, want %+v", got, want)
	}
}

func (m *queueModel) release(user, call apitype.UUID) {
	if m.returned[user] == nil {
		m.returned[user] = map[apitype.UUID]time.Time{}
	}
	m.returned[user][call] = m.now()
}

// endLease extends or releases a lease that was given once.
func (m *queueModel) endLease() {
	if len(m.leases) == 0 {
		return
	}
	lease := m.leases[max(0, len(m.leases)-1-m.random.IntN(6))]
	p := m.persons[m.calls[lease.CallUUID].person]
	live := p.lease == lease.LeaseUUID && p.until.After(m.now())
	path := leasePath(lease.LeaseUUID)
	switch m.random.IntN(3) {
	case 0:
		if !live {
			m.want(404, "POST", path+"/extend", `{"leaseSeconds":600}`)
			return
		}
		m.want(200, "POST", path+"/extend", `{"leaseSeconds":600}`)
		p.until = m.now().Add(600 * time.Second)
	case 1:
		m.want(204, "POST", path+"/release", "")
		if live {
			p.until = time.Time{}
			m.useUp(m.calls[lease.CallUUID])
			m.release(p.user, lease.CallUUID)
		}
	default:
		due, kept, body := m.deferral()
		m.want(204, "POST", path+"/release", body)
		if live {
			p.until = time.Time{}
			m.calls[lease.CallUUID].due, m.calls[lease.CallUUID].keptFor = due, kept
		}
	}
}

// deferral returns a time to put a call off to, perhaps for a user.
func (m *queueModel) deferral() (due *time.Time, kept *apitype.UUID, body string) {
	at := m.now().Add(time.Duration(m.random.Int64N(int64(90 * time.Minute)))).Truncate(time.Millisecond)
	user := "null"
	if m.random.IntN(2) == 0 {
		kept = new(anyOf(m, m.users))
		user = `"` + kept.String() + `"`
	}
	return &at, kept, fmt.Sprintf(`{"notBefore":%q,"userUuid":%s}`, apitype.NewTime(at), user)
}

// putOff defers a call, leased or not.
func (m *queueModel) putOff() {
	if len(m.ids) == 0 {
		return
	}
	c := m.calls[anyOf(m, m.ids)]
	due, kept, body := m.deferral()
	path := queuePath(c.id) + "/later"
	p := m.persons[c.person]
	if !c.open || (p.leasedFor == c.id && p.until.After(m.now())) {
		m.want(409, "PUT", path, body)
		return
	}
	m.want(204, "PUT", path, body)
	c.due, c.keptFor = due, kept
}

// changeCall does what the interface has, with a lease or without.
func (m *queueModel) changeCall(user apitype.UUID) {
	if len(m.ids) == 0 {
		return
	}
	c := m.calls[anyOf(m, m.ids)]
	p := m.persons[c.person]
	if m.random.IntN(3) > 0 && p.until.After(m.now()) {
		c = m.calls[p.leasedFor]
	}
	action := anyOf(m, []string{"add-attempt", "add-attempt", "complete", "cancel", "expire"})
	body, at := `{}`, m.oddTime()
	switch action {
	case "add-attempt":
		body = fmt.Sprintf(`{"userUuid":%q,"attemptAt":%q}`, user, apitype.NewTime(at))
	case "complete":
		body = fmt.Sprintf(`{"userUuid":%q,"result":{"completedAt":%q}}`, user, apitype.NewTime(at))
	}
	answer := m.Do(m.token, http.MethodPut, callPath(c.id)+"/actions/"+action, body)
	allowed := c.external || c.open
	if action == "add-attempt" && !c.external && c.attempts >= 3 {
		allowed = false
	}
	if !allowed {
		if answer.Status != 409 && answer.Status != 200 { // The same move again is 200.
			m.t.Errorf("%s: got %d", action, answer.Status)
		}
		return
	}
	if answer.Status != 200 {
		m.t.Errorf("%s: got %d %s", action, answer.Status, answer.Body)
	}
	if action == "add-attempt" || action == "complete" {
		if p.leasedFor == c.id && p.until.After(m.now()) && at.Before(p.taken) {
			at = p.taken
		}
		p.contact(at, m.now())
	}
	if p.leasedFor == c.id {
		p.until = time.Time{}
	}
	if action == "add-attempt" {
		c.attempts++
		c.due, c.keptFor = nil, nil
		return
	}
	c.open = false
}

// oddTime returns a time as the clock of a computer may give it: mostly right, sometimes hours away.
func (m *queueModel) oddTime() time.Time {
	off := anyOf(m, []time.Duration{
		0, 0, 0, -5 * time.Hour, 3 * time.Hour,
		-time.Duration(m.random.Int64N(int64(9 * time.Hour))),
	})
	return m.now().Add(off).Truncate(time.Millisecond)
}

// contact notes that a person was called: never in the future.
func (p *queuedPerson) contact(at, now time.Time) {
	if at.After(now) {
		at = now
	}
	if at.After(p.contacted) {
		p.contacted = at
	}
}

// compare holds the list and the counts against the model.
func (m *queueModel) compare(step int) {
	m.t.Helper()
	for _, user := range []*apitype.UUID{nil, &m.users[0]} {
		query := ""
		if user != nil {
			query = "&userUuid=" + user.String()
		}
		want := m.next(user, nil, nil)
		if diff := gocmp.Diff(want, m.floor.order(query)); diff != "" {
			m.t.Errorf("step %d, list%s: %s", step, query, diff)
		}
		state := apitype.QueueState{
			Waiting:    len(want),
			ByType:     map[apitype.CallType]int{},
			ByLanguage: map[string]int{},
			Messages:   []apitype.QueueMessage{},
		}
		for _, id := range want {
			c := m.calls[id]
			state.ByType[apitype.CallType(c.kind)]++
			state.ByLanguage[m.persons[c.person].language]++
			if c.due != nil {
				state.Due++
			}
			at := apitype.NewTime(c.requested)
			if state.OldestRequestedAt == nil || at.Before(state.OldestRequestedAt.Time) {
				state.OldestRequestedAt = &at
			}
		}
		for _, c := range m.calls {
			if c.open && c.due != nil && c.due.After(m.now()) {
				state.Deferred++
				if !c.due.After(m.now().Add(time.Hour)) {
					state.DueNextHour++
				}
			}
		}
		for _, p := range m.persons {
			if p.until.After(m.now()) {
				state.Leased++
			}
		}
		if diff := gocmp.Diff(state, m.state("?"+query[min(1, len(query)):])); diff != "" {
			m.t.Errorf("step %d, counts%s: %s", step, query, diff)
		}
	}
}

// drain works until nothing is left: every call that may be given is given in the end.
func (m *queueModel) drain() {
	for round := 0; ; round++ {
		m.Clock.Advance(5 * time.Hour)
		for {
			user := m.users[0]
			want := m.next(&user, nil, nil)
			taken := m.take(user, "")
			if len(want) == 0 {
				if len(taken.Leases) != 0 {
					m.t.Errorf("got %v, want nothing", callsOf(taken))
				}
				break
			}
			if len(taken.Leases) != 1 || taken.Leases[0].CallUUID != want[0] {
				m.t.Fatalf("got %v, want %v", callsOf(taken), want[0])
			}
			m.act(want[0], "complete", `{}`)
			m.calls[want[0]].open = false
			m.persons[m.calls[want[0]].person].contact(m.now(), m.now())
		}
		if round > 40 {
			break
		}
	}
	for _, c := range m.calls {
		if p := m.persons[c.person]; c.open && !p.optedOut && (c.external || c.attempts < 3) {
			m.t.Errorf("call %s was never given", c.id)
		}
	}
}
