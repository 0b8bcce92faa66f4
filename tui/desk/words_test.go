package desk

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// said takes what a desk has told, and how much work it asks for.
func said(d *Day) (texts []string, jobs int) {
	for _, e := range d.drain() {
		if notice, ok := e.(Notice); ok {
			texts = append(texts, strings.Repeat("!", int(notice.Level))+notice.Text+strings.Repeat("^", int(notice.See)))
		} else {
			jobs++
		}
	}
	return texts, jobs
}

// at is a desk at a certain time.
func at(now time.Time) *Day {
	d := newDay()
	d.Now = func() time.Time { return now }
	return d
}

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

func TestWhatIsToldOfACall(t *testing.T) {
	t.Parallel()
	d := at(morning)
	for _, test := range []struct {
		most, attempts int
		want           string
	}{
		{0, 0, "1st try"},
		{0, 1, "2nd try"},
		{0, 2, "3rd try"},
		{3, 0, "1st try of 3"},
		{3, 2, "3rd try of 3"},
		{0, 10, "11th try"},
		{3, 20, "21st try"},
	} {
		d.MaxAttempts = test.most
		if next, of := d.Card.Tries(apitype.Call{AttemptsCount: test.attempts}); next+of != test.want {
			t.Errorf("%d of %d: got %q, want %q", test.attempts, test.most, next+of, test.want)
		}
	}
	for day, want := range map[apitype.Date]string{
		{Year: 1980, Month: 11, Day: 20}: "46 years", {Year: 1980, Month: 11, Day: 21}: "45 years", {Year: 1980, Month: 11, Day: 19}: "46 years",
		{Year: 2025, Month: 11, Day: 20}: "1 year",
	} {
		if diff := cmp.Diff([]string{"Dutch", want}, d.Card.About(apitype.Person{Language: new("nl"), DateOfBirth: &day})); diff != "" {
			t.Errorf("born %s (-want +got):\n%s", day, diff)
		}
	}
	if got := d.Card.About(apitype.Person{}); len(got) != 0 {
		t.Errorf("got %q of nobody, want nothing", got)
	}
	both := &apitype.Person{MobilePhoneNumber: new("+31612345678"), PhoneNumber: new("+31201234567")}
	servicetest.Same(t, "numbers", []Number{{"mobile", "+31612345678"}, {"home", "+31201234567"}}, Numbers(both))
	if got := Numbers(&apitype.Person{PhoneNumber: both.PhoneNumber}); len(got) != 1 || got[0].Kind != "home" || Numbers(nil) != nil {
		t.Errorf("got %v, want the one number there is", got)
	}
	for status, want := range map[apitype.PledgeStatus]string{"lead": "not collected yet", "active": "active"} {
		if got := PledgeWords(status); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
	address := apitype.Address{Street: "Weg", HouseNumber: "1", ZipCode: "1000 AA", City: "Stad", Country: "NL"}
	for want, a := range map[string]*apitype.Address{"": nil, "Weg 1, 1000 AA Stad, NL": &address} {
		if got := Address(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	opted := apitype.Person{OptInPhone: new(false), OptInEmail: new(true)}
	if got, want := OptInWords(new(Day).Say, opted), "phone no, e-mail yes, post unknown, sms unknown"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if Value((*string)(nil)) != "" || d.Name() != "" {
		t.Error("got a text of nothing")
	}
}

func TestToWhomAPledgeGives(t *testing.T) {
	t.Parallel()
	d := at(morning)
	since := apitype.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local))
	pledge := func(change func(*apitype.Pledge)) apitype.Pledge {
		p := apitype.Pledge{StartsAt: since}
		change(&p)
		return p
	}
	areas := func(names ...string) apitype.Embedded[[]apitype.FocusArea] {
		var all []apitype.FocusArea
		for _, name := range names {
			all = append(all, apitype.FocusArea{Name: name})
		}
		return apitype.Embed(all)
	}
	charity := apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"})
	for want, p := range map[string]apitype.Pledge{
		"":                                  pledge(func(*apitype.Pledge) {}),
		"Helder Water":                      pledge(func(p *apitype.Pledge) { p.OwningOrganization = charity }),
		"Helder Water · wells":              pledge(func(p *apitype.Pledge) { p.OwningOrganization, p.FocusAreas = charity, areas("wells") }),
		"Helder Water · wells, taps, pipes": pledge(func(p *apitype.Pledge) { p.OwningOrganization, p.FocusAreas = charity, areas("wells", "taps", "pipes") }),
		"recruited at the door":             pledge(func(p *apitype.Pledge) { p.RecruitmentType = new(apitype.RecruitmentType("d2d")) }),
		"recruited in the street":           pledge(func(p *apitype.Pledge) { p.RecruitmentType = new(apitype.RecruitmentType("street")) }),
		"recruited by telephone":            pledge(func(p *apitype.Pledge) { p.RecruitmentType = new(apitype.RecruitmentType("telephone")) }),
	} {
		if got := d.Card.GivesTo(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What was said and tried before, the newest first.
func TestContacts(t *testing.T) {
	t.Parallel()
	d := at(morning)
	d.Agent = new(callID(1))
	d.Agents = map[apitype.UUID]string{callID(2): "Bea"}
	ago := func(days int) apitype.Time { return apitype.NewTime(morning.AddDate(0, 0, -days)) }
	ended := func(days int) *apitype.Time { return new(ago(days)) }
	call := func(status apitype.CallStatus, requested int, change func(*apitype.Call)) apitype.Call {
		c := apitype.Call{UUID: callID(100 + requested), Status: status, Type: apitype.CallHappy, RequestedAt: ago(requested)}
		change(&c)
		return c
	}
	nothing := func(*apitype.Call) {}
	desk := call("requested", 1, nothing)
	pledge := apitype.Pledge{Calls: apitype.Embed([]apitype.Call{
		desk,
		call("requested", 20, nothing),
		call("cancelled", 30, func(c *apitype.Call) { c.CancelledAt = ended(9) }),
		call("expired", 40, func(c *apitype.Call) { c.ExpiredAt = ended(8) }),
		call("completed", 50, func(c *apitype.Call) { c.CompletedAt = ended(7) }),
		call("completed", 60, func(c *apitype.Call) {
			c.CompletedAt = ended(301)
			c.Result = apitype.Embed(apitype.CallResult{ResultCode: new("reached"), DonorRetentionRating: new(apitype.NumberFromInt(8)), Notes: new(" was glad ")})
		}),
	})}
	desk.PledgeCase = apitype.Embed(pledge)
	desk.Attempts = apitype.Embed([]apitype.CallAttempt{
		{AttemptAt: ago(6)}, {AttemptAt: ago(5), UserUUID: new(callID(1))}, {AttemptAt: ago(4), UserUUID: new(callID(2))}, {AttemptAt: ago(300), UserUUID: new(callID(3))},
	})
	d.Call = &desk
	want := []string{
		"16 November, not reached (Bea)", "15 November, not reached (you)", "14 November, not reached", "13 November, happy call: completed",
		"12 November, happy call: expired", "11 November, happy call: cancelled", "31 October, happy call: still open",
		"24 January, not reached", "23 January 2026, happy call: reached, 8\n\"was glad\"",
	}
	servicetest.Same(t, "contacts", want, d.Card.Contacts())
	d.Call = &apitype.Call{}
	if got := d.Card.Contacts(); len(got) != 0 {
		t.Errorf("got %q of a new call, want nothing", got)
	}
}

// Everything that an agent is warned of, and nothing else.
func TestWarnings(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 20, 30, 0, 0, time.UTC) // A Friday: 21:30 in the Netherlands.
	number := func(n int64) apitype.Number { v, _ := apitype.ParseNumber(strconv.FormatInt(n, 10)); return v }
	d := at(now)
	d.MaxAttempts = 3
	d.Languages = []string{"nl", "de"}
	d.queue.position.now = now
	d.queue.learn(apitype.Call{UUID: callID(7), PersonUUID: callID(50), Status: "requested"})
	completed := apitype.NewTime(now.Add(-61 * time.Minute))
	d.queue.learn(apitype.Call{UUID: callID(8), PersonUUID: callID(50), Status: "completed", CompletedAt: &completed})
	person := apitype.Person{
		OptInPhone: new(false), Language: new("FR"), Address: apitype.Embed(apitype.Address{Country: "nl"}),
		QualityResult: apitype.Embed(apitype.QualityResult{Percentage: number(59), GateResults: []apitype.GateResult{
			{Percentage: number(59), Explanation: "the street is not there"}, {Percentage: number(60), Explanation: "all is well"}, {Percentage: number(0)},
		}}),
	}
	all := apitype.Call{
		UUID: callID(9), PersonUUID: callID(50), Status: "expired", AttemptsCount: 3, Type: apitype.CallHappy, Person: apitype.Embed(person),
		PledgeCase: apitype.Embed(apitype.Pledge{Status: "cancelled", Calls: apitype.Embed([]apitype.Call{
			{UUID: callID(9), Status: "requested"}, {UUID: callID(7), Status: "requested"}, {UUID: callID(10), Status: "requested"}, {UUID: callID(11), Status: "expired"},
		})}),
	}
	want := []string{
		"this call is expired", "opted out of phone calls", "it is 21:30 on Friday in NL: calls are made from 09:00 to 21:00", "3 attempts, the maximum is 3",
		"called 1 h 1 min ago on another call, less than 4 hours", "2 other open calls for this person", "the pledge is cancelled",
		"speaks French; you: Dutch, German", "low data quality: 59 %", "the street is not there",
	}
	servicetest.Same(t, "of everything", want, d.Card.Warnings(all))
	fine := apitype.Person{OptInPhone: new(true), Language: new("DE"), Address: apitype.Embed(apitype.Address{Country: "US"}), QualityResult: apitype.Embed(apitype.QualityResult{Percentage: number(60)})}
	for name, test := range map[string]struct {
		call apitype.Call
		want []string
	}{
		"nothing":                {apitype.Call{UUID: callID(20), Status: "requested", AttemptsCount: 2, Person: apitype.Embed(fine)}, nil},
		"no opinion":             {apitype.Call{UUID: callID(20), Status: "requested", Person: apitype.Embed(apitype.Person{})}, nil},
		"nobody":                 {apitype.Call{UUID: callID(20), Status: "requested"}, []string{"the person is not shown to this account"}},
		"won back":               {apitype.Call{UUID: callID(20), Status: "requested", Type: apitype.CallWinback, Person: apitype.Embed(fine), PledgeCase: apitype.Embed(apitype.Pledge{Status: "cancelled"})}, nil},
		"a pledge dropped":       {apitype.Call{UUID: callID(20), Status: "requested", Person: apitype.Embed(fine), PledgeCase: apitype.Embed(apitype.Pledge{Status: "dropped"})}, []string{"the pledge is dropped"}},
		"a pledge that is going": {apitype.Call{UUID: callID(20), Status: "requested", Person: apitype.Embed(fine), PledgeCase: apitype.Embed(apitype.Pledge{Status: "active"})}, nil},
	} {
		servicetest.Same(t, name, test.want, d.Card.Warnings(test.call))
	}
	for reason, call := range map[string]apitype.Call{
		"opted out of phone calls": {Status: "expired", Person: apitype.Embed(person)}, "is expired": {Status: "expired", Person: apitype.Embed(fine)}, "": {Status: "requested", Person: apitype.Embed(fine)},
	} {
		if got := d.against(call); got != reason {
			t.Errorf("got %q, want %q", got, reason)
		}
	}
	d.Languages = nil
	if got := d.Card.languageWarning("fr"); got != "" {
		t.Errorf("an agent whose languages are not known: got %q", got)
	}
	for d, want := range map[time.Duration]string{
		59 * time.Second: "less than a minute", time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min", time.Hour: "1 h 0 min", 3*time.Hour + 59*time.Minute: "3 h 59 min",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// resultsOf are the codes of a type of call, and the place from which on they are guessed.
func resultsOf(c *Codes, kind apitype.CallType) (codes []string, guessed int) {
	rows, guessed := c.Of(&apitype.Call{Type: kind})
	for _, row := range rows {
		codes = append(codes, row.Code)
	}
	return codes, guessed
}

// The results of a type come from the profile, or from calls that had them.
func TestCodes(t *testing.T) {
	t.Parallel()
	rows := map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "r", Label: "glad"}, {Code: "o", Effect: new(apitype.EffectOptOut)}}}
	c, err := OpenCodes(rows, nil, "")
	if err != nil || c.areKnown() {
		t.Fatalf("got %v, known %t, want the results of one type known", err, c.areKnown())
	}
	for code, want := range map[string]string{"r": "glad", "o": "o (opt-out)", "not_there": "not there"} {
		if got := c.Words(apitype.CallHappy, code); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
	for _, seen := range []struct {
		kind  apitype.CallType
		code  string
		isNew bool
	}{{apitype.CallHappy, "x", false}, {apitype.CallWinback, "", false}, {apitype.CallWinback, "b", true}, {apitype.CallWinback, "b", false}, {apitype.CallWinback, "a", true}} {
		c.isNew = false
		if c.See(seen.kind, seen.code); c.isNew != seen.isNew {
			t.Errorf("%s %q: got new %t, want %t", seen.kind, seen.code, c.isNew, seen.isNew)
		}
	}
	if got, guessed := resultsOf(c, apitype.CallWinback); guessed != 0 || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, guessed from %d, want those that were seen, sorted", got, guessed)
	}
	if got, guessed := resultsOf(c, apitype.CallHappy); guessed != 2 || !slices.Equal(got, []string{"r", "o"}) {
		t.Errorf("got %q, guessed from %d, want those of the profile alone", got, guessed)
	}
	path := t.TempDir() + "/state/codes.json"
	all, _ := OpenCodes(nil, []string{"z", "y"}, path)
	if got, _ := resultsOf(all, apitype.CallWinback); !slices.Equal(got, []string{"z", "y"}) || !all.areKnown() {
		t.Errorf("got %q, want those of every type", got)
	}
	// What another program has put there meanwhile stays.
	kept := &Codes{path: path}
	kept.See(apitype.CallWinback, "k")
	ours := &Codes{path: path}
	ours.See(apitype.CallWinback, "b")
	ours.See(apitype.CallWinback, "k")
	if err := errors.Join(kept.Save()(), ours.Save()()); err != nil || kept.isNew {
		t.Fatalf("got %v, new %t", err, kept.isNew)
	}
	again, err := OpenCodes(nil, nil, path)
	if got, _ := resultsOf(again, apitype.CallWinback); err != nil || !slices.Equal(got, []string{"b", "k"}) {
		t.Errorf("got %q %v, want both kept", got, err)
	}
	if err := WriteState(path, 7); err != nil {
		t.Fatal(err)
	}
	broken, err := OpenCodes(nil, nil, path)
	if err == nil || !strings.HasPrefix(err.Error(), "read the results of earlier calls: ") {
		t.Errorf("got %v, want that it cannot be read", err)
	}
	broken.See(apitype.CallWinback, "b")
	if err := broken.Save()(); err != nil {
		t.Errorf("got %v, want it written over", err)
	}
	nowhere := &Codes{path: path + "/x"}
	if err := nowhere.Save()(); err == nil || !strings.HasPrefix(err.Error(), "keep the results of earlier calls: ") {
		t.Errorf("got %v, want that it cannot be kept", err)
	}
	d := New(Options{Client: new(apiclient.Client), Outbox: new(outbox.Outbox), StateFile: path + "/x"})
	if texts, _ := said(d); len(texts) != 1 || !strings.HasPrefix(texts[0], "!!the results of earlier calls are not known: read the results of earlier calls: ") {
		t.Errorf("got %q, want it said", texts)
	}
}
