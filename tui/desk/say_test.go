package desk

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

const floorSettings = `{"organizations":[{"uuid":"10000000-0000-4000-8000-000000000001",` +
	`"results":{"happy_call":[{"code":"thanked","label":"was thanked","effect":null,"asksNotes":false},{"code":"stop","label":"","effect":"opt-out","asksNotes":true}]},` +
	`"scripts":{"happy_call":"Hello"},"callingHours":{"NL":{"sunday":"-"}},"maxCallAttempts":3}],` +
	`"users":[{"uuid":"20000000-0000-4000-8000-000000000001","name":"Anneke"}]}`

// floorCall is a call of the organization that has the settings.
func floorCall() *apitype.Call {
	owner := apitype.OrganizationReference{UUID: apitype.MustParseUUID("10000000-0000-4000-8000-000000000001")}
	return &apitype.Call{UUID: callID(1), Type: apitype.CallHappy, Status: apitype.CallRequested, AttemptsCount: 1, Person: apitype.Embed(apitype.Person{
		OwningOrganization: apitype.Embed(owner), Address: apitype.Embed(apitype.Address{Country: "NL"}),
	})}
}

// floorService has settings, and says by their ETag that they still hold.
type floorService struct{ answers }

func (f floorService) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.answers.RoundTrip(r)
	if answer.Header.Set("ETag", `"1"`); r.Header.Get("If-None-Match") == `"1"` {
		answer.StatusCode, answer.Body = http.StatusNotModified, http.NoBody
	}
	return answer, err
}

// floorDay is a desk of a service with settings.
func floorDay(t *testing.T, o Options) *Day {
	t.Helper()
	service := floorService{answers{"GET /fundesk/v1": `200 {"extensions":["settings"]}`, "GET /fundesk/v1/settings": "200 " + floorSettings}}
	var err error
	if o.Client, err = apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: service, Tries: 1}); err != nil {
		t.Fatal(err)
	}
	if o.Outbox, err = outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "embedded"}); err != nil {
		t.Fatal(err)
	}
	d := New(o)
	d.Call = floorCall()
	return d
}

// readFloor reads the settings as a Desk does at its start.
func readFloor(t *testing.T, d *Day) {
	t.Helper()
	d.readSettings()
	work(t, d, d.drain())
}

// Two empty homes on one service show the same results, effects, scripts, hours and names. What earlier calls
// had comes behind them, by its name, and is said once to be guessed.
func TestTwoHomesHaveOneFloor(t *testing.T) {
	t.Parallel()
	sunday := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, seen := range [][]string{{"zeta", "alpha"}, {"alpha", "stop", "zeta"}} {
		d := floorDay(t, Options{})
		for _, code := range seen {
			d.Codes.See(apitype.CallHappy, code)
		}
		d.readSettings()
		texts := work(t, d, d.drain())
		guessed := slices.DeleteFunc(texts, func(text string) bool { return !strings.Contains(text, "guessed from earlier calls") })
		if len(guessed) != 1 {
			t.Errorf("got %q, want it said once that results are guessed", texts)
		}
		var words []string
		for _, r := range d.Form.Results() {
			words = append(words, ResultWords(r))
		}
		if !slices.Equal(words, []string{"was thanked", "stop (opt-out)", "alpha", "zeta"}) {
			t.Errorf("got %q, want the results of the settings, then the others by name", words)
		}
		if d.Card.pickScript(); !slices.Equal(d.Card.Script, []string{"Hello"}) {
			t.Errorf("got the script %q, want that of the settings", d.Card.Script)
		}
		if got := d.againstHours(d.Call, sunday); !strings.HasSuffix(got, "no calls on that day") {
			t.Errorf("got %q, want the hours of the settings", got)
		}
		if got := d.AgentName(apitype.MustParseUUID("20000000-0000-4000-8000-000000000001")); got != "Anneke" || d.maxAttempts(d.Call) != 3 {
			t.Errorf("got %q and %d attempts, want those of the settings", got, d.maxAttempts(d.Call))
		}
	}
}

// A Desk works offline from what an earlier start has kept, and a profile's own settings come first.
func TestSettingsOffline(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/desk/p.json"
	online := floorDay(t, Options{StateFile: path})
	readFloor(t, online)

	offline := New(Options{Client: new(apiclient.Client), Outbox: online.Outbox, StateFile: path})
	offline.Call = floorCall()
	if rows := offline.Form.Results(); len(rows) != 2 || !rows[1].AsksNotes {
		t.Errorf("got %+v, want the results that were kept", rows)
	}
	own := New(Options{
		Client: new(apiclient.Client), Outbox: online.Outbox, StateFile: path, MaxAttempts: 9,
		Results: map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "mine"}}},
		Hours:   CallingHours{"NL": {Sunday: "10:00-18:00"}},
	})
	own.Call = floorCall()
	if rows := own.Form.Results(); len(rows) != 1 || rows[0].Code != "mine" || own.maxAttempts(own.Call) != 9 {
		t.Errorf("got %+v and %d attempts, want those of the profile", rows, own.maxAttempts(own.Call))
	}
	if got := own.againstHours(own.Call, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)); got != "" {
		t.Errorf("got %q, want the hours of the profile", got)
	}
	// Asked again, the service says that they still hold.
	again := floorDay(t, Options{StateFile: path})
	readFloor(t, again)
	if again.floor.kept.Load().ETag != `"1"` || len(again.floor.read().Users) != 1 {
		t.Errorf("got %+v, want those that were kept", again.floor.kept.Load())
	}
}

// The digits of the call on the desk stay when settings come after one was pressed.
func TestDigitsStayOnTheCard(t *testing.T) {
	t.Parallel()
	d := floorDay(t, Options{})
	d.Codes.See(apitype.CallHappy, "guess")
	d.Form.ResultCode = d.Form.Results()[0].Code
	readFloor(t, d)
	if rows := d.Form.Results(); len(rows) != 1 || rows[0].Code != "guess" {
		t.Errorf("got %+v, want those that the digit was pressed for", rows)
	}
	d.Form.ResultCode, d.Call.UUID = "", callID(2)
	if rows := d.Form.Results(); len(rows) != 3 {
		t.Errorf("got %+v, want those of the settings for the next call", rows)
	}
}
