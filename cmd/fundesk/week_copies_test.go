//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// update is a change of an address for e-mail that the service accepted.
type update struct {
	*exchange
	email string
}

// judgeOverwritten looks at the addresses for e-mail, which agents and the back office change.
func (l *weekLedger) judgeOverwritten() {
	l.Helper()
	updates := map[string][]update{}
	for _, x := range l.exchanges {
		var body struct{ Email string }
		x.read(&body)
		isUpdate := x.isAccepted() && strings.HasSuffix(x.path, "/actions/update") && body.Email != ""
		if isUpdate && !x.isLost {
			updates[x.record()] = append(updates[x.record()], update{x, body.Email})
		}
	}
	for id, all := range updates {
		if l.gone[id] {
			continue
		}
		slices.SortFunc(all, func(a, b update) int { return int(a.ended - b.ended) })
		last := all[len(all)-1]
		if got := l.persons[id].Email; got == nil || *got != last.email {
			l.Errorf("%s: the last address accepted is %s, found %v", l.donors[id].name, last.email, got)
		}
	}
	for _, k := range l.keys {
		l.judgeCorrection(k, updates[k.donor.id])
	}
}

// judgeCorrection wants no foreign change between the card and the correction, unless the agent was asked.
func (l *weekLedger) judgeCorrection(k *keyPress, updates []update) {
	l.Helper()
	own := slices.IndexFunc(updates, func(u update) bool { return u.email == k.email })
	if k.email == "" || own < 0 || len(k.asked) > 0 {
		return
	}
	for _, u := range updates {
		if u.begun > k.shownAt && u.ended < updates[own].begun && u.email != k.email {
			l.Errorf("%s: %s of %s overwrote %s", k.desk.name, k.email, k.donor.name, u.email)
		}
	}
}

// operationsOfAudit are the operations that the audit has for contacts.
var operationsOfAudit = map[bool]string{false: "call.add-attempt", true: "call.complete"}

// judgeAudit wants one line of the audit for each contact.
func (l *weekLedger) judgeAudit() {
	l.Helper()
	got, want := map[string]int{}, map[string]int{}
	for _, line := range inLines(l.operator.must(l.T, "fundeskd audit list -o ndjson")) {
		var entry struct{ Operation, Record, User string }
		_ = json.Unmarshal([]byte(line), &entry)
		if entry.Operation == "call.add-attempt" || entry.Operation == "call.complete" {
			got[entry.Operation+" "+entry.Record+" "+entry.User]++
		}
	}
	for _, c := range l.contacts {
		if !c.isLost {
			want[operationsOfAudit[c.isEnd]+" "+c.record()+" "+c.user]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("accepted, and in the audit: %s", diff)
	}
}

// judgeFeed compares what was pulled night by night with what the service has, and with a feed that is read at once.
func (l *weekLedger) judgeFeed() {
	l.Helper()
	l.compare("calls", l.feed.calls, "call list --all -o ndjson -q")
	l.compare("persons", l.feed.persons, "person list --all -o ndjson -q")
	whole := inLines(l.consumer.must(l.T, "fundesk --profile work pull changes --reset -q"))
	if diff := cmp.Diff(whole, l.feed.changes); diff != "" {
		l.Errorf("the changes at once, and night by night: %s", diff)
	}
	operations := map[string]int{}
	for _, line := range whole {
		var change struct{ UUID, Operation string }
		_ = json.Unmarshal([]byte(line), &change)
		operations[change.Operation+" "+change.UUID]++
	}
	for _, c := range l.contacts {
		operation := strings.TrimPrefix(operationsOfAudit[c.isEnd], "call.")
		if !c.isLost && operations[operation+" "+c.record()] == 0 {
			l.Errorf("the feed lacks %s of %s", operation, c.donor.name)
		}
	}
	for id := range l.gone {
		if !l.feed.erased[id] {
			l.Errorf("the erasure of %s was not pulled", l.donors[id].name)
		}
	}
}

// compare compares records that were pulled with those of the service.
func (l *weekLedger) compare(kind string, pulled map[string]map[string]any, list string) {
	l.Helper()
	found := map[string]map[string]any{}
	for _, line := range inLines(l.consumer.must(l.T, "fundesk --profile work "+list)) {
		keepRecord(found, line)
	}
	if diff := cmp.Diff(found, pulled); diff != "" {
		l.Errorf("the %s of the service, and those that were pulled: %s", kind, diff)
	}
}

// judgeCopy compares the copy with the service.
func (l *weekLedger) judgeCopy() {
	l.Helper()
	var calls, attempts, results, persons []string
	for id, call := range l.calls {
		calls = append(calls, fmt.Sprint(id, call.Status, call.AttemptsCount, call.LastUpdatedAt))
		for _, a := range call.Attempts.Value() {
			attempts = append(attempts, fmt.Sprint(id, a.AttemptAt, a.UserUUID))
		}
		if result := call.Result.Pointer(); result != nil {
			results = append(results, fmt.Sprint(id, textOf(result.ResultCode), textOf(result.Notes)))
		}
	}
	for id, person := range l.persons {
		persons = append(persons, fmt.Sprint(id, textOf(person.LastName), textOf(person.Email)))
	}
	l.sameInCopy("calls", calls, "uuid || status || ' ' || attemptsCount || ' ' || lastUpdatedAt")
	l.sameInCopy("attempts", attempts, "callUuid || ' ' || attemptAt || ' ' || coalesce(userUuid, '')")
	l.sameInCopy("results", results, "callUuid || coalesce(resultCode, '') || coalesce(notes, '')")
	l.sameInCopy("persons", persons, "uuid || coalesce(lastName, '') || coalesce(email, '')")
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// sameInCopy compares rows of a table of the copy, whatever their order and blanks.
func (l *weekLedger) sameInCopy(table string, want []string, columns string) {
	l.Helper()
	sql := "SELECT " + columns + " AS row FROM " + table
	line := fmt.Sprintf("fundesk --profile work query --offline %q -o ndjson -q", sql)
	var got []string
	for _, line := range inLines(l.consumer.must(l.T, line)) {
		var row struct{ Row string }
		_ = json.Unmarshal([]byte(line), &row)
		got = append(got, strings.ReplaceAll(row.Row, " ", ""))
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " ", "")
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("the %s of the service, and of the copy: %s", table, diff)
	}
}
