package apitype

import "strings"

// EntityName is the kind of a record that can be marked as processed.
type EntityName string

// The kinds of records that can be marked.
const (
	EntityPerson      EntityName = "person"
	EntityPledge      EntityName = "pledge"
	EntityCall        EntityName = "call"
	EntityTransaction EntityName = "transaction"
)

// EntityNames lists the kinds of records that can be marked.
var EntityNames = []EntityName{EntityPerson, EntityPledge, EntityCall, EntityTransaction}

// ChunkEntries is the number of entries in one request of the client. Spec gap: E3.
const ChunkEntries = 500

// ProcessedEntry marks one entity as processed.
type ProcessedEntry struct {
	EntityName         EntityName `json:"entityName"`
	EntityUUID         UUID       `json:"entityUuid"`
	ProcessedAt        Time       `json:"processedAt"`
	ExternalSourceName *string    `json:"externalSourceName,omitzero"` // For accounts with several external sources.
	// The entity's identifier in the caller's system.
	ConsumerIdentifier *UUID `json:"consumerIdentifier,omitzero"`
}

// SetSource names the external source of an entry that names none; "" is not a name.
func (e *ProcessedEntry) SetSource(name string) {
	if e.ExternalSourceName == nil && name != "" {
		e.ExternalSourceName = &name
	}
}

// MarkProcessedRequest marks entities as processed.
// POST /api/v1/entity-access/actions/mark-processed (interface: Entity access)
type MarkProcessedRequest struct {
	Entries []ProcessedEntry `json:"entries"`
}

// UncheckedEntry is an entry as it came, before its values were looked at: a wrong one
// is reported on its own and does not make the request malformed. Spec gap: R1.
type UncheckedEntry struct {
	EntityName         *string `json:"entityName"`
	EntityUUID         *string `json:"entityUuid"`
	ProcessedAt        *string `json:"processedAt"`
	ExternalSourceName *string `json:"externalSourceName"`
	ConsumerIdentifier *string `json:"consumerIdentifier"`
}

// Check reads the entry. problem is empty if the entry is valid.
func (u UncheckedEntry) Check() (entry ProcessedEntry, problem string) {
	if u.EntityName == nil || u.EntityUUID == nil || u.ProcessedAt == nil {
		return entry, "entityName, entityUuid and processedAt are required"
	}
	var v Violations
	entry.EntityName = EntityName(*u.EntityName)
	requireEnum(&v, "/entityName", entry.EntityName, EntityNames)
	id, err := ParseUUID(*u.EntityUUID)
	if err != nil {
		v.Add("/entityUuid", "%s", err.Error())
	}
	entry.EntityUUID = id
	entry.ProcessedAt, err = ParseTime(*u.ProcessedAt)
	if err != nil {
		v.Add("/processedAt", "%s", err.Error())
	}
	entry.ExternalSourceName = u.ExternalSourceName
	optionalText(&v, "/externalSourceName", u.ExternalSourceName, maxText)
	if u.ConsumerIdentifier != nil {
		id, err := ParseUUID(*u.ConsumerIdentifier)
		if err != nil {
			v.Add("/consumerIdentifier", "%s", err.Error())
		}
		entry.ConsumerIdentifier = &id
	}
	if len(v) > 0 {
		return entry, v.Error()
	}
	return entry, ""
}

// Failure returns the entry in the form that answers have if it could not be marked.
func (u UncheckedEntry) Failure(message string) ProcessedError {
	failure := ProcessedError{ConsumerIdentifier: u.ConsumerIdentifier, ErrorMessage: message}
	if u.EntityName != nil {
		failure.EntityName = cutText(*u.EntityName)
	}
	if u.EntityUUID != nil {
		failure.EntityUUID = cutText(*u.EntityUUID)
		if id, err := ParseUUID(*u.EntityUUID); err == nil {
			failure.EntityUUID = id.String() // In lower case. Spec gap: R4
		}
	}
	return failure
}

// cutText returns the beginning of a text, as long as a field may be.
func cutText(text string) string {
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return text
}

// ProcessedErrors is the body of a refusal of some entries.
type ProcessedErrors struct {
	Errors []ProcessedError `json:"errors"`
}

// ProcessedError is the reason why one entry could not be marked. A malformed identifier is returned as it was sent.
type ProcessedError struct {
	EntityName         string  `json:"entityName"`
	EntityUUID         string  `json:"entityUuid"`
	ConsumerIdentifier *string `json:"consumerIdentifier,omitzero"` // Present when it was sent.
	ErrorMessage       string  `json:"errorMessage"`
}

// Names reports whether the refusal names an entry. A member that it leaves out matches any.
func (e ProcessedError) Names(entry ProcessedEntry) bool {
	consumer := e.ConsumerIdentifier
	return strings.EqualFold(entry.EntityUUID.String(), e.EntityUUID) &&
		(e.EntityName == "" || string(entry.EntityName) == e.EntityName) &&
		(consumer == nil || entry.ConsumerIdentifier != nil &&
			strings.EqualFold(entry.ConsumerIdentifier.String(), *consumer))
}
