//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// eventsOfWeek are what happens beside the calls, by day and hour, before the agents work.
var eventsOfWeek = map[string]func(*week){
	"0 12:00": (*week).importDonors,
	"0 17:00": (*week).openLetters,
	"1 08:40": (*week).changeResults,
	"1 09:18": (*week).changeAddresses,
	"1 11:00": func(w *week) { w.desks[3].sleep() },
	"1 15:30": func(w *week) { w.desks[3].wake() },
	"1 17:00": func(w *week) { w.desks[4].kill() },
	"2 11:00": (*week).backUp,
	"2 12:00": (*week).erase,
	"2 13:20": (*week).restore,
	"2 17:00": (*week).openLetters,
	"3 09:10": func(w *week) { w.replaceToken(2) },
	"3 11:00": func(w *week) { w.issue("dialer", "--ttl 2160h") },
	"3 17:00": (*week).changeAddresses,
	"4 08:40": (*week).changeHours,
	"4 09:18": func(w *week) { w.desks[5].quit() },
	"4 11:00": (*week).erase,
	"4 12:00": (*week).goAway,
	"4 13:20": (*week).comeBack,
	"5 11:00": (*week).flapping,
	"5 13:20": (*week).steady,
	"5 15:30": (*week).openLetters,
}

func (w *week) happen(day int, hour string) {
	w.Helper()
	event := eventsOfWeek[fmt.Sprintf("%d %s", day, hour)]
	if event != nil {
		event(w)
	}
}

// hoursOfWeek are the hours of weekdays from a place in the order of all on.
type hoursOfWeek struct {
	from         int64
	opens, close string
}

func (w *week) settingsFile() string { return filepath.Join(w.operator.dir, "floor.toml") }

// writeSettings writes the settings of the floor. The order of the results decides their digits.
func (w *week) writeSettings(first int, weekday, more string) {
	w.Helper()
	results := []string{"reached", "no-more-calls", "moved"}
	effects := map[string]string{"no-more-calls": `effect = "opt-out"`, "moved": `effect = "corrected"`}
	var text strings.Builder
	text.WriteString("country = \"NL\"\n" + more)
	fmt.Fprintf(&text, "[calling_hours.NL]\nweekday = %q\nsaturday = \"10:00-16:00\"\n", weekday)
	text.WriteString("[not_reached]\nbusy = \"30m\"\n")
	for n := range results {
		code := results[(first+n)%len(results)]
		label := strings.ReplaceAll(code, "-", " ")
		fmt.Fprintf(&text, "[[results.all]]\ncode = %q\nlabel = %q\n%s\n", code, label, effects[code])
	}
	servicetest.Check(w.T, os.WriteFile(w.settingsFile(), []byte(text.String()), 0o600))
	opens, closes, _ := strings.Cut(weekday, "-")
	w.hours = append(w.hours, hoursOfWeek{w.front.next(), opens, closes})
}

// setSettings sends the file of settings as the supervisor does.
func (w *week) setSettings() {
	w.Helper()
	w.lead.must(w.T, "fundesk --profile work queue settings set "+w.settingsFile()+" --yes")
}

// changeResults gives the results other digits, asks for a check, and tells all desks.
func (w *week) changeResults() {
	w.Helper()
	w.writeSettings(2, "09:00-21:00", "[required_checks]\nhappy_call = [\"objection\"]\n")
	w.setSettings()
	w.lead.must(w.T, "fundesk --profile work queue message 'Offer the right to object'")
}

// changeHours closes the floor earlier on weekdays.
func (w *week) changeHours() {
	w.Helper()
	w.writeSettings(1, "09:00-18:00", "")
	w.setSettings()
}

// importDonors imports donors of another program, who are called from then on.
func (w *week) importDonors() {
	w.Helper()
	var persons, calls strings.Builder
	persons.WriteString("uuid,name.firstName,name.lastName,mobilePhoneNumber,email,optIns.phone,language," +
		"owningOrganizationUuid,recruitingOrganizationUuid\n")
	calls.WriteString("uuid,personUuid,requestedAt,type\n")
	for n := range 100 {
		d := &weekDonor{
			name:    fmt.Sprintf("Quist%04d", weekDonors+n),
			id:      apitype.NewUUID().String(),
			call:    apitype.NewUUID().String(),
			number:  fmt.Sprintf("+3162%07d", n),
			country: "NL",
		}
		w.donors[d.id], w.ofCall[d.call], w.byName[d.name] = d, d, d
		fmt.Fprintf(&persons, "%s,Anna,%s,%s,", d.id, d.name, d.number)
		fmt.Fprintf(&persons, "%s@example.org,true,nl,%s,%s\n", d.name, w.owner, w.owner)
		requested := apitype.NewTime(w.clock.now().Add(-200 * time.Hour)) // They come first.
		fmt.Fprintf(&calls, "%s,%s,%s,happy_call\n", d.call, d.id, requested)
	}
	for name, text := range map[string]string{"persons.csv": persons.String(), "calls.csv": calls.String()} {
		servicetest.Check(w.T, os.WriteFile(filepath.Join(w.importer.dir, name), []byte(text), 0o600))
	}
	w.importer.must(w.T, "fundesk --profile work person import persons.csv --yes -q")
	w.importer.must(w.T, "fundesk --profile work call import calls.csv --yes -q")
	again := w.importer.must(w.T, "fundesk --profile work person import persons.csv --yes -o id 2>/dev/null")
	if again != "" {
		w.Errorf("importing again created %d donors, want none", len(inLines(again)))
	}
}

// letter is an objection that came by letter.
type letter struct {
	donor        *weekDonor
	begun, ended int64
}

// openLetters notes what donors wrote: they want no more calls.
func (w *week) openLetters() {
	w.Helper()
	for n, d := range w.someDonors(16) {
		l := letter{donor: d, begun: w.front.next()}
		if n%2 == 0 {
			w.lead.must(w.T, "fundesk --profile work person update "+d.id+" --opt-in-phone=false -q")
		} else {
			w.operator.must(w.T, "fundeskd do-not-call add "+d.number+" --organization "+w.owner.String())
		}
		l.ended = w.front.next()
		w.letters = append(w.letters, l)
	}
}

// someDonors returns different donors by chance.
func (w *week) someDonors(n int) []*weekDonor {
	var some []*weekDonor
	for len(some) < n {
		d := w.byName[fmt.Sprintf("Quist%04d", w.luck(weekDonors))]
		if !w.gone[d.id] {
			some = append(some, d)
		}
	}
	return some
}

// changeAddresses changes addresses for e-mail at the back office, also those of donors on the Desks.
func (w *week) changeAddresses() {
	w.Helper()
	donors := w.someDonors(20)
	for _, d := range w.desks {
		if on := w.byName[cardOfDesk(d)]; on != nil {
			donors = append(donors, on)
		}
	}
	for _, d := range donors {
		body := fmt.Sprintf(`{"email":"office%d@example.org"}`, w.front.next())
		path := "/api/v1/persons/" + d.id + "/actions/update"
		if status, answer := w.send("lead", http.MethodPut, path, body); status != http.StatusOK {
			w.Errorf("%s: got %d %s", path, status, answer)
		}
	}
}

func cardOfDesk(d *weekDesk) string {
	if d.screen == nil {
		return ""
	}
	return cardOf(d.look())
}

// backUp makes a backup while no agent works. What is made from now on is lost by the restore.
func (w *week) backUp() {
	w.Helper()
	for _, d := range w.desks {
		d.drain()
	}
	w.operator.must(w.T, "fundeskd backup wednesday.db")
	w.lostOf[0] = w.front.next()
}

// restore puts the backup back. All tokens end by it, and all get new ones.
func (w *week) restore() {
	w.Helper()
	w.stopService()
	w.operator.must(w.T, "fundeskd restore wednesday.db")
	w.operator.must(w.T, "fundeskd erasures replay")
	w.lostOf[1] = w.front.next()
	w.startService()
	for name := range w.tokens {
		w.issue(name, "")
	}
	for _, d := range w.desks {
		w.logIn(d.home, d.name)
	}
	w.issue("dialer", "--ttl 18h") // It ends on Thursday.
	w.logIn(w.lead, "lead")
	w.logIn(w.importer, "import")
	w.logIn(w.consumer, "consumer")
}

// replaceToken replaces the token of a Desk, while it is open.
func (w *week) replaceToken(desk int) {
	w.Helper()
	d := w.desks[desk]
	w.issue(d.name, "--replace")
	d.work(1) // It learns that its token has ended.
	w.logIn(d.home, d.name)
}

// erase erases donors.
func (w *week) erase() {
	w.Helper()
	for _, d := range w.someDonors(4) {
		w.operator.must(w.T, "fundeskd person erase "+d.id+" --reason 'a request' --yes")
		w.gone[d.id] = true
	}
}

// goAway ends the service, while agents work on.
func (w *week) goAway() {
	w.Helper()
	w.awayOf[0] = w.clock.now()
	w.stopService()
}

// comeBack starts the service again, and waits until the Desks have sent what their agents did meanwhile.
func (w *week) comeBack() {
	w.Helper()
	w.startService()
	for _, d := range w.desks {
		d.drain()
	}
	w.awayOf[1] = w.clock.now()
}

func (w *week) flapping() { w.setFlaky(true) }

func (w *week) steady() { w.setFlaky(false) }

func (w *week) setFlaky(is bool) {
	w.front.mu.Lock()
	defer w.front.mu.Unlock()
	w.front.isFlaky = is
}

// refusal is a change that the service refused, and the Desk told its agent of.
type refusal struct {
	desk  *weekDesk
	donor *weekDonor
	why   string
}

// drain waits until the Desk has sent all. The agent drops what was refused.
func (d *weekDesk) drain() {
	d.Helper()
	deadline := time.Now().Add(patience)
	for {
		if d.command == nil || !d.runs() {
			d.home.run(d.T, "fundesk --profile work outbox send")
		}
		left, _, _ := d.home.run(d.T, "fundesk --profile work outbox list -o ndjson")
		waiting := 0
		for _, line := range inLines(left) {
			if !d.dropRefused(line) {
				waiting++
			}
		}
		if waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			d.Errorf("%s: still in the outbox:\n%s", d.name, left)
			return
		}
		time.Sleep(time.Second)
	}
}

// dropRefused drops an entry of the outbox that was refused. It reports whether it was.
func (d *weekDesk) dropRefused(line string) bool {
	d.Helper()
	var entry struct{ ID, State, UUID, LastError string }
	servicetest.Check(d.T, json.Unmarshal([]byte(line), &entry))
	if entry.State != "rejected" {
		return false
	}
	d.home.must(d.T, "fundesk --profile work outbox drop "+entry.ID+" --yes -q")
	d.refusals = append(d.refusals, refusal{d, d.ofCall[entry.UUID], entry.LastError})
	d.Logf("%s: refused: %s", d.name, line)
	return true
}
