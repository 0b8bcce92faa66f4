package tui

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

func TestReferencesAndBack(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "o")
	if d.app.current != page.PersonsPage {
		t.Fatalf("page after o: got %d, want persons", d.app.current)
	}
	persons := d.app.pages[page.PersonsPage].(*page.List[apitype.Person])
	if got, _ := persons.Target(); got != (page.Reference{Kind: apitype.EntityPerson, ID: personID(1)}) {
		t.Fatalf("record: got %v, want person 1", got)
	}
	d.enter("j", "j", "enter") // After the number and the person's pledge.
	if got, _ := persons.Target(); got != (page.Reference{Kind: apitype.EntityCall, ID: callID(1)}) {
		t.Fatalf("record: got %v, want call 1", got)
	}
	d.enter("esc", "k", "enter")
	if got, _ := persons.Target(); got != (page.Reference{Kind: apitype.EntityPledge, ID: pledgeID(1)}) {
		t.Fatalf("record: got %v, want pledge 1", got)
	}
	d.enter("esc", "esc")
	if d.app.current != page.DeskPage || d.app.Day.Call.UUID != callID(1) {
		t.Errorf("after esc, esc: got page %d, want the desk with its call", d.app.current)
	}
}

// The calls of a person that have no pledge are found among the newest, and else by looking
// through all of them.
func TestPersonShowsCallsWithoutPledge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
		UUID:          callID(8),
		Status:        apitype.CallRequested,
		RequestedAt:   w.ago(48 * time.Hour),
		LastUpdatedAt: w.ago(time.Hour),
		PersonUUID:    personID(5),
		Type:          apitype.CallWinback,
	}}})
	d := newDriver(t, w.options)
	d.size(80, 50)
	d.enter(":")
	d.send(tea.PasteMsg{Content: personID(5).String()})
	d.enter("enter")
	d.sees("2 calls", "win-back, requested")
	d.lacks("other calls")
	w.loadRequested(100, w.Clock.Now().Add(-time.Hour)) // Of person 1.
	d.press("R")
	d.sees("other calls")
	d.lacks("winback")
	d.enter("j", "j", "j", "enter")
	if calls := d.app.pages[page.CallsPage].(*page.Calls); d.app.current != page.CallsPage || len(calls.Rows) != 2 {
		t.Errorf("all calls: got:\n%s\nwant the two of person 5", d.text())
	}
}

// loadNewCall adds a call that is requested now.
func (w *world) loadNewCall(n int) {
	w.loadPerson(n, "Gina", "Nieuw")
	w.loadPledge(n)
	w.Clock.Advance(200 * time.Hour)
	w.loadCall(n)
	w.Clock.Advance(-200 * time.Hour)
}

// A new reading keeps the rows until the new ones are there, and the cursor on its record.
func TestRefreshKeepsTheCursor(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	d.enter("2", "j", "space", "j")
	before, _ := calls.Chosen()
	w.loadNewCall(9)
	_, reading := d.app.Update(keyPress("R"))
	if row, ok := calls.Chosen(); !ok || row.ID != before.ID {
		t.Errorf("while reading: got %v %v, want the rows of before", row.ID, ok)
	}
	d.run(reading, 0)
	if row, _ := calls.Chosen(); row.ID != before.ID {
		t.Errorf("chosen: got %s, want %s", row.ID, before.ID)
	}
	if len(calls.Rows) != 7 || len(calls.Marks) != 1 {
		t.Errorf("got %d rows and %d marks, want 7 and 1", len(calls.Rows), len(calls.Marks))
	}
}

// A command is found by its name, whatever else holds its letters.
func TestPaletteFindsTheName(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"q":       "quit:",
		"skip":    "skip:",
		"skipped": "skipped:",
		"pledge":  "pledge:",
	} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, newWorld(t).options)
			d.enter("n", ":")
			for _, letter := range typed {
				d.press(string(letter))
			}
			found := d.app.Dialog.(*page.Choose).Matching()
			if len(found) == 0 || !strings.HasPrefix(found[0].Label, want) {
				t.Errorf("first of %v: want %s", found, want)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, filter string
		rows         int
		says         string
	}{
		{"a local word", "zoë", 1, "local: words"},
		{"local status", "status=requested type=verification", 5, "local: status, type"},
		{"by the service", "requestedAfter=96h", 2, "service: requestedAfter"},
		{"both", "requestedAfter=4d status=completed", 1, "service: requestedAfter; local: status"},
		{"nothing fits", "status=expired", 0, "local: status"},
		{"person", "person=" + personID(3).String(), 1, "local: person"},
	}
	_, d := opened(t)
	d.size(200, 24) // Wide enough for what a filter does.
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	for _, test := range tests {
		d.press("/")
		d.app.Dialog.(*page.Prompt).Editor.SetValue(test.filter)
		d.press("enter")
		d.sees("[" + test.says + "]")
		servicetest.Same(t, test.name+": rows", test.rows, len(calls.Rows))
	}
}

func TestListsReadOnBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Sample(260)
	d := newDriver(t, w.options)
	d.press("3")
	persons := d.app.pages[page.PersonsPage].(*page.List[apitype.Person])
	if len(persons.Rows) != page.ListPage {
		t.Fatalf("rows: got %d, want %d", len(persons.Rows), page.ListPage)
	}
	for range 4 {
		d.press("pgdown")
	}
	servicetest.Same(t, "rows near the end", 2*page.ListPage, len(persons.Rows))
	for range 20 {
		d.press("G")
	}
	if len(persons.Rows) != 266 || persons.More {
		t.Errorf("rows at the end: got %d (more %v), want 266", len(persons.Rows), persons.More)
	}
}

func TestStatusActionAsksAndGoesThroughTheOutbox(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("4", "t")
	d.press("3") // cancel
	question, ok := d.app.Dialog.(*page.Confirm)
	if !ok || !strings.Contains(question.Lines[0], "cancel: 1 record") {
		t.Fatalf("dialog: got %+v, want a question", d.app.Dialog)
	}
	d.press("y")
	entries, _, err := w.box.List()
	if err != nil ||
		len(entries) != 1 ||
		!strings.HasSuffix(entries[0].Path, "/actions/cancel") ||
		entries[0].State != outbox.StateHeld {
		t.Errorf("outbox: got %+v %v, want the action, held", entries, err)
	}
}

func TestRefusedChangeIsShownSentAgainAndDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refusedEntry(t)
	d := newDriver(t, w.options)
	d.enter("O", "enter")
	shown, ok := d.app.Dialog.(*page.Text)
	if !ok || !strings.Contains(strings.Join(shown.Lines, "\n"), "last answer: 409") ||
		!strings.Contains(strings.Join(shown.Lines, "\n"), `"cancelledAt": "`) {
		t.Fatalf("dialog: got %+v, want the service's text, and what was sent", d.app.Dialog)
	}
	copied := d.app.pages[page.OutboxPage].(*page.Outbox).CopyRecord()()
	if !strings.Contains(copied.(page.Copied).Text, `{"cancelledAt":"`) {
		t.Errorf("y: got %+v, want the whole of what has no notes", copied)
	}
	d.enter("esc", "s", "y")
	if entries, _, _ := w.box.List(); len(entries) != 1 || entries[0].State != outbox.StateQueued {
		t.Fatalf("after send again: got %+v, want it queued", entries)
	}
	d.enter("ctrl+r", "R", "D", "y")
	if entries, _, _ := w.box.List(); len(entries) != 0 {
		t.Errorf("after drop: got %+v, want none", entries)
	}
}

func TestKeysFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, problem string
	}{
		{"another key", "[desk]\nnot-reached = [\"f2\", \"f3\"]\n", ""},
		{"an unknown action", "[desk]\ndance = [\"b\"]\n", `there is no action "dance"`},
		{"a key twice", "[desk]\nnot-reached = [\"s\"]\n", "does both"},
		{"no TOML", "[desk\n", "keys.toml"},
		{"no key that quits", "[everywhere]\nquit = []\n", "quit must keep a key"},
		{"written by others", "others", "keys.toml"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "keys.toml"), test.text)
			if test.text == "others" {
				servicetest.Check(t, os.Chmod(filepath.Join(dir, "keys.toml"), 0o666))
			}
			keys, err := loadKeymap(registry(nil), dir, nil)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Fatalf("error: got %v, want %q", err, test.problem)
				}
				return
			}
			act := keys.find("f2", []page.Scope{page.ScopeDesk})
			if err != nil || act == nil || act.ID != "not-reached" {
				t.Errorf("key f2: got %v %v, want not-reached", act, err)
			}
			if act := keys.find("a", []page.Scope{page.ScopeDesk}); act != nil {
				t.Error("key a: got an action, want none")
			}
		})
	}
}

func TestScriptOfTypeAndLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.ConfigDir = t.TempDir()
	scripts := filepath.Join(w.options.ConfigDir, "scripts")
	// A folder with the name of a script cannot be read. A message is all that happens.
	servicetest.Check(t, os.MkdirAll(filepath.Join(scripts, "a.md"), 0o700))
	for name, content := range map[string]string{
		"verification.md":    "# Any language",
		"verification.nl.md": "# Goedendag\n\n- vraag **eerst**",
	} {
		writeFile(t, filepath.Join(scripts, name), content)
	}
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.press("n")
	screen := strings.Join(d.app.screen(), "\n")
	if !strings.Contains(screen, "Goedendag") || !strings.Contains(screen, "- vraag eerst") {
		t.Errorf("screen: got no Dutch script:\n%s", screen)
	}
	if len(d.app.Messages.Errors) != 1 || !strings.Contains(d.app.Messages.Errors[0].Text, "a.md") {
		t.Errorf("errors: got %q, want one about the folder", d.app.Messages.Errors)
	}
}

// Masked values appear in no cell of the screen until they are asked for.
func TestMaskedUntilAsked(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.size(200, 60)
	for _, key := range []string{"n", "2", "enter", "3", "enter"} {
		d.press(key)
		screen := strings.Join(d.app.screen(), "\n")
		if strings.Contains(screen, "NL91ABNA0417164300") || strings.Contains(screen, "123456789") {
			t.Errorf("after %s: a masked value is shown", key)
		}
	}
	d.press("v")
	screen := strings.Join(d.app.screen(), "\n")
	if !strings.Contains(screen, "NL91ABNA0417164300") || !strings.Contains(screen, "123456789") {
		t.Error("after v: got masked values, want them shown")
	}
}

func TestLeftCallIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	var seen []apitype.UUID
	for range 4 {
		d.press("n")
		if d.app.Day.Call != nil {
			seen = append(seen, d.app.Day.Call.UUID)
		}
	}
	if len(seen) != 3 || seen[0] != callID(1) || seen[1] != callID(4) || seen[2] != callID(5) {
		t.Errorf("calls: got %v, want 1, 4, 5 and no more", seen)
	}
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "There is no donor left to call now") {
		t.Errorf("screen: got no word that the queue is empty:\n%s", screen)
	}
}

// Monthly and yearly amounts are never added: the value of a year is shown, with single gifts apart. A bar opens its
// records.
func TestStatsValueAYear(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // Six leads of 12.50 a month.
	for n, interval := range map[int]apitype.DonationInterval{7: "yearly", 8: "once"} {
		p := apitype.Pledge{
			UUID:                       pledgeID(n),
			Status:                     apitype.PledgeLead,
			StartsAt:                   w.ago(time.Hour),
			CreatedAt:                  w.ago(time.Hour),
			UpdatedAt:                  w.ago(time.Hour),
			OwningOrganizationUUID:     organizationID,
			RecruitingOrganizationUUID: organizationID,
			RecruiterUserUUID:          ids(0xe0, 2),
			InitialDonationAmount:      apitype.Cents(3000),
			DonationAmount:             apitype.Cents(3000),
			InitialDonationInterval:    interval,
			DonationInterval:           interval,
			Person:                     apitype.Embed(apitype.Person{UUID: personID(1)}),
		}
		w.Load(service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: p}})
	}
	d := newDriver(t, w.options)
	d.size(160, 50)
	d.press("6")
	text := d.text()
	for _, want := range []string{"€ 930.00 + once € 30.00"} { // 6 × 12.50 × 12, and 30.
		if !strings.Contains(text, want) {
			t.Errorf("screen: got no %q:\n%s", want, text)
		}
	}
	d.enter("P", "1") // Of today: two pledges, no call.
	d.sees("counted 0 calls and 2 pledges of today")
	d.enter("P", "6", "j", "j")
	d.check("all of it") // It is drawn.
	d.press("enter")     // The calls requested 4 to 7 days ago.
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	if d.app.current != page.CallsPage || len(calls.Rows) == 0 || len(calls.Rows) == 6 {
		t.Errorf("behind the bar: got page %d with %d rows, want the calls of that age:\n%s",
			d.app.current, len(calls.Rows), d.text())
	}
}

// Enter on a bar of the statistics lists as many records as the bar counts; behind an agent's
// bar are the calls that the agent has tried.
func TestEveryBarOpensWhatItCounts(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	for n := 7; n <= 9; n++ { // Three days of completions, with 1, 11 and 12 attempts.
		c := apitype.Call{
			UUID:          callID(n),
			Status:        apitype.CallCompleted,
			RequestedAt:   w.ago(90 * time.Hour),
			LastUpdatedAt: w.ago(time.Hour),
			CompletedAt:   new(w.ago(time.Duration(n-6) * 24 * time.Hour)),
			PersonUUID:    personID(1),
			Type:          apitype.CallWinback,
			AttemptsCount: []int{1, 11, 12}[n-7],
			Attempts: apitype.Embed([]apitype.CallAttempt{
				{UserUUID: new(ids(0xe0, 9)), AttemptAt: w.ago(2 * time.Hour), CreatedAt: w.ago(2 * time.Hour)},
			}),
			Result: apitype.Embed(apitype.CallResult{
				ResultCode: new([]string{"reach", "not-reached", "with a blank"}[n-7]),
			}),
		}
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: c}})
	}
	agent := ids(0xe0, 8)
	for _, id := range []apitype.UUID{callID(1), callID(2)} {
		change, err := apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{UserUUID: &agent})
		if err == nil {
			_, err = w.client.Send(t.Context(), change)
		}
		servicetest.Check(t, err)
	}
	d := newDriver(t, w.options)
	d.size(80, 70)
	d.press("6")
	opened := map[string]int{}
	for period := range []string{"of today", "of the last 7 days", "of all time"} {
		d.enter("P", string("126"[period]), "g")
		d.check("stats")
		for last := ""; ; {
			line := d.text()[strings.Index(d.text(), "●")+len("●"):]
			line, _, _ = strings.Cut(line, "\n")
			if line == last {
				break // The last bar.
			}
			last = line
			label := strings.TrimSpace(line[:15])
			count := strings.Fields(line[15:])[0]
			d.press("enter")
			if rows := len(d.app.pages[page.CallsPage].(*page.Calls).Rows); d.app.current == page.CallsPage {
				opened[label]++
				if label == "e0080000" {
					count = "2" // Tried, not completed.
				}
				if fmt.Sprint(rows) != count {
					t.Errorf("%s: got %d calls behind the bar, want %s:\n%s", line, rows, count, d.text())
				}
			}
			d.enter("6", "j")
			d.check("stats")
		}
	}
	for _, label := range []string{
		"4-7 days", "0", "1", "10+", "Thu 19 Nov", "reach", "reached", "not-reached", "e0080000",
	} {
		if opened[label] == 0 {
			t.Errorf("%s: no bar of it was opened, got %v", label, opened)
		}
	}
	if opened["with a blank"] != 0 {
		t.Errorf("a code with a blank cannot be filtered, and was opened")
	}
}

// Only for a limited period the service counts the agents' work. The count of all time is complete without it.
func TestStatsOfAllTimeAreComplete(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newQueueWorld(t).options)
	d.size(160, 50)
	for _, period := range []string{"4", "5", "6"} { // 90 days, a year, all time.
		d.enter("6", "P", period)
		d.sees("counted 6 calls")
		d.lacks("not complete")
	}
}

// A record in front that is gone shows nothing of it any more, and no key works on what it was.
func TestRecordThatIsGone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, tab, path string
		keys            []string
	}{
		{"a person", "3", "/api/v1/persons/" + personID(1).String(), []string{"y", "enter"}},
		{"a pledge", "4", "/api/v1/pledges/" + pledgeID(1).String(), []string{"y", "enter", "t"}},
	} {
		w, now := newWorld(t), fault(nil)
		w.faulty(t, &now)
		d := newDriver(t, w.options)
		d.press(test.tab)
		id := apitype.MustParseUUID(test.path[len(test.path)-36:])
		d.run(d.app.Jump(page.Reference{Kind: kindOfTab[test.tab], ID: id}), 0)
		d.sees("Anna Jansen")
		now = ofPath(test.path, withStatus(http.StatusNotFound))
		d.untilPoll(w)
		d.lacks("Anna Jansen")
		for _, key := range test.keys {
			d.press(key)
			if d.lacks("copied", "Anna Jansen"); d.app.Dialog != nil {
				t.Errorf("%s, %s: got\n%s\nwant nothing done", test.name, key, d.text())
			}
		}
	}
}

// kindOfTab has the kinds of records by the keys of their pages.
var kindOfTab = map[string]apitype.EntityName{"3": apitype.EntityPerson, "4": apitype.EntityPledge}
