package httpapi_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var (
	longModel = flag.Bool("long", false, "5,000 seeds of TestFloorRulesModel, as by night")
	weeks     = flag.Int("weeks", 0,
		"how many seeds TestWeekOfFiftyAgents plays on SQLite; a tenth of them on PostgreSQL")
)

// A floorSize holds how many agents and records a model has.
type floorSize struct {
	agents, donors, calls int
	pause                 time.Duration // At most, between two rounds of the agents.
	changes               int           // Before each round.
}

var (
	smallFloor = floorSize{agents: 3, donors: 4, calls: 7, pause: 40 * time.Hour, changes: 1}
	largeFloor = floorSize{agents: 50, donors: 60, calls: 90, pause: 8 * time.Hour, changes: 12}
	// Agents who take at one instant on PostgreSQL, by day.
	sharedFloor = floorSize{agents: 15, donors: 20, calls: 30, pause: 8 * time.Hour, changes: 4}
)

// TestWeekOfFiftyAgents is TestFloorRulesModel with a floor of 50 agents. They complete calls with effects, note
// callbacks, and keep some calls past the end of their leases.
// Promise S84: no donor is called who may not be, and each other one is.
func TestWeekOfFiftyAgents(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		size := largeFloor
		seeds := max(*weeks, 1)
		isShared := strings.HasSuffix(t.Name(), "postgres")
		if isShared {
			seeds = max(seeds/10, 1)
		}
		if isShared && *weeks == 0 {
			size = sharedFloor
		}
		playSeeds(t, f, size, 0, seeds, 1, isShared)
	})
}

// TestFloorRulesModel lets a floor of agents take calls over a week, under random rules that change. It compares each
// list and each given call with a plain reading of the rules.
// Promise S79: an opt-out is by number.
// Promise S84: no donor is called who may not be, and each other one is.
// Promise S85: a take gives no call to a donor outside the hours of their country, and counts what waits for them.
func TestFloorRulesModel(t *testing.T) {
	seeds := servicetest.Times(4, 200)
	if *longModel {
		seeds = 5000
	}
	onEngines(t, func(t *testing.T, f *floor) {
		isShared := strings.HasSuffix(t.Name(), "postgres")
		if isShared { // Where each request takes longer, and SQLite has shown the rules.
			playSeeds(t, f, smallFloor, 0, max(seeds/10, 1), 1, isShared)
			return
		}
		const atOnce = 4
		for first := range atOnce {
			t.Run(fmt.Sprint(first), func(t *testing.T) {
				t.Parallel()
				playSeeds(t, newFloor(t, servicetest.New(t)), smallFloor, first, seeds, atOnce, isShared)
			})
		}
	})
}

// playSeeds plays some of the seeds, one after the other. -seed names the first one of all.
func playSeeds(t *testing.T, f *floor, size floorSize, first, seeds, every int, isShared bool) {
	t.Helper()
	f.Serve(f.Service) // Too many to check each.
	for n := first; n < seeds; n += every {
		seed := *modelSeed + uint64(n)
		newRulesModel(f, size, seed, isShared).week()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// rulesModel is a floor for a week.
type rulesModel struct {
	*floor
	size     floorSize
	random   *rand.Rand
	isShared bool // Several take at one instant: one may find all calls locked.
	owner    apitype.UUID
	token    string
	settings apitype.OrganizationSettings
	donors   []*ruledDonor
	calls    []*ruledCall
	numbers  int
	agents   []apitype.UUID
	blocks   map[string]map[*ruledDonor]time.Time // When, by number. Nil is the block of a supervisor.
}

type ruledDonor struct {
	id        apitype.UUID
	optIn     string
	address   string    // Country of the address.
	number    string    // Country of the number.
	tel       string    // The number itself.
	held      time.Time // The end of a lease that only time ended.
	contacted time.Time
	pledges   []*ruledPledge
	basis     string    // Of the newest consent or objection.
	said      time.Time // When it was.
	changed   time.Time // When an update or a result last changed the opt-in.
}

type ruledPledge struct {
	id       apitype.UUID
	isActive bool
	end      time.Time
}

type ruledCall struct {
	id     apitype.UUID
	donor  *ruledDonor
	kind   apitype.CallType
	due    *time.Time
	isOpen bool
}

func newRulesModel(f *floor, size floorSize, seed uint64, isShared bool) *rulesModel {
	m := &rulesModel{
		floor:    f,
		size:     size,
		random:   rand.New(rand.NewPCG(seed, 2)),
		isShared: isShared,
		blocks:   map[string]map[*ruledDonor]time.Time{},
	}
	for range size.agents {
		m.agents = append(m.agents, apitype.NewUUID())
	}
	f.Clock.Set(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.random.IntN(690*24*60)) * time.Minute))
	_, err := f.Service.ResetClock(f.t.Context()) // Times of the seeds before may lie ahead.
	servicetest.Check(f.t, err)
	m.owner = f.Organization("model")
	m.token = f.token
	if m.random.IntN(2) == 0 {
		m.token = f.Token(servicetest.For(m.owner))
	}
	for range size.donors - 1 + m.random.IntN(3) {
		m.addDonor()
	}
	for range size.calls {
		m.addCall()
	}
	m.changeRules()
	return m
}

func pickOf[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

func (m *rulesModel) now() time.Time { return m.Clock.Now() }

var (
	modelPrefixes = map[string]string{"NL": "+316", "DE": "+49151", "US": "+1212", "PT": "+35191"}
	modelHours    = []string{"", "", "-", "00:00-24:00", "08:00-12:30", "14:00-23:59"}
	modelHolidays = []string{"-NL", "-DE", "NL:%s", "DE:%s", "US:%s"}
)

// changeRules puts other settings.
func (m *rulesModel) changeRules() {
	s := apitype.OrganizationSettings{
		Results: map[apitype.CallType][]apitype.ResultChoice{apitype.AllTypes: {
			{Code: "stop", Effect: new(apitype.EffectOptOut)},
			{Code: "died", Effect: new(apitype.EffectNoContact)},
			{Code: "fine"},
		}},
		Country:       pickOf(m.random, "", "NL", "NL", "DE", "PT"),
		YearsAfterEnd: pickOf(m.random, 0, 1, 3),
		CallingHours:  map[string]apitype.HoursOfDays{},
	}
	for _, kind := range apitype.CallTypes {
		if m.random.IntN(3) == 0 {
			s.RequireOptIn = append(s.RequireOptIn, kind)
		}
	}
	for _, country := range []string{"NL", "US"} {
		if m.random.IntN(3) == 0 {
			s.CallingHours[country] = apitype.HoursOfDays{
				Weekday:  pickOf(m.random, modelHours...),
				Saturday: pickOf(m.random, modelHours...),
				Sunday:   pickOf(m.random, modelHours...),
			}
		}
	}
	for range m.random.IntN(3) {
		line := pickOf(m.random, modelHolidays...)
		if strings.Contains(line, "%s") {
			line = fmt.Sprintf(line, m.now().AddDate(0, 0, m.random.IntN(7)).Format(time.DateOnly))
		}
		s.Holidays = append(s.Holidays, line)
	}
	m.setRulesOf(m.owner, s)
	m.settings = s
}

// newNumber returns a number in a country. Some are shared with another donor.
func (m *rulesModel) newNumber(country string) string {
	if m.random.IntN(3) == 0 {
		for _, d := range m.donors {
			if strings.HasPrefix(d.tel, modelPrefixes[country]) {
				return d.tel
			}
		}
	}
	m.numbers++
	return fmt.Sprintf("%s%07d", modelPrefixes[country], m.numbers)
}

func (m *rulesModel) addDonor() {
	d := &ruledDonor{
		optIn:   pickOf(m.random, "null", "true", "true", "false"),
		address: pickOf(m.random, "", "NL", "DE", "US", "PT"),
		number:  pickOf(m.random, "", "NL", "DE", "US", "PT"),
	}
	members := `,"optIns":{"phone":` + d.optIn + `}`
	if d.address != "" {
		members += addressIn(d.address)
	}
	if d.number != "" {
		d.tel = m.newNumber(d.number)
		members += fmt.Sprintf(`,%q:%q`, pickOf(m.random, "phoneNumber", "mobilePhoneNumber"), d.tel)
	}
	d.id = m.donorWith(m.owner, members)
	m.donors = append(m.donors, d)
	for range m.random.IntN(3) {
		m.addPledge(d)
	}
}

func (m *rulesModel) addPledge(d *ruledDonor) {
	p := &ruledPledge{isActive: m.random.IntN(4) == 0}
	more := `,"status":"active"`
	if !p.isActive {
		p.end = m.now().AddDate(0, 0, -m.random.IntN(5*365)).Add(time.Duration(m.random.IntN(24*60)) * time.Minute)
		more = fmt.Sprintf(`,"status":"cancelled","cancelledAt":%q`, apitype.NewTime(p.end))
	}
	p.id = m.created("/api/v1/pledges", fmt.Sprintf(`{"personUuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"createdAt":"2015-01-01",
		"initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":%q,"startsAt":"2015-01-01",
		"externalSource":{"name":"crm","identifier":"1"}%s}`, d.id, m.owner, m.owner, d.id, more))
	d.pledges = append(d.pledges, p)
}

func (m *rulesModel) addCall() {
	c := &ruledCall{donor: pickOf(m.random, m.donors...), kind: pickOf(m.random, apitype.CallTypes...), isOpen: true}
	c.id = m.call(c.donor.id, time.Duration(1+m.random.IntN(100))*time.Hour, string(c.kind))
	m.calls = append(m.calls, c)
}

// change changes something of a donor, a call or the rules.
func (m *rulesModel) change() {
	d, c := pickOf(m.random, m.donors...), pickOf(m.random, m.calls...)
	update := func(body string) {
		m.update(d.id, body)
	}
	switch m.random.IntN(10) {
	case 0:
		m.changeRules()
	case 1:
		m.consent(d)
	case 2:
		was := d.optIn
		d.optIn = pickOf(m.random, "null", "true", "false")
		update(`{"optIns":{"phone":` + d.optIn + `}}`)
		if d.optIn != was || d.optIn == "false" {
			d.changed = m.now()
		}
		switch {
		case d.optIn == "true":
			m.unblock(d, m.now())
		case d.optIn == "false":
			m.block(d.tel, d)
		}
	case 3:
		d.address = pickOf(m.random, "", "NL", "DE", "US", "PT")
		if d.address == "" {
			update(`{"address":null}`)
		} else {
			update("{" + addressIn(d.address)[1:] + "}")
		}
	case 4:
		d.number = pickOf(m.random, "NL", "DE", "US")
		d.tel = m.newNumber(d.number)
		update(fmt.Sprintf(`{"phoneNumber":null,"mobilePhoneNumber":%q}`, d.tel))
	case 5:
		m.addPledge(d)
	case 6:
		for _, p := range d.pledges {
			if p.isActive {
				m.want(200, "PUT", pledgePath(p.id)+"/actions/cancel", "")
				p.isActive, p.end = false, m.now()
			}
		}
	case 8:
		m.blockByHand(d)
	case 7:
		if c.isOpen && !m.now().Before(c.donor.held) {
			due := m.now().Add(time.Duration(m.random.IntN(20*60)) * time.Minute)
			m.later(c.id, fmt.Sprintf(`{"notBefore":%q,"userUuid":null}`, apitype.NewTime(due)))
			c.due = &due
		}
	default:
		m.addCall()
	}
}

// consent adds a consent for phone, or an objection.
func (m *rulesModel) consent(d *ruledDonor) {
	basis := pickOf(m.random, "consent", "consent", "withdrawn")
	at := m.now().AddDate(0, 0, -m.random.IntN(4*365)).Truncate(time.Millisecond)
	m.want(201, "POST", "/fundesk/v1/persons/"+d.id.String()+"/consents",
		fmt.Sprintf(`{"channel":"phone","basis":%q,"source":"form","at":%q}`, basis, apitype.NewTime(at)))
	if at.Before(d.said) {
		return
	}
	d.basis, d.said = basis, at
	if basis == "consent" && d.optIn != "true" && at.Before(d.changed) {
		return // An older proof lifts no later objection, nor one whose opt-in was cleared since.
	}
	d.optIn = map[string]string{"consent": "true", "withdrawn": "false"}[basis]
	if basis == "consent" {
		m.unblock(d, at)
		return
	}
	m.block(d.tel, d)
}

// block notes that a number may not be called, because of a donor or of a supervisor.
func (m *rulesModel) block(number string, by *ruledDonor) {
	if number == "" {
		return
	}
	if m.blocks[number] == nil {
		m.blocks[number] = map[*ruledDonor]time.Time{}
	}
	m.blocks[number][by] = m.now()
}

// unblock lifts what a donor blocked, and what a supervisor blocked of the donor's number until a time.
func (m *rulesModel) unblock(d *ruledDonor, until time.Time) {
	for _, by := range m.blocks {
		delete(by, d)
	}
	if !m.blocks[d.tel][nil].After(until) {
		delete(m.blocks[d.tel], nil)
	}
}

// blockByHand blocks the number of a donor, or lifts all that blocks it.
func (m *rulesModel) blockByHand(d *ruledDonor) {
	if d.tel == "" {
		return
	}
	path := "/fundesk/v1/do-not-call"
	if m.random.IntN(2) == 0 {
		path += "/remove"
		delete(m.blocks, d.tel)
	} else {
		m.block(d.tel, nil)
	}
	body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, d.tel, m.owner)
	if got := m.Do(m.lead, http.MethodPost, path, body); got.Status != http.StatusNoContent {
		m.t.Fatalf("%s: got %d %s", path, got.Status, got.Body)
	}
}

// allows reads the rules plainly: whether a call may be given, whatever the hour, and whether it is the hour.
func (m *rulesModel) allows(c *ruledCall) (mayBe, isHour bool) {
	d, now := c.donor, m.now()
	isHour = c.due != nil || m.isHour(d, now)
	switch {
	case !c.isOpen, d.optIn == "false", len(m.blocks[d.tel]) > 0, now.Before(d.held):
		return false, isHour
	case d.optIn != "true" && slices.Contains(m.settings.RequireOptIn, c.kind):
		return false, isHour
	case !d.contacted.IsZero() && now.Sub(d.contacted) < 4*time.Hour:
		return false, isHour
	case c.due != nil && c.due.After(now):
		return false, isHour
	}
	var last time.Time
	for _, p := range d.pledges {
		if p.isActive {
			return true, isHour
		}
		if p.end.After(last) {
			last = p.end
		}
	}
	isLifted := d.basis == "consent" && d.said.After(last)
	isLapsed := !last.IsZero() &&
		!isLifted &&
		m.settings.YearsAfterEnd > 0 &&
		last.Before(now.AddDate(-m.settings.YearsAfterEnd, 0, 0))
	return !isLapsed, isHour
}

func (m *rulesModel) isHour(d *ruledDonor, now time.Time) bool {
	home := m.settings.Country
	if home == "" {
		return true
	}
	country := home
	if d.number != "" {
		country = d.number
	}
	if d.address != "" {
		country = d.address
	}
	zone, err := time.LoadLocation(zoneOf[country])
	servicetest.Check(m.t, err)
	hours, isSet := m.settings.CallingHours[country]
	if !isSet && holidaysOf[country] == "" {
		country = home
		hours = m.settings.CallingHours[home]
	}
	local := now.In(zone)
	day := local.Format(time.DateOnly)
	isHoliday := strings.Contains(holidaysOf[country], day) && !slices.Contains(m.settings.Holidays, "-"+country)
	if isHoliday || slices.Contains(m.settings.Holidays, country+":"+day) {
		return false
	}
	span := hours.On(local.Weekday())
	if span == "" {
		span = map[time.Weekday]string{time.Saturday: "10:00-16:00", time.Sunday: "-"}[local.Weekday()]
	}
	if span == "" {
		span = "09:00-21:00"
	}
	from, until, _ := strings.Cut(span, "-")
	clock := local.Format("15:04")
	return clock >= from && clock < until
}

// compare holds the list and the counts against the rules.
func (m *rulesModel) compare() {
	var want []string
	closed := 0
	for _, c := range m.calls {
		mayBe, isHour := m.allows(c)
		switch {
		case mayBe && isHour:
			want = append(want, c.id.String())
		case mayBe:
			closed++
		}
	}
	var got []string
	for _, id := range m.listed() {
		got = append(got, id.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	servicetest.Same(m.t, fmt.Sprintf("the list at %s under %+v", m.now(), m.settings), want, got)
	var state apitype.QueueState
	m.Do(m.token, http.MethodGet, "/fundesk/v1/queue", "").Decode(&state)
	if state.Waiting != len(want) || state.Closed != closed {
		m.t.Errorf("at %s: got %d waiting and %d closed, want %d and %d",
			m.now(), state.Waiting, state.Closed, len(want), closed)
	}
	if opens := state.OpensAt; opens != nil {
		opensThen := func(at time.Time) bool {
			return slices.ContainsFunc(m.calls, func(c *ruledCall) bool {
				mayBe, isHour := m.allows(c)
				return mayBe && !isHour && m.isHour(c.donor, at)
			})
		}
		if !opensThen(opens.Time) || opensThen(opens.Add(-time.Minute)) {
			m.t.Errorf("at %s: got that it opens at %s", m.now(), opens)
		}
	}
}

// listed reads the queue by pages.
func (m *rulesModel) listed() []apitype.UUID {
	var ids []apitype.UUID
	for _, id := range walk(m.Harness, m.t, m.token, "/fundesk/v1/queue/calls", 1+m.size.agents, false, nil) {
		ids = append(ids, apitype.MustParseUUID(id))
	}
	return ids
}

// takeAtOnce lets agents take calls at one time, and deals with each.
func (m *rulesModel) takeAtOnce() {
	callable := map[apitype.UUID]bool{}
	kinds := apitype.CallTypes
	if m.random.IntN(3) == 0 {
		kinds = []apitype.CallType{pickOf(m.random, apitype.CallTypes...)}
	}
	for _, c := range m.calls {
		mayBe, isHour := m.allows(c)
		if mayBe && isHour && slices.Contains(kinds, c.kind) {
			callable[c.donor.id] = true
		}
	}
	more := `,"count":2,"leaseSeconds":600`
	if len(kinds) == 1 {
		more += fmt.Sprintf(`,"types":[%q]`, kinds[0])
	}
	takes := make([]apitype.Taken, len(m.agents))
	var group sync.WaitGroup
	for i, agent := range m.agents {
		body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q%s}`, apitype.NewUUID(), agent, more)
		group.Go(func() { m.Do(m.token, http.MethodPost, "/fundesk/v1/queue/take", body).Decode(&takes[i]) })
	}
	group.Wait()
	n := 0
	for _, taken := range takes {
		for _, lease := range taken.Leases {
			n++
			i := slices.IndexFunc(m.calls, func(c *ruledCall) bool { return c.id == lease.CallUUID })
			c := m.calls[i]
			mayBe, isHour := m.allows(c)
			if !mayBe || !isHour || !slices.Contains(kinds, c.kind) || !callable[c.donor.id] {
				m.t.Errorf("at %s under %+v: got a call of %+v, which may not be given, or twice",
					m.now(), m.settings, *c.donor)
			}
			delete(callable, c.donor.id)
		}
	}
	if want := min(n+len(callable), 2*len(m.agents)); n < want && !m.isShared {
		m.t.Errorf("at %s: got %d calls, want %d", m.now(), n, want)
	}
	for _, taken := range takes {
		for _, lease := range taken.Leases {
			m.work(lease)
		}
	}
}

// work deals with a call that an agent has.
func (m *rulesModel) work(lease apitype.Lease) {
	c := m.calls[slices.IndexFunc(m.calls, func(c *ruledCall) bool { return c.id == lease.CallUUID })]
	c.due = nil
	release := leasePath(lease.LeaseUUID) + "/release"
	switch m.random.IntN(5) {
	case 0:
		code := pickOf(m.random, "fine", "fine", "stop", "died")
		m.act(c.id, "complete", fmt.Sprintf(`{"result":{"resultCode":%q}}`, code))
		c.isOpen, c.donor.contacted = false, m.now()
		if code != "fine" {
			c.donor.optIn, c.donor.changed = "false", m.now()
		}
		if code == "stop" {
			m.block(c.donor.tel, c.donor)
		}
	case 3:
		c.donor.held = lease.ExpiresAt.Time // The agent went away.
	case 1:
		due := m.now().Add(time.Duration(m.random.IntN(20*60)) * time.Minute)
		m.want(204, "POST", release, fmt.Sprintf(`{"notBefore":%q,"userUuid":null}`, apitype.NewTime(due)))
		c.due = &due
	case 2:
		m.want(204, "POST", release, "")
	default:
		m.act(c.id, "add-attempt", `{}`)
		c.donor.contacted = m.now()
	}
}

// week plays, and leaves nothing for the next seed.
func (m *rulesModel) week() {
	end := m.now().Add(7 * 24 * time.Hour)
	for m.now().Before(end) && !m.t.Failed() {
		m.Clock.Advance(time.Duration(m.random.Int64N(int64(m.size.pause))).Truncate(time.Millisecond))
		for range m.size.changes {
			m.change()
		}
		m.compare()
		m.takeAtOnce()
	}
	for _, c := range m.calls {
		if c.isOpen {
			m.act(c.id, "cancel", `{}`)
		}
	}
	m.setRulesOf(m.owner, apitype.OrganizationSettings{})
}
