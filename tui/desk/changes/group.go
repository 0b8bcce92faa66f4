package changes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/say"
)

// Group has the changes of one key. They are sent one after the other, each when the one before it was accepted. An
// undo takes back the unsent ones, and reports which parts stay. The zero value is empty.
type Group struct {
	last  string // The entry that was put in the outbox last.
	err   error  // Why one of them was not: then the rest is not either.
	parts []*part
}

// part is one change of a group.
type part struct {
	entry string
	op    string
	text  string // In words: "the attempt of 14:31".
	state partState
}

// partState is the state of a part.
type partState int

const (
	partWaits   partState = iota // It can be taken back.
	partStays                    // The service has accepted it.
	partUnknown                  // It went out, and the outcome is unknown.
	partBack                     // It was taken back, dropped or refused.
)

// add notes a change of the group that is on disk.
func (g *Group) add(entry string, c Change, texts say.Texts, zone *time.Location) {
	g.parts = append(g.parts, &part{entry: entry, op: c.Op, text: partText(c, texts, zone)})
}

// partText returns a change as a part of a key's work.
func partText(c Change, texts say.Texts, zone *time.Location) string {
	switch c.Op {
	case apiclient.OpAddAttempt:
		var request apitype.AddAttemptRequest
		if json.Unmarshal(c.Body, &request) == nil && request.AttemptAt != nil {
			return texts.Say("the attempt of %s", request.AttemptAt.In(zone).Format("15:04"))
		}
	case apiclient.OpUpdatePerson, apiclient.OpUpdatePledge:
		return texts.Say("the correction")
	case apiclient.OpLeaveNote:
		return texts.Say("the note")
	case apiclient.OpPutChecks:
		return texts.Say("what was checked")
	case apiclient.OpDescribeAttempt:
		return texts.Say("the reason of the attempt")
	}
	return texts.Say(c.Label)
}

// hear stores the progress of an entry of the group.
func (g *Group) hear(entry string, outcome outbox.Outcome) {
	if g == nil {
		return
	}
	for _, p := range g.parts {
		if p.entry != entry {
			continue
		}
		switch outcome {
		case outbox.OutcomeAccepted:
			p.state = partStays
		case outbox.OutcomeUnsure:
			p.state = partUnknown
		case outbox.OutcomeDropped, outbox.OutcomeRejected:
			p.state = partBack
		}
	}
}

// Remains returns which parts stay, and which may stay, or an empty text if all was undone. g may be nil.
func (g *Group) Remains(texts say.Texts) string {
	if g == nil {
		return ""
	}
	var lines []string
	for _, p := range g.parts {
		switch p.state {
		case partStays:
			lines = append(lines, texts.Say("%s stays", p.text))
		case partUnknown:
			lines = append(lines, texts.Say("whether the service has %s is not known yet", p.text))
		}
	}
	return strings.Join(lines, "; ")
}

// HasAttempt reports whether the service has, or may have, an attempt of the group. g may be nil.
func (g *Group) HasAttempt() bool {
	return g != nil && slices.ContainsFunc(g.parts, func(p *part) bool {
		return p.op == apiclient.OpAddAttempt && (p.state == partStays || p.state == partUnknown)
	})
}

// IsBack reports whether all of the group was undone, dropped or refused.
func (g *Group) IsBack() bool {
	return len(g.parts) > 0 && !slices.ContainsFunc(g.parts, func(p *part) bool { return p.state != partBack })
}
