package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"fundesk/apiclient/apitype"
)

// What a store answers for a single row.
var (
	ErrNoRow  = errors.New("no such row")
	ErrExists = errors.New("the row exists already")
)

// ErrBusy means that another process held the store for too long, and nothing was saved.
var ErrBusy = &Error{Kind: Unavailable, Detail: "the database is busy"}

// ErrAgain is returned by a change that must run again, because another change came first.
var ErrAgain = errors.New("run the transaction again")

// ReadMode describes the needs of a read.
type ReadMode int

const (
	ReadSnapshot ReadMode = iota // All questions see one state of the data.
	ReadPlanned                  // The same, for questions that take longer to plan than to answer.
	ReadRecord                   // A single statement that returns few rows, so it needs no transaction.
	ReadList                     // A single statement that returns many rows.
)

// WriteMode describes how a change excludes others.
type WriteMode int

const (
	// WriteIsolated sees one state of the data. It runs again if another change came first.
	WriteIsolated WriteMode = iota
	// WriteShared is for rows that many change at once. Each statement sees the commits of others, and skips rows that
	// they lock. Its statements take longer to plan than to run.
	WriteShared
)

// Weight chooses the records that are read with everything that belongs to them.
type Weight int

const (
	AnyWeight Weight = iota
	// LightOnly returns nil for a record that does not exist or is heavy.
	LightOnly
)

// Store keeps the records. It holds no rule: rules run in the functions that it is
// given, inside the transaction.
type Store interface {
	// Read runs read, perhaps several times.
	Read(ctx context.Context, mode ReadMode, read func(Reader) error) error
	// Write runs change in one transaction, which is kept when change returns nil and durable when Write does. change
	// may be run again after a failed try, so it must have no effect except through tx.
	Write(ctx context.Context, mode WriteMode, change func(tx Tx) error) error
	// Ping reports whether the store answers.
	Ping(ctx context.Context) error
	// Unclean returns the erasures whose bytes are still in the files, with the values of their settings.
	Unclean(ctx context.Context) (map[string]string, error)
	// SigningSeed returns the secret of this database, 32 bytes. It makes the secret if there is none.
	SigningSeed(ctx context.Context) ([]byte, error)
	Database
}

// Database has the operations on a database as a whole.
type Database interface {
	// PingChanges reports whether it takes changes.
	PingChanges(ctx context.Context) error
	// ClockAhead returns how far the store's clock, which all processes share, is ahead of the system's.
	ClockAhead(ctx context.Context) (time.Duration, error)
	// Settled returns a time such that every change with it, or with an earlier one, is visible; false: none is
	// known. It never goes back. now is the clock's time.
	Settled(ctx context.Context, now apitype.Time) (at apitype.Time, ok bool)
	// Lineage identifies the database and the history of its server, which begins anew with each restore. Empty if
	// only our own program restores it.
	Lineage(ctx context.Context) string
	// Held names what holds the values of an erasure until Scrub.
	Held() []string
	// Scrub takes from the files of the store what is left in them of values that were erased.
	Scrub(ctx context.Context) (Scrubbed, error)
}

// Reader reads in one transaction. A row that is not there is ErrNoRow, and so is one
// outside the scope that a method takes: it must cost as much. Spec gap: A3.
type Reader interface {
	AccountReader
	OrganizationReader
	PersonReader
	CallReader
	PledgeReader
	QueueReader
	PrivacyReader
	Setting(name string) (string, error) // Empty if there is none.
	HighestTime() (apitype.Time, error)  // That the database has given.
	NewestChange() (apitype.Time, error) // The highest that it has given, or holds of a change.
}

// Tx reads and writes in one transaction. Inserting an existing row is ErrExists. Updating a row whose revision is not
// Rev is ErrNoRow. An update adds one to Rev.
type Tx interface {
	Reader
	AccountWriter
	OrganizationWriter
	PersonWriter
	CallWriter
	PledgeWriter
	QueueWriter
	PrivacyWriter
	LoadWriter
	// ClockAhead returns how far the store's clock was ahead of the system's at the start of the transaction.
	ClockAhead() time.Duration
	// PersonsAhead, PledgesAhead and CallsAhead return what was changed after a time.
	PersonsAhead(now apitype.Time) ([]apitype.UUID, error)
	PledgesAhead(now apitype.Time) ([]apitype.UUID, error)
	CallsAhead(now apitype.Time) ([]apitype.UUID, error)
	// ResetTimes gives erasures that lie ahead a time, and lets the next change have it.
	ResetTimes(now apitype.Time) error
	// RaiseRevisions adds a number to the revision of every person, pledge and call.
	RaiseRevisions(by int64) error
	// GiveTime returns a time, or the highest that the database has given if that is later, and saves it.
	GiveTime(now apitype.Time) (apitype.Time, error)
	SetSetting(name, value string) error
	// EnsureSetting saves a value unless the setting has one, and returns its value.
	EnsureSetting(name, value string) (string, error)
	DeleteSetting(name string) error
	Audit(line AuditLine) error
	// Mark keeps an entry; one of the same account, source and entity is replaced.
	Mark(account apitype.UUID, entry apitype.ProcessedEntry) error
}

// AccountReader reads accounts and what is kept of their tokens.
type AccountReader interface {
	Account(id apitype.UUID) (Account, error)
	Accounts() ([]Account, error) // The oldest first.
	// AccountOfToken also returns when the token was revoked, or nil. An unknown token is ErrNoRow. The account
	// reports whether erasures are unfinished.
	AccountOfToken(account, token apitype.UUID) (a Account, ended *apitype.Time, err error)
	// SignedInUser returns the user with a subject or, if none has it, with that uuid. It also reads what
	// AccountOfToken adds.
	SignedInUser(subject apitype.UUID) (SignedInUser, error)
	Tokens(account *apitype.UUID) ([]IssuedToken, error) // Nil chooses all accounts.
	SigningSeed() ([]byte, error)                        // Empty if there is none.
}

// AccountWriter writes them, and the signing key.
type AccountWriter interface {
	// SetSigningSeed puts another secret in the place of the database's own.
	SetSigningSeed(seed []byte) error
	InsertAccount(a Account) error
	UpdateAccount(a Account) error
	InsertToken(t IssuedToken) error
	EndToken(id apitype.UUID, at apitype.Time) error
}

// OrganizationReader reads organizations and what belongs to them.
type OrganizationReader interface {
	Organization(id apitype.UUID) (Organization, error)
	Organizations() ([]Organization, error) // By uuid: the engines do not agree on the order of names.
	FocusArea(id apitype.UUID) (FocusArea, error)
	// OrganizationSettings returns the settings of the organizations of a scope, by uuid.
	OrganizationSettings(scope Scope) ([]apitype.OrganizationSettings, error)
	User(id apitype.UUID) (User, error)
	// Users returns the users of a scope's organizations and the users without one, by uuid.
	Users(scope Scope) ([]User, error)
	// UserNames are the names of those users that are known.
	UserNames(ids []apitype.UUID) (map[apitype.UUID]*string, error)
}

// OrganizationWriter writes them.
type OrganizationWriter interface {
	InsertOrganization(o Organization) error
	// OrganizationForShare locks the settings of an organization until the transaction ends, against
	// OrganizationForUpdate.
	OrganizationForShare(id apitype.UUID) (Organization, error)
	OrganizationForUpdate(id apitype.UUID) (Organization, error)
	UpdateOrganization(o Organization) error // But for Settings that are nil.
	InsertUser(u User) error
	UpdateUser(u User) error
	InsertFocusArea(a FocusArea) error
}

// PersonReader reads persons.
type PersonReader interface {
	Person(id apitype.UUID, scope Scope) (PersonRow, error)
	Persons(f PersonFilter, r Range) ([]PersonRow, error)
	Erasures(scope Scope, r Range) ([]ErasedPerson, error)
	// Consents returns the consents of a person, the newest first. Of two with the same time, the one added later
	// comes first.
	Consents(person apitype.UUID) ([]apitype.Consent, error)
	// ObjectedAt returns when a result or an update last changed the opt-in of a channel. Nil is never.
	ObjectedAt(person apitype.UUID, channel apitype.ConsentChannel) (*apitype.Time, error)
	// ConsentsOf returns the consents of several persons, each in the order of Consents. It ends with isWhole false
	// after the given bytes of text. Zero sets no limit.
	ConsentsOf(persons []apitype.UUID, bytes int) (of map[apitype.UUID][]apitype.Consent, isWhole bool, err error)
}

// PersonWriter writes persons.
type PersonWriter interface {
	// PersonToRefer is a person that a new record is about: an erasure waits until the transaction ends.
	PersonToRefer(id apitype.UUID, scope Scope) (PersonRow, error)
	// HoldPerson lets another change of the person, or one that holds the person, come before or after this one: both
	// see one state of the data.
	HoldPerson(id apitype.UUID) error
	// HoldEnded does the same if a pledge of the person for an organization has an end.
	HoldEnded(person, owner apitype.UUID) error
	// InsertPerson saves a new person and a line of the audit. The line may be nil.
	InsertPerson(p PersonRow, line *AuditLine) error
	UpdatePerson(p PersonRow) error
	// InsertConsent adds a consent of a person with its ordinal, which starts at 1.
	InsertConsent(person apitype.UUID, ordinal int, c apitype.Consent) error
}

// CallReader reads calls.
type CallReader interface {
	Call(id apitype.UUID, scope Scope) (CallRow, error)
	WholeCall(id apitype.UUID, scope Scope, w Weight) (*WholeCall, error)
	Calls(f CallFilter, r Range) ([]CallRow, error)
	// MissingChecks are the marks of calls that were completed without required checks.
	MissingChecks(scope Scope, r Range) ([]MissingChecks, error)
}

// CallWriter writes calls.
type CallWriter interface {
	InsertCall(c CallRow) error
	UpdateCall(c CallRow, moved bool) error // moved: its status or CompletedBy changed.
	SetMissingChecks(m MissingChecks) error // Replaces the mark of the call.
	DeleteMissingChecks(call apitype.UUID) error
}

// PledgeReader reads pledges, and what belongs to them.
type PledgeReader interface {
	Pledge(id apitype.UUID, scope Scope) (PledgeRow, error)
	WholePledge(id apitype.UUID, scope Scope, w Weight) (*WholePledge, error)
	Pledges(f PledgeFilter, r Range) ([]PledgeRow, error)
	Signature(pledge apitype.UUID) ([]byte, error)
	// Transactions returns the transactions of pledges, by the pledge's number, the newest first.
	Transactions(pledges []int64) (map[int64][]TransactionRow, error)
	Transaction(id apitype.UUID, scope Scope) (TransactionRow, error)
}

// PledgeWriter writes pledges.
type PledgeWriter interface {
	InsertPledge(p PledgeRow) error
	UpdatePledge(p PledgeRow) error
}

// QueueReader reads the queue: calls that wait, leases, callbacks, and what users did.
type QueueReader interface {
	QueuePositions(q QueueQuery) ([]Position, error)
	QueueWaiting(q QueueQuery) (requested, due int, err error)
	// QueueCounts counts calls by their kind, whether the rules permit them or not. Leased counts leases.
	QueueCounts(q QueueQuery) (counts []QueueCount, leased int, err error)
	// QueueReserved counts the due calls that are reserved for the user of the query, and not offered to any other yet.
	QueueReserved(q QueueQuery) (counts []QueueCount, err error)
	// QueueRules returns the rules of all organizations that have some, for [Service.FloorRules].
	QueueRules() (string, error)
	// PledgesEnded returns the end of a person's last pledge for an organization, and whether the waiting calls
	// already have it. Nil if a pledge is a lead or active, or there is none.
	PledgesEnded(person, owner apitype.UUID) (at *apitype.Time, isKept bool, err error)
	// ChangedBesideLoad returns persons after one, by uuid, whose waiting calls may show them as they were before
	// changes since a time: changed persons, those of changed pledges, those whose block was lifted, and those whose
	// calls may have more attempts than before. An engine that changes nothing beside a load returns none.
	ChangedBesideLoad(since apitype.Time, after apitype.UUID, limit int) ([]apitype.UUID, error)
	QueueOldest(q QueueQuery) (*apitype.Time, error)
	// HasPeriodicWork reports whether calls are to be marked as ready, or claims have expired.
	HasPeriodicWork(now apitype.Time) (bool, error)
	CallNodes(
		ids []apitype.UUID,
	) (map[apitype.UUID]CallRow, error) // With their persons, the first as long as a page has room.
	Lease(id apitype.UUID, scope Scope) (LeaseRow, error)
	LeaseOfPerson(
		person apitype.UUID,
	) (LeaseRow, error) // The last claim, which may have expired.
	NumbersContacted(
		numbers []apitype.UUID,
		since apitype.Time,
	) (*apitype.Time, error) // Nil if there is none since then.
	// BlockedSince returns when the first of some numbers was blocked for an organization of a scope.
	BlockedSince(numbers []apitype.UUID, scope Scope) (*apitype.Time, error)
	Leases(q LeaseQuery) ([]LeaseRow, error)          // The oldest first.
	Deferrals(q DeferralQuery) ([]DeferralRow, error) // The earliest first.
	// DeferralCounts returns the number of callbacks of each user.
	DeferralCounts(scope Scope, user *apitype.UUID) (map[apitype.UUID]int, error) // Of all users if user is nil.
	// UserStates returns the states that users, or one of them, set since a time.
	UserStates(user *apitype.UUID, since apitype.Time) ([]UserStateRow, error)
	// QueueMessages returns the lines to all desks that have not ended, by organization.
	QueueMessages(scope Scope, now apitype.Time) ([]MessageRow, error)
	// AttemptedLease returns the start of the lease of a call that an attempt ended after a time, and not after
	// another. Nil means none.
	AttemptedLease(person, call apitype.UUID, after, until apitype.Time) (*apitype.Time, error)
	// WorkOf returns operations of a user, the newest first.
	WorkOf(query WorkQuery) ([]WorkRow, error)
	// WorkDone sums up the work of users, or of one of them, by user and code since the hour of a time.
	WorkDone(scope Scope, user *apitype.UUID, since apitype.Time) ([]Work, error)
}

// QueueWriter writes the queue.
type QueueWriter interface {
	InsertBlock(b Block) error // An existing one stays as it is. Without a person, it gets the new time.
	// DeleteBlocks lifts blocks, and returns their numbers.
	DeleteBlocks(l Lifting) (lifted []apitype.UUID, err error)
	// BlockOf returns one of some numbers that is blocked for an organization, or nil. A transaction that lifts the
	// block comes after this one.
	BlockOf(organization apitype.UUID, numbers []apitype.UUID) (*apitype.UUID, error)
	// WaitingWithTerms returns the persons of an organization with a term of the search and a waiting call.
	WaitingWithTerms(organization apitype.UUID, terms []string) ([]apitype.UUID, error)
	// WaitingBlockedBy returns the persons of an organization whose waiting calls are blocked by one of some numbers.
	WaitingBlockedBy(organization apitype.UUID, numbers []apitype.UUID) ([]apitype.UUID, error)
	QueueFacts(q *QueueRow) error // Fills the fields of other tables that decide when the call may be offered.
	InsertQueueRow(q QueueRow) error
	UpdateQueueRow(q QueueRow) error
	DeleteQueueRow(call apitype.UUID) error
	QueueOfPerson(person apitype.UUID) ([]QueueRow, error)
	// QueueOfAttempts returns an organization's waiting service-managed calls with at least this number of attempts.
	QueueOfAttempts(organization apitype.UUID, least int) ([]QueueRow, error)
	// NextInQueue locks the first calls of the queue, up to the query's limit. It skips calls that others have locked.
	NextInQueue(q QueueQuery) ([]QueueRow, error)
	// ResetLapsed lets the calls of an organization be looked at again.
	ResetLapsed(organization apitype.UUID) error
	// RecordContact saves when a person was contacted, at some numbers, which are given by their digests.
	RecordContact(person apitype.UUID, at apitype.Time, numbers []apitype.UUID) error
	// QueueRequest returns the earlier outcome of a request, and the state of the queue.
	QueueRequest(account, request apitype.UUID, q QueueQuery) (QueueRequest, error)
	// OpenQueue does the same for a take, with the rules that hold. It marks calls as ready if their time has come,
	// and as not offered if the person's last pledge ended too long ago.
	OpenQueue(account, request apitype.UUID, q QueueQuery, parse ParseRules) (QueueRequest, *FloorRules, error)
	// Claim saves new leases of different persons, each unless the person has a live one, and makes the calls of these
	// persons ineligible until the lease ends. It returns the saved leases and the number of expired claims that they
	// replace.
	Claim(leases []LeaseRow) (saved []apitype.UUID, expired int, err error)
	// ExtendLease saves when a live lease ends, since when it is shown, and whether it is pending.
	ExtendLease(l LeaseRow, now apitype.Time) error
	// ShareDeferrals opens the callbacks of a user to every user, and returns them.
	ShareDeferrals(user apitype.UUID, scope Scope) ([]DeferralRow, error)
	// EndLease ends the live lease of a call, if it is the given one, and returns it. A nil lease stands for any one.
	// The result is nil if none was ended.
	EndLease(person, call apitype.UUID, lease *apitype.UUID, now apitype.Time, by LeaseEnd) (*LeaseRow, error)
	// LogExpired moves claims that have expired to the leases that have ended, and returns how many.
	LogExpired(now apitype.Time, limit int) (int, error)
	CountWork(work []Work) error
	// RestDonor gives a contact of a person a rest until a time in the place of the usual one. Nil ends it.
	RestDonor(person apitype.UUID, contact apitype.Time, until *apitype.Time) error
	// UserStatesForShare does the work of UserStates for one user, whose state stays until the transaction ends.
	UserStatesForShare(user apitype.UUID, since apitype.Time) ([]UserStateRow, error)
	// ForgetTakes lets the requests of ended leases be as if they had not given these. Those that ended with work stay.
	ForgetTakes(leases []apitype.UUID) error
	SetUserState(s UserStateRow) error
	// EndPause ends a user's pause.
	EndPause(user apitype.UUID, now apitype.Time) error
	SetQueueMessage(m MessageRow) error
	EndQueueMessage(organization apitype.UUID) error
	// LeadQueue reports whether this transaction does the periodic work of the queue: no other process is at it, or was
	// less than a pause ago. last is the time of the work before.
	LeadQueue(now apitype.Time, pause time.Duration) (last apitype.Time, isLeader bool, err error)
	// MarkEligible marks calls whose time has come as ready, and returns how many.
	MarkEligible(now apitype.Time, limit int) (int, error)
	ForgetQueue(before QueueForgets, limit int) (most int, err error)
	// SumQueueCounts sums up what changes added to the counters of the queue, or a part of it.
	SumQueueCounts() (hasMore bool, err error)
}

// PrivacyReader reads what is kept of a person, the audit and the retention.
type PrivacyReader interface {
	AuditLines(f AuditFilter) ([]AuditLine, error) // The oldest first. A list that showed f.Person is not among them.
	// AuditLists reads f.Limit lists and returns the ones that showed f.Person, the oldest first. next is nil at the
	// end.
	AuditLists(f AuditFilter) (lines []AuditLine, next *Position, err error)
	CountAudit(before apitype.Time) (lines int, err error)
	CountChanges() (lines int, err error)           // The lines of the audit that are not about a load.
	ChangeLines(q ChangeQuery) ([]AuditLine, error) // The oldest first.
	// RecordsInScope returns those records among some that belong to a scope. Erased persons belong to their last
	// owner.
	RecordsInScope(entity apitype.EntityName, ids []apitype.UUID, scope Scope) ([]apitype.UUID, error)
	// Kept is also of a person that was erased.
	Kept(person apitype.UUID) (Kept, error)
	// KeptCalls, KeptPledges and KeptTransactions return rows with their documents, and KeptWaiting the rows of
	// waiting calls. A change locks them.
	KeptCalls(ids []apitype.UUID) ([]CallRow, error)
	KeptPledges(ids []apitype.UUID) ([]PledgeRow, error)
	KeptTransactions(ids []apitype.UUID) ([]TransactionRow, error)
	KeptWaiting(calls []apitype.UUID) ([]QueueRow, error)
	Erasing() ([]apitype.UUID, error) // The persons with an unfinished erasure.
	Retentions() ([]Retention, error)
	RetentionFacts() (RetentionFacts, error)
	PersonsToRetain(q RetainQuery) ([]PersonRow, error)
}

// PrivacyWriter erases and blanks.
type PrivacyWriter interface {
	LockPersonData(person apitype.UUID) (Kept, error)
	ErasePerson(id apitype.UUID, at apitype.Time) error
	// ForgetPerson deletes a person's rows of the queue, consents and missing checks, and ends the leases.
	ForgetPerson(id apitype.UUID, at apitype.Time) error
	EraseUnknown(id apitype.UUID, at apitype.Time) error // Leaves the identifier, so that it is not used again.
	RewriteCall(c CallRow) error
	RewritePledge(l PledgeRow) error
	RewriteTransaction(t TransactionRow) error
	SetRetention(r Retention) error
	PruneAudit(before apitype.Time, limit int) (deleted int, err error) // The oldest lines first.
	CallsToRetain(q RetainQuery) ([]CallRow, error)                     // In the order of their last update.
}

// LoadWriter saves many records that come in from outside the interface.
type LoadWriter interface {
	HasRecords() (bool, error) // An account or a person.
	// ExcludeErasure lets no load and no erasure run at one time: a load names persons long before it ends.
	ExcludeErasure(load bool) error
	// PersonsToLoad and PersonsOfPledges return the properties that a load needs of persons: the owner and the
	// document. An unknown person is absent.
	PersonsToLoad(ids []apitype.UUID) (map[apitype.UUID]PersonRow, error)
	PersonsOfPledges(ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error)
	BusyPersons(ids []apitype.UUID) ([]apitype.UUID, error) // The persons with a contact or a lease.
	// LapsedPersons returns the persons with a waiting call and an ended pledge, or whose call has such an end.
	LapsedPersons(ids []apitype.UUID) ([]apitype.UUID, error)
	// InsertRows saves many rows, and returns which of them are there already. Then the transaction must
	// not be kept.
	InsertRows(rows Rows) (taken []Taken, err error)
	// InsertDumped saves rows of one table of a dump, and returns their number. An existing row is ErrExists, or is
	// skipped.
	InsertDumped(table string, rows []map[string]json.RawMessage, skip bool) (saved int, err error)
	// ThereAlready returns those records of a table that are there.
	ThereAlready(table string, ids []apitype.UUID) ([]apitype.UUID, error)
}
