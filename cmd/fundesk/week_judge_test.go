//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// judge compares what was typed and sent with what is there.
func (w *week) judge() {
	w.Helper()
	l := w.readLedger()
	l.judgeTakes()
	l.judgeTwice()
	l.judgeKeys()
	l.judgeRecords()
	l.judgeOverwritten()
	l.judgeAudit()
	l.judgeFeed()
	l.judgeCopy()
	l.report()
}

// contact is an attempt or a completion that the service accepted.
type contact struct {
	*exchange
	donor *weekDonor
	user  string
	time  time.Time // When the donor was called.
	note  string    // Of a completion.
	isEnd bool      // It completed the call.
	code  string
	busy  bool // The number was busy, so the donor may be called again soon.
}

// optOut is an objection that the service knows.
type optOut struct {
	donor        *weekDonor
	begun, ended int64
	real         time.Time
	isLost       bool
}

// weekLedger is all that happened.
type weekLedger struct {
	*week
	exchanges []*exchange
	contacts  []*contact
	optOuts   []optOut
	calls     map[string]apitype.Call
	persons   map[string]apitype.Person
}

// readLedger reads what was sent, and what the service has.
func (w *week) readLedger() *weekLedger {
	w.Helper()
	l := &weekLedger{
		week:      w,
		exchanges: w.front.all(),
		calls:     map[string]apitype.Call{},
		persons:   map[string]apitype.Person{},
	}
	busy := map[string]bool{}
	for _, x := range l.exchanges {
		x.isLost = x.begun > w.lostOf[0] && x.ended < w.lostOf[1]
		if x.isAccepted() && strings.Contains(x.path, "/attempts/") && strings.Contains(string(x.body), "busy") {
			busy[x.record()+x.path[strings.LastIndex(x.path, "/"):]] = true
		}
	}
	for _, x := range l.exchanges {
		l.addContact(x, busy)
	}
	for _, letter := range w.letters {
		isLost := letter.begun > w.lostOf[0] && letter.ended < w.lostOf[1]
		l.optOuts = append(l.optOuts, optOut{letter.donor, letter.begun, letter.ended, time.Time{}, isLost})
	}
	for _, line := range inLines(w.consumer.must(w.T, "fundesk --profile work call list --all -o ndjson -q")) {
		var call apitype.Call
		_ = json.Unmarshal([]byte(line), &call)
		l.calls[call.UUID.String()] = call
	}
	for _, line := range inLines(w.consumer.must(w.T, "fundesk --profile work person list --all -o ndjson -q")) {
		var person apitype.Person
		_ = json.Unmarshal([]byte(line), &person)
		l.persons[person.UUID.String()] = person
	}
	return l
}

// addContact takes a contact out of an exchange. A repeat of an accepted one is none.
func (l *weekLedger) addContact(x *exchange, busy map[string]bool) {
	donor := l.ofCall[x.record()]
	isAttempt := strings.HasSuffix(x.path, "/actions/add-attempt")
	isEnd := strings.HasSuffix(x.path, "/actions/complete")
	if !x.isAccepted() || donor == nil || !isAttempt && !isEnd {
		return
	}
	var body struct {
		UserUUID  string
		AttemptAt apitype.Time
		Result    struct {
			ResultCode, Notes string
			CompletedAt       apitype.Time
		}
	}
	x.read(&body)
	c := &contact{exchange: x, donor: donor, user: body.UserUUID, time: x.at, isEnd: isEnd}
	c.note, c.code = body.Result.Notes, body.Result.ResultCode
	if !body.Result.CompletedAt.IsZero() {
		c.time = body.Result.CompletedAt.Time
	}
	if isAttempt && !body.AttemptAt.IsZero() {
		c.time = body.AttemptAt.Time
		c.busy = busy[x.record()+"/"+body.AttemptAt.String()]
	}
	if slices.ContainsFunc(l.contacts, c.isRepeatOf) {
		return
	}
	l.contacts = append(l.contacts, c)
	if c.code == "no-more-calls" {
		l.optOuts = append(l.optOuts, optOut{donor, x.begun, x.ended, x.real, x.isLost})
	}
}

// isRepeatOf reports whether two contacts are one, which was sent twice.
func (c *contact) isRepeatOf(o *contact) bool {
	isSame := o.path == c.path && o.user == c.user && o.note == c.note && o.isLost == c.isLost
	return isSame && (c.isEnd || o.time.Equal(c.time))
}

// objected returns the objection of a donor, or of another with the same number, that the service knew at a place.
func (l *weekLedger) objected(d *weekDonor, at int64) *optOut {
	for i, o := range l.optOuts {
		isKnown := o.ended < at && !(o.isLost && at > l.lostOf[1])
		if isKnown && o.donor.number == d.number {
			return &l.optOuts[i]
		}
	}
	return nil
}

// judgeTakes looks at each call that the queue gave: its donor may be called, at this hour, and rests no more.
func (l *weekLedger) judgeTakes() {
	l.Helper()
	for _, x := range l.exchanges {
		for _, lease := range x.takenOf() {
			donor := l.ofCall[lease.CallUUID.String()]
			x := &exchange{begun: x.begun, at: lease.TakenAt.Time} // The clock may leap between request and answer.
			if donor == nil {
				l.Errorf("a call was given that no donor has: %s", lease.CallUUID)
				continue
			}
			if l.objected(donor, x.begun) != nil {
				l.Errorf("%s: %s was given, whose number may not be called", x.at, donor.name)
			}
			if lease.DueAt == nil && !l.isHour(donor, x) {
				l.Errorf("%s: %s of %s was given outside hours", x.at.In(amsterdam), donor.name, donor.country)
			}
			if c := l.restsBy(donor, x); c != nil {
				l.Errorf("%s: %s was given, who was called at %s:\n%s", x.at, donor.name, c.time, l.historyOf(donor))
			}
		}
	}
}

// historyOf returns what was sent for the calls of a donor.
func (l *weekLedger) historyOf(d *weekDonor) string {
	var lines strings.Builder
	for _, x := range l.exchanges {
		isOfDonor := l.ofCall[x.record()] == d || strings.Contains(string(x.answer), d.call)
		if isOfDonor {
			at := x.at.UTC().Format(time.DateTime)
			fmt.Fprintf(&lines, "%d to %d, %s: %s %s: %d\n", x.begun, x.ended, at, x.path, x.body, x.status)
		}
	}
	return lines.String()
}

// isHour reads the rules of hours plainly.
func (l *weekLedger) isHour(d *weekDonor, x *exchange) bool {
	zone, opens, closes := london, "09:00", "21:00"
	if d.country == "NL" {
		zone = amsterdam
		for _, h := range l.hours {
			if h.from < x.begun {
				opens, closes = h.opens, h.close
			}
		}
	}
	local := x.at.In(zone)
	switch local.Weekday() {
	case time.Sunday:
		return false
	case time.Saturday:
		opens, closes = "10:00", "16:00"
	}
	isAscension := d.country == "NL" && local.Format(time.DateOnly) == "2026-05-14"
	clock := local.Format("15:04")
	return !isAscension && clock >= opens && clock < closes
}

// restsBy returns the contact by which a donor rested when an exchange was sent, nil without one.
func (l *weekLedger) restsBy(d *weekDonor, x *exchange) *contact {
	for _, c := range l.contacts {
		rest := 4 * time.Hour
		if c.busy {
			rest = 30 * time.Minute
		}
		isKnown := c.ended < x.begun && !(c.isLost && x.begun > l.lostOf[1])
		passed := x.at.Sub(c.time)
		if c.donor == d && isKnown && passed < rest-time.Minute {
			return c
		}
	}
	return nil
}

// judgeTwice looks for donors whom two agents called within four hours.
func (l *weekLedger) judgeTwice() {
	l.Helper()
	for i, a := range l.contacts {
		for _, b := range l.contacts[i+1:] {
			if a.donor != b.donor || a.user == b.user || a.isLost {
				continue
			}
			first, second := a, b
			if second.time.Before(first.time) {
				first, second = b, a
			}
			passed := second.time.Sub(first.time)
			if passed >= 4*time.Hour || first.busy && passed >= 30*time.Minute {
				continue
			}
			if l.isLate(first, second) || l.isWarned(second) {
				l.pairs++
				continue
			}
			l.Errorf("%s was called by %s at %s and by %s at %s (accepted at %d and %d)", first.donor.name,
				l.agentOf(first.user), first.time, l.agentOf(second.user), second.time, first.ended, second.ended)
		}
	}
}

// isLate reports whether the first of two contacts was made while the service was away, and arrived after the second.
func (l *weekLedger) isLate(first, second *contact) bool {
	isAway := first.time.After(l.awayOf[0]) && first.time.Before(l.awayOf[1])
	return isAway && first.begun > second.begun
}

// isWarned reports whether the agent of a contact went on with a card that was not reserved any more.
func (l *weekLedger) isWarned(c *contact) bool {
	return slices.ContainsFunc(l.keys, func(k *keyPress) bool {
		return k.warned && k.desk.agent == c.user && k.donor == c.donor
	})
}

// refusedOf counts the changes of a donor's call that the service refused to a Desk.
func (l *weekLedger) refusedOf(k *keyPress) int {
	n := 0
	for _, r := range l.refusals {
		if r.desk == k.desk && r.donor == k.donor {
			n++
		}
	}
	return n
}

func (l *weekLedger) agentOf(user string) string {
	for _, d := range l.desks {
		if d.agent == user {
			return d.name
		}
	}
	return "the dialer"
}

// judgeKeys compares what agents typed with what was accepted.
func (l *weekLedger) judgeKeys() {
	l.Helper()
	accepted := map[string]int{}
	for _, c := range l.contacts {
		accepted[c.user+c.donor.name+c.note]++
	}
	deferred := map[string]int{}
	for _, x := range l.exchanges {
		var body struct{ Reason string }
		x.read(&body)
		if x.isAccepted() && strings.HasPrefix(body.Reason, "reason ") {
			deferred[body.Reason] = 1
		}
	}
	sure, unsure := map[string]int{}, map[string]int{}
	for _, k := range l.keys {
		key := k.desk.agent + k.donor.name + k.note
		switch k.state {
		case keyTaken:
			sure[key]++
		case keyUnsure:
			unsure[key]++
		}
		if k.verb == "attempt" {
			continue
		}
		got := accepted[key]
		if k.verb == "later" {
			got = deferred[k.note]
		}
		isWrong := k.state == keyTaken && got+l.refusedOf(k) < 1 || k.state == keyUndone && got != 0 || got > 1
		if isWrong {
			l.Errorf("%s: %s of %s at %s (%s): accepted %d times, and the key was %s",
				k.desk.name, k.verb, k.donor.name, k.at, k.note, got, stateNames[k.state])
		}
	}
	for _, k := range l.keys {
		key := k.desk.agent + k.donor.name
		if k.verb != "attempt" {
			continue
		}
		if got := accepted[key]; got+l.refusedOf(k) < sure[key] || got > sure[key]+unsure[key] {
			l.Errorf("%s: attempts of %s: accepted %d, confirmed %d, unsure %d",
				k.desk.name, k.donor.name, got, sure[key], unsure[key])
		}
	}
	l.judgeDialled()
}

var stateNames = map[keyState]string{keyUnsure: "unsure", keyTaken: "confirmed", keyUndone: "undone"}

// shownWithin is how long an objection may take to reach an open card.
const shownWithin = 20 * time.Second

// judgeDialled looks for keys on the card of a donor who had objected. The agents leave a card that warns.
func (l *weekLedger) judgeDialled() {
	l.Helper()
	for _, k := range l.keys {
		o := l.objected(k.donor, k.seq)
		if o == nil || k.state == keyUnsure || k.verb == "later" || k.real.Sub(o.real) < shownWithin {
			continue
		}
		if k.donor == o.donor && o.ended > k.shownAt && o.real.IsZero() {
			continue // A letter within the visit: its time is not known.
		}
		l.Errorf("%s: %s of %s at %s, who had objected", k.desk.name, k.verb, k.donor.name, k.at)
	}
}

// judgeRecords compares what was accepted with the calls of the service.
func (l *weekLedger) judgeRecords() {
	l.Helper()
	want := map[string][]string{}
	for _, c := range l.contacts {
		if !c.isLost && !l.gone[c.donor.id] {
			want[c.record()] = append(want[c.record()], c.line())
		}
	}
	for id, call := range l.calls {
		donor := l.ofCall[id]
		if donor == nil || l.gone[donor.id] {
			continue
		}
		var got []string
		for _, a := range call.Attempts.Value() {
			got = append(got, fmt.Sprintf("attempt %s %s", a.UserUUID, a.AttemptAt))
		}
		if result := call.Result.Pointer(); result != nil {
			got = append(got, "complete "+*result.Notes)
		}
		slices.Sort(got)
		slices.Sort(want[id])
		if diff := cmp.Diff(want[id], got); diff != "" {
			l.Errorf("the call of %s: accepted, and found: %s", donor.name, diff)
		}
	}
	if len(l.calls) != len(l.ofCall) {
		l.Errorf("got %d calls, want %d", len(l.calls), len(l.ofCall))
	}
}

func (c *contact) line() string {
	if c.isEnd {
		return "complete " + c.note
	}
	var body struct{ AttemptAt apitype.Time }
	c.read(&body)
	return fmt.Sprintf("attempt %s %s", c.user, body.AttemptAt)
}

// report prints the size of the week.
func (l *weekLedger) report() {
	states := map[string]int{}
	for _, k := range l.keys {
		states[k.verb+" "+stateNames[k.state]]++
	}
	takes := 0
	for _, x := range l.exchanges {
		takes += len(x.takenOf())
	}
	l.Logf("%d requests for changes, %d calls given, %d contacts, %d objections",
		len(l.exchanges), takes, len(l.contacts), len(l.optOuts))
	l.Logf("%d changes pulled, %d pairs late or warned, %d refused", len(l.feed.changes), l.pairs, len(l.refusals))
	l.Logf("keys: %v", states)
}
