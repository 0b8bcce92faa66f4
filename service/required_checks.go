package service

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// The settings of an organization may require checks for a type of call. No call is refused for a missing check,
// because the interface does not know them. It is marked instead, and lists of marks return the calls with their
// missing checks. Spec gap: S82.

// MissingChecks is the mark of a call that was completed without checks which its organization requires.
type MissingChecks struct {
	Call        apitype.UUID
	Person      apitype.UUID // Of a new row.
	Owner       apitype.UUID
	CompletedAt apitype.Time
	User        *apitype.UUID // The user of the completion. Nil if unknown.
	Names       string        // Of the missing checks, with spaces between them.
}

func (m MissingChecks) position() Position { return Position{At: m.CompletedAt, UUID: m.Call} }

// Size returns how many bytes the mark has in a page, about.
func (m MissingChecks) Size() int { return 200 + len(m.Names) }

// requiredChecks returns the checks that the organization of a call requires of its type.
func requiredChecks(r Reader, row *CallRow, call *apitype.Call) ([]string, error) {
	settings, err := r.OrganizationSettings(Scope{Organizations: []apitype.UUID{row.Owner}})
	if err != nil || len(settings) == 0 {
		return nil, err
	}
	return settings[0].RequiredChecks[call.Type], nil
}

// markMissing sets or removes the mark of a call according to its checks. A call that is not completed has no mark.
func markMissing(tx Tx, row CallRow, call apitype.Call) error {
	var private callPrivate
	if err := decode("call", row.Private, &private); err != nil {
		return err
	}
	var checks apitype.CallChecks
	if private.Checks != nil {
		checks = *private.Checks
	}
	missing := checks.Missing(private.RequiredChecks)
	mark := MissingChecks{
		Call:   row.UUID,
		Person: call.PersonUUID,
		Owner:  row.Owner,
		User:   private.CompletedBy,
		Names:  strings.Join(missing, " "),
	}
	if call.CompletedAt == nil || len(missing) == 0 {
		return tx.DeleteMissingChecks(row.UUID)
	}
	mark.CompletedAt = *call.CompletedAt
	return tx.SetMissingChecks(mark)
}

// ListMissingChecks returns a page of the calls that were completed without required checks, the last completion first.
// GET /fundesk/v1/calls/missing-checks
func (s *Service) ListMissingChecks(ctx context.Context, c Caller, o apitype.MissingChecksOptions) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	return answerList(ctx, s, c, listing[MissingChecks]{
		what:   "list missing checks",
		kind:   missingCursor,
		paging: o.Paging,
		rows:   func(r Reader, part Range) ([]MissingChecks, error) { return r.MissingChecks(c.Scope, part) },
		size:   MissingChecks.Size,
		node: func(dst []byte, m MissingChecks) []byte {
			node, _ := json.Marshal(apitype.MissingChecks{ // It holds nothing that cannot be written.
				CallUUID:    m.Call,
				CompletedAt: m.CompletedAt,
				UserUUID:    m.User,
				Missing:     strings.Fields(m.Names),
			}, json.Deterministic(true))
			return append(dst, node...)
		},
	})
}
