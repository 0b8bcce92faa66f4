package servicetest

import (
	"net/http"
	"strings"

	"fundesk/apiclient/apitype"
)

// Change is one changing operation on the records of LoadForChanges, as it is sent.
type Change struct {
	Op     string // The client's name of the operation.
	UUID   apitype.UUID
	Method string
	Path   string
	Body   string

	// RepeatsAddUp means that the service cannot recognise a second delivery. Spec gap: C4.
	RepeatsAddUp bool

	shows string // Path of the record that shows the effect. Empty if no record does.
	field string
	want  any // Nil counts the elements of the field.
}

// Changes loads a person, a pledge and a call, and returns every changing operation on them.
// Each operation needs records of its own: call Changes once for each.
func (h *Harness) Changes(owner apitype.UUID) []Change {
	h.t.Helper()
	person, call, pledge := h.LoadForChanges(owner)
	created := apitype.NewUUID()
	names := strings.NewReplacer(
		"$PERSON",
		person.String(),
		"$CALL",
		call.String(),
		"$PLEDGE",
		pledge.String(),
		"$NEW",
		created.String(),
		"$AT",
		"2026-11-20T09:00:00.000Z",
		"$OWNED",
		`"uuid":"`+created.String()+`","owningOrganizationUuid":"`+owner.String()+
			`","recruitingOrganizationUuid":"`+owner.String()+`"`,
	)
	const (
		calls   = "/api/v1/calls/$CALL"
		pledges = "/api/v1/pledges/$PLEDGE"
		persons = "/api/v1/persons/$PERSON"
	)
	put, post := http.MethodPut, http.MethodPost
	changes := []Change{
		{
			Op:     "person.create",
			UUID:   created,
			Method: post,
			Path:   "/api/v1/persons",
			Body:   `{$OWNED,"email":"new@example.org"}`,
			shows:  "/api/v1/persons/$NEW",
			field:  "email",
			want:   "new@example.org",
		},
		{
			Op:     "person.update",
			UUID:   person,
			Method: put,
			Path:   persons + "/actions/update",
			Body:   `{"email":"changed@example.org"}`,
			shows:  persons,
			field:  "email",
			want:   "changed@example.org",
		},
		{
			Op:     "call.create",
			UUID:   created,
			Method: post,
			Path:   "/api/v1/calls",
			Body:   `{"uuid":"$NEW","requestedAt":"$AT","personUuid":"$PERSON","type":"winback"}`,
			shows:  "/api/v1/calls/$NEW",
			field:  "type",
			want:   "winback",
		},
		{
			Op:           "call.attempt",
			UUID:         call,
			Method:       put,
			Path:         calls + "/actions/add-attempt",
			Body:         `{"attemptAt":"$AT"}`,
			shows:        calls,
			field:        "attempts",
			RepeatsAddUp: true,
		},
		{
			Op:     "call.complete",
			UUID:   call,
			Method: put,
			Path:   calls + "/actions/complete",
			Body:   `{"result":{"completedAt":"$AT","resultCode":"reached"}}`,
			shows:  calls,
			field:  "status",
			want:   "completed",
		},
		{
			Op:     "call.cancel",
			UUID:   call,
			Method: put,
			Path:   calls + "/actions/cancel",
			Body:   `{"cancelledAt":"$AT"}`,
			shows:  calls,
			field:  "status",
			want:   "cancelled",
		},
		{
			Op:     "call.expire",
			UUID:   call,
			Method: put,
			Path:   calls + "/actions/expire",
			Body:   `{"expiredAt":"$AT"}`,
			shows:  calls,
			field:  "status",
			want:   "expired",
		},
		{
			Op:     "pledge.create",
			UUID:   created,
			Method: post,
			Path:   "/api/v1/pledges",
			Body: `{$OWNED,"personUuid":"$PERSON","createdAt":"$AT","initialDonationInterval":"monthly",` +
				`"initialDonationAmount":7,"recruiterUserUuid":"$PERSON","startsAt":"$AT"}`,
			shows: "/api/v1/pledges/$NEW",
			field: "donationInterval",
			want:  "monthly",
		},
		{
			Op:     "pledge.update",
			UUID:   pledge,
			Method: put,
			Path:   pledges + "/actions/update",
			Body:   `{"donationAmount":43.21}`,
			shows:  pledges,
			field:  "donationAmount",
			want:   43.21,
		},
		{
			Op:     "pledge.action",
			UUID:   pledge,
			Method: put,
			Path:   pledges + "/actions/cancel",
			shows:  pledges,
			field:  "status",
			want:   "cancelled",
		},
		{
			Op:     "processed.mark",
			Method: post,
			Path:   "/api/v1/entity-access/actions/mark-processed",
			Body:   `{"entries":[{"entityName":"call","entityUuid":"$CALL","processedAt":"$AT"}]}`,
		},
	}
	for i := range changes {
		c := &changes[i]
		c.Path, c.Body, c.shows = names.Replace(c.Path), names.Replace(names.Replace(c.Body)), names.Replace(c.shows)
	}
	return changes
}

// Effects returns how often the change shows at the service.
// Marks do not show, and may be repeated: they count once if the service has accepted one.
func (h *Harness) Effects(token string, c Change, behind *Faulty) int {
	h.t.Helper()
	if c.shows == "" {
		return min(behind.Applied(), 1) // Each mark replaces the one before.
	}
	answer := h.Do(token, http.MethodGet, c.shows, "")
	if answer.Status != http.StatusOK {
		return 0
	}
	value := answer.Object()[c.field]
	if list, isList := value.([]any); isList && c.want == nil {
		return len(list)
	}
	if value != c.want {
		return 0
	}
	return 1
}
