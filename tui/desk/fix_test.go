package desk

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

// answers is a service that answers by method and path: a status and a body, 404 for any other.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := 404, "{}"
	if said, known := a[r.Method+" "+r.URL.Path]; known {
		code, rest, _ := strings.Cut(said, " ")
		_, _ = fmt.Sscan(code, &status)
		body = rest
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{
		StatusCode:    status,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}, nil
}

// dayAt returns a desk with a disk at a service with prepared answers.
func dayAt(t *testing.T, service answers) *Day {
	t.Helper()
	now := func() time.Time { return morning }
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: service,
		Now:       now,
		Tries:     1,
	})
	servicetest.Check(t, err)
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "embedded", Now: now})
	servicetest.Check(t, err)
	d := New(Options{
		Client:    client,
		Outbox:    box,
		Now:       now,
		Languages: []string{"nl"},
		Results: map[apitype.CallType][]apitype.ResultChoice{
			apitype.CallHappy: {
				{Code: "glad"},
				{Code: "corrected", Effect: new(apitype.EffectCorrected)},
				{Code: "never", Effect: new(apitype.EffectOptOut), AsksNotes: true},
				{Code: "died", Effect: new(apitype.EffectNoContact)},
			},
		},
	})
	d.Changes.Sender = d.Leases.NewSender(outbox.SenderOptions{})
	return d
}

// work does the desk's requests, and returns its messages.
func work(t *testing.T, d *Day, events []event.Event) []string {
	t.Helper()
	var texts []string
	for len(events) > 0 {
		switch e := events[0].(type) {
		case event.Job:
			events = append(events, d.Receive(e(t.Context()))...)
		case event.Notice:
			if e.Text != "" {
				texts = append(texts, e.Text)
			}
		}
		events = events[1:]
	}
	return texts
}

// donor is a call to a person with a pledge, on the desk.
func donor(d *Day) {
	person := apitype.Person{
		UUID:              callID(101),
		LastName:          new("Bos"),
		Email:             new("b@example.org"),
		OptInPhone:        new(true),
		MobilePhoneNumber: new("+31612345678"),
		Address: apitype.Embed(apitype.Address{
			Street:      "Weg",
			HouseNumber: "1",
			ZipCode:     "1000 AA",
			City:        "Stad",
			Country:     "NL",
		}),
	}
	pledge := apitype.Pledge{
		UUID:             callID(201),
		DonationAmount:   apitype.Cents(1250),
		DonationInterval: "monthly",
		StartsAt:         apitype.NewTime(morning.AddDate(0, 0, -10)),
		EndsAt:           new(apitype.NewTime(time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC))),
	}
	call := requested(1)
	call.Person, call.PledgeCase = apitype.Embed(person), apitype.Embed(pledge)
	d.Call, d.entered = &call, entry.Entered{}
}

// fix returns a detail by its label.
func fix(t *testing.T, d *Day, label string) entry.Fix {
	t.Helper()
	all := d.Form().Fixes()
	i := slices.IndexFunc(all, func(f entry.Fix) bool { return f.Label == label })
	if i < 0 {
		t.Fatalf("there is no detail %s", label)
	}
	return all[i]
}

// The effects of a choice go with that choice, also after an undo or an opened draft. A result that the agent chose by
// mistake opts no donor out.
func TestAWrongResultLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		back func(d *Day) []event.Event
	}{
		{"undone", func(d *Day) []event.Event {
			events := d.Finish(disposition.Complete)
			d.Changes.Written()
			return append(events, d.Changes.Undo()...)
		}},
		{"opened again", func(d *Day) []event.Event {
			call := *d.Call
			d.leave()
			servicetest.Check(t, d.Changes.Drafts.Flush())
			d.Call = nil
			draft, _, err := d.Outbox.Draft(call.UUID)
			servicetest.Check(t, err)
			d.Changes.Drafts.All = []outbox.Draft{draft}
			d.present(call)
			return d.Drain()
		}},
	} {
		d := dayAt(t, answers{"GET /api/v1/calls/" + callID(1).String(): "500 {}"})
		donor(d)
		d.Form().SetNotes("x")
		d.Form().SetResult("never")
		work(t, d, test.back(d))
		if d.Call == nil || d.Form().ResultCode != "never" || d.Form().Corrections[entry.OptOutKey] != "no" {
			t.Fatalf("%s: got %+v, want the call and what was entered", test.name, d.Form().Entered)
		}
		d.Form().SetResult("glad")
		if fixes := d.Form().Corrected(); len(fixes) > 0 {
			t.Errorf("%s: got %+v with another result, want the opt-out taken back with its result", test.name, fixes)
		}
		d.Form().SetResult("")
		for _, answer := range []string{"no", "yes"} {
			if wrong := d.Form().Correct(fix(t, d, "may be phoned"), answer); wrong != "" {
				t.Fatal(wrong)
			}
			if answer == "no" {
				work(t, d, test.back(d))
			}
		}
		if d.Form().ResultCode != "" {
			t.Errorf("%s: got %q, want the result that a correction chose taken back with it",
				test.name, d.Form().ResultCode)
		}
	}
}

// The end of a call is sent with its corrections, one after the other. A refusal is reported at once.
func TestWhatEndsACall(t *testing.T) {
	t.Parallel()
	d := dayAt(t, answers{
		"GET /api/v1/calls/" + callID(1).String(): `200 {"uuid":"` + callID(1).String() + `","status":"requested"}`,
	})
	d.Agent = new(callID(9))
	donor(d)
	d.Form().Correct(fix(t, d, "e-mail"), "c@example.org")
	d.Form().Correct(fix(t, d, "amount"), "20")
	d.Form().SetResult("glad")
	d.Form().SetRating(new(8))
	d.Form().SetNotes("glad to give")
	texts := work(t, d, d.Finish(disposition.Complete))
	entries, _, err := d.Outbox.List()
	if err != nil || len(entries) != 3 || len(texts) != 0 {
		t.Fatalf("got %d entries, %v, %q, want two corrections and the result", len(entries), err, texts)
	}
	if entries[0].After != "" ||
		entries[1].After != entries[0].ID ||
		entries[2].After != entries[1].ID ||
		entries[2].Op != apiclient.OpCompleteCall {
		t.Errorf("got %+v, want each after the one before", entries)
	}
	if !strings.Contains(string(entries[2].Body), `"donorRetentionRating":8`) ||
		!strings.Contains(string(entries[2].Body), `"notes":"glad to give"`) ||
		!strings.Contains(string(entries[2].Body), callID(9).String()) {
		t.Errorf("got %s, want all that was entered", entries[2].Body)
	}
	if d.Changes.Recent[0].What != "glad, 8" ||
		d.Changes.Labels[entries[2].ID] != "glad: Bos" ||
		d.HasDraft() ||
		len(d.Changes.Held) != 3 {
		t.Errorf("got %+v and %d held, want the result as it was", d.Changes.Recent[0], len(d.Changes.Held))
	}
	lines, err := d.Changes.Remaining()
	if err != nil ||
		!slices.Equal(lines, []string{"3 changes stay in the outbox; to send: fundesk outbox send"}) ||
		d.Changes.Waiting() != 3 {
		t.Errorf("got %q, %v, %d unsent", lines, err, d.Changes.Waiting())
	}
	if texts := work(t, d, d.Changes.Undo()); !slices.Equal(texts, []string{"undone: glad: Bos"}) {
		t.Errorf("got %q, want it taken back", texts)
	}
	if !d.IsOn(callID(1)) || d.Form().Notes != "glad to give" || len(d.Changes.Recent) != 0 || d.Changes.CanUndo() {
		t.Errorf("got %+v and %+v, want the call with its text on the desk again", d.Call, d.Draft())
	}
	// A result that no service takes is not sent.
	donor(d)
	d.entered = entry.Entered{Draft: outbox.Draft{ResultCode: "a\tb"}}
	if texts := work(t, d, d.Finish(disposition.Complete)); !slices.Equal(texts, []string{"not sent: result.resultCode must be 1 to 100 printable characters"}) {
		t.Errorf("got %q, want why it is not sent", texts)
	}
	for want, end := range map[string]disposition.Func{
		"cancelled":   disposition.Cancel,
		"expired":     disposition.Expire,
		"not reached": disposition.NotReached(""),
	} {
		donor(d)
		work(t, d, d.Finish(end))
		if d.Changes.Recent[0].What != want || d.Call != nil || !d.IsWaiting() {
			t.Errorf("got %+v, want it %s, and the next one wanted", d.Changes.Recent[0], want)
		}
	}
	donor(d)
	d.Changes.ExternalSourceName = "crm"
	work(t, d, d.Changes.Submit(d.Changes.Mark(apitype.EntityCall, d.Call.UUID, "mark processed")))
	entries, _, _ = d.Outbox.List()
	last := entries[len(entries)-1]
	if last.Op != apiclient.OpMarkProcessed || !strings.Contains(string(last.Body), `"externalSourceName":"crm"`) {
		t.Errorf("got %s %s, want the mark with its source", last.Op, last.Body)
	}
	// A change that cannot be sent at all is not saved, and holds back those after it.
	g := new(changes.Group)
	again := changes.Change{Change: entries[0].Change}
	for want, all := range [][]changes.Change{
		{{Err: io.ErrShortWrite, Group: g}, {Change: again.Change, Group: g}},
		{again},
	} {
		work(t, d, d.Changes.Submit(all...))
		if after, _, _ := d.Outbox.List(); len(after)-len(entries) != want {
			t.Errorf("got %d more entries, want %d", len(after)-len(entries), want)
		}
	}
}

// A correction that the service has forbidden once is left out when the agent sends the result alone.
func TestForbiddenCorrectionsAreLearnt(t *testing.T) {
	t.Parallel()
	d := dayAt(t, answers{"GET /fundesk/v1": `404 {}`})
	donor(d)
	d.Form().Correct(fix(t, d, "e-mail"), "c@example.org")
	d.Form().Correct(fix(t, d, "amount"), "20")
	if got := len(d.Form().RefusedCorrections()); got != 0 {
		t.Errorf("got %d refused, want none before a refusal", got)
	}
	forbidden := &apiclient.Error{Kind: apiclient.KindForbidden, Message: "no"}
	refused := outbox.Event{Outcome: outbox.OutcomeRejected, Err: forbidden}
	refused.Entry.Op = apiclient.OpUpdatePledge
	d.Receive(d.Told(refused))
	if got := d.Form().RefusedCorrections(); len(got) != 1 || got[0].Key != fix(t, d, "amount").Key {
		t.Errorf("got %v refused, want the amount", got)
	}
	d.Form().SetResult("glad")
	d.Form().LeaveRefused()
	work(t, d, d.Finish(disposition.Complete))
	entries, _, err := d.Outbox.List()
	if err != nil || len(entries) != 2 {
		t.Errorf("got %d changes, %v, want the result and the e-mail", len(entries), err)
	}
}

// The agent narrows the calls to types and languages, and back.
func TestNarrowing(t *testing.T) {
	t.Parallel()
	d := dayAt(t, nil)
	d.Leases.State = &apitype.QueueState{ByLanguage: map[string]int{"de": 1, "": 2, "nl": 3}}
	d.Leases.HasQueue = true
	servicetest.Same(t, "languages", []string{"de", "nl"}, queue.KnownLanguages(d.Filter, d.Languages, d.Leases.State))
	happy := []apitype.CallType{apitype.CallHappy}
	d.become(stateNoneLeft)
	if events := d.Narrow(apitype.QueueFilter{Types: happy}); len(events) != 3 || d.IsNoneLeft() {
		t.Errorf("got %d requests and none left %t, want the queue read and asked for a call",
			len(events), d.IsNoneLeft())
	}
	d.Narrow(apitype.QueueFilter{Types: happy, Languages: []string{"de", "nl"}})
	if got := queue.FilterText(d.Texts, d.Filter); got != "happy call · German, Dutch" {
		t.Errorf("got %q", got)
	}
	d.Narrow(apitype.QueueFilter{Languages: []string{"de", "nl"}})
	if got := queue.FilterText(d.Texts, d.Filter); got != "German, Dutch" {
		t.Errorf("got %q", got)
	}
	texts := work(t, d, d.Narrow(apitype.QueueFilter{Languages: []string{"xx"}}))
	if !slices.Equal(texts, []string{"the calls are as before: languages.0 must be an ISO 639-1 language code, such as nl"}) ||
		queue.FilterText(d.Texts, d.Filter) != "German, Dutch" {
		t.Errorf("got %q, want it refused", texts)
	}
	if queue.FilterText(say.Texts{}, apitype.QueueFilter{}) != "" {
		t.Error("got a narrowing of nothing")
	}
}

// The open call of a donor who calls back is searched among the pledges.
func TestOpenCallOfADonor(t *testing.T) {
	t.Parallel()
	pledges := `200 {"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"` + callID(201).String() +
		`"}},{"node":{"uuid":"` + callID(202).String() + `"}}]}`
	calls := func(pledge int, calls string) string {
		return `200 {"uuid":"` + callID(pledge).String() + `","calls":[` + calls + `]}`
	}
	call := func(n int, status string) string {
		return `{"uuid":"` + callID(n).String() + `","status":"` + status + `"}`
	}
	read := func(n int) string { return "GET /api/v1/pledges/" + callID(n).String() }
	const looking = "looking for an open call of Bos…"
	for _, test := range []struct {
		name    string
		service answers
		said    []string
		taking  bool
		pledge  int // Of the caller without an open call. Zero if there is none.
		caller  bool
	}{
		{
			name: "found",
			service: answers{
				"GET /api/v1/pledges": pledges,
				read(201):             calls(201, call(5, "expired")),
				read(202):             calls(202, call(6, "requested")+","+call(7, "requested")),
			},
			said: []string{looking, "!!call c0060000 is no longer there"},
		},
		{
			name: "none",
			service: answers{
				"GET /api/v1/pledges": pledges,
				read(201):             calls(201, call(5, "expired")),
				read(202):             calls(202, ""),
			},
			said:   []string{looking},
			pledge: 201,
			caller: true,
		},
		{
			name:    "no pledges",
			service: answers{"GET /api/v1/pledges": `200 {"pageInfo":{"hasNextPage":false},"edges":[]}`},
			said:    []string{looking},
			caller:  true,
		},
		{"no right", answers{"GET /api/v1/pledges": `403 {}`}, []string{looking}, false, 0, true},
		{
			name:    "not read",
			service: answers{"GET /api/v1/pledges": `422 {"detail":"no"}`},
			said:    []string{looking, "!!cannot look for an open call of Bos: 422 no"},
		},
		{
			name: "one not read, the other without",
			service: answers{
				"GET /api/v1/pledges": pledges,
				read(201):             `422 {"detail":"no"}`,
				read(202):             calls(202, ""),
			},
			said: []string{looking, "!!cannot look for an open call of Bos: 422 no"},
		},
		{
			name: "one not read, the other with",
			service: answers{
				"GET /api/v1/pledges": pledges,
				read(201):             `422 {"detail":"no"}`,
				read(202):             calls(202, call(6, "requested")),
			},
			said: []string{looking, "!!call c0060000 is no longer there"},
		},
	} {
		d := dayAt(t, test.service)
		d.Leases.IsDiscovered = true
		var texts []string
		events := d.OpenDonor(donors.Donor{ID: callID(101), Name: "Bos"})
		for len(events) > 0 {
			if job, ok := events[0].(event.Job); ok {
				events = append(events, d.Receive(job(t.Context()))...)
			} else if n := events[0].(event.Notice); n.Text != "" {
				texts = append(texts, strings.Repeat("!", int(n.Level))+n.Text)
			}
			events = events[1:]
		}
		servicetest.Same(t, test.name, test.said, texts)
		if (d.Caller != nil) != test.caller ||
			test.caller && (d.Caller.Pledge != nil) != (test.pledge != 0) ||
			test.pledge != 0 && *d.Caller.Pledge != callID(test.pledge) {
			t.Errorf("%s: got the caller %+v, want one %t, with pledge %d",
				test.name, d.Caller, test.caller, test.pledge)
		}
	}
	d := dayAt(t, nil)
	if d.OpenDonor(donors.Donor{OpenCall: callID(6)}); d.locked() != callID(6) || !d.IsOpening() {
		t.Error("a call that is known to be open was not taken")
	}
	d.Changes.Written()
	d = dayAt(t, nil)
	work(t, d, d.NewCall(donors.Caller{Donor: donors.Donor{
		ID:   callID(101),
		Name: "Bos",
	}, Pledge: new(callID(201))}, apitype.CallWinback))
	entries, _, err := d.Outbox.List()
	if err != nil || len(entries) != 1 || d.opening != entries[0].UUID ||
		d.Changes.Labels[entries[0].ID] != "new call, win-back: Bos" || len(d.Changes.Held) != 1 ||
		!entries[0].NotBefore.IsZero() {
		t.Errorf("got %+v, %v, want a new call that is sent at once", entries, err)
	}
}

// Actions on the outbox are done, and it is read again.
func TestOutboxByHand(t *testing.T) {
	t.Parallel()
	d := dayAt(t, answers{"PUT /api/v1/calls/" + callID(1).String() + "/actions/add-attempt": `422 {"detail":"no"}`})
	work(t, d, d.Changes.Submit(d.Changes.Attempt(callID(1), "attempt: Bos")))
	id := d.Changes.Entries[0].ID
	if texts := work(t, d, d.Changes.SendAgain(id)); len(texts) != 1 || !strings.HasPrefix(texts[0], "outbox: ") {
		t.Errorf("got %q, want that it is not sent again by hand", texts)
	}
	if texts := work(t, d, d.Changes.SendNow()); !slices.Equal(texts, []string{"trying everything again…"}) {
		t.Errorf("got %q, want it tried", texts)
	}
	d.Changes.Finish(t.Context(), d.QuitWait)
	work(t, d, d.Changes.Refresh())
	if len(d.Changes.Entries) != 1 || d.Changes.Entries[0].State != outbox.StateRejected {
		t.Errorf("got %+v, want it refused", d.Changes.Entries)
	}
	lines, err := d.Changes.Remaining()
	if err != nil || !slices.Equal(lines, []string{"1 change was refused by the service; see: fundesk outbox list"}) {
		t.Errorf("got %q, %v", lines, err)
	}
	if texts := work(t, d, d.Changes.Drop(d.Changes.Entries[0])); len(texts) != 0 || len(d.Changes.Entries) != 0 {
		t.Errorf("got %q and %d entries, want it dropped", texts, len(d.Changes.Entries))
	}
	servicetest.Check(t, d.Changes.Drafts.Save(outbox.Draft{Call: callID(1), Notes: "x"}))
	d.Changes.Read()
	work(t, d, d.Drain())
	if len(d.Changes.Drafts.All) != 1 {
		t.Fatalf("got %d drafts, want one", len(d.Changes.Drafts.All))
	}
	if work(t, d, d.Changes.DropDraft(callID(1))); len(d.Changes.Drafts.All) != 0 {
		t.Errorf("got %d drafts, want none", len(d.Changes.Drafts.All))
	}
	servicetest.Check(t, d.Outbox.SaveDraft(callID(2), outbox.Draft{Notes: "of yesterday"}))
	work(t, d, d.Changes.Refresh())
	work(t, d, d.Changes.DropDraft(callID(2)))
	if _, found, err := d.Outbox.Draft(callID(2)); found || err != nil {
		t.Errorf("the draft of an earlier start is still there after it was dropped: %v", err)
	}
	donor(d)
	d.Changes.Drafts.All = []outbox.Draft{{Call: callID(1)}}
	if texts := work(t, d, d.Resume()); !slices.Equal(texts, []string{"the draft is open already"}) {
		t.Errorf("got %q", texts)
	}
}

// Without results in the profile, the Desk learns those of the last calls.
func TestResultsThatAreSeen(t *testing.T) {
	t.Parallel()
	call := func(n int, code string) string {
		return `{"node":{"uuid":"` + callID(n).String() +
			`","type":"winback","status":"completed","result":{"resultCode":"` + code + `"}}}`
	}
	d := dayAt(t, answers{
		"GET /api/v1/calls": `200 {"pageInfo":{"hasNextPage":false},"edges":[` + call(1, "new") + `,` +
			call(2, "old") + `]}`,
	})
	d.Codes.ReadLatest(d.State)
	work(t, d, d.Drain())
	got, guessed := resultsOf(d.Codes, apitype.CallWinback)
	if guessed != 0 || !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("got %q, guessed from %d, want both, sorted", got, guessed)
	}
	d = dayAt(t, answers{"GET /api/v1/calls": `422 {"detail":"no"}`})
	d.Codes.ReadLatest(d.State)
	if texts := work(t, d, d.Drain()); !slices.Equal(texts, []string{"cannot read the results: 422 no"}) {
		t.Errorf("got %q, want it said", texts)
	}
	d.Codes, _ = floor.OpenCodes(nil, nil, []string{"x"}, "")
	if d.Codes.ReadLatest(d.State); len(d.Drain()) != 0 {
		t.Error("results that the profile says were asked for")
	}
}

// The held line shows the result as the record will have it, not its label alone.
func TestHeldChangeSaysItsEffect(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		"never":     "never (opt-out): Bos, may not be phoned any more, sent in 5 s",
		"corrected": "corrected: Bos, e-mail a@example.org, sent in 5 s",
		"glad":      "glad: Bos, sent in 5 s",
	} {
		d := dayAt(t, nil)
		donor(d)
		if result == "corrected" {
			d.Form().Correct(fix(t, d, "e-mail"), "a@example.org")
		}
		d.Form().SetNotes("said so")
		d.Form().SetResult(result)
		work(t, d, d.Finish(disposition.Complete))
		if got := d.Changes.HeldText("u"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
}

// A day and an amount are shown as they are written in the agent's country.
func TestDetailsAreShownInTheAgentsForm(t *testing.T) {
	t.Parallel()
	d := dayAt(t, answers{})
	d.Locale = render.LocaleFrom(func(name string) string { return map[string]string{"LANG": "nl_NL.UTF-8"}[name] })
	for _, test := range []struct{ key, value, want string }{
		{"donationAmount", "1250.50", "€ 1.250,50"},
		{"dateOfBirth", "1967-12-02", "02-12-1967"},
		{"endsAt", "2026-07-01", "01-07-2026"},
		{"dateOfBirth", "soon", "soon"},
		{"donationAmount", "much", "much"},
		{"dateOfBirth", "", ""},
	} {
		isIt := func(f entry.Fix) bool { return f.Key == test.key }
		all := entry.Recorded(apitype.Call{Person: apitype.Embed(apitype.Person{})})
		at := slices.IndexFunc(all, isIt)
		if got := d.Card().FixValue(all[at], test.value, true); got != test.want {
			t.Errorf("%q: got %q, want %q", test.value, got, test.want)
		}
	}
}
