package page

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

var update = flag.Bool("update", false, "rewrite the golden drawings")

// golden compares lines with a file of testdata; escape stands as ^ there.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "^")
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// goldenDialog compares the dialog that is open.
func goldenDialog(t *testing.T, name string, e *Env, width, height int) {
	t.Helper()
	title, lines := e.Dialog.View(e.Styles, width, height)
	golden(t, name, append([]string{title}, lines...))
}

// host notes what pages ask of it.
type host struct {
	ctx  context.Context
	day  *desk.Day
	told []string
}

func (h *host) KeyOf(id string) string { return "<" + id + ">" }

// Perform does the work at once.
func (h *host) Perform(events []desk.Event) tea.Cmd {
	for len(events) > 0 {
		switch e := events[0].(type) {
		case desk.Job:
			events = append(events, h.day.Receive(e(h.ctx))...)
		case desk.Notice:
			h.told = append(h.told, e.Text)
		}
		events = events[1:]
	}
	return nil
}

func (h *host) note(text string) tea.Cmd {
	h.told = append(h.told, text)
	return nil
}

func (h *host) Jump(to Reference) tea.Cmd {
	return h.note("jump " + string(to.Kind) + " " + desk.ShortID(to.ID))
}
func (h *host) Turn(page int) tea.Cmd         { return h.note(fmt.Sprint("turn ", page)) }
func (h *host) WorkOn(call Reference) tea.Cmd { return h.note("work " + desk.ShortID(call.ID)) }
func (h *host) ShowList(page int, filter string) tea.Cmd {
	return h.note(fmt.Sprint("list ", page, " ", filter))
}

// said is what the host was told since it was asked last.
func (h *host) said() string {
	told := strings.Join(h.told, "; ")
	h.told = nil
	return told
}

// canned answers by path, with 404 for any other.
type canned map[string]string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, known := c[r.Method+" "+r.URL.Path]
	status := 200
	switch {
	case r.URL.Path == "/fundesk/v1":
		body = `{"extensions":["queue","status"]}`
	case !known:
		status, body = 404, "{}"
	default:
		if code, rest, refused := strings.Cut(body, " "); refused && len(code) == 3 && !strings.HasPrefix(code, "{") {
			_, _ = fmt.Sscan(code, &status)
			body = rest
		}
	}
	header := http.Header{"Content-Type": {"application/json"}, "Fundesk-Extensions": {"queue, status"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

// ago is a time before the morning of these tests.
func ago(d time.Duration) apitype.Time { return apitype.NewTime(morning.Add(-d)) }

const aDay = 24 * time.Hour

// scene is what pages are drawn with, at a service that answers as is said.
func scene(t *testing.T, answers canned) (*Env, *host) {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: answers, Now: func() time.Time { return morning }, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent", Now: func() time.Time { return morning }})
	if err != nil {
		t.Fatal(err)
	}
	rows := []apitype.ResultChoice{{Code: "glad", Label: "was glad"}, {Code: "corrected", Effect: new(apitype.EffectCorrected)}, {Code: "never", Effect: new(apitype.EffectOptOut), AsksNotes: true}}
	day := desk.New(desk.Options{
		Client: client, Outbox: box, Now: func() time.Time { return morning }, Languages: []string{"nl"}, Agent: new(callID(1)), MaxAttempts: 3,
		Agents: map[apitype.UUID]string{callID(2): "Bea"}, Results: map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: rows},
	})
	h := &host{ctx: t.Context(), day: day}
	e := NewEnv(t.Context(), h, day, NewStyles("", false, false))
	return e, h
}

// asJSON is a record as a service sends it.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run takes in what a command brings.
func run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if result, ok := cmd().(Result); ok {
		run(result())
	}
}

func number(text string) apitype.Number {
	n, _ := apitype.ParseNumber(text)
	return n
}

// anna has all that a person may have.
func anna() apitype.Person {
	return apitype.Person{
		UUID: callID(51), AcademicTitle: new("dr."), FirstName: new("Anna"), LastNamePrefix: new("van"), LastName: new("Dijk"), DateOfBirth: &apitype.Date{Year: 1980, Month: 5, Day: 17},
		SocialSecurityNumber: apitype.Embed("123456789"), IBAN: new("NL91ABNA0417164300"), PhoneNumber: new("+31201234567"), MobilePhoneNumber: new("+31612345678"),
		Email: new("anna@example.org"), Gender: new(apitype.Gender("female")), OptInPhone: new(true), OptInMail: new(false), Language: new("nl"), CreatedAt: ago(18 * aDay),
		Address: apitype.Embed(apitype.Address{Street: "Weg", HouseNumber: "1", HouseNumberExtension: new("b"), ZipCode: "1000 AA", City: "Stad", Country: "XX"}),
		Mandate: apitype.Embed(apitype.Mandate{CreatedAt: ago(2 * aDay)}), OwningOrganization: apitype.Embed(apitype.OrganizationReference{UUID: callID(61), Name: "Helder Water"}),
		QualityResult: apitype.Embed(apitype.QualityResult{Score: number("7"), MaxScore: number("10"), Percentage: number("59"), GateResults: []apitype.GateResult{
			{Identifier: "street_known", Percentage: number("59"), Explanation: "the street is not there", Metadata: apitype.Object(`{"street":"Weg"}`)},
			{Identifier: "e_mail", Percentage: number("60"), Explanation: "it was answered", Metadata: apitype.Object(`{}`)},
		}}),
	}
}

// gift has all that a pledge may have.
func gift() apitype.Pledge {
	return apitype.Pledge{
		UUID: callID(71), Status: apitype.PledgeActive, StartsAt: ago(10 * aDay), EndsAt: new(ago(-10 * aDay)), CreatedAt: ago(12 * aDay), UpdatedAt: ago(5 * time.Minute),
		ReleasedAt: apitype.Embed(ago(11 * aDay)), InitialDonationAmount: apitype.Cents(1000), DonationAmount: apitype.Cents(1250), InitialDonationInterval: "monthly", DonationInterval: "quarterly",
		PreferredPaymentDay: new(28), RecruitmentType: new(apitype.RecruitmentType("street")), RecruitingLocationLabel: new("station"), CampaignCode: new("W-26"), CollectionDate: new(ago(-aDay)),
		SignatureSignedURL: new("https://files.example/s"), ExternalMetadata: new(apitype.Object(`{"a":1}`)),
		OwningOrganization: apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"}), RecruitingOrganization: apitype.Embed(apitype.OrganizationReference{Name: "Werf"}),
		RecruiterUser: apitype.Embed(apitype.RecruiterUser{Name: "Rik", Identifier: "r-7"}), FocusAreas: apitype.Embed([]apitype.FocusArea{{Name: "wells"}, {Name: "taps"}}),
		ExternalSource: apitype.Embed(apitype.ExternalSource{Name: "crm", Identifier: "77"}), Person: apitype.Embed(anna()),
		Transactions: apitype.Embed([]apitype.Transaction{
			{UUID: callID(81), Amount: apitype.Cents(1250), Status: "settled", CreatedAt: ago(3 * aDay), Method: new("direct_debit"), Provider: new("bank"), Description: new("november"), IBAN: new("NL91ABNA0417164300")},
			{UUID: callID(82), Amount: apitype.Cents(5), Status: "failed", CreatedAt: ago(2 * time.Hour)},
		}),
		Calls: apitype.Embed([]apitype.Call{{UUID: callID(92), Type: apitype.CallHappy, Status: "completed", RequestedAt: ago(90 * time.Minute), Result: apitype.Embed(apitype.CallResult{ResultCode: new("glad")})}}),
	}
}

// ring has all that a call may have.
func ring() apitype.Call {
	return apitype.Call{
		UUID: callID(91), Status: "completed", Type: apitype.CallHappy, RequestedAt: ago(15 * aDay), LastUpdatedAt: ago(time.Minute), AttemptsCount: 2, CompletedAt: new(ago(time.Hour)), CancelledAt: new(ago(2 * time.Hour)),
		ExpiredAt: new(ago(3 * time.Hour)), Notes: new("ring twice\nthen wait"), PersonUUID: callID(51), RelatedCaseUUID: new(callID(71)), CallingOrganizationUUID: new(callID(62)), RecordingDuration: new(number("61")),
		ExternalMetadata: apitype.Embed(apitype.CallExternalMetadata{ApplicationName: new("dialler"), ReferenceID: new("d-1"), AgentReferenceID: new("a-1"), StatusCode: new("S1"), StatusDescription: new("done"), AdditionalProperties: apitype.Object(`{"x":1}`)}),
		Attempts:         apitype.Embed([]apitype.CallAttempt{{AttemptAt: ago(26 * time.Hour), UserUUID: new(callID(2))}, {AttemptAt: ago(50 * time.Hour)}}),
		Result:           apitype.Embed(apitype.CallResult{ResultCode: new("never"), CompletedAt: new(ago(time.Hour)), DonorRetentionRating: new(number("8")), Notes: new("no more\nplease")}),
		Person:           apitype.Embed(anna()), PledgeCase: apitype.Embed(gift()), Transactions: gift().Transactions,
	}
}

func bare(width int) widget.Frame { return widget.Frame{Width: width, Bare: true} }

// Each field of each record, as it is shown, masked and not, and where it leads.
func TestRecordsAreDrawn(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	person := record{ref: Reference{apitype.EntityPerson, callID(51)}, person: new(anna()), pledges: []apitype.Pledge{gift(), {UUID: callID(72), Status: "lead", DonationInterval: "once", CreatedAt: ago(aDay)}}, calls: gift().Calls.Value(), morePledges: true, moreCalls: true}
	less := record{ref: Reference{apitype.EntityPerson, callID(52)}, person: &apitype.Person{UUID: callID(52), LastName: new("Bos")}, pledges: []apitype.Pledge{gift()}}
	for name, d := range map[string]*detail{
		"call":        {ref: Reference{apitype.EntityCall, callID(91)}, record: record{call: new(ring())}},
		"pledge":      {ref: Reference{apitype.EntityPledge, callID(71)}, record: record{pledge: new(gift())}},
		"person":      {ref: Reference{apitype.EntityPerson, callID(51)}, record: person},
		"person-less": {ref: Reference{apitype.EntityPerson, callID(52)}, record: less},
		"call-less":   {ref: Reference{apitype.EntityCall, callID(91)}, record: record{call: &apitype.Call{UUID: callID(91), Status: "requested", PersonUUID: callID(51), Attempts: apitype.Embed([]apitype.CallAttempt{}), PledgeCase: apitype.Embed(apitype.Pledge{UUID: callID(71), Status: "lead"})}}},
	} {
		d.ready = true
		d.cursor = 1
		lines := d.lines(e, bare(70), map[string]int{"call": 64, "call-less": 16, "pledge": 56, "person": 30, "person-less": 10}[name], true)
		for i, f := range d.fields(e) {
			if f.leads() || f.copy != "" {
				to := f.list.filter
				if f.to != nil {
					to = string(f.to.Kind) + " " + desk.ShortID(f.to.ID)
				}
				lines = append(lines, fmt.Sprintf("%d %s: to %q, copies %q", i, f.label, to, f.copy))
			}
		}
		golden(t, "record-"+name, lines)
	}
	e.Day.Card.IsRevealed = true
	d := &detail{ref: person.ref, record: person, ready: true}
	golden(t, "record-revealed", d.lines(e, bare(60), 24, false))
	e.ASCII = true
	if got := e.euros(apitype.Cents(5)); got != "EUR 0.05" {
		t.Errorf("got %q, want an amount in letters", got)
	}
	failure := &apiclient.Error{Kind: apiclient.KindRejected, Status: 422, Message: "no", Detail: []string{"a: wrong", "b: wrong"}, RequestID: "r-1"}
	for name, d := range map[string]*detail{"failed": {failed: failure}, "failed-otherwise": {failed: errors.New("too bad")}, "reading": {}} {
		d.ref.Kind = apitype.EntityCall
		golden(t, "record-"+name, append(d.lines(e, bare(40), 6, false), d.lines(e, bare(40), 6, true)...))
	}
}

// The cursor of a record goes from field to field, over the headings, and stays within.
func TestCursorOfARecord(t *testing.T) {
	t.Parallel()
	fields := []field{{head: true}, {label: "a"}, {label: "b"}, {head: true}, {label: "c"}}
	d := &detail{}
	d.move(1, nil)
	for _, step := range []struct{ by, want int }{{0, 1}, {1, 2}, {1, 4}, {1, 4}, {-1, 2}, {-1, 1}, {-9, 0}, {9, 4}} {
		if d.move(step.by, fields); d.cursor != step.want {
			t.Errorf("by %d: got field %d, want %d", step.by, d.cursor, step.want)
		}
	}
	if _, ok := d.chosen(fields); !ok {
		t.Error("got no field under the cursor")
	}
	if _, ok := d.chosen(fields[:4]); ok {
		t.Error("got a field beyond the last")
	}
}

// The floor of a supervisor: who rings, and what waits.
func TestFloorIsDrawn(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, canned{
		"GET /fundesk/v1/queue/agents": asJSON(t, apitype.QueueAgents{Agents: []apitype.QueueAgent{
			{UserUUID: callID(3), LastSeenAt: ago(time.Hour), Completed: 2},
			{UserUUID: callID(2), LastSeenAt: ago(time.Minute), CallUUID: new(callID(9)), Type: new(apitype.CallHappy), TakenAt: new(ago(4 * time.Minute)), Completed: 7, Attempts: 9, Cancelled: 1, Expired: 2, ByResult: map[string]int{"glad": 5, "never": 2}},
			{UserUUID: callID(1), LastSeenAt: ago(0), CallUUID: new(callID(8)), Type: new(apitype.CallWinback), TakenAt: new(ago(time.Minute))},
			{UserUUID: callID(4), LastSeenAt: ago(2 * time.Hour), Cancelled: 1},
		}}),
		"GET /fundesk/v1/queue": asJSON(t, apitype.QueueState{Waiting: 12, Due: 2, Deferred: 3, DueNextHour: 1, OldestRequestedAt: new(ago(49 * time.Hour)), ByLanguage: map[string]int{"nl": 5, "de": 2, "": 2, "fr": 1, "tr": 2}}),
	})
	v := NewFloor(e)
	layout := NewLayout(100, 24)
	golden(t, "floor-unread", v.Lines(layout))
	if v.Waits() || v.Refresh() == nil || !v.Waits() || v.Refresh() != nil {
		t.Error("got it not read once, want one reading at a time")
	}
	v.reading = false
	run(v.Open())
	if v.Waits() {
		t.Error("got it waiting though it is read")
	}
	golden(t, "floor", v.Lines(layout))
	v.Scroll(Down)
	golden(t, "floor-second", v.Lines(NewLayout(60, 16)))
	v.Scroll(Bottom)
	chosen := v.agents[v.table.Cursor()].UserUUID
	golden(t, "floor-last", v.Lines(layout))
	v.reading = true
	if v.Waits() {
		t.Error("got it waiting though it shows what was read before")
	}
	v.takeIn(floorRead{agents: []apitype.QueueAgent{{UserUUID: callID(3)}, {UserUUID: chosen}, {UserUUID: callID(7), CallUUID: new(callID(1))}}}, nil)
	if got := v.agents[v.table.Cursor()].UserUUID; got != chosen {
		t.Errorf("got the cursor on %s, want it kept on %s", got, chosen)
	}
	v.takeIn(floorRead{}, nil)
	golden(t, "floor-empty", v.Lines(layout))
	v.takeIn(floorRead{noQueue: true}, nil)
	golden(t, "floor-without-queue", v.Lines(NewLayout(60, 16)))
	v.takeIn(floorRead{}, &apiclient.Error{Kind: apiclient.KindRejected, Message: "no"})
	if diff := cmp.Diff([]string{"cannot read the floor: no"}, texts(e.Messages.Errors)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// All that is counted, in one column and in two.
func TestStatsAreDrawn(t *testing.T) {
	t.Parallel()
	e, h := scene(t, nil)
	v := NewStats(e)
	count := func(status apitype.CallStatus, kind apitype.CallType, days, attempts int, code, rating string) {
		c := apitype.Call{Status: status, Type: kind, RequestedAt: ago(time.Duration(days) * aDay), AttemptsCount: attempts}
		var r apitype.CallResult
		if code != "" {
			r.ResultCode = &code
		}
		if rating != "" {
			r.DonorRetentionRating = new(number(rating))
		}
		c.Result = apitype.Embed(r)
		if status == apitype.CallCompleted {
			c.CompletedAt = new(ago(time.Duration(days) * aDay))
		}
		v.Calls.Add(c)
	}
	for _, days := range []int{0, 0, 1, 2, 3, 6, 7, 29, 30, 900} {
		count("requested", apitype.CallHappy, days, 0, "", "")
	}
	count("requested", "new_kind", 0, 0, "", "")
	count("requested", apitype.CallWinback, 5, 0, "", "")
	for n := range 12 {
		count("completed", apitype.CallTypes[n%3], n, n, []string{"glad", "never", "two words"}[n%3], []string{"8", "", "5.5"}[n%3])
	}
	count("cancelled", apitype.CallHappy, 1, 1, "", "")
	pledge := func(status apitype.PledgeStatus, interval apitype.DonationInterval, amount string) {
		a, _ := apitype.ParseAmount(amount)
		v.Pledges.Add(apitype.Pledge{Status: status, DonationInterval: interval, DonationAmount: a})
	}
	for _, interval := range []apitype.DonationInterval{"once", "monthly", "quarterly", "half-yearly", "yearly", "weekly"} {
		pledge("active", interval, "10")
	}
	pledge("lead", "monthly", "12.345")
	pledge("lead", "yearly", "12.34")
	v.agents = []apitype.QueueAgent{{UserUUID: callID(3), Completed: 1}, {UserUUID: callID(2), Completed: 3, Attempts: 1}, {UserUUID: callID(1), Completed: 3, Attempts: 4}, {UserUUID: callID(4), Cancelled: 1}, {UserUUID: callID(5), Attempts: 2}}
	listed := func(lines []string) []string {
		for i, l := range v.bars {
			words := strings.Split(l.filter, " ")
			for j, word := range words { // By the day here: that of the service depends on the zone.
				if name, text, _ := strings.Cut(word, "="); strings.HasSuffix(text, "Z") {
					at, _ := apitype.ParseTime(text)
					words[j] = name + "=" + at.Local().Format(time.DateOnly)
				}
			}
			lines = append(lines, fmt.Sprint(i, " ", l.page, " ", strings.Join(words, " ")))
		}
		return lines
	}
	golden(t, "stats", listed(v.Lines(NewLayout(80, 90))))
	v.period = 7
	v.begins = v.period.since(e.Day.Now())
	golden(t, "stats-wide", listed(v.Lines(NewLayout(130, 70))))
	v.running = true
	golden(t, "stats-running", v.Lines(NewLayout(80, 16))[:2])
	if why := v.WhyNotStop(); why != "" || !v.Waits() {
		t.Errorf("got %q, want it stopped", why)
	}
	v.Stop()
	golden(t, "stats-stopped", v.Lines(NewLayout(80, 16))[:2])
	if why := v.WhyNotStop(); why != "nothing is being counted" {
		t.Errorf("got %q, want that nothing is counted", why)
	}
	v.stopped, v.short = false, true
	golden(t, "stats-short", v.Lines(NewLayout(80, 16))[:2])
	for v.cursor = range v.bars { // From the first to the last.
		if lines := v.Lines(NewLayout(80, 12)); !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, v.Styles.mark) }) {
			t.Errorf("bar %d is chosen, and not on the screen:\n%s", v.cursor, strings.Join(lines, "\n"))
		}
	}
	// From bar to bar.
	v.cursor = 0
	v.Resize(NewLayout(80, 24))
	for _, step := range []struct {
		by   Step
		want int
	}{{Up, 0}, {Down, 1}, {PageDown, 11}, {PageUp, 1}, {Bottom, len(v.bars) - 1}, {Down, len(v.bars) - 1}, {Top, 0}} {
		if v.Scroll(step.by); v.cursor != step.want {
			t.Errorf("step %d: got bar %d, want %d", step.by, v.cursor, step.want)
		}
	}
	v.Lines(NewLayout(80, 24))
	if v.WhyNotOpen() != "" {
		t.Errorf("got %q of the first bar, want it opened", v.WhyNotOpen())
	}
	v.OpenRecord()
	if got := h.said(); !strings.HasPrefix(got, "list 1 status=requested requestedFrom=") {
		t.Errorf("got %q, want the calls behind the bar", got)
	}
	v.cursor = len(v.bars)
	if v.WhyNotOpen() != "nothing can be listed behind this bar" {
		t.Errorf("got %q beyond the last bar", v.WhyNotOpen())
	}
	v.AskPeriod()
	goldenDialog(t, "stats-periods", e, 70, 20)
	for p, want := range map[period]string{0: "of all time", 1: "of today", 7: "of the last 7 days"} {
		if p.in(e.Say) != want {
			t.Errorf("got %q, want %q", p.in(e.Say), want)
		}
	}
	if got, want := period(7).since(morning), time.Date(2026, 11, 14, 0, 0, 0, 0, time.Local); !got.Equal(want) || !period(0).since(morning).IsZero() {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The card of a call with everything, in each width, and what stands there without one.
func TestDeskIsDrawn(t *testing.T) {
	t.Parallel()
	call := ring()
	call.Status, call.AttemptsCount, call.UUID = "requested", 1, callID(93)
	state := apitype.QueueState{Waiting: 3, Due: 1, Deferred: 4, ByType: map[apitype.CallType]int{apitype.CallHappy: 2, apitype.CallWinback: 1}}
	other := func(n int, name string, kind apitype.CallType) string {
		c := apitype.Call{UUID: callID(n), Status: "requested", Type: kind, RequestedAt: ago(time.Duration(n) * time.Hour), AttemptsCount: n - 10}
		if name != "" {
			c.Person = apitype.Embed(apitype.Person{LastName: &name})
		}
		return `{"node":` + asJSON(t, c) + `,"cursor":"c"}`
	}
	e, h := scene(t, canned{
		"GET /fundesk/v1/queue":                    asJSON(t, state),
		"GET /fundesk/v1/queue/calls":              `{"pageInfo":{"hasNextPage":false},"edges":[` + other(10, "Bos", apitype.CallHappy) + "," + other(11, "", apitype.CallWinback) + "," + other(12, "Vis", apitype.CallVerification) + `]}`,
		"GET /api/v1/calls":                        `{"pageInfo":{"hasNextPage":false},"edges":[]}`,
		"GET /api/v1/calls/" + callID(93).String(): asJSON(t, call),
		"POST /fundesk/v1/queue/take":              `{"leases":[],"waiting":3}`,
	})
	d := NewDesk(e)
	h.Perform(e.Day.Begin())
	golden(t, "desk-start", d.Lines(NewLayout(120, 24)))
	h.Perform(e.Day.Take(callID(93)))
	d.Follow(true)
	for _, size := range [][2]int{{60, 40}, {80, 50}, {100, 50}, {124, 50}, {200, 60}} {
		l := NewLayout(size[0], size[1])
		d.Resize(l)
		golden(t, fmt.Sprint("desk-", size[0]), d.Lines(l))
	}
	e.Day.Card.IsRevealed = true
	d.Day.Form.SetResult("never")
	d.Day.Form.SetRating(new(8))
	golden(t, "desk-typed", d.Lines(NewLayout(80, 40)))
	d.Day.Form.SetNotes("asked us to stop")
	d.Follow(true)
	d.writing = true
	golden(t, "desk-typed-notes", d.Lines(NewLayout(80, 40)))
	d.writing = false
	d.ShowWarnings()
	goldenDialog(t, "desk-warnings", e, 70, 20)
	d.AskCopy()
	goldenDialog(t, "desk-copies", e, 70, 20)
	d.AskResult()
	golden(t, "desk-result", d.Lines(NewLayout(80, 40)))
	d.AskRating()
	golden(t, "desk-rating", d.Lines(NewLayout(80, 40)))
	e.Dialog = nil
	d.OpenPledge()
	d.OpenPerson()
	if got, want := h.said(), "a callback is due: it comes next; jump pledge c0470000; jump person c0330000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Day.Recent = []desk.Recent{
		{Name: "Held", At: morning, What: "not reached"},
		{Name: "Waits", At: morning, What: "was glad", Fate: desk.FateWaits},
		{Name: "Sent", At: morning, What: "was glad", Fate: desk.FateSent},
		{Name: "Refused", At: morning, What: "was glad", Fate: desk.FateRefused},
		{Name: "Later", At: morning, What: "later: Mon 23 Nov 10:00", Fate: desk.FateLater},
		{Name: "Ended", At: morning, What: "ended by somebody else", Fate: desk.FateEnded},
	}
	e.Day.Call = nil
	e.Day.Changes.Damaged = []outbox.Damaged{{Path: "x"}}
	e.Day.Changes.Entries = []outbox.Entry{{State: outbox.StateRejected}, {State: outbox.StateQueued}}
	e.Day.Changes.Drafts = []outbox.Draft{{Call: callID(3)}}
	golden(t, "desk-between", d.Lines(NewLayout(130, 60)))
	for room, want := range map[int]int{3: 2, 4: 4, 5: 4, 99: 12} {
		if got := len(d.recentLines(40, room)); got != want {
			t.Errorf("a room of %d lines: got %d, want %d", room, got, want)
		}
	}
	d.AskRecent()
	goldenDialog(t, "desk-recent", e, 70, 20)
	golden(t, "desk-script", markdown(e.Styles, []string{"# Hello **Anna**", "", "> ask first", "* one", "-  two", "plain __text__ that is wrapped at twenty cells"}, 20))
	// A donor who rings back.
	d.AskDonor()
	finder := e.Dialog.(*finder)
	goldenDialog(t, "desk-find", e, 70, 8)
	finder.Paste("bos")
	goldenDialog(t, "desk-found", e, 70, 8)
}

// What the service does not have yet, line by line.
func TestOutboxIsDrawn(t *testing.T) {
	t.Parallel()
	e, h := scene(t, nil)
	v := NewOutbox(e)
	layout := NewLayout(100, 16)
	golden(t, "outbox-empty", v.Lines(layout))
	if v.WhyNotCopy() != "the outbox is empty" || v.WhyNotOpen() != "the outbox is empty" || v.WhyNotSendAgain() != "the outbox is empty" {
		t.Errorf("got %q of an empty outbox", v.WhyNotCopy())
	}
	entry := func(n int, state outbox.State, op, body string) outbox.Entry {
		e := outbox.Entry{ID: fmt.Sprint(n), State: state, CreatedAt: morning.Add(-time.Duration(n) * time.Hour), Tries: n}
		e.Op, e.UUID, e.Method, e.Path, e.Body = op, callID(n), "PUT", "/api/v1/x", []byte(body)
		return e
	}
	e.Day.Changes.Entries = []outbox.Entry{
		entry(1, outbox.StateRejected, apiclient.OpCompleteCall, `{"result":{"notes":"typed"}}`), entry(2, outbox.StateUnsure, apiclient.OpAddAttempt, `{"userUuid":null}`), entry(3, outbox.StateQueued, apiclient.OpMarkProcessed, `x`),
	}
	e.Day.Changes.Entries[0].LastError, e.Day.Changes.Entries[1].After, e.Day.Changes.Entries[2].UUID = "no", "1", apitype.UUID{}
	e.Day.Changes.Labels = map[string]string{"2": "attempt: Anna"}
	e.Day.Changes.Drafts = []outbox.Draft{{Call: callID(4), Notes: "é", ResultCode: "was_glad", SavedAt: morning}}
	e.Day.Changes.Damaged = []outbox.Damaged{{Path: "/box/x", Reason: "torn"}}
	golden(t, "outbox", v.Lines(layout))
	v.Resize(layout)
	v.Scroll(Bottom)
	golden(t, "outbox-last", v.Lines(layout))
	if why := v.WhyNotOpen(); why != "a damaged file is left for you to look at: /box/x" {
		t.Errorf("got %q of a damaged file", why)
	}
	for line, want := range []struct{ copies, sendAgain, opens string }{
		{"typed", "", ""},
		{`{"userUuid":null}`, "", ""},
		{"x", "only what was refused or is unsure is sent again by hand; the rest is sent by itself", ""},
		{"é", "only what was refused or is unsure is sent again by hand; the rest is sent by itself", "work c0040000"},
	} {
		if _, onRow := v.Click(0, line+2); !onRow {
			t.Fatalf("line %d: got no row", line)
		}
		row, _ := v.Chosen()
		if got := v.CopyRecord()().(Copied).Text; got != want.copies || row.copyText() != want.copies || v.WhyNotSendAgain() != want.sendAgain {
			t.Errorf("line %d: got %q, %q, want %q, %q", line, got, v.WhyNotSendAgain(), want.copies, want.sendAgain)
		}
		v.OpenRecord()
		if got := h.said(); got != want.opens {
			t.Errorf("line %d: got %q, want %q", line, got, want.opens)
		}
		var drawn []string
		if want.opens == "" {
			title, lines := e.Dialog.View(e.Styles, 60, 20)
			drawn = append([]string{title}, lines...)
		}
		if want.sendAgain == "" {
			v.AskSendAgain()
			title, lines := e.Dialog.View(e.Styles, 60, 20)
			drawn = append(append(drawn, title), lines...)
		}
		v.AskDrop()
		title, lines := e.Dialog.View(e.Styles, 60, 20)
		golden(t, fmt.Sprint("outbox-asked-", line), append(append(drawn, title), lines...))
	}
	if _, onRow := v.Click(0, 7); onRow {
		t.Error("a click below the last line was taken for one on it")
	}
	if _, onRow := v.Click(0, 1); onRow {
		t.Error("a click on the head was taken for one on a row")
	}
}

// The cursor of the outbox stays on its row when what is above it was sent: a key is for the row that the agent has
// seen, and the question names it. What went out may have reached the service, also where it is dropped.
func TestOutboxKeepsItsRow(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	v, layout := NewOutbox(e), NewLayout(80, 24)
	entry := func(id string, state outbox.State) outbox.Entry { return outbox.Entry{ID: id, State: state} }
	e.Day.Changes.Labels = map[string]string{"2": "glad: Bea Bos", "3": "glad: Cor Vos", "4": "not reached: Dirk Das"}
	e.Day.Changes.Entries = []outbox.Entry{entry("1", outbox.StateQueued), entry("2", outbox.StateRejected), entry("3", outbox.StateRejected), entry("4", outbox.StateUnsure)}
	e.Day.Changes.Drafts = []outbox.Draft{{Call: callID(4), Name: "Eva"}}
	v.Lines(layout)
	v.Scroll(Down)
	v.Lines(layout)
	e.Day.Changes.Entries = e.Day.Changes.Entries[1:]
	asked := func(ask func() tea.Cmd) string {
		ask()
		title, lines := e.Dialog.View(e.Styles, 80, 20)
		return title + " " + strings.Join(lines, " ")
	}
	if text := asked(v.AskDrop); !strings.Contains(text, "Bea Bos") {
		t.Errorf("got %q, want the row asked about that the cursor was on", text)
	}
	if text := asked(v.AskSendAgain); !strings.Contains(text, "Bea Bos") {
		t.Errorf("got %q, want the row asked about that the cursor was on", text)
	}
	v.Lines(layout)
	v.Scroll(Down)
	v.Scroll(Down)
	if text := asked(v.AskDrop); !strings.Contains(text, "Dirk Das") || strings.Contains(text, "will not hear") || !strings.Contains(text, "may have taken effect") {
		t.Errorf("got %q, want that the attempt may have reached the service", text)
	}
	v.Scroll(Down)
	v.Lines(layout)
	e.Day.Changes.Entries = nil
	if text := asked(v.AskDrop); !strings.Contains(text, "Eva") {
		t.Errorf("got %q, want the draft", text)
	}
}
