package desk

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/queue"
)

// said takes the desk's messages, and the number of its requests.
func said(d *Day) ([]string, int) {
	var texts []string
	var jobs int
	for _, e := range d.Drain() {
		if notice, ok := e.(event.Notice); ok {
			texts = append(texts,
				strings.Repeat("!", int(notice.Level))+notice.Text+strings.Repeat("^", int(notice.See)))
		} else {
			jobs++
		}
	}
	return texts, jobs
}

// at returns a desk at a certain time.
func at(now time.Time) *Day {
	d := newDay()
	d.Now = func() time.Time { return now }
	d.Walk = d.newQueue()
	return d
}

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

var update = flag.Bool("update", false, "rewrite the golden sentences")

// The sentences on the card of a call: tries, ages, numbers, addresses, gifts, contacts and warnings.
func TestSentencesOfTheCard(t *testing.T) {
	t.Parallel()
	var said []string
	say := func(about string, texts ...string) { said = append(said, about+": "+strings.Join(texts, " | ")) }
	sayTries(say)
	sayGifts(say)
	sayContacts(say)
	sayWarnings(say)
	got := strings.Join(said, "\n") + "\n"
	path := filepath.Join("testdata", "sentences.txt")
	if *update {
		servicetest.Check(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	servicetest.Check(t, err)
	servicetest.Same(t, path+", which -update rewrites", strings.Split(string(want), "\n"), strings.Split(got, "\n"))
}

// A pledge that was cancelled has another word than a call in Dutch and German, also in the refusal of the service.
func TestCancelledPledge(t *testing.T) {
	t.Parallel()
	const refusal = "the pledge is cancelled and does not take the action activate"
	for language, want := range map[string][3]string{
		"en": {"cancelled", "cancelled", refusal},
		"nl": {"opgezegd", "geannuleerd", "de toezegging is opgezegd en kan niet: activeren"},
		"de": {"gekündigt", "storniert", "die Zusage ist gekündigt und kann nicht: aktivieren"},
	} {
		d := at(morning)
		d.Language = language
		got := [3]string{d.Say(card.PledgeStatus("cancelled")), d.Say(string(apitype.CallCancelled)), d.Say(refusal)}
		if got != want {
			t.Errorf("%s: got %q, want %q", language, got, want)
		}
	}
}

type sayer func(about string, texts ...string)

func sayTries(say sayer) {
	d := at(morning)
	for _, tries := range [][2]int{{0, 0}, {0, 1}, {0, 2}, {3, 0}, {3, 2}, {0, 10}, {3, 20}} {
		d.MaxAttempts = tries[0]
		d.Call = &apitype.Call{AttemptsCount: tries[1]}
		next, of := d.Card().Tries()
		say(fmt.Sprint("tries ", tries), next+of)
	}
	for _, day := range []apitype.Date{
		{Year: 1980, Month: 11, Day: 19},
		{Year: 1980, Month: 11, Day: 20},
		{Year: 1980, Month: 11, Day: 21},
		{Year: 2025, Month: 11, Day: 20},
	} {
		say("born "+day.String(), d.Card().About(apitype.Person{Language: new("nl"), DateOfBirth: &day})...)
	}
	say("about nobody", d.Card().About(apitype.Person{})...)
	both := &apitype.Person{MobilePhoneNumber: new("+31612345678"), PhoneNumber: new("+31201234567")}
	say("numbers", fmt.Sprint(card.Numbers(both), card.Numbers(&apitype.Person{
		PhoneNumber: both.PhoneNumber,
	}), card.Numbers(nil)))
	say("pledges", card.PledgeWords("lead"), card.PledgeWords("active"))
	say("addresses", render.AddressLine(nil), render.AddressLine(&apitype.Address{
		Street:      "Weg",
		HouseNumber: "1",
		ZipCode:     "1000 AA",
		City:        "Stad",
		Country:     "NL",
	}))
	say("opt-ins", card.OptInWords(at(morning).Say, apitype.Person{OptInPhone: new(false), OptInEmail: new(true)}))
	say("nothing", apitype.TextOf((*string)(nil)), at(morning).Name())
	for _, length := range []time.Duration{
		59 * time.Second, time.Minute, time.Hour - time.Second, time.Hour,
		4*time.Hour - time.Second,
	} {
		say(length.String(), card.DurationText(length))
	}
}

func sayGifts(say sayer) {
	d := at(morning)
	since := apitype.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local))
	charity := apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"})
	areas := []apitype.FocusArea{{Name: "wells"}, {Name: "taps"}, {Name: "pipes"}}
	for n := range 3 {
		say(fmt.Sprint("gives to, areas ", n), d.Card().GivesTo(apitype.Pledge{
			StartsAt:           since,
			OwningOrganization: charity,
			FocusAreas:         apitype.Embed(areas[:min(2*n, 3)]),
		}))
	}
	for _, kind := range []apitype.RecruitmentType{"d2d", "street", "telephone"} {
		say("gives to, recruited by "+string(kind), d.Card().GivesTo(apitype.Pledge{
			StartsAt:        since,
			RecruitmentType: &kind,
		}))
	}
}

func sayContacts(say sayer) {
	d := at(morning)
	d.Agent = new(callID(1))
	d.Agents = map[apitype.UUID]string{callID(2): "Bea"}
	ago := func(days int) apitype.Time { return apitype.NewTime(morning.AddDate(0, 0, -days)) }
	ended := func(days int) *apitype.Time { return new(ago(days)) }
	desk := apitype.Call{UUID: callID(101), Status: "requested", Type: apitype.CallHappy, RequestedAt: ago(1)}
	result := apitype.Embed(apitype.CallResult{
		ResultCode:           new("reached"),
		DonorRetentionRating: new(apitype.NumberFromInt(8)),
		Notes:                new(" was glad "),
	})
	others := []apitype.Call{
		desk,
		{UUID: callID(120), Status: "requested", RequestedAt: ago(20)},
		{UUID: callID(130), Status: "cancelled", RequestedAt: ago(30), CancelledAt: ended(9)},
		{UUID: callID(140), Status: "expired", RequestedAt: ago(40), ExpiredAt: ended(8)},
		{UUID: callID(150), Status: "completed", RequestedAt: ago(50), CompletedAt: ended(7)},
		{UUID: callID(160), Status: "completed", RequestedAt: ago(60), CompletedAt: ended(301), Result: result},
	}
	for i := range others {
		others[i].Type = apitype.CallHappy
	}
	desk.PledgeCase = apitype.Embed(apitype.Pledge{Calls: apitype.Embed(others)})
	desk.Attempts = apitype.Embed([]apitype.CallAttempt{
		{AttemptAt: ago(6)},
		{AttemptAt: ago(5), UserUUID: new(callID(1))},
		{AttemptAt: ago(4), UserUUID: new(callID(2))},
		{AttemptAt: ago(300), UserUUID: new(callID(3))},
	})
	d.Call = &desk
	say("contacts", d.Card().Contacts()...)
	desk.RelatedCaseUUID = new(callID(70))
	say("copies", fmt.Sprint(d.Card().Copies()))
	d.Call = &apitype.Call{}
	say("contacts of a new call", d.Card().Contacts()...)
}

func sayWarnings(say sayer) {
	now := time.Date(2026, 11, 20, 20, 30, 0, 0, time.UTC) // A Friday: 21:30 in the Netherlands.
	d := at(now)
	d.MaxAttempts = 3
	d.Languages = []string{"nl", "de"}
	d.Walk.Learn(apitype.Call{UUID: callID(7), PersonUUID: callID(50), Status: "requested"})
	d.Walk.Learn(apitype.Call{
		UUID:        callID(8),
		PersonUUID:  callID(50),
		Status:      "completed",
		CompletedAt: new(apitype.NewTime(now.Add(-61 * time.Minute))),
	})
	low, enough := apitype.NumberFromInt(59), apitype.NumberFromInt(60)
	person := apitype.Embed(apitype.Person{
		OptInPhone: new(false), Language: new("FR"), Address: apitype.Embed(apitype.Address{Country: "nl"}),
		QualityResult: apitype.Embed(apitype.QualityResult{Percentage: low, GateResults: []apitype.GateResult{
			{Percentage: low, Explanation: "the street is not there"},
			{Percentage: enough, Explanation: "all is well"},
			{Percentage: apitype.NumberFromInt(0)},
		}}),
	})
	fine := apitype.Embed(apitype.Person{
		OptInPhone: new(true), Language: new("DE"), Address: apitype.Embed(apitype.Address{Country: "US"}),
		QualityResult: apitype.Embed(apitype.QualityResult{Percentage: enough}),
	})
	pledge := func(status apitype.PledgeStatus) apitype.Embedded[apitype.Pledge] {
		return apitype.Embed(apitype.Pledge{Status: status, Calls: apitype.Embed([]apitype.Call{
			{UUID: callID(9), Status: "requested"},
			{UUID: callID(7), Status: "requested"},
			{UUID: callID(10), Status: "requested"},
			{UUID: callID(11), Status: "expired"},
		})})
	}
	for _, call := range []apitype.Call{
		{
			UUID:          callID(9),
			PersonUUID:    callID(50),
			Status:        "expired",
			AttemptsCount: 3,
			Type:          apitype.CallHappy,
			Person:        person,
			PledgeCase:    pledge("cancelled"),
		},
		{UUID: callID(20), Status: "requested", AttemptsCount: 2, Person: fine},
		{UUID: callID(20), Status: "requested", Person: apitype.Embed(apitype.Person{})},
		{UUID: callID(20), Status: "requested"},
		{
			UUID:       callID(9),
			Status:     "requested",
			Type:       apitype.CallWinback,
			Person:     fine,
			PledgeCase: pledge("cancelled"),
		},
		{UUID: callID(9), Status: "requested", Person: fine, PledgeCase: pledge("dropped")},
		{UUID: callID(9), Status: "requested", Person: fine, PledgeCase: pledge("active")},
		{UUID: callID(9), Status: "expired", Person: fine},
	} {
		d.Call = &call
		say("warnings", d.Warnings()...)
		say("against it", queue.LastingReason(d.Texts, call))
	}
}

// resultsOf returns the codes of a type of call, and the place from which on they are guessed.
func resultsOf(c *floor.Codes, kind apitype.CallType) ([]string, int) {
	rows, guessed := c.Of(&apitype.Call{Type: kind})
	var codes []string
	for _, row := range rows {
		codes = append(codes, row.Code)
	}
	return codes, guessed
}

// Results of earlier calls that cannot be read are reported.
func TestUnreadableCodesAreReported(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/codes.json"
	servicetest.Check(t, os.WriteFile(path, []byte("7"), 0o600))
	d := New(Options{Client: new(apiclient.Client), Outbox: new(outbox.Outbox), StateFile: path})
	texts, _ := said(d)
	if len(texts) != 1 ||
		!strings.HasPrefix(texts[0], "!!the results of earlier calls cannot be read: read the results of earlier calls: ") {
		t.Errorf("got %q, want it said", texts)
	}
}
