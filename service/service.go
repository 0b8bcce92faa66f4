// Package service holds the rules of the Fundraising Data Service. A [Service] has
// one method for each operation of the interface. Each takes the [Caller] and returns the bytes of the answer.
//
// It must not know HTTP or SQL: records come from a [Store], which the caller of [New]
// brings, and refusals are an [*Error] with a kind.
//
//	s, err := service.New(ctx, service.Options{Store: store})
//	account, err := s.Authenticate(ctx, token)
//	answer, err := s.GetCall(ctx, service.Caller{Account: account}, id)
//	fmt.Println(string(answer.JSON), answer.Rev)
package service

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// Options configure a Service.
type Options struct {
	Store Store
	Now   func() time.Time // Nil means the system's clock.
	// AuditReads notes in the audit each account that is shown persons, one by one and in lists.
	AuditReads bool
	// TokenEnds is called once a day for each token in use that ends within 14 days. Nil reports none.
	TokenEnds func(account Account, at time.Time)
	// SignIn verifies the tokens of persons. Nil accepts only tokens of accounts.
	SignIn SignIn
}

// Service answers the operations of the interface. It is safe for concurrent use, and
// several processes may share one database.
type Service struct {
	store         Store
	clock         func() time.Time
	keys          keyReader
	auditReads    bool
	warnTokenEnds func(account Account, at time.Time)
	signIn        SignIn
	long          *Turns // Of long reads: one at a time leaves the other connections to short ones.
	floorRules    rulesCache
	tendedMinute  atomic.Int64 // When the queue was tended last, in milliseconds since 1970.
}

// New returns the service on a store whose schema is up to date.
func New(ctx context.Context, o Options) (*Service, error) {
	s := &Service{
		store:         o.Store,
		clock:         o.Now,
		auditReads:    o.AuditReads,
		warnTokenEnds: o.TokenEnds,
		signIn:        o.SignIn,
		keys:          newKeyReader(o.Store),
		long:          NewTurns(1),
	}
	if _, err := s.keys.latest(ctx); err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s, nil
}

// Answer is one record as it is sent.
type Answer struct {
	JSON []byte
	// Stream writes an answer that is not in memory. Nil if JSON has the answer.
	Stream func(ctx context.Context, w io.Writer) error
	Rev    int64 // The record's revision, its entity tag.
	IsSent bool  // The JSON is a SentRecord instead of the record.
	// Effect is the change of the person by a completion. Empty if there was none.
	Effect apitype.ResultEffect
	// Settled belongs to a list, which has all changes up to this time. Nil if unknown.
	Settled *apitype.Time
	Epoch   string // Of a list: a copy of another epoch begins again.
}

// Answered returns an answer with a value as JSON, or err.
func Answered[T any](value T, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	return Answer{JSON: text}, err
}

// Caller is the account that asks for an operation.
type Caller struct {
	Account
	// BaseURL is the address of the service for the caller, without a slash at the end. Signed links begin with it.
	BaseURL string
	// RequestID identifies the request in the answer and in the log. Empty if it has none.
	RequestID string
}

// Match are the revisions that an update or a move is meant for. Nil is any.
// Spec gap: R12.
type Match []int64

// check refuses when the record's revision is not among those named.
func (m Match) check(rev int64) error {
	if m == nil || slices.Contains(m, rev) {
		return nil
	}
	return &Error{Kind: PreconditionFailed, Detail: "the record was changed since it was read"}
}

// Ready reports whether the store answers, and its clock agrees with the clock of this process.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.keys.latest(ctx); err != nil {
		return err
	}
	ahead, err := s.store.ClockAhead(ctx)
	if err == nil && ahead.Abs() > clockMost {
		err = &Error{
			Kind:   Unavailable,
			Detail: "this computer's clock and the database's differ by " + ahead.Abs().Round(time.Second).String(),
		}
	}
	if err != nil {
		return err
	}
	return s.store.Ping(ctx)
}

// clockMost is the largest difference between the clocks of a serving process and of the database. Tokens and signed
// links depend on them.
const clockMost = 30 * time.Second

// Store returns the store of the records.
func (s *Service) Store() Store { return s.store }

// backupSetting holds when the last backup was made, in milliseconds.
const backupSetting = "backup_at"

// NoteBackup saves that a backup was made now.
func (s *Service) NoteBackup(ctx context.Context) error {
	return s.Write(ctx, WriteIsolated, "note the backup", func(tx Tx) error {
		return tx.SetSetting(backupSetting, strconv.FormatInt(s.TimeOf(tx).UnixMilli(), 10))
	})
}

// LastBackup returns the time of the last backup, or zero if there was none.
func (s *Service) LastBackup(ctx context.Context) (time.Time, error) {
	return View(ctx, s, "read when the last backup was made", func(r Reader) (at time.Time, err error) {
		text, err := r.Setting(backupSetting)
		if err != nil || text == "" {
			return at, err
		}
		milliseconds, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(milliseconds), err
	})
}

// Now returns the current time, truncated to milliseconds. A change takes its time from ChangeTime.
func (s *Service) Now() apitype.Time { return apitype.NewTime(s.clock()) }

// TimeOf returns the time by the store's clock in a transaction. Leases, rests, callbacks, tokens and retention go by
// it. A change may have waited long after the time of its request.
func (s *Service) TimeOf(tx Tx) apitype.Time { return apitype.NewTime(s.clock().Add(tx.ClockAhead())) }

// ChangeTime returns the time for a changed record: the time of the clock, or the highest time in the database if that
// is later. So a client that reads on from a time misses no change after a clock went back.
func (s *Service) ChangeTime(tx Tx) (apitype.Time, error) { return tx.GiveTime(s.TimeOf(tx)) }

// StoreTime returns the present time by the clock that all processes share.
func (s *Service) StoreTime(ctx context.Context) (apitype.Time, error) {
	ahead, err := s.store.ClockAhead(ctx)
	return apitype.NewTime(s.clock().Add(ahead)), described("read the clock", err)
}

// Settled returns a time up to which every change is visible, or nil if none is known.
func (s *Service) Settled(ctx context.Context) *apitype.Time {
	now, err := s.StoreTime(ctx)
	if err != nil {
		return nil
	}
	at, ok := s.store.Settled(ctx, now)
	if !ok {
		return nil
	}
	return &at
}

func chosenUUID(id *apitype.UUID) apitype.UUID {
	if id != nil {
		return *id
	}
	return apitype.NewUUID()
}

// Read runs read on the store. Its errors name the operation, unless they are refusals.
func (s *Service) Read(ctx context.Context, mode ReadMode, what string, read func(Reader) error) error {
	return described(what, s.store.Read(ctx, mode, read))
}

// ReadLong reads one state of the data when no other long read is under way.
func (s *Service) ReadLong(ctx context.Context, what string, read func(Reader) error) error {
	if err := s.long.Take(ctx); err != nil {
		return err
	}
	defer s.long.End(ctx)
	return s.Read(ctx, ReadSnapshot, what, read)
}

// View returns what read finds in one state of the data.
func View[T any](ctx context.Context, s *Service, what string, read func(Reader) (T, error)) (T, error) {
	var found T
	err := s.Read(ctx, ReadSnapshot, what, func(r Reader) (err error) {
		found, err = read(r)
		return err
	})
	return found, err
}

// Write runs change in one transaction; the rule runs inside it, so that what it
// checked still holds when it is saved.
func (s *Service) Write(ctx context.Context, mode WriteMode, what string, change func(Tx) error) error {
	return described(what, s.store.Write(ctx, mode, change))
}

// Request has the properties of the request in a context. The zero value means the program's own work.
type Request struct {
	// Trace is the trace of the request (W3C Trace Context, 32 hexadecimal digits). The store passes it to its server.
	// Empty if unknown.
	Trace string
	// Account is the account of the request, for Turns. Zero until it is known.
	Account apitype.UUID
	// Room waits until there is memory for a heavy answer, or returns ErrNoRoom. Nil sets no limit.
	Room func() error
	// Spent is how long the request has waited for the store, in nanoseconds: one deadline covers all its statements.
	// Nil gives each statement its own.
	Spent *atomic.Int64
}

// ErrNoRoom refuses what does not fit into the memory that answers may take; the caller may come again.
var ErrNoRoom = &Error{
	Kind:   Unavailable,
	Detail: "too much is being read from or sent to the account, or to all accounts",
}

type requestKey struct{}

// WithRequest returns a context with the properties of a request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the properties of the request in a context.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}
