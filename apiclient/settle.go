package apiclient

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"fundesk/apiclient/apitype"
)

// Outcome is the outcome of a change with a lost answer.
type Outcome int

// The outcomes. Unknown is the zero value.
const (
	Unknown   Outcome = iota // It cannot be found out.
	Landed                   // It took effect.
	NotLanded                // It did not take effect so far.
	Conflict                 // The record has another value: it was changed elsewhere.
)

// String returns the outcome as a word.
func (o Outcome) String() string {
	return [...]string{"unknown", "landed", "not landed", "conflict"}[o]
}

// readRecord reads the record of a change and returns its outcome. For an update that was not sent yet, the outcome is
// whether the record has the shown values.
func (c *Client) readRecord(ctx context.Context, d *Delivery) Answer {
	ch := d.Change
	op := ch.Operation()
	reading, ok := op.reading(ch.UUID)
	if !ok {
		return Answer{IsRead: true}
	}
	read := c.repeat
	if d.Phase == Fresh { // It is only compared, or refused: one try.
		read = c.checked
	}
	answer, err := read(ctx, reading)
	if err == nil {
		err = op.checkReading(answer, ch.UUID)
	}
	if e := asError(err); e != nil {
		// After a conflict a record has this UUID, and may be shown later.
		isNotThere := op.Creates && e.Status == http.StatusNotFound && d.refused == 0
		if isNotThere {
			return Answer{IsRead: true, Outcome: NotLanded}
		}
		return Answer{IsRead: true, Err: e}
	}
	a := Answer{IsRead: true, Response: answer}
	a.Outcome, a.Differ = judgeChange(ch, d.Phase != Fresh, answer)
	answer.EditedSince = op.Creates && a.Outcome == Landed && len(a.Differ) > 0
	return a
}

// judge compares a change with the record that was read after it.
type judge struct {
	change       Change
	op           Operation
	isSent       bool
	revision     string
	body         []byte
	sent, record map[string]any
	differ       []string // The fields that were changed elsewhere, if they are known.
}

func judgeChange(ch Change, isSent bool, got *Response) (Outcome, []string) {
	j := &judge{
		change:   ch,
		op:       ch.Operation(),
		isSent:   isSent,
		revision: got.Header.Get("ETag"),
		body:     got.Body,
	}
	if apitype.DecodeExact(got.Body, &j.record) != nil {
		return Unknown, nil
	}
	if len(ch.Body) > 0 && apitype.DecodeExact(ch.Body, &j.sent) != nil {
		return Unknown, nil
	}
	o := j.op.settle(j)
	return o, j.differ
}

// creation compares a creation with the record of its UUID. A record with a UUID of ours was created by us,
// and edited since if it differs.
func (j *judge) creation() Outcome {
	t := j.tally()
	if j.change.Generated {
		j.differ = t.foreign
		return Landed
	}
	if len(t.foreign) > 0 {
		return Conflict
	}
	if t.equal == 0 {
		return Unknown // The record shows none of the fields that were sent.
	}
	return Landed
}

// isMoved reports whether the record has another revision than the last reading. It is false if either is
// unknown.
func (j *judge) isMoved() bool {
	return j.revision != "" && j.change.Revision != "" && j.revision != j.change.Revision
}

// update judges by the fields that have changed. A field that is not shown proves nothing.
func (j *judge) update() Outcome {
	t := j.tally()
	isProven := t.changed || len(t.hidden) == 0
	mayHide := len(t.hidden) > 0 && (!j.isSent || len(t.foreign) > 0)
	hasRevisions := j.change.Revision != "" && j.revision != ""
	switch {
	case !j.isSent && j.change.Seen == nil:
		return NotLanded // Nothing was shown that it could overwrite.
	case j.isSent && len(t.foreign) == 0 && isProven:
		return Landed
	case j.revision != "" && j.revision == j.change.Revision:
		return NotLanded
	case j.change.Seen == nil: // It is not there yet, or was changed since.
		return Unknown
	case len(t.elsewhere) > 0:
		j.differ = t.elsewhere
		return Conflict
	case mayHide && hasRevisions:
		j.differ = t.hidden // The record was changed, perhaps in these fields.
		return Conflict
	case !j.isSent:
		return NotLanded
	case t.changed, len(t.foreign) > 0 && j.isMoved():
		// The update may have landed, and all or some of it was changed back.
		j.differ = t.foreign
		return Conflict
	case len(t.foreign) > 0, j.revision == "":
		return NotLanded
	default:
		return Unknown
	}
}

// attempt finds the attempt by its time and user. It ignores attempts that belong to other entries.
func (j *judge) attempt() Outcome {
	attempts, ok := j.record["attempts"].([]any)
	_, timed := j.sent["attemptAt"].(string)
	if !ok || !timed {
		return Unknown
	}
	exact := showsFractions("attemptAt", j.record)
	isIt := func(sent map[string]any, attempt map[string]any) bool {
		user, given := sent["userUuid"]
		return isShown("attemptAt", sent["attemptAt"], attempt["attemptAt"], exact) &&
			(!given || IsSame("userUuid", user, attempt["userUuid"]))
	}
	shown := 0
	for _, item := range attempts {
		attempt, _ := item.(map[string]any)
		if !isIt(j.sent, attempt) {
			continue
		}
		shown++
		i := slices.IndexFunc(j.change.Claimed, func(body json.RawMessage) bool {
			var other map[string]any
			return apitype.DecodeExact(body, &other) == nil && isIt(other, attempt)
		})
		if i >= 0 {
			j.change.Claimed = slices.Delete(slices.Clone(j.change.Claimed), i, i+1)
			shown--
		}
	}
	if shown > 0 {
		return Landed
	}
	return NotLanded
}

// move judges a change that ends a call. The time of the change identifies it.
func (j *judge) move() Outcome {
	switch status, _ := j.record["status"].(string); apitype.CallStatus(status) {
	case j.op.Moves:
	case apitype.CallRequested:
		return NotLanded
	default:
		return Conflict
	}
	t := j.tally()
	if len(t.foreign) > 0 {
		return Conflict
	}
	if t.equal == 0 { // It has that status, but another caller may have set it.
		return Unknown
	}
	return Landed
}

// actionTargets are the states that the known actions lead to. Spec gap: G1.
var actionTargets = map[apitype.PledgeAction]apitype.PledgeStatus{
	apitype.ActionActivate: apitype.PledgeActive,
	apitype.ActionDrop:     apitype.PledgeDropped,
	apitype.ActionCancel:   apitype.PledgeCancelled,
	apitype.ActionFulfill:  apitype.PledgeFulfilled,
}

// action compares a status action with the pledge's status: the shown one, the action's target, or a third one, which
// is a conflict. A shown status in a newer revision may have been set back, so it is a conflict as well.
func (j *judge) action() Outcome {
	target, isKnown := actionTargets[apitype.PledgeAction(lastSegment(j.change.Path))]
	text, _ := j.record["status"].(string)
	status := apitype.PledgeStatus(text)
	isAtTarget := isKnown && status == target
	isUnchanged := j.change.From == "" || status == j.change.From
	if !j.isSent {
		if isUnchanged || isAtTarget {
			return NotLanded
		}
		return Conflict
	}
	if !isKnown {
		return Unknown
	}
	if isAtTarget {
		return Landed
	}
	if isUnchanged && !j.isMoved() {
		return NotLanded
	}
	return Conflict
}

// settings finds the settings of the organization. The revision belongs to the settings of all organizations.
func (j *judge) settings() Outcome {
	var all apitype.Settings
	var sent apitype.OrganizationSettings
	if json.Unmarshal(j.body, &all) != nil || json.Unmarshal(j.change.Body, &sent) != nil {
		return Unknown
	}
	for _, organization := range all.Organizations {
		if organization.UUID == sent.UUID && organization.Equal(sent) {
			return Landed
		}
	}
	if j.isMoved() {
		return Conflict
	}
	return NotLanded
}
