// Package service is the Fundraising Data Service: its rules, and nothing of how it
// is reached or where it is kept. A [Service] has one method for each operation of the
// interface; each takes the [Caller] that asks and returns the bytes to answer with.
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
	Now   func() time.Time // Nil: the system's clock.
	// AuditReads notes in the audit each account that is shown persons, one by one and in lists.
	AuditReads bool
	// TokenEnds is told once a day of each token in use that ends within 14 days; it may be nil.
	TokenEnds func(account Account, at time.Time)
}

// Service answers the operations of the interface. It is safe for concurrent use, and
// several processes may share one database.
type Service struct {
	store         Store
	clock         func() time.Time
	keys          keyReader
	auditReads    bool
	warnTokenEnds func(account Account, at time.Time)
	long          *Turns // Of long reads: one at a time leaves the other connections to short ones.
	floorRules    rulesCache
	forgets       atomic.Int64 // When what is old of the queue is deleted next, in milliseconds since 1970.
}

// New is the service on a store whose schema is up to date.
func New(ctx context.Context, o Options) (*Service, error) {
	s := &Service{store: o.Store, clock: o.Now, auditReads: o.AuditReads, warnTokenEnds: o.TokenEnds, keys: newKeyReader(o.Store), long: NewTurns(1)}
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
	// Stream writes an answer that is not in memory, in place of JSON; nil: there is none.
	Stream func(ctx context.Context, w io.Writer) error
	Rev    int64 // The record's revision, its entity tag.
	// Effect is what a completion did to the person. "" is nothing.
	Effect apitype.ResultEffect
	// Settled is of a list: changes with this time, or an earlier one, are in it; nil: unknown.
	Settled *apitype.Time
	Epoch   string // Of a list: a copy of another epoch begins again.
}

// Answered is the answer with a value as JSON, unless err says why there is none.
func Answered[T any](value T, err error) (answer Answer, _ error) {
	if err == nil {
		answer.JSON, err = json.Marshal(value, json.Deterministic(true))
	}
	return answer, err
}

// Caller is the account that asks for an operation.
type Caller struct {
	Account
	// BaseURL is where the caller reaches the service, without a slash at the end;
	// signed links begin with it.
	BaseURL string
	// RequestID is by what the caller and the log know the request; empty: by nothing.
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

// Ready reports whether the store answers, and its clock is that of this process.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.keys.latest(ctx); err != nil {
		return err
	}
	ahead, err := s.store.ClockAhead(ctx)
	if err == nil && ahead.Abs() > clockMost {
		err = &Error{Kind: Unavailable, Detail: "this computer's clock and the database's differ by " + ahead.Abs().Round(time.Second).String()}
	}
	if err != nil {
		return err
	}
	return s.store.Ping(ctx)
}

// clockMost is how far the clock of a process that serves may be from the database's: tokens and signed
// links go by it.
const clockMost = 30 * time.Second

// Store is where the records are kept.
func (s *Service) Store() Store { return s.store }

// backupSetting holds when the last backup was made, in milliseconds.
const backupSetting = "backup_at"

// NoteBackup saves that a backup was made now.
func (s *Service) NoteBackup(ctx context.Context) error {
	return s.Write(ctx, WriteIsolated, "note the backup", func(tx Tx) error {
		return tx.SetSetting(backupSetting, strconv.FormatInt(s.TimeOf(tx).UnixMilli(), 10))
	})
}

// LastBackup returns when the last backup was made, zero where there was none.
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

// TimeOf returns the time by the store's clock in a transaction. Leases, rests, callbacks, tokens and retention go
// by it. The time of the request may be long past when a change waited.
func (s *Service) TimeOf(tx Tx) apitype.Time { return apitype.NewTime(s.clock().Add(tx.ClockAhead())) }

// ChangeTime returns the time that a change gives to a record: that of the clock, or the highest that the database
// has given if that is later. A client that goes on from a time then misses no change when a clock goes back.
func (s *Service) ChangeTime(tx Tx) (apitype.Time, error) { return tx.GiveTime(s.TimeOf(tx)) }

// StoreTime is the present by the clock that all processes share.
func (s *Service) StoreTime(ctx context.Context) (apitype.Time, error) {
	ahead, err := s.store.ClockAhead(ctx)
	return apitype.NewTime(s.clock().Add(ahead)), described("read the clock", err)
}

// Settled returns a time such that every change with an earlier time, or the same, is visible; nil:
// none is known.
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

// Read runs read on the store. Its errors say what was read, but for refusals.
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
func View[T any](ctx context.Context, s *Service, what string, read func(Reader) (T, error)) (found T, err error) {
	err = s.Read(ctx, ReadSnapshot, what, func(r Reader) (err error) {
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

// Request is what a context says of the request that is worked on. The zero value is the program's
// own work.
type Request struct {
	// Trace is that which the request is a part of (W3C Trace Context, 32 hexadecimal digits), for the
	// store to name to its server; empty: unknown.
	Trace string
	// Account is that of the request, for Turns; zero: it is not known yet.
	Account apitype.UUID
	// Room waits until there is room for a heavy answer; ErrNoRoom: there is none. Nil: there always is.
	Room func(context.Context) error
	// Spent is how long the request waited for the store so far, in nanoseconds: there is one deadline
	// for all that it asks; nil: each question has its own.
	Spent *atomic.Int64
}

// ErrNoRoom refuses what does not fit into the memory that answers may take; the caller may come again.
var ErrNoRoom = &Error{Kind: Unavailable, Detail: "too much is being read from or sent to the account, or to all accounts"}

type requestKey struct{}

// WithRequest is a context that says it.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf is what a context says.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}
