package desk

import (
	"encoding/json"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// A key may send several changes as one group. Undo takes back the unsent ones, and reports which parts stay.

// part is one change of a group.
type part struct {
	entry string
	op    string
	text  string // In words: "the attempt of 14:31".
	fate  partFate
}

// partFate is the state of a part.
type partFate int

const (
	partWaits   partFate = iota // It can be taken back.
	partStays                   // The service has accepted it.
	partUnknown                 // It went out, and the outcome is unknown.
	partBack                    // It was taken back, dropped or refused.
)

// isQueued notes a change of the group that is on disk.
func (g *changeGroup) isQueued(b *base, q queued) {
	g.parts = append(g.parts, &part{entry: q.entry.ID, op: q.change.Op, text: partText(b, q.change)})
}

// partText returns a change as a part of what a key has sent.
func partText(b *base, c Change) string {
	switch c.Op {
	case apiclient.OpAddAttempt:
		var request apitype.AddAttemptRequest
		if json.Unmarshal(c.Body, &request) == nil && request.AttemptAt != nil {
			return b.Say("the attempt of %s", request.AttemptAt.In(b.Now().Location()).Format("15:04"))
		}
	case apiclient.OpUpdatePerson, apiclient.OpUpdatePledge:
		return b.Say("the correction")
	case apiclient.OpLeaveNote:
		return b.Say("the note")
	case apiclient.OpPutChecks:
		return b.Say("what was checked")
	case apiclient.OpDescribeAttempt:
		return b.Say("the reason of the attempt")
	}
	return b.Say(c.Label)
}

// hear stores the progress of an entry of the group.
func (g *changeGroup) hear(id string, outcome outbox.Outcome) {
	for _, p := range g.parts {
		if p.entry != id {
			continue
		}
		switch outcome {
		case outbox.OutcomeAccepted:
			p.fate = partStays
		case outbox.OutcomeUnsure:
			p.fate = partUnknown
		case outbox.OutcomeDropped, outbox.OutcomeRejected:
			p.fate = partBack
		}
	}
}

// remains returns which parts stay, and which may stay, or an empty text if all was undone.
func (g *changeGroup) remains(b *base) string {
	if g == nil {
		return ""
	}
	var lines []string
	for _, p := range g.parts {
		switch p.fate {
		case partStays:
			lines = append(lines, b.Say("%s stays", p.text))
		case partUnknown:
			lines = append(lines, b.Say("whether the service has %s is not known yet", p.text))
		}
	}
	return strings.Join(lines, "; ")
}

// HasUndoneAttempt reports whether the service has, or may have, an attempt of the call on the Desk that was undone.
func (d *Day) HasUndoneAttempt() bool { return d.undone.hasAttempt() }

// hasAttempt reports whether the service has, or may have, an attempt of the group.
func (g *changeGroup) hasAttempt() bool {
	return g != nil && slices.ContainsFunc(g.parts, func(p *part) bool {
		return p.op == apiclient.OpAddAttempt && (p.fate == partStays || p.fate == partUnknown)
	})
}
