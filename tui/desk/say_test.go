package desk

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
)

// Every text that the Desk says in the agent's language is in the tables of both, with the same places for values, and
// no table has a text that nothing says.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	texts := saidTexts(t)
	verbs := regexp.MustCompile(`%[a-z%]`)
	for language, read := range languages {
		table := read().texts
		for _, text := range texts {
			said, known := table[text]
			if !known {
				t.Errorf("%s: no text for %q", language, text)
			} else if got, want := verbs.FindAllString(said, -1), verbs.FindAllString(text, -1); !slices.Equal(got, want) {
				t.Errorf("%s: %q has %q, want the values of %q", language, said, got, text)
			}
		}
		for text := range table {
			if !camel.MatchString(text) && !slices.Contains(texts, text) {
				t.Errorf("%s: nothing says %q", language, text)
			}
		}
	}
}

// saidTexts returns the literal texts of the calls of Say and its like, and those of the tables that are said.
func saidTexts(t *testing.T) (texts []string) {
	t.Helper()
	add := func(more ...string) {
		for _, text := range more {
			text = strings.TrimSuffix(text, ": ") // A name follows, or an error.
			if strings.ContainsFunc(text, unicode.IsLetter) && strings.Trim(text, "% sdq") != "" && !camel.MatchString(text) && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	for _, a := range Actions() {
		add(a.Word, a.Help)
	}
	var sample struct {
		Results map[apitype.CallType][]apitype.ResultChoice
	}
	data, err := os.ReadFile("../../service/embedded/households.json")
	if err == nil {
		err = json.Unmarshal(data, &sample)
	}
	servicetest.Check(t, err)
	for _, rows := range sample.Results {
		for _, row := range rows {
			add(ResultWords(row), render.Words(row.Code))
		}
	}
	for _, of := range factParts {
		add(of.label)
		for _, before := range of.before {
			add(strings.Trim(before, " ·€,"))
		}
	}
	for _, f := range recordedFixes(apitype.Call{Person: apitype.Embed(apitype.Person{})}) {
		add(f.Label)
		if f.IsYesNo() {
			add(strings.TrimSuffix(f.Label, " wanted"))
		}
	}
	for _, kind := range apitype.CallTypes {
		add(render.Words(string(kind)))
	}
	for _, interval := range apitype.DonationIntervals {
		add(render.Words(string(interval)))
	}
	for _, status := range []apitype.PledgeStatus{apitype.PledgeLead, apitype.PledgeActive, apitype.PledgeDropped, apitype.PledgeCancelled, apitype.PledgeFulfilled} {
		add(PledgeWords(status), GivesWord(status))
	}
	add(render.Language("nl"), render.Language("de"), render.Language("en"), reasonOptedOut)
	add("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "call back later")
	add("verify", "happy", "completed", "expired", "requested", "still open", "yours", "not yours", "not yours alone", "no")
	add("%dst try", "%dnd try", "%drd try", "%dth try", "Cancel the call", "Expire the call", "Cancel the call to %s, asked for %s?", "Expire the call to %s, asked for %s?")
	add("change is not sent yet", "changes are not sent yet", "change was refused by the service", "changes were refused by the service", "damaged file was set aside", "damaged files were set aside")
	add("no call on the desk: {next-call} takes the next one", "there is no draft", "the call has no pledge", "you have worked on no call yet", "nothing to undo: no change is held")
	add("just now", "%s seconds ago", "%s minute ago", "%s minutes ago", "%s hour ago", "%s hours ago", "%s day ago", "%s days ago")
	for _, list := range []string{"calls", "persons", "pledges"} {
		add("cannot read the "+list, list, strings.TrimSuffix(list, "s"))
	}
	for _, op := range []string{apiclient.OpCreatePerson, apiclient.OpUpdatePerson, apiclient.OpCreateCall, apiclient.OpAddAttempt, apiclient.OpCompleteCall, apiclient.OpCancelCall, apiclient.OpExpireCall, apiclient.OpCreatePledge, apiclient.OpUpdatePledge, apiclient.OpPledgeAction, apiclient.OpMarkProcessed, apiclient.OpDeferCall, apiclient.OpLeaveNote} {
		add(OpLabel(op))
	}
	for _, action := range apitype.PledgeActions {
		add(string(action))
	}
	for _, state := range []outbox.State{outbox.StateQueued, outbox.StateSending, outbox.StateRejected, outbox.StateUnsure} {
		add(string(state))
	}
	for day := range 7 {
		add(time.Weekday(day).String()[:3])
	}
	for month := range 12 {
		add(time.Month(month+1).String(), time.Month(month + 1).String()[:3])
	}
	for _, age := range Ages {
		add(age.Title)
	}
	for fate := range FateEnded + 1 {
		add(fate.String())
	}
	add("local", "key space", "key home", "key end", "key up", "key down", "key backspace", "key enter", "key click", "the time", "the date", "unknown", "lead", "idle", "door", "street", "female", "male", "other", "damaged", "left", "skipped", "offline", "done", "held", "waits", "refused", "now", "Desk", "Persons", "Pledges", "Outbox", "Stats", "Floor", "the colleagues on the Floor are invented, like all sample data",
		"Agent", "City", "Phone", "Created", "Email", "Language", "Donor", "Interval", "Status", "Released", "State", "Tries", "Now", "Since", "Reached", "Attempts", "Results", "Name")
	for _, pattern := range []string{"*.go", "../*.go", "../page/*.go", "../../commands/desk/desk*.go", "../../render/*.go"} {
		files, err := filepath.Glob(pattern)
		servicetest.Check(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "desk_settings.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			servicetest.Check(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				add(saidIn(n, !strings.HasPrefix(name, "../../render"))...)
				return true
			})
		}
	}
	return texts
}

// textArguments are the arguments that are texts, by the name of what is called.
var textArguments = map[string][]int{
	"Say": {0}, "say": {0}, "sayf": {0}, "sayOf": {1}, "Count": {1, 2}, "row": {3, 4}, "When": {1}, "chart": {0}, "line": {0}, "labelled": {1},
	"add": {0}, "head": {0}, "text": {0}, "time": {0}, "object": {0}, "identifier": {0}, "NewChoice": {0, 1}, "askEach": {0}, "offer": {1},
	"Fail": {0}, "FailRead": {0}, "fail": {0}, "failRead": {0}, "isRead": {0}, "Refuse": {0}, "question": {1},
}

// notSaid are the texts of several words that no agent reads: layouts, keys, parts of filters, and errors of settings.
var notSaid = regexp.MustCompile(`=[a-z ]*$|=.* [a-z]*[A-Z]|%w|^ takes it back$|^, sent in |^ the call|^ is (no time|past|more)|^(per|im|every half) |^requested by type|^cannot read the $|jansen$|^%d h|^service %d$|2006|2 Jan|^(j|k|pgdown|pgup|g|G|q|esc) [a-z]|^address$|keys\.toml|^read %s|^scripts/|^run the terminal|no page %q|^no action`)

// camel are names of fields.
var camel = regexp.MustCompile(`^[a-z]+[A-Z][A-Za-z]+$`)

// words tells a text of several words from a name.
var words = regexp.MustCompile(`[A-Za-z]{2}.* .*[a-z]{2}|[A-Za-z]{2}.* %[sdq]|%[sdq] .*[a-z]{2}`)

// saidIn returns the literal texts that a node says.
func saidIn(n ast.Node, isSaid bool) (texts []string) {
	literal := func(e ast.Expr) {
		if l, is := e.(*ast.BasicLit); is && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			texts = append(texts, text)
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, is := n.Key.(*ast.Ident); is && isSaid && slices.Contains([]string{"label", "Label", "Title", "title", "Wrong"}, key.Name) {
			literal(n.Value)
		}
	case *ast.BasicLit:
		if text, _ := strconv.Unquote(n.Value); isSaid && n.Kind == token.STRING && words.MatchString(text) && !notSaid.MatchString(text) {
			texts = append(texts, text)
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		for _, i := range textArguments[name] {
			if isSaid && i < len(n.Args) {
				literal(n.Args[i])
			}
		}
	case *ast.CompositeLit:
		keyed := map[string]ast.Expr{} // A column of a list on the screen has a width.
		for _, e := range n.Elts {
			if pair, is := e.(*ast.KeyValueExpr); is {
				if key, is := pair.Key.(*ast.Ident); is {
					keyed[key.Name] = pair.Value
				}
			}
		}
		if title := keyed["Title"]; title != nil && keyed["Width"] != nil {
			literal(title)
		}
		kind, _ := n.Type.(*ast.Ident)
		if list, is := n.Type.(*ast.ArrayType); is {
			kind, _ = list.Elt.(*ast.Ident)
		}
		for _, hint := range append(n.Elts, n) {
			if words, is := hint.(*ast.CompositeLit); is && kind != nil && (kind.Name == "Hint" || kind.Name == "lineAnswer") && len(words.Elts) > 1 {
				literal(words.Elts[1])
			}
		}
	}
	return texts
}

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
