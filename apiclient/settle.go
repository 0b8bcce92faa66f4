package apiclient

import (
	"context"
	"net/http"

	"fundesk/apiclient/apitype"
)

// Outcome is what became of a change whose answer was lost.
type Outcome int

// The outcomes. Unknown is the zero value.
const (
	Unknown   Outcome = iota // It cannot be told.
	Landed                   // It took effect.
	NotLanded                // It did not take effect so far.
	Conflict                 // The record says something else: somebody else changed it.
)

// String is the outcome as a word.
func (o Outcome) String() string {
	return [...]string{"unknown", "landed", "not landed", "conflict"}[o]
}

// Settle reads the record of a change and says what became of it. An error says why
// the record could not be read; the outcome is then Unknown.
func (c *Client) Settle(ctx context.Context, ch Change) (Outcome, error) {
	outcome, _, err := c.settle(ctx, ch)
	return outcome, err
}

// settle is Settle with the record that was read.
func (c *Client) settle(ctx context.Context, ch Change) (Outcome, *Response, error) {
	op := ch.Operation()
	path := op.recordPath(ch.UUID)
	if path == "" {
		return Unknown, nil, nil
	}
	answer, err := c.read(ctx, request{path: path})
	if err != nil {
		if op.Creates && asError(err).Status == http.StatusNotFound {
			return NotLanded, nil, nil
		}
		return Unknown, nil, err
	}
	if err := checkRecord(answer, ch.UUID); err != nil {
		return Unknown, nil, err
	}
	return judgeChange(ch, op, answer.Body), answer, nil
}

// judge compares a change with the record that was read after it.
type judge struct {
	change       Change
	op           Operation
	sent, record map[string]any
}

func judgeChange(ch Change, op Operation, got []byte) Outcome {
	j := &judge{change: ch, op: op}
	if apitype.DecodeExact(got, &j.record) != nil {
		return Unknown
	}
	if len(ch.Body) > 0 && apitype.DecodeExact(ch.Body, &j.sent) != nil {
		return Unknown
	}
	return op.settle(j)
}

func (j *judge) creation() Outcome {
	if _, differ := j.op.compareSent(j.sent, j.record); differ > 0 {
		return Conflict
	}
	return Landed
}

func (j *judge) update() Outcome {
	equal, differ := j.op.compareSent(j.sent, j.record)
	if differ == 0 {
		if equal == 0 && len(j.sent) > 0 {
			return Unknown // Nothing of what was sent is shown in answers.
		}
		return Landed
	}
	var seen map[string]any
	if j.change.Seen == nil || apitype.DecodeExact(j.change.Seen, &seen) != nil || j.op.unchanged(j.sent, seen, j.record) {
		return NotLanded
	}
	return Conflict
}

func (j *judge) attempt() Outcome {
	attempts, ok := j.record["attempts"].([]any)
	at, timed := j.sent["attemptAt"].(string)
	if !ok || !timed {
		return Unknown
	}
	for _, item := range attempts {
		attempt, _ := item.(map[string]any)
		if !isShown("attemptAt", at, attempt["attemptAt"]) {
			continue
		}
		if user, given := j.sent["userUuid"]; !given || IsSame("userUuid", user, attempt["userUuid"]) {
			return Landed
		}
	}
	return NotLanded
}

// move judges what ends a call: it carries its own time, by which it is recognised.
func (j *judge) move() Outcome {
	switch status, _ := j.record["status"].(string); apitype.CallStatus(status) {
	case j.op.Moves:
	case apitype.CallRequested:
		return NotLanded
	default:
		return Conflict
	}
	equal, differ := j.op.compareSent(j.sent, j.record)
	switch {
	case differ > 0:
		return Conflict
	case equal == 0: // In that state, but by whom cannot be told.
		return Unknown
	default:
		return Landed
	}
}

// actionTargets are the states that the known actions lead to. Spec gap: G1.
var actionTargets = map[apitype.PledgeAction]apitype.PledgeStatus{
	apitype.ActionActivate: apitype.PledgeActive,
	apitype.ActionDrop:     apitype.PledgeDropped,
	apitype.ActionCancel:   apitype.PledgeCancelled,
	apitype.ActionFulfill:  apitype.PledgeFulfilled,
}

func (j *judge) action() Outcome {
	target, known := actionTargets[apitype.PledgeAction(lastSegment(j.change.Path))]
	switch status, _ := j.record["status"].(string); {
	case !known:
		return Unknown
	case status == string(target):
		return Landed
	default:
		return NotLanded
	}
}
