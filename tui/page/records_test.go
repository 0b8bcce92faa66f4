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
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
	"fundesk/tui/widget"
)

var update = flag.Bool("update", false, "rewrite the golden drawings")

// golden compares lines with a file of testdata. The file has ^ for escape.
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
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

// host notes what pages ask of it.
type host struct {
	ctx  context.Context
	day  *desk.Day
	told []string
}

func (h *host) KeyOf(id string) string { return "<" + id + ">" }

// Perform does the work at once.
func (h *host) Perform(events []event.Event) tea.Cmd {
	for len(events) > 0 {
		switch e := events[0].(type) {
		case event.Job:
			events = append(events, h.day.Receive(e(h.ctx))...)
		case event.Notice:
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
	return h.note("jump " + string(to.Kind) + " " + render.ShortID(to.ID))
}
func (h *host) Turn(page int) tea.Cmd         { return h.note(fmt.Sprint("turn ", page)) }
func (h *host) WorkOn(call Reference) tea.Cmd { return h.note("work " + render.ShortID(call.ID)) }
func (h *host) ShowList(page int, filter string) tea.Cmd {
	return h.note(fmt.Sprint("list ", page, " ", filter))
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
	header := http.Header{"Content-Type": {"application/json"}, "Fundesk-Extensions": {"queue, status, completed-by"}}
	return &http.Response{
		StatusCode:    status,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}, nil
}

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

// ago returns a time before the morning of these tests.
func ago(d time.Duration) apitype.Time { return apitype.NewTime(morning.Add(-d)) }

const aDay = 24 * time.Hour

// scene holds the parts that draw pages, at a service with prepared answers.
func scene(t *testing.T, answers canned) (*Env, *host) {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: answers,
		Now:       func() time.Time { return morning },
		Tries:     1,
	})
	if err != nil {
		t.Fatal(err)
	}
	box, err := outbox.Open(t.TempDir(), outbox.Options{
		BaseURL: "https://a.example",
		Account: "agent",
		Now:     func() time.Time { return morning },
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := []apitype.ResultChoice{
		{Code: "glad", Label: "was glad"},
		{Code: "corrected", Effect: new(apitype.EffectCorrected)},
		{Code: "never", Effect: new(apitype.EffectOptOut), AsksNotes: true},
	}
	day := desk.New(desk.Options{
		Client:      client,
		Outbox:      box,
		Now:         func() time.Time { return morning },
		Languages:   []string{"nl"},
		Agent:       new(callID(1)),
		MaxAttempts: 3,
		Agents:      map[apitype.UUID]string{callID(2): "Bea"},
		Results:     map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: rows},
	})
	h := &host{ctx: t.Context(), day: day}
	e := NewEnv(t.Context(), h, day, NewStyles("", false, false))
	return e, h
}

// asJSON returns a record as a service sends it.
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
		run(result.TakeIn())
	}
}

func number(text string) apitype.Number {
	n, _ := apitype.ParseNumber(text)
	return n
}

// anna has all that a person may have.
func anna() apitype.Person {
	return apitype.Person{
		UUID:                 callID(51),
		AcademicTitle:        new("dr."),
		FirstName:            new("Anna"),
		LastNamePrefix:       new("van"),
		LastName:             new("Dijk"),
		DateOfBirth:          &apitype.Date{Year: 1980, Month: 5, Day: 17},
		SocialSecurityNumber: apitype.Embed("123456789"),
		IBAN:                 new("NL91ABNA0417164300"),
		PhoneNumber:          new("+31201234567"),
		MobilePhoneNumber:    new("+31612345678"),
		Email:                new("anna@example.org"),
		Gender:               new(apitype.Gender("female")),
		OptInPhone:           new(true),
		OptInMail:            new(false),
		Language:             new("nl"),
		CreatedAt:            ago(18 * aDay),
		Address: apitype.Embed(apitype.Address{
			Street:               "Weg",
			HouseNumber:          "1",
			HouseNumberExtension: new("b"),
			ZipCode:              "1000 AA",
			City:                 "Stad",
			Country:              "XX",
		}),
		Mandate:            apitype.Embed(apitype.Mandate{CreatedAt: ago(2 * aDay)}),
		OwningOrganization: apitype.Embed(apitype.OrganizationReference{UUID: callID(61), Name: "Helder Water"}),
		QualityResult: apitype.Embed(apitype.QualityResult{
			Score:      number("7"),
			MaxScore:   number("10"),
			Percentage: number("59"),
			GateResults: []apitype.GateResult{
				{
					Identifier:  "street_known",
					Percentage:  number("59"),
					Explanation: "the street is not there",
					Metadata:    apitype.Object(`{"street":"Weg"}`),
				},
				{
					Identifier:  "e_mail",
					Percentage:  number("60"),
					Explanation: "it was answered",
					Metadata:    apitype.Object(`{}`),
				},
			},
		}),
	}
}

// gift has all that a pledge may have.
func gift() apitype.Pledge {
	return apitype.Pledge{
		UUID:                    callID(71),
		Status:                  apitype.PledgeActive,
		StartsAt:                ago(10 * aDay),
		EndsAt:                  new(ago(-10 * aDay)),
		CreatedAt:               ago(12 * aDay),
		UpdatedAt:               ago(5 * time.Minute),
		ReleasedAt:              apitype.Embed(ago(11 * aDay)),
		InitialDonationAmount:   apitype.Cents(1000),
		DonationAmount:          apitype.Cents(1250),
		InitialDonationInterval: "monthly",
		DonationInterval:        "quarterly",
		PreferredPaymentDay:     new(28),
		RecruitmentType:         new(apitype.RecruitmentType("street")),
		RecruitingLocationLabel: new("station"),
		CampaignCode:            new("W-26"),
		CollectionDate:          new(ago(-aDay)),
		SignatureSignedURL:      new("https://files.example/s"),
		ExternalMetadata:        new(apitype.Object(`{"a":1}`)),
		OwningOrganization:      apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"}),
		RecruitingOrganization:  apitype.Embed(apitype.OrganizationReference{Name: "Werf"}),
		RecruiterUser:           apitype.Embed(apitype.RecruiterUser{Name: "Rik", Identifier: "r-7"}),
		FocusAreas:              apitype.Embed([]apitype.FocusArea{{Name: "wells"}, {Name: "taps"}}),
		ExternalSource:          apitype.Embed(apitype.ExternalSource{Name: "crm", Identifier: "77"}),
		Person:                  apitype.Embed(anna()),
		Transactions: apitype.Embed([]apitype.Transaction{
			{
				UUID:        callID(81),
				Amount:      apitype.Cents(1250),
				Status:      "settled",
				CreatedAt:   ago(3 * aDay),
				Method:      new("direct_debit"),
				Provider:    new("bank"),
				Description: new("november"),
				IBAN:        new("NL91ABNA0417164300"),
			},
			{UUID: callID(82), Amount: apitype.Cents(5), Status: "failed", CreatedAt: ago(2 * time.Hour)},
		}),
		Calls: apitype.Embed([]apitype.Call{
			{
				UUID:        callID(92),
				Type:        apitype.CallHappy,
				Status:      "completed",
				RequestedAt: ago(90 * time.Minute),
				Result:      apitype.Embed(apitype.CallResult{ResultCode: new("glad")}),
			},
		}),
	}
}

// ring has every part of a call.
func ring() apitype.Call {
	return apitype.Call{
		UUID:                    callID(91),
		Status:                  "completed",
		Type:                    apitype.CallHappy,
		RequestedAt:             ago(15 * aDay),
		LastUpdatedAt:           ago(time.Minute),
		AttemptsCount:           2,
		CompletedAt:             new(ago(time.Hour)),
		CancelledAt:             new(ago(2 * time.Hour)),
		ExpiredAt:               new(ago(3 * time.Hour)),
		Notes:                   new("ring twice\nthen wait"),
		PersonUUID:              callID(51),
		RelatedCaseUUID:         new(callID(71)),
		CallingOrganizationUUID: new(callID(62)),
		RecordingDuration:       new(number("61")),
		ExternalMetadata: apitype.Embed(apitype.CallExternalMetadata{
			ApplicationName:      new("dialler"),
			ReferenceID:          new("d-1"),
			AgentReferenceID:     new("a-1"),
			StatusCode:           new("S1"),
			StatusDescription:    new("done"),
			AdditionalProperties: apitype.Object(`{"x":1}`),
		}),
		Attempts: apitype.Embed([]apitype.CallAttempt{
			{AttemptAt: ago(26 * time.Hour), UserUUID: new(callID(2))},
			{AttemptAt: ago(50 * time.Hour)},
		}),
		Result: apitype.Embed(apitype.CallResult{
			ResultCode:           new("never"),
			CompletedAt:          new(ago(time.Hour)),
			DonorRetentionRating: new(number("8")),
			Notes:                new("no more\nplease"),
		}),
		Person:       apitype.Embed(anna()),
		PledgeCase:   apitype.Embed(gift()),
		Transactions: gift().Transactions,
	}
}

func bare(width int) widget.Frame { return widget.Frame{Width: width, Bare: true} }

// Each field of each record: its text, masked and not, and its link.
func TestRecordsAreDrawn(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	person := record{
		ref:    Reference{apitype.EntityPerson, callID(51)},
		person: new(anna()),
		pledges: []apitype.Pledge{
			gift(),
			{UUID: callID(72), Status: "lead", DonationInterval: "once", CreatedAt: ago(aDay)},
		},
		calls:       gift().Calls.Value(),
		morePledges: true,
		moreCalls:   true,
	}
	less := record{
		ref:     Reference{apitype.EntityPerson, callID(52)},
		person:  &apitype.Person{UUID: callID(52), LastName: new("Bos")},
		pledges: []apitype.Pledge{gift()},
	}
	for name, d := range map[string]*detail{
		"call":        {ref: Reference{apitype.EntityCall, callID(91)}, record: record{call: new(ring())}},
		"pledge":      {ref: Reference{apitype.EntityPledge, callID(71)}, record: record{pledge: new(gift())}},
		"person":      {ref: Reference{apitype.EntityPerson, callID(51)}, record: person},
		"person-less": {ref: Reference{apitype.EntityPerson, callID(52)}, record: less},
		"call-less": {
			ref: Reference{apitype.EntityCall, callID(91)},
			record: record{
				call: &apitype.Call{
					UUID:       callID(91),
					Status:     "requested",
					PersonUUID: callID(51),
					Attempts:   apitype.Embed([]apitype.CallAttempt{}),
					PledgeCase: apitype.Embed(apitype.Pledge{UUID: callID(71), Status: "lead"}),
				},
			},
		},
	} {
		d.ready = true
		d.cursor = 1
		lines := d.lines(e, bare(70),
			map[string]int{"call": 64, "call-less": 16, "pledge": 56, "person": 30, "person-less": 10}[name], true)
		for i, f := range d.fields(e) {
			if f.leads() || f.copy != "" {
				to := f.list.filter
				if f.to != nil {
					to = string(f.to.Kind) + " " + render.ShortID(f.to.ID)
				}
				lines = append(lines, fmt.Sprintf("%d %s: to %q, copies %q", i, f.label, to, f.copy))
			}
		}
		golden(t, "record-"+name, lines)
	}
	e.Day.IsRevealed = true
	d := &detail{ref: person.ref, record: person, ready: true}
	golden(t, "record-revealed", d.lines(e, bare(60), 24, false))
	e.ASCII = true
	if got := e.euros(apitype.Cents(5)); got != "EUR 0.05" {
		t.Errorf("got %q, want an amount in letters", got)
	}
	failure := &apiclient.Error{
		Kind:      apiclient.KindRejected,
		Status:    422,
		Message:   "no",
		Detail:    []string{"a: wrong", "b: wrong"},
		RequestID: "r-1",
	}
	for name, d := range map[string]*detail{
		"failed":           {failed: failure},
		"failed-otherwise": {failed: errors.New("too bad")},
		"reading":          {},
	} {
		d.ref.Kind = apitype.EntityCall
		golden(t, "record-"+name, append(d.lines(e, bare(40), 6, false), d.lines(e, bare(40), 6, true)...))
	}
}

// said returns the host's messages since the last call.
func (h *host) said() string {
	told := strings.Join(h.told, "; ")
	h.told = nil
	return told
}

// The floor of a supervisor: who is on a call, and which calls wait.
func TestFloorIsDrawn(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, canned{
		"GET /fundesk/v1/queue/agents": asJSON(t, apitype.QueueAgents{Agents: []apitype.QueueAgent{
			{UserUUID: callID(3), LastSeenAt: ago(time.Hour), Completed: 2},
			{
				UserUUID:   callID(2),
				LastSeenAt: ago(time.Minute),
				CallUUID:   new(callID(9)),
				Type:       new(apitype.CallHappy),
				TakenAt:    new(ago(4 * time.Minute)),
				Completed:  7,
				Attempts:   9,
				Cancelled:  1,
				Expired:    2,
				ByResult:   map[string]int{"glad": 5, "never": 2},
			},
			{
				UserUUID:   callID(1),
				LastSeenAt: ago(0),
				CallUUID:   new(callID(8)),
				Type:       new(apitype.CallWinback),
				TakenAt:    new(ago(time.Minute)),
			},
			{UserUUID: callID(4), LastSeenAt: ago(2 * time.Hour), Cancelled: 1},
		}}),
		"GET /fundesk/v1/queue": asJSON(t, apitype.QueueState{
			Waiting:           12,
			Due:               2,
			Deferred:          3,
			DueNextHour:       1,
			OldestRequestedAt: new(ago(49 * time.Hour)),
			ByLanguage:        map[string]int{"nl": 5, "de": 2, "": 2, "fr": 1, "tr": 2},
		}),
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
	v.takeIn(floorRead{agents: []apitype.QueueAgent{
		{UserUUID: callID(3)},
		{UserUUID: chosen},
		{UserUUID: callID(7), CallUUID: new(callID(1))},
	}}, nil)
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

// A type of which few calls wait beside one with many has a bar with a cell for each language.
func TestFloorBarOfFewCalls(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	many := apitype.QueueState{Waiting: 900, ByLanguage: map[string]int{"nl": 500, "de": 400}}
	few := apitype.QueueState{Waiting: 4, ByLanguage: map[string]int{"nl": 3, "de": 1}}
	v := &Floor{Env: e, floorRead: floorRead{waiting: []waitingType{{state: many}, {state: few}}}}
	lines := v.waitingLines(100)
	want := "  " + v.languageSign(0) + v.languageSign(1)
	if got := strings.TrimRight(ansi.Strip(lines[len(lines)-1]), " "); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
}

// The floor says when agents have nothing to call, except those who have probably gone.
func TestFloorHasIdleAgents(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	agent := func(seen time.Duration, change func(*apitype.QueueAgent)) apitype.QueueAgent {
		a := apitype.QueueAgent{UserUUID: apitype.NewUUID(), LastSeenAt: ago(seen)}
		change(&a)
		return a
	}
	idle := func(*apitype.QueueAgent) {}
	v := &Floor{Env: e, floorRead: floorRead{agents: []apitype.QueueAgent{
		agent(10*time.Minute, idle),
		agent(atWork-time.Second, idle),
		agent(atWork, idle),
		agent(time.Minute, func(a *apitype.QueueAgent) { a.State = apitype.UserPaused }),
		agent(time.Minute, func(a *apitype.QueueAgent) { a.TakenAt = new(ago(time.Minute)) }),
	}}}
	for waiting, want := range map[int]string{0: "▲ no call is waiting for 2 idle agents", 1: ""} {
		v.waiting = []waitingType{{state: apitype.QueueState{Waiting: waiting}}}
		if got := ansi.Strip(strings.Join(v.lookLines(100), "\n")); got != want {
			t.Errorf("%d wait: got %q, want %q", waiting, got, want)
		}
	}
}

func TestOutboxIsDrawn(t *testing.T) {
	t.Parallel()
	e, h := scene(t, nil)
	v := NewOutbox(e)
	layout := NewLayout(100, 16)
	golden(t, "outbox-empty", v.Lines(layout))
	if v.WhyNotCopy() != "the outbox is empty" ||
		v.WhyNotOpen() != "the outbox is empty" ||
		v.WhyNotSendAgain() != "the outbox is empty" {
		t.Errorf("got %q of an empty outbox", v.WhyNotCopy())
	}
	entry := func(n int, state outbox.State, op, body string) outbox.Entry {
		e := outbox.Entry{
			ID:        fmt.Sprint(n),
			State:     state,
			CreatedAt: morning.Add(-time.Duration(n) * time.Hour),
			Tries:     n,
		}
		e.Op, e.UUID, e.Method, e.Path, e.Body = op, callID(n), "PUT", "/api/v1/x", []byte(body)
		return e
	}
	e.Day.Changes.Entries = []outbox.Entry{
		entry(1, outbox.StateRejected, apiclient.OpCompleteCall, `{"result":{"notes":"typed"}}`),
		entry(2, outbox.StateUnsure, apiclient.OpAddAttempt, `{"userUuid":null}`),
		entry(3, outbox.StateQueued, apiclient.OpMarkProcessed, `x`),
	}
	e.Day.Changes.Entries[0].LastError = "no"
	e.Day.Changes.Entries[1].After = "1"
	e.Day.Changes.Entries[2].UUID = apitype.UUID{}
	e.Day.Changes.Labels = map[string]string{"2": "attempt: Anna"}
	e.Day.Changes.Drafts.All = []outbox.Draft{{Call: callID(4), Notes: "é", ResultCode: "was_glad", SavedAt: morning}}
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
		{"x", "only what was refused or is unsure is sent again by hand; the rest is sent automatically", ""},
		{
			copies:    "é",
			sendAgain: "only what was refused or is unsure is sent again by hand; the rest is sent automatically",
			opens:     "work c0040000",
		},
	} {
		if _, onRow := v.Click(0, line+2); !onRow {
			t.Fatalf("line %d: got no row", line)
		}
		row, _ := v.Chosen()
		got := v.CopyRecord()().(Copied).Text
		if got != want.copies || row.copyText() != want.copies || v.WhyNotSendAgain() != want.sendAgain {
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

// An agent copies parts of a call, and sees the outcomes of the last calls.
func TestCopiesAndFates(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	d := NewDesk(e)
	e.Day.Call = new(ring())
	d.AskCopy()
	got := strings.Join(drawn(e.Dialog, e.Styles, 70, 12), "\n")
	if !strings.Contains(got, "mobile  +31612345678") || !strings.Contains(got, "e-mail  anna@example.org") {
		t.Errorf("got %s, want what the call shows", got)
	}
	for fate, want := range map[changes.Fate]string{
		changes.FateHeld:    "was glad, on its way",
		changes.FateWaits:   "was glad, waiting",
		changes.FateRefused: "was glad, refused",
		changes.FateSent:    "was glad",
		changes.FateLater:   "was glad",
		changes.FateEnded:   "was glad",
	} {
		if got := d.fateText(changes.Recent{What: "was glad", Fate: fate}); !strings.HasSuffix(got, " "+want) {
			t.Errorf("%s: got %q, want %q", fate, got, want)
		}
	}
}
