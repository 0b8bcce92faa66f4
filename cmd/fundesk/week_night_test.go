//go:build unix

package main

import (
	"encoding/json"
)

// feedOfWeek is what the consumer has pulled.
type feedOfWeek struct {
	calls, persons map[string]map[string]any // As they were pulled last.
	changes        []string
	erased         map[string]bool
	resets         int
}

// night pulls what is new, brings the copy up to date, and asks it a question.
func (w *week) night() {
	w.Helper()
	f := &w.feed
	if f.calls == nil {
		f.calls, f.persons, f.erased = map[string]map[string]any{}, map[string]map[string]any{}, map[string]bool{}
	}
	w.pull("call --updated", func() { clear(f.calls) }, func(line string) { keepRecord(f.calls, line) })
	w.pull("person --updated", func() { clear(f.persons) }, func(line string) { keepRecord(f.persons, line) })
	w.pull("changes", func() { f.changes = nil }, func(line string) { f.changes = append(f.changes, line) })
	w.pull("erased", func() {}, func(line string) {
		var erased struct{ UUID string }
		_ = json.Unmarshal([]byte(line), &erased)
		f.erased[erased.UUID] = true
		delete(f.persons, erased.UUID)
	})
	_, errs, code := w.consumer.run(w.T, "fundesk --profile work copy sync -q")
	if code == 8 && w.lostOf[1] > 0 {
		w.consumer.must(w.T, "fundesk --profile work copy sync --anew -q")
	} else if code != 0 {
		w.Errorf("copy sync: exit %d\n%s", code, errs)
	}
	w.ask()
}

func keepRecord(records map[string]map[string]any, line string) {
	var record map[string]any
	_ = json.Unmarshal([]byte(line), &record)
	id, _ := record["uuid"].(string)
	records[id] = record
}

// pull pulls a feed. It begins again once, after the restore.
func (w *week) pull(what string, forget func(), take func(line string)) {
	w.Helper()
	line := "fundesk --profile work pull " + what
	out, errs, code := w.consumer.run(w.T, line)
	if code == 8 && w.lostOf[1] > 0 {
		w.feed.resets++
		forget()
		out, errs, code = w.consumer.run(w.T, line+" --reset")
	}
	if code != 0 {
		w.Errorf("%s: exit %d\n%s", line, code, errs)
	}
	for _, line := range inLines(out) {
		take(line)
	}
}

// ask asks the copy how many calls were completed. A Desk may send a completion meanwhile, but none is taken back.
func (w *week) ask() {
	w.Helper()
	before := w.completed()
	const question = `fundesk --profile work query "SELECT count(*) AS n FROM calls WHERE status = 'completed'"`
	out := w.consumer.must(w.T, question+" -o ndjson -q")
	var row struct{ N int }
	_ = json.Unmarshal([]byte(out), &row)
	if after := w.completed(); row.N < before || row.N > after {
		w.Errorf("the copy has %d completed calls, the service %d before and %d after", row.N, before, after)
	}
}

// completed counts the completed calls of the service.
func (w *week) completed() int {
	w.Helper()
	return len(inLines(w.consumer.must(w.T, "fundesk --profile work call list --status completed --all -o id -q")))
}
