package apiclient

import (
	"context"
	"encoding/json"
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
	path := ch.recordPath()
	if path == "" {
		return Unknown, nil, nil
	}
	answer, err := c.read(ctx, request{path: path})
	if err != nil {
		if ch.isCreate() && asError(err).Status == http.StatusNotFound {
			return NotLanded, nil, nil
		}
		return Unknown, nil, err
	}
	if err := checkRecord(answer, ch.UUID); err != nil {
		return Unknown, nil, err
	}
	return judge(ch, answer.Body), answer, nil
}

// judge compares a change with the record that was read after it.
func judge(ch Change, got []byte) Outcome {
	var record map[string]any
	if decodeExact(got, &record) != nil {
		return Unknown
	}
	var sent map[string]any
	if len(ch.Body) > 0 && decodeExact(ch.Body, &sent) != nil {
		return Unknown
	}
	switch {
	case ch.isCreate():
		return judgeCreation(ch, sent, record)
	case ch.isUpdate():
		return judgeUpdate(ch, sent, record)
	case ch.Op == OpAddAttempt:
		return judgeAttempt(sent, record)
	case ch.isMove():
		return judgeMove(ch, sent, record)
	case ch.Op == OpPledgeAction:
		return judgeAction(ch, record)
	default:
		return Unknown
	}
}

func judgeCreation(ch Change, sent, record map[string]any) Outcome {
	if _, differ := compareSent(ch.Op, sent, record); differ > 0 {
		return Conflict
	}
	return Landed
}

func judgeUpdate(ch Change, sent, record map[string]any) Outcome {
	equal, differ := compareSent(ch.Op, sent, record)
	if differ == 0 {
		if equal == 0 && len(sent) > 0 {
			return Unknown // Nothing of what was sent is shown in answers.
		}
		return Landed
	}
	var seen map[string]any
	if ch.Seen == nil || decodeExact(ch.Seen, &seen) != nil {
		return NotLanded
	}
	if unchanged(ch.Op, sent, seen, record) {
		return NotLanded
	}
	return Conflict
}

func judgeAttempt(sent, record map[string]any) Outcome {
	attempts, ok := record["attempts"].([]any)
	at, timed := sent["attemptAt"].(string)
	if !ok || !timed {
		return Unknown
	}
	for _, item := range attempts {
		attempt, _ := item.(map[string]any)
		if !isShown("attemptAt", at, attempt["attemptAt"]) {
			continue
		}
		if user, given := sent["userUuid"]; !given || sameValue("userUuid", user, attempt["userUuid"]) {
			return Landed
		}
	}
	return NotLanded
}

// moves are the state and the time that a move of a call leaves behind.
var moves = map[string]struct {
	status apitype.CallStatus
	time   string
}{
	OpCompleteCall: {apitype.CallCompleted, ""},
	OpCancelCall:   {apitype.CallCancelled, "cancelledAt"},
	OpExpireCall:   {apitype.CallExpired, "expiredAt"},
}

func judgeMove(ch Change, sent, record map[string]any) Outcome {
	move := moves[ch.Op]
	switch status, _ := record["status"].(string); apitype.CallStatus(status) {
	case move.status:
	case apitype.CallRequested:
		return NotLanded
	default:
		return Conflict
	}
	equal, differ := compareSent(ch.Op, sent, record)
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

func judgeAction(ch Change, record map[string]any) Outcome {
	target, known := actionTargets[apitype.PledgeAction(lastSegment(ch.Path))]
	switch status, _ := record["status"].(string); {
	case !known:
		return Unknown
	case status == string(target):
		return Landed
	default:
		return NotLanded
	}
}

// decodeExact decodes JSON with every digit of its numbers.
func decodeExact(data []byte, into any) error {
	dec := json.NewDecoder(newReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}
