package apiclient

import (
	"net/http"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// deliveries returns a change of each kind that an answer is judged by.
func deliveries(t *testing.T) map[string]Change {
	t.Helper()
	id := apitype.NewUUID()
	made := func(change Change, err error) Change {
		servicetest.Check(t, err)
		return change
	}
	creation := made(CreatePersonChange(apitype.CreatePersonRequest{UUID: &id}))
	own := creation
	own.Generated = true
	update := made(UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")}))
	update.Seen = SeenOf(update, map[string]any{"iban": "B"})
	return map[string]Change{
		"creation":          creation,
		"creation, own id":  own,
		"update":            update,
		"attempt":           made(AddAttemptChange(id, apitype.AddAttemptRequest{})),
		"completion":        made(CompleteCallChange(id, apitype.CompleteCallRequest{})),
		"action":            PledgeActionChange(id, apitype.ActionCancel, apitype.PledgeActive),
		"deferral":          made(DeferCallChange(id, apitype.DeferRequest{})),
		"of a later client": {Op: "person.greet", UUID: id},
	}
}

// One rule for every change: the meaning of an answer depends on how far the change has come.
func TestDeliveryPhaseByAnswer(t *testing.T) {
	t.Parallel()
	failure := func(status int) Answer {
		return Answer{Err: (&Response{Status: status, Header: http.Header{}}).failure(servicetest.Start)}
	}
	offline := Answer{Err: &Error{Kind: KindUnavailable, Retryable: true}}
	broken := Answer{Err: &Error{Kind: KindUnavailable, Retryable: true, Sent: true}}
	unread := Answer{IsRead: true, Err: &Error{Kind: KindUnavailable}}
	forbidden := Answer{IsRead: true, Err: &Error{Kind: KindForbidden}}
	found := func(o Outcome) Answer { return Answer{IsRead: true, Outcome: o} }
	external := Answer{IsRead: true, Outcome: NotLanded, Response: &Response{
		Header: http.Header{},
		Body:   []byte(`{"externalMetadata":{"id":1}}`),
	}}
	moves := []string{"creation", "update", "attempt", "completion", "action"}
	all := []string{"creation", "update", "attempt", "completion", "action", "deferral", "of a later client"}
	adding := []string{"attempt", "action"}
	for _, test := range []struct {
		name    string
		changes []string
		from    Phase
		answer  Answer
		want    Verdict
		phase   Phase
		next    Request // Of VerdictNext.
	}{
		{"accepted", all, Fresh, Answer{}, VerdictAccepted, Fresh, 0},
		{"accepted in the end", all, Lost, Answer{}, VerdictAccepted, Lost, 0},
		{"not connected", all, Fresh, offline, VerdictWait, Fresh, 0},
		{"not connected, after a loss", all, Lost, offline, VerdictWait, Lost, 0},
		{"too many requests", all, Fresh, failure(429), VerdictWait, Fresh, 0},
		{"not logged in", all, Fresh, failure(401), VerdictWait, Fresh, 0},
		{"forbidden", all, Fresh, failure(403), VerdictRefused, Fresh, 0},
		{"invalid", all, Seen, failure(422), VerdictRefused, Seen, 0},
		{"lost", moves, Fresh, broken, VerdictNext, Lost, RequestRead},
		{"lost again", moves, Seen, broken, VerdictNext, Lost, RequestRead},
		{"lost, and may be repeated", []string{"deferral"}, Fresh, broken, VerdictRepeat, Lost, 0},
		{"a proxy gave up", moves, Fresh, failure(504), VerdictNext, Lost, RequestRead},
		{"the service failed", moves, Fresh, failure(500), VerdictNext, Sent, RequestRead},
		{"the service failed after a loss", moves, Lost, failure(503), VerdictNext, Sent, RequestRead},

		{
			name:    "a conflict of its own",
			changes: []string{"creation, own id", "completion"},
			from:    Fresh,
			answer:  failure(409),
			want:    VerdictNext,
			phase:   Fresh,
			next:    RequestRead,
		},
		{"a stale revision", []string{"update", "action"}, Fresh, failure(412), VerdictNext, Fresh, RequestRead},
		{
			name:    "a conflict",
			changes: []string{"creation", "update", "attempt", "deferral"},
			from:    Fresh,
			answer:  failure(409),
			want:    VerdictRefused,
			phase:   Fresh,
		},
		{"a conflict after a loss", moves, Lost, failure(409), VerdictNext, Lost, RequestRead},
		{"what may be repeated meets another value", []string{"deferral"}, Lost, failure(409), VerdictRefused, Lost, 0},

		{"the record shows it", moves, Lost, found(Landed), VerdictAccepted, Lost, 0},
		{"the record has another value", moves, Lost, found(Conflict), VerdictRefused, Lost, 0},
		{"the record cannot tell", moves, Lost, found(Unknown), VerdictUnsure, Lost, 0},
		{"no record to read", []string{"of a later client"}, Lost, found(Unknown), VerdictUnsure, Lost, 0},
		{
			name:    "the record does not show it",
			changes: []string{"creation", "update", "completion"},
			from:    Lost,
			answer:  found(NotLanded),
			want:    VerdictNext,
			phase:   Seen,
			next:    RequestSend,
		},
		{"a repeat would count twice", adding, Lost, found(NotLanded), VerdictUnsure, Lost, 0},
		{"nothing is in flight", adding, Sent, found(NotLanded), VerdictNext, Seen, RequestSend},
		{"a late move would replace a newer one", []string{"completion"}, Lost, external, VerdictUnsure, Lost, 0},
		{"no move is in flight", []string{"completion"}, Sent, external, VerdictNext, Seen, RequestSend},
		{"the record cannot be read", moves, Lost, unread, VerdictUnsure, Lost, 0},
		{"the account may not read", moves, Lost, forbidden, VerdictUnsure, Lost, 0},

		{
			name:    "compared, and as it was shown",
			changes: []string{"update", "action"},
			from:    Fresh,
			answer:  found(NotLanded),
			want:    VerdictNext,
			phase:   Fresh,
			next:    RequestSend,
		},
		{
			name:    "compared, and changed elsewhere",
			changes: []string{"update", "action"},
			from:    Fresh,
			answer:  found(Conflict),
			want:    VerdictRefused,
			phase:   Fresh,
		},
		{"compared with what cannot be read now", []string{"update", "action"}, Fresh, unread, VerdictWait, Fresh, 0},
		{
			name:    "compared with what may not be read",
			changes: []string{"update", "action"},
			from:    Fresh,
			answer:  forbidden,
			want:    VerdictNext,
			phase:   Fresh,
			next:    RequestSend,
		},
		{
			name:    "compared with what is not a record",
			changes: []string{"update", "action"},
			from:    Fresh,
			answer:  found(Unknown),
			want:    VerdictWait,
			phase:   Fresh,
		},
	} {
		for _, name := range test.changes {
			d := NewDelivery(deliveries(t)[name], test.from)
			d.CanWait = test.answer.Response != nil
			got := d.Got(test.answer)
			if got != test.want || d.Phase != test.phase || got == VerdictNext && d.Next() != test.next {
				t.Errorf("%s, %s: got verdict %d, phase %d and request %d, want %d, %d and %d",
					name, test.name, got, d.Phase, d.Next(), test.want, test.phase, test.next)
			}
			needsReason := got == VerdictWait || got == VerdictRefused
			if needsReason && d.Err() == nil {
				t.Errorf("%s, %s: got no reason", name, test.name)
			}
		}
	}
}

// A conflict is settled by the record: what an earlier attempt did, what another caller did, or a revision alone.
func TestDeliverySettlesConflicts(t *testing.T) {
	t.Parallel()
	conflict := func(status int) Answer {
		return Answer{Err: (&Response{Status: status, Header: http.Header{}}).failure(servicetest.Start)}
	}
	for _, test := range []struct {
		name   string
		change string
		from   Phase
		status int
		found  Outcome
		want   Verdict
	}{
		{"an own creation", "creation, own id", Fresh, 409, Landed, VerdictAccepted},
		{"an own completion", "completion", Fresh, 409, Landed, VerdictAccepted},
		{"a call that another ended", "completion", Fresh, 409, Conflict, VerdictRefused},
		{"a call that is open", "completion", Fresh, 409, NotLanded, VerdictRefused},
		{"a call that shows nothing", "completion", Fresh, 409, Unknown, VerdictRefused},
		{"the same after a loss", "completion", Lost, 409, Unknown, VerdictUnsure},
		{"the same, seen before", "completion", Seen, 409, Unknown, VerdictRefused},
		{"only the revision is newer", "update", Fresh, 412, NotLanded, VerdictRepeat},
		{"the value is newer", "update", Fresh, 412, Conflict, VerdictRefused},
	} {
		d := NewDelivery(deliveries(t)[test.change], test.from)
		d.next = RequestSend
		d.Got(conflict(test.status))
		if got := d.Got(Answer{IsRead: true, Outcome: test.found}); got != test.want {
			t.Errorf("%s: got verdict %d, want %d", test.name, got, test.want)
		}
		isRefused := test.want == VerdictRefused
		if isRefused && (d.Err() == nil || d.Err().Kind != KindConflict) {
			t.Errorf("%s: got %v, want a conflict", test.name, d.Err())
		}
	}
}
