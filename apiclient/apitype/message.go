package apitype

import (
	"strings"
	"unicode"
)

// ExtensionMessage announces the line that a supervisor sends to all desks.
const ExtensionMessage = "message"

// MaxMessage is the longest message to all desks, in characters.
const MaxMessage = 200

// QueueMessage is the line of an organization to all desks.
type QueueMessage struct {
	OrganizationUUID UUID   `json:"organizationUuid"`
	Text             string `json:"text"`
	At               Time   `json:"at"`
	UserUUID         *UUID  `json:"userUuid"` // The user who sent it. Nil if unknown.
}

// QueueMessages are the lines of the organizations in the account's scope, one of each at most.
// GET /fundesk/v1/queue/message
type QueueMessages struct {
	Messages []QueueMessage `json:"messages"`
}

// QueueMessageRequest replaces the line of an organization. An empty text ends it.
// PUT /fundesk/v1/queue/message
type QueueMessageRequest struct {
	OrganizationUUID UUID   `json:"organizationUuid"`
	Text             string `json:"text"`
	UserUUID         *UUID  `json:"userUuid,omitzero"`
}

// requireLine checks a text of one line.
func requireLine(v *Violations, pointer, text string, limit int) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		v.Add(pointer, "must be one line without control characters")
		return
	}
	requireText(v, pointer, text, limit)
}

// Validate checks the values.
func (r *QueueMessageRequest) Validate() Violations {
	var v Violations
	requireUUID(&v, "/organizationUuid", r.OrganizationUUID)
	if r.Text != "" {
		requireLine(&v, "/text", r.Text, MaxMessage)
	}
	return v
}
