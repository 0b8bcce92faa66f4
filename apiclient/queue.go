package apiclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// The paths of the extensions, which a service of the interface need not have.
const (
	extensionsPath = "/fundesk/v1"
	queuePath      = extensionsPath + "/queue"
)

// QueueService takes calls for users if the service has a queue, which is an extension of the interface. Every request
// of it may be repeated, and is repeated after a lost answer. Without a queue its errors are of kind rejected.
type QueueService struct {
	// Calls returns the waiting calls, in the order of takes. GET /fundesk/v1/queue/calls
	Calls *Collection[apitype.Call, apitype.QueueCallListOptions]
	// Deferrals are the callbacks, the earliest first.
	// GET /fundesk/v1/queue/deferrals
	Deferrals *Collection[apitype.Deferral, apitype.QueueDeferralListOptions]

	client *Client
}

// Take leases the next calls for a user. The leases of a request are given again for its
// requestUuid, so that none is lost with an answer.
// POST /fundesk/v1/queue/take
func (s *QueueService) Take(ctx context.Context, r apitype.TakeRequest) (Record[apitype.Taken], error) {
	return ask[apitype.Taken](ctx, s, http.MethodPost, "/take", nil, r)
}

// LeaseHeldError is the cause of an Error where another user holds the person of a call.
type LeaseHeldError struct{ Holder apitype.LeaseHolder }

// Error names the user that holds the person, and the end of the lease.
func (e *LeaseHeldError) Error() string {
	name := "user " + e.Holder.UserUUID.String()
	if e.Holder.Name != nil {
		name = *e.Holder.Name
	}
	return name + " holds the person since " + e.Holder.TakenAt.String() + ", until " + e.Holder.ExpiresAt.String()
}

// Lease leases a call that a user chose. Where another user holds its person, the error's chain has a
// *LeaseHeldError.
// PUT /fundesk/v1/queue/calls/{callUuid}/lease
func (s *QueueService) Lease(
	ctx context.Context,
	call apitype.UUID,
	r apitype.LeaseRequest,
) (Record[apitype.Lease], error) {
	return ask[apitype.Lease](ctx, s, http.MethodPut, "/calls/"+call.String()+"/lease", nil, r)
}

// ReleaseUser gives back all that a user holds.
// POST /fundesk/v1/queue/release
func (s *QueueService) ReleaseUser(
	ctx context.Context,
	r apitype.ReleaseUserRequest,
) (Record[apitype.ReleasedUser], error) {
	return change[apitype.ReleasedUser](ctx, s, OpReleaseUser, apitype.UUID{}, r)
}

// Extend extends a lease from now on. An ended one is not found.
// POST /fundesk/v1/queue/leases/{leaseUuid}/extend
func (s *QueueService) Extend(
	ctx context.Context,
	lease apitype.UUID,
	r apitype.ExtendRequest,
) (Record[apitype.Lease], error) {
	return ask[apitype.Lease](ctx, s, http.MethodPost, "/leases/"+lease.String()+"/extend", nil, r)
}

// Release gives a call back, to its place or to a later time. A lease that has ended is no
// error.
// POST /fundesk/v1/queue/leases/{leaseUuid}/release
func (s *QueueService) Release(ctx context.Context, lease apitype.UUID, r apitype.DeferRequest) error {
	_, err := change[any](ctx, s, OpReleaseLease, lease, r)
	return err
}

// Later defers a call without a lease.
// PUT /fundesk/v1/queue/calls/{callUuid}/later
func (s *QueueService) Later(ctx context.Context, call apitype.UUID, r apitype.DeferRequest) error {
	_, err := change[any](ctx, s, OpDeferCall, call, r)
	return err
}

// DeferCallChange returns the change that defers a call. It ends the lease of the call if the request names it.
// PUT /fundesk/v1/queue/calls/{callUuid}/later
func DeferCallChange(call apitype.UUID, r apitype.DeferRequest) (Change, error) {
	return newChange(OpDeferCall, call, r)
}

// LeaveNoteChange returns the change that adds a note for the next agent of a call.
// POST /fundesk/v1/queue/calls/{callUuid}/notes
func LeaveNoteChange(call apitype.UUID, r apitype.NoteRequest) (Change, error) {
	return newChange(OpLeaveNote, call, r)
}

// State counts what waits.
// GET /fundesk/v1/queue
func (s *QueueService) State(ctx context.Context, o apitype.QueueOptions) (Record[apitype.QueueState], error) {
	return ask[apitype.QueueState](ctx, s, http.MethodGet, "", o.Query(), nil)
}

// Leases returns live leases in the account's scope, without calls. The zero options list the leases of all users.
// Other options need a service that announces pending.
// GET /fundesk/v1/queue/leases
func (s *QueueService) Leases(ctx context.Context, o apitype.QueueLeaseListOptions) (Record[apitype.Leases], error) {
	return ask[apitype.Leases](ctx, s, http.MethodGet, "/leases", o.Query(), nil)
}

// Agents returns what users do now, and their work.
// GET /fundesk/v1/queue/agents
func (s *QueueService) Agents(ctx context.Context, o apitype.QueueAgentsOptions) (Record[apitype.QueueAgents], error) {
	return ask[apitype.QueueAgents](ctx, s, http.MethodGet, "/agents", o.Query(), nil)
}

// Work returns the operations of a user, the newest first. Needs a service that announces attempts.
// GET /fundesk/v1/queue/agents/{userUuid}/work
func (s *QueueService) Work(
	ctx context.Context,
	user apitype.UUID,
	o apitype.AgentWorkOptions,
) (Record[apitype.AgentWork], error) {
	if err := s.client.required(ctx, apitype.ExtensionAttempts, apitype.ExtensionAttempts); err != nil {
		return Record[apitype.AgentWork]{}, err
	}
	return ask[apitype.AgentWork](ctx, s, http.MethodGet, "/agents/"+user.String()+"/work", o.Query(), nil)
}

// SetState sets whether a user takes calls. A pause releases the leases of the user, except pending ones. It needs the
// extension user-state.
// PUT /fundesk/v1/queue/users/{uuid}/state
func (s *QueueService) SetState(
	ctx context.Context,
	user apitype.UUID,
	request apitype.UserStateRequest,
) (Record[apitype.UserState], error) {
	return change[apitype.UserState](ctx, s, OpSetUserState, user, request)
}

// Messages returns the lines of the supervisors to all desks. Needs a service that announces message.
// GET /fundesk/v1/queue/message
func (s *QueueService) Messages(ctx context.Context) (Record[apitype.QueueMessages], error) {
	if err := s.client.required(ctx, apitype.ExtensionMessage, apitype.ExtensionMessage); err != nil {
		return Record[apitype.QueueMessages]{}, err
	}
	return ask[apitype.QueueMessages](ctx, s, http.MethodGet, "/message", nil, nil)
}

// SetMessage replaces the line of an organization to all desks, and returns all lines. An empty text ends it. Needs a
// service that announces message.
// PUT /fundesk/v1/queue/message
func (s *QueueService) SetMessage(
	ctx context.Context,
	request apitype.QueueMessageRequest,
) (Record[apitype.QueueMessages], error) {
	return change[apitype.QueueMessages](ctx, s, OpSetMessage, apitype.UUID{}, request)
}

// ask sends a request of the queue that lasts only as long as a lease, until it is answered. body may be nil.
func ask[T any](
	ctx context.Context,
	s *QueueService,
	method, path string,
	query url.Values,
	body any,
) (Record[T], error) {
	if err := s.required(ctx); err != nil {
		return Record[T]{}, err
	}
	send := request{method: method, path: queuePath + path, query: query}
	var err error
	if body != nil {
		send.body, err = json.Marshal(body)
		if err != nil {
			return Record[T]{}, &Error{Kind: KindUsage, Message: "the request cannot be written", Err: err}
		}
	}
	answer, err := s.client.repeat(ctx, send)
	if refused := asError(err); refused != nil {
		refused.nameHolder()
	}
	if err != nil || answer.Status == http.StatusNoContent {
		return Record[T]{}, err
	}
	return record[T](s.client, answer), checkObject(answer)
}

// change sends a change of the queue that lasts. If no answer comes, its outcome is unknown.
func change[T any](
	ctx context.Context,
	s *QueueService,
	op string,
	id apitype.UUID,
	request any,
) (Record[T], error) {
	var r Record[T]
	ch, err := newChange(op, id, request)
	if err != nil {
		return r, err
	}
	answer, err := s.client.Send(ctx, ch)
	if err != nil {
		return r, err
	}
	return record[T](s.client, answer), nil
}

// nameHolder adds the user that holds the person to a conflict.
func (e *Error) nameHolder() {
	var problem apitype.Problem
	if e.Status != http.StatusConflict || json.Unmarshal(e.body, &problem) != nil || problem.Lease == nil {
		return
	}
	e.Err = &LeaseHeldError{*problem.Lease}
	e.Message += ": " + e.Err.Error()
}

func (s *QueueService) required(ctx context.Context) error {
	return s.client.required(ctx, apitype.ExtensionQueue, "queue")
}

// required refuses a service without an extension.
func (c *Client) required(ctx context.Context, extension, what string) error {
	has, err := c.Has(ctx, extension)
	if err != nil || has {
		return err
	}
	return &Error{
		Kind:    KindRejected,
		Message: "the service has no " + what,
		Err:     &MissingExtensionError{Name: extension},
	}
}

// MissingExtensionError is the cause of an Error if the service does not announce an extension.
type MissingExtensionError struct{ Name string }

// Error names the extension.
func (e *MissingExtensionError) Error() string { return "the service does not announce " + e.Name }

// noteExtensions stores the extensions that an answer announces.
func (c *Client) noteExtensions(h http.Header) {
	if names := h.Get(apitype.ExtensionsHeader); names != "" {
		c.extensions.Store(new(strings.Split(strings.ReplaceAll(names, " ", ""), ",")))
	}
}

// Has reports whether the service has an extension. It asks once, unless an answer has shown it already. An error
// means that it is unknown.
func (c *Client) Has(ctx context.Context, extension string) (bool, error) {
	if known := c.extensions.Load(); known != nil {
		return slices.Contains(*known, extension), nil
	}
	answer, err := c.read(ctx, request{path: extensionsPath})
	failed := asError(err)
	if failed != nil && failed.Kind == KindUnavailable && !failed.Retryable {
		// By the service, or something before it? A list is always there.
		answer, err = c.read(ctx, request{path: callsPath, query: url.Values{"first": {"1"}}, isPage: true})
	}
	var said apitype.Extensions
	unknown := []Kind{KindUnavailable, KindUnauthenticated, KindInterrupted, KindUsage}
	switch failed := asError(err); {
	case failed == nil && json.Unmarshal(answer.Body, &said) == nil:
		c.person.Store(said.User)
	case failed != nil && slices.Contains(unknown, failed.Kind):
		return false, err
	default: // Not found, or another answer of a service to an unknown path.
		said.Extensions = nil
	}
	c.extensions.CompareAndSwap(nil, &said.Extensions)
	return slices.Contains(*c.extensions.Load(), extension), nil
}

// Announces reports whether an answer has named an extension. It asks for none.
func (c *Client) Announces(extension string) bool {
	known := c.extensions.Load()
	return known != nil && slices.Contains(*known, extension)
}

// SignedIn returns the person behind the token, or nil for the account of a program.
// GET /fundesk/v1
func (c *Client) SignedIn(ctx context.Context) (*apitype.UserName, error) {
	answer, err := c.read(ctx, request{path: extensionsPath})
	if err != nil {
		return nil, err
	}
	var said apitype.Extensions
	err = json.Unmarshal(answer.Body, &said)
	if err != nil {
		return nil, broken(answer, "the extensions cannot be read")
	}
	c.person.Store(said.User)
	return said.User, nil
}

// KnownPerson returns the person behind the token if an answer has named one, or nil. It asks for none.
func (c *Client) KnownPerson() *apitype.UserName { return c.person.Load() }
