package apiclient

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
)

// The operations that change something, as the outbox names them.
const (
	OpCreatePerson    = "person.create"
	OpUpdatePerson    = "person.update"
	OpCreateCall      = "call.create"
	OpAddAttempt      = "call.attempt"
	OpCompleteCall    = "call.complete"
	OpCancelCall      = "call.cancel"
	OpExpireCall      = "call.expire"
	OpCreatePledge    = "pledge.create"
	OpUpdatePledge    = "pledge.update"
	OpPledgeAction    = "pledge.action"
	OpMarkProcessed   = "processed.mark"
	OpDeferCall       = "call.later" // This one and the next ones are extensions.
	OpLeaveNote       = "call.note"
	OpAddConsent      = "person.consent"
	OpPutChecks       = "call.checks"
	OpDescribeAttempt = "call.describe-attempt"
	OpReleaseLease    = "lease.release"
	OpReleaseUser     = "user.release"
	OpSetUserState    = "user.state"
	OpSetMessage      = "message.set"
	OpSetSettings     = "settings.set"
)

// Operation is one way to change something: how it is sent, and what is known of it when
// its answer was lost.
type Operation struct {
	Name   string // One of the constants.
	Label  string // In the form of a person's record.
	Method string
	Path   string // {uuid} is the record, {action} a status action, {attemptAt} a time.

	Creates    bool                 // The record is a new one.
	Repeatable bool                 // Sent again it changes nothing, whatever became of it.
	AddsUp     bool                 // The service may take a repeat for another change.
	Moves      apitype.CallStatus   // The state that the call is in afterwards.
	hidden     []string             // Fields of the request that no answer shows.
	descends   bool                 // Answers show the external metadata field by field.
	settle     func(*judge) Outcome // Nil if there is no record to read.
	extension  string               // The extension that it belongs to. Empty for the interface.
	list       string               // The path of the list that shows the outcome. Empty reads the record.
}

// operations has a row for each operation.
var operations = sync.OnceValue(func() []Operation {
	const (
		persons = personsPath + "/{uuid}/actions/"
		calls   = callsPath + "/{uuid}/actions/"
		pledges = pledgesPath + "/{uuid}/actions/"
	)
	return []Operation{
		{
			Name:    OpCreatePerson,
			Label:   "new person",
			Method:  http.MethodPost,
			Path:    personsPath,
			Creates: true,
			settle:  (*judge).creation,
		},
		{
			Name:   OpUpdatePerson,
			Label:  "change of a person",
			Method: http.MethodPut,
			Path:   persons + "update",
			settle: (*judge).update,
		},
		{
			Name:     OpCreateCall,
			Label:    "new call",
			Method:   http.MethodPost,
			Path:     callsPath,
			Creates:  true,
			descends: true,
			settle:   (*judge).creation,
		},
		{
			Name:   OpAddAttempt,
			Label:  "attempt",
			Method: http.MethodPut,
			Path:   calls + "add-attempt",
			AddsUp: true,
			settle: (*judge).attempt,
		},
		{
			Name:   OpCompleteCall,
			Label:  "completion",
			Method: http.MethodPut,
			Path:   calls + "complete",
			Moves:  apitype.CallCompleted,
			hidden: []string{"userUuid"},
			settle: (*judge).move,
		},
		{
			Name:   OpCancelCall,
			Label:  "cancellation",
			Method: http.MethodPut,
			Path:   calls + "cancel",
			Moves:  apitype.CallCancelled,
			settle: (*judge).move,
		},
		{
			Name:   OpExpireCall,
			Label:  "expiry",
			Method: http.MethodPut,
			Path:   calls + "expire",
			Moves:  apitype.CallExpired,
			settle: (*judge).move,
		},
		{
			Name:    OpCreatePledge,
			Label:   "new pledge",
			Method:  http.MethodPost,
			Path:    pledgesPath,
			Creates: true,
			settle:  (*judge).creation,
		},
		{
			Name:   OpUpdatePledge,
			Label:  "change of a pledge",
			Method: http.MethodPut,
			Path:   pledges + "update",
			settle: (*judge).update,
		},
		{
			Name:   OpPledgeAction,
			Label:  "status action",
			Method: http.MethodPut,
			Path:   pledges + "{action}",
			AddsUp: true,
			settle: (*judge).action,
		},
		{
			Name:       OpMarkProcessed,
			Label:      "processed mark",
			Method:     http.MethodPost,
			Path:       "/api/v1/entity-access/actions/mark-processed",
			Repeatable: true,
		},
		{
			Name:       OpDeferCall,
			Label:      "call back later",
			Method:     http.MethodPut,
			Path:       queuePath + "/calls/{uuid}/later",
			Repeatable: true,
			extension:  apitype.ExtensionQueue,
		},
		{
			Name:       OpLeaveNote,
			Label:      "note for the next agent",
			Method:     http.MethodPost,
			Path:       queuePath + "/calls/{uuid}/notes",
			Repeatable: true,
			extension:  apitype.ExtensionQueue,
		},
		{
			Name:       OpAddConsent,
			Label:      "consent",
			Method:     http.MethodPost,
			Path:       extensionsPath + "/persons/{uuid}/consents",
			Repeatable: true,
			extension:  apitype.ExtensionConsents,
		},
		{
			Name:       OpPutChecks,
			Label:      "checks of a call",
			Method:     http.MethodPut,
			Path:       extensionsPath + "/calls/{uuid}/checks",
			Repeatable: true,
			extension:  apitype.ExtensionChecks,
		},
		{
			Name:       OpDescribeAttempt,
			Label:      "reason of an attempt",
			Method:     http.MethodPut,
			Path:       extensionsPath + "/calls/{uuid}/attempts/{attemptAt}",
			Repeatable: true,
			extension:  apitype.ExtensionAttempts,
		},
		{
			Name:       OpReleaseLease,
			Label:      "release of a lease",
			Method:     http.MethodPost,
			Path:       queuePath + "/leases/{uuid}/release",
			Repeatable: true,
			extension:  apitype.ExtensionQueue,
		},
		{
			Name:       OpReleaseUser,
			Label:      "release of all leases",
			Method:     http.MethodPost,
			Path:       queuePath + "/release",
			Repeatable: true,
			extension:  apitype.ExtensionQueue,
		},
		{
			Name:       OpSetUserState,
			Label:      "state of a user",
			Method:     http.MethodPut,
			Path:       queuePath + "/users/{uuid}/state",
			Repeatable: true,
			extension:  apitype.ExtensionUserState,
		},
		{
			Name:       OpSetMessage,
			Label:      "message to all desks",
			Method:     http.MethodPut,
			Path:       queuePath + "/message",
			Repeatable: true,
			extension:  apitype.ExtensionMessage,
		},
		{
			Name:      OpSetSettings,
			Label:     "settings",
			Method:    http.MethodPut,
			Path:      settingsPath + "/{uuid}",
			settle:    (*judge).settings,
			extension: apitype.ExtensionSettings,
			list:      settingsPath,
		},
	}
})

// OperationOf returns the operation of a name. An unknown one, which another version may have put into the outbox, has
// only its name.
func OperationOf(name string) Operation {
	all := operations()
	if i := slices.IndexFunc(all, func(o Operation) bool { return o.Name == name }); i >= 0 {
		return all[i]
	}
	return Operation{Name: name, Label: name, AddsUp: true}
}

// Noun returns the kind of record that the operation changes: person, call, pledge or processed.
func (o Operation) Noun() string {
	before, _, _ := strings.Cut(o.Name, ".")
	return before
}

// updates reports whether the operation changes fields of a record, and nothing else.
func (o Operation) updates() bool { return strings.HasSuffix(o.Path, "/update") }

// compares reports whether the record is read and compared before the change is sent. An update may overwrite a value
// only if the change was made against it.
func (o Operation) compares() bool { return o.updates() || o.Name == OpPledgeAction }

// reading returns the request for the outcome of a change of a record. ok is false if there is none.
func (o Operation) reading(id apitype.UUID) (r request, ok bool) {
	if o.settle == nil {
		return request{}, false
	}
	if o.list != "" {
		return request{method: http.MethodGet, path: o.list, isPage: true}, true
	}
	path, _, _ := strings.Cut(o.Path, "/{uuid}")
	return request{method: http.MethodGet, path: path + "/" + id.String()}, true
}

// checkReading checks the answer to reading.
func (o Operation) checkReading(answer *Response, id apitype.UUID) error {
	if o.list != "" {
		return checkObject(answer)
	}
	return checkRecord(answer, id)
}

// Change is one change as it is sent: the exact bytes, and what is needed to recognise
// it at the service when its answer was lost.
type Change struct {
	Op     string       `json:"op"`
	UUID   apitype.UUID `json:"uuid"` // The changed or created record. Zero for processed.mark.
	Method string       `json:"method"`
	Path   string       `json:"path"`
	Body   []byte       `json:"body"` // Nil without a body.
	// Seen has the shown values of an update's fields, made by [SeenOf], if they are known. The update never
	// overwrites other values.
	Seen json.RawMessage `json:"seen,omitzero"`
	// From is the pledge's status that was shown when a status action was chosen. "" takes the status of the
	// first reading.
	From apitype.PledgeStatus `json:"from,omitzero"`
	// Claimed are the bodies of other attempts that this record is known to show.
	Claimed []json.RawMessage `json:"-"`
	// Revision is the ETag of the last reading of the record. "" matches any.
	Revision string `json:"revision,omitzero"`
	// Generated is set if the client chose the new record's UUID. A record with that UUID is then ours, even
	// if it was edited since.
	Generated bool `json:"generated,omitzero"`
	// LeaseFor is the user for whom the service leases a new call in the same transaction. Zero leases nothing. It is
	// not kept on disk: a call that is created later is not opened by its agent.
	LeaseFor apitype.UUID `json:"-"`
}

// Operation returns the operation of the change.
func (ch Change) Operation() Operation { return OperationOf(ch.Op) }

// newChange writes a change of a record; a nil request has no body.
func newChange(op string, id apitype.UUID, request any) (Change, error) {
	o := OperationOf(op)
	ch := Change{
		Op:     op,
		UUID:   id,
		Method: o.Method,
		Path:   strings.Replace(o.Path, "{uuid}", id.String(), 1),
	}
	if request == nil {
		return ch, nil
	}
	var err error
	ch.Body, err = json.Marshal(request)
	if err != nil {
		return Change{}, &Error{
			Kind:    KindUsage,
			Message: "the request cannot be written as JSON: " + err.Error(),
			Err:     err,
		}
	}
	return ch, nil
}

// newCreation writes the body of a creation; a missing uuid is chosen here, so that
// the creation can be repeated.
func newCreation[R any](op string, id **apitype.UUID, request *R) (Change, error) {
	generated := *id == nil
	if generated {
		*id = new(apitype.NewUUID())
	}
	change, err := newChange(op, **id, request)
	change.Generated = generated
	return change, err
}
