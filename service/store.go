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

// ErrBusy is what a store answers when another process held it too long; nothing was
// kept.
var ErrBusy = &Error{Kind: Unavailable, Detail: "the database is busy"}

// ErrAgain is what a change returns that has to run again, on what others did meanwhile.
var ErrAgain = errors.New("run the transaction again")

// ReadMode says what a read needs.
type ReadMode int

const (
	ReadSnapshot ReadMode = iota // All questions see one state of the data.
	ReadRecord                   // It hangs on one answer, of a few rows: that is of one state by itself.
	ReadList                     // Likewise, of many rows.
)

// WriteMode says how a change meets others.
type WriteMode int

const (
	// WriteIsolated sees one state of the data, and is run again where another change was first.
	WriteIsolated WriteMode = iota
	// WriteShared is for a change that many make at the same rows: each of its statements sees what others
	// have committed, and it passes over what they lock.
	WriteShared
)

// Weight says which record is read with all that belongs to it.
type Weight int

const (
	AnyWeight Weight = iota
	// LightOnly returns nil for a record that is not there or is heavy. In a change it also returns nil
	// where reading it there would hold up others, or cost no less than later.
	LightOnly
)

// Store keeps the records. It holds no rule: rules run in the functions that it is
// given, inside the transaction.
type Store interface {
	// Read runs read, perhaps several times.
	Read(ctx context.Context, mode ReadMode, read func(Reader) error) error
	// Write runs change in one transaction, which is kept when change returns nil and durable when Write
	// does. change may be run again after a failed try, so it must not have effects but through tx.
	Write(ctx context.Context, mode WriteMode, change func(tx Tx) error) error
	// ClockAhead is how far the store's clock, which all processes share, is ahead of the
	// system's.
	ClockAhead(ctx context.Context) (time.Duration, error)
	// Settled returns how long ago the moment was before which every change was begun that is not
	// visible yet; false: nothing is known.
	Settled(ctx context.Context) (age time.Duration, ok bool)
	// SigningSeed is the secret of this database, made when there is none: 32 bytes of each
	// key, of that in use first.
	SigningSeed(ctx context.Context) ([]byte, error)
	// Ping reports whether the store answers.
	Ping(ctx context.Context) error
	// Held names what holds the values of an erasure until Scrub.
	Held() []string
	// Scrub takes from the files of the store what is left in them of values that were erased.
	Scrub(ctx context.Context) (Scrubbed, error)
	// PingChanges reports whether it takes changes.
	PingChanges(ctx context.Context) error
	// Unclean names what was erased and is still in the files.
	Unclean(ctx context.Context) ([]string, error)
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
	Setting(name string) (string, error)
}

// Tx reads and writes in one transaction. Inserting a row that exists is ErrExists,
// updating one whose revision is not Rev is ErrNoRow; an update adds one to Rev.
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
	// ClockAhead is how far the store's clock was ahead of the system's when the transaction began.
	ClockAhead() time.Duration
	SetSetting(name, value string) error
	DeleteSetting(name string) error
	Audit(line AuditLine) error
	// Mark keeps an entry; one of the same account, source and entity is replaced.
	Mark(account apitype.UUID, entry apitype.ProcessedEntry) error
}

// AccountReader reads accounts and what is kept of their tokens.
type AccountReader interface {
	Account(id apitype.UUID) (Account, error)
	Accounts() ([]Account, error)
	// AccountOfToken also returns when the token was revoked, or nil. A token of which nothing is kept is
	// ErrNoRow. The account says whether erasures are not finished.
	AccountOfToken(account, token apitype.UUID) (a Account, ended *apitype.Time, err error)
	Tokens(account *apitype.UUID) ([]IssuedToken, error) // Nil: of all accounts.
}

// AccountWriter writes them, and the signing key.
type AccountWriter interface {
	// ChangeSigningSeed puts another secret in the place of the database's own.
	ChangeSigningSeed(change func(seed []byte) ([]byte, error)) error
	InsertAccount(a Account) error
	UpdateAccount(a Account) error
	InsertToken(t IssuedToken) error
	EndToken(id apitype.UUID, at apitype.Time) error
	// UseToken does nothing where the token was used on the day already, or is not there.
	UseToken(id apitype.UUID, on apitype.Date, expires apitype.Time) error
}

// OrganizationReader reads organizations and what belongs to them.
type OrganizationReader interface {
	Organization(id apitype.UUID) (Organization, error)
	Organizations() ([]Organization, error)
	FocusArea(id apitype.UUID) (FocusArea, error)
	// OrganizationSettings are those of the organizations of a scope, by uuid.
	OrganizationSettings(scope Scope) ([]apitype.OrganizationSettings, error)
	User(id apitype.UUID) (User, error)
	// Users are those of a scope's organizations and those of none, by uuid.
	Users(scope Scope) ([]User, error)
	// UserNames are the names of those users that are known.
	UserNames(ids []apitype.UUID) (map[apitype.UUID]string, error)
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
	AnyPerson(f PersonFilter, r Range) (bool, error)
	Erasures(scope Scope, r Range) ([]ErasedPerson, error)
	AnyErasure(scope Scope, r Range) (bool, error)
}

// PersonWriter writes persons.
type PersonWriter interface {
	// PersonToRefer is a person that a new record is about: an erasure waits until the transaction ends.
	PersonToRefer(id apitype.UUID, scope Scope) (PersonRow, error)
	// InsertPerson saves a new person, and the line of the audit that tells of it; nil: none does.
	InsertPerson(p PersonRow, line *AuditLine) error
	UpdatePerson(p PersonRow) error
}

// CallReader reads calls.
type CallReader interface {
	Call(id apitype.UUID, scope Scope) (CallRow, error)
	WholeCall(id apitype.UUID, scope Scope, w Weight) (*WholeCall, error)
	Calls(f CallFilter, r Range) ([]CallRow, error)
	AnyCall(f CallFilter, r Range) (bool, error)
}

// CallWriter writes calls.
type CallWriter interface {
	InsertCall(c CallRow) error
	UpdateCall(c CallRow, moved bool) error // moved: to another status.
}

// PledgeReader reads pledges, and what belongs to them.
type PledgeReader interface {
	Pledge(id apitype.UUID, scope Scope) (PledgeRow, error)
	WholePledge(id apitype.UUID, scope Scope, w Weight) (*WholePledge, error)
	Pledges(f PledgeFilter, r Range) ([]PledgeRow, error)
	AnyPledge(f PledgeFilter, r Range) (bool, error)
	Signature(pledge apitype.UUID) ([]byte, error)
	// Transactions are those of the pledges of some numbers, by number, the newest first.
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
	QueuePositions(q QueueQuery) ([]QueuePosition, error)
	QueueWaiting(q QueueQuery) (requested, due int, err error)
	// QueueState also returns how many calls were passed over to count them.
	QueueState(q QueueQuery) (state QueueState, passed int, err error)
	QueueOldest(q QueueQuery) (*apitype.Time, error)
	CallNodes(ids []apitype.UUID) (map[apitype.UUID]CallRow, error)
	Lease(id apitype.UUID, scope Scope) (LeaseRow, error)
	LeaseOfPerson(person apitype.UUID) (LeaseRow, error)
	NumbersContacted(numbers []apitype.UUID, since apitype.Time) (*apitype.Time, error)
	Leases(scope Scope, user *apitype.UUID, now apitype.Time) ([]LeaseRow, error) // Nil: of all users.
	Deferrals(q DeferralQuery) ([]DeferralRow, error)
	LeasesSeen(scope Scope, since, now apitype.Time, each func(LeaseRow)) error
	WorkDone(scope Scope, since apitype.Time, each func(Work)) error
	// QueueCounted is until when what was seen and done is counted by the hour, and HoursDone that of a
	// stretch of hours before.
	QueueCounted() (apitype.Time, error)
	HoursDone(scope Scope, from, until apitype.Time, each func(HourDone)) error
}

// QueueWriter writes the queue.
type QueueWriter interface {
	QueueFacts(q *QueueRow) error // Reads along what decides from when it may be given.
	InsertQueueRow(q QueueRow) error
	UpdateQueueRow(q QueueRow) error
	DeleteQueueRow(call apitype.UUID) error
	QueueOfPerson(person apitype.UUID) ([]QueueRow, error)
	// QueueOfAttempts is what waits of an organization's service-managed calls with so many
	// attempts at least.
	QueueOfAttempts(organization apitype.UUID, least int) ([]QueueRow, error)
	// NextInQueue locks the first calls of the queue, up to the query's limit. It passes over those that
	// others have locked.
	NextInQueue(q QueueQuery) ([]QueueRow, error)
	MarkEligible(now apitype.Time) error
	// RecordContact saves when a person was contacted, at some numbers, which are given by their digests.
	RecordContact(person apitype.UUID, at apitype.Time, numbers []apitype.UUID) error
	QueueRequest(account apitype.UUID, asked QueueAsk, q QueueQuery) (QueueRequest, error)
	// InsertLeases saves new leases, each unless its person is in one or its request has one of its
	// ordinal, makes the calls of their persons ineligible until they end, and returns those that were saved.
	InsertLeases(leases []LeaseRow) (saved []apitype.UUID, err error)
	// ExtendLease saves when a lease ends, and whether it is shown now where it was not.
	ExtendLease(id apitype.UUID, until, now apitype.Time, show bool) error
	// ShareDeferrals opens the callbacks of a user to every user, and returns them.
	ShareDeferrals(user apitype.UUID, scope Scope) ([]DeferralRow, error)
	// EndLeaseOfCall ends the lease of a call, and returns when that was taken; nil: there was none.
	EndLeaseOfCall(person, call apitype.UUID, now apitype.Time, by LeaseEnd) (taken *apitype.Time, err error)
	EndLeasesByTime(now apitype.Time) (ended int, err error)
	Work(w Work) error
	CountQueue(from, until apitype.Time) error // Does nothing where another process has counted it.
	ForgetQueue(before QueueForgets, limit int) (most int, err error)
}

// PrivacyReader reads what is kept of a person, the audit and the retention.
type PrivacyReader interface {
	AuditLines(f AuditFilter) ([]AuditLine, error)
	// Kept is also of a person that was erased.
	Kept(person apitype.UUID) (Kept, error)
	// KeptCalls, KeptPledges and KeptTransactions are rows with their documents, and KeptWaiting those
	// of the calls that wait; in a change they are locked.
	KeptCalls(ids []apitype.UUID) ([]CallRow, error)
	KeptPledges(ids []apitype.UUID) ([]PledgeRow, error)
	KeptTransactions(ids []apitype.UUID) ([]TransactionRow, error)
	KeptWaiting(calls []apitype.UUID) ([]QueueRow, error)
	Erasing() ([]apitype.UUID, error) // The persons whose calls are still being blanked.
	Retentions() ([]Retention, error)
	RetentionFacts() (RetentionFacts, error)
	PersonsToRetain(q RetainQuery) ([]PersonRow, error)
}

// PrivacyWriter erases and blanks.
type PrivacyWriter interface {
	LockPersonData(person apitype.UUID) (Kept, error)
	ErasePerson(id apitype.UUID, at apitype.Time) error
	// ForgetPerson takes out of the queue what came to it while a person was erased.
	ForgetPerson(id apitype.UUID, at apitype.Time) error
	EraseUnknown(id apitype.UUID, at apitype.Time) error
	RewriteCall(c CallRow) error
	RewritePledge(l PledgeRow) error
	RewriteTransaction(t TransactionRow) error
	SetRetention(r Retention) error
	CallsToRetain(q RetainQuery) ([]CallRow, error)
}

// LoadWriter saves many records that come in from outside the interface.
type LoadWriter interface {
	HasRecords() (bool, error) // An account or a person.
	// ExcludeErasure lets no load and no erasure run at one time: a load names persons long before it ends.
	ExcludeErasure(load bool) error
	// OwnersOfPersons and PersonsOfPledges are what loaded records need to know of many
	// that they name; one that is not there is absent.
	OwnersOfPersons(ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error)
	PersonsOfPledges(ids []apitype.UUID) (map[apitype.UUID]apitype.UUID, error)
	BusyPersons(ids []apitype.UUID) ([]apitype.UUID, error) // Those that were contacted or are in a lease.
	PersonDocs(ids []apitype.UUID) (map[apitype.UUID][]byte, error)
	// InsertRows saves many rows, and returns which of them are there already. Then the transaction must
	// not be kept.
	InsertRows(rows Rows) (taken []Taken, err error)
	// InsertDumped saves rows of one table of a dump, and returns how many. One that is there already is
	// ErrExists, or is passed over.
	InsertDumped(table string, rows []map[string]json.RawMessage, skip bool) (saved int, err error)
	// ThereAlready returns those records of a kind that are there.
	ThereAlready(kind LoadKind, ids []apitype.UUID) ([]apitype.UUID, error)
}

// Organization is an organization with its settings.
type Organization struct {
	apitype.OrganizationReference
	MaxCallAttempts *int          // Nil: no maximum. Spec gap: C5.
	CoolingOff      time.Duration // From a pledge's creation to its release. Spec gap: G2.
	// Settings are what agents work by, in a change; nil: as they are.
	Settings *apitype.OrganizationSettings
}

// DefaultCoolingOff is the cooling-off of an organization that names none.
// Spec gap: G2.
const DefaultCoolingOff = 336 * time.Hour

// FocusArea is a focus area with its organization.
type FocusArea struct {
	apitype.FocusArea
	Organization apitype.UUID
}

// PersonRow is a person as it is kept. Doc is the node as the person list sends it.
type PersonRow struct {
	UUID       apitype.UUID
	Owner      apitype.UUID // Owning organization.
	Recruiting apitype.UUID // Spec gap: P2.
	CreatedAt  apitype.Time
	UpdatedAt  apitype.Time
	IBAN       *string
	MandateID  *string // Spec gap: P3.
	Quality    []byte  // The quality result, nil when there is none.
	Rev        int64
	Doc        []byte
}

// CallRow is a call as it is kept. Doc is the node as the call list sends it when
// nothing is included.
type CallRow struct {
	UUID                apitype.UUID
	Owner               apitype.UUID       // Owning organization of the person.
	Person              apitype.UUID       // Of a new row; it does not change, and the document has it.
	Case                *apitype.UUID      // Likewise.
	Status              apitype.CallStatus // Written; the document has it.
	RequestedAt         apitype.Time
	UpdatedAt           apitype.Time
	External            bool
	ExternalApplication *string // This and the next two as IndexedText has them; the document has them whole.
	ExternalReference   *string
	ExternalStatus      *string
	Private             []byte // What answers do not show, as JSON.
	Rev                 int64
	Doc                 []byte
	Bytes               int // Of Kept: how long its documents are, which are not read.

	PersonRow *PersonRow // Read when a filter asks for it. It is in every scope that the call is in.
	PledgeRow *PledgeRow // Likewise; nil when the call has no pledge, or one outside the filter's Viewer.
}

// PledgeRow is a pledge as it is kept. Doc is the node as the pledge list sends it,
// without the members that depend on the moment or on another row: releasedAt,
// signatureSignedUrl and recruiterUser.
type PledgeRow struct {
	Number        int64 // By which lists find its transactions.
	UUID          apitype.UUID
	Owner         apitype.UUID // Owning organization.
	Recruiting    apitype.UUID // Recruiting organization.
	Person        apitype.UUID
	PersonOwner   apitype.UUID // Owning organization of the person, read when a filter asks for it.
	Recruiter     apitype.UUID
	Status        apitype.PledgeStatus
	CreatedAt     apitype.Time
	UpdatedAt     apitype.Time
	ReleasedAt    *apitype.Time // May lie in the future. Spec gap: G2.
	External      bool
	PaymentQR     bool // Has a transaction of that method; kept by InsertRows.
	HasSignature  bool
	Private       []byte // What answers do not show, as JSON.
	RecruiterUser []byte // Read from the users, nil when unknown.
	Rev           int64
	Doc           []byte
	Bytes         int // Of Kept, likewise.
}

// TransactionRow is a transaction as it is kept and sent.
type TransactionRow struct {
	UUID      apitype.UUID
	Pledge    apitype.UUID // Of a new row, and of Kept.
	CreatedAt apitype.Time
	Method    string
	Doc       []byte
	Bytes     int // Of Kept, likewise.
}

// WholePledge is a pledge with what belongs to it, of which answers show what the caller
// may see.
type WholePledge struct {
	PledgeRow
	PersonRow    *PersonRow       // Nil when it is unknown.
	Transactions []TransactionRow // The newest first.
	Calls        []CallRow        // That name it, the most recent first.
}

// WholeCall is a call with its person and its pledge, whose person is the same.
type WholeCall struct {
	CallRow
	Pledge *WholePledge // Nil when the call has none.
}

// Rows are new rows that are saved together, those of each kind after those that they
// refer to. A pledge is marked as begun by a payment QR when a transaction says so.
type Rows struct {
	Persons      []PersonRow
	Pledges      []PledgeRow
	Signatures   []SignatureRow // Of these pledges.
	Calls        []CallRow
	Transactions []TransactionRow
	Queue        []QueueRow // Of these calls, those that wait.
	Contacts     []Contact
}

// SignatureRow is the signature file of a pledge.
type SignatureRow struct {
	Pledge  apitype.UUID
	Content []byte
}

// Taken is a new row whose uuid is there already.
type Taken struct {
	Kind LoadKind
	UUID apitype.UUID
}

// Position is where a record stands in a list: by time, the newest first, then by uuid descending.
// Spec gap: L5.
type Position struct {
	At   apitype.Time
	UUID apitype.UUID
}

// compare is negative when p comes after q in a list.
func (p Position) compare(q Position) int {
	if c := p.At.Compare(q.At.Time); c != 0 {
		return c
	}
	return p.UUID.Compare(q.UUID)
}

// Bound is one end of a range.
type Bound struct {
	Position
	Inclusive bool
}

// Range is a part of a list. The zero value with a limit is its start.
type Range struct {
	Above    *Bound // Only what comes before this position.
	Below    *Bound // Only what comes after this position.
	Backward bool   // Cut from the end; rows then come in reverse order.
	Limit    int
	Bytes    int // After so many bytes of rows, and two rows, only one more is read; 0: all are.
}

// IsFull reports whether rows of so many bytes are all that is read of the range, but for one
// more that shows that there are others. Two are read in any case: the first may be that of
// the cursor.
func (r Range) IsFull(rows, bytes int) bool { return r.Bytes > 0 && rows >= 2 && bytes > r.Bytes }

// PersonFilter chooses persons. Zero values do not filter.
type PersonFilter struct {
	Scope        Scope
	CreatedAfter *apitype.Time
	UpdatedAfter *apitype.Time
	IBAN         string
}

// CallFilter chooses calls. Zero values do not filter.
type CallFilter struct {
	Scope               Scope
	Statuses            []apitype.CallStatus
	ExternalStatus      string
	ExternalApplication string
	ExternalReference   string
	NoExternalReference bool
	RequestedFrom       *apitype.Time
	RequestedUntil      *apitype.Time
	RequestedAfter      *apitype.Time
	UpdatedAfter        *apitype.Time
	Person              *apitype.UUID
	WithPerson          bool  // Read of PersonRow what lists show.
	WithQuality         bool  // And its Quality.
	WithPledge          bool  // Read PledgeRow.
	WithPledgeNumber    bool  // Read its Number at least.
	Viewer              Scope // A pledge whose organizations are outside of this is not read. Spec gap: A3.
}

// PledgeFilter chooses pledges. Zero values do not filter.
type PledgeFilter struct {
	Scope         Scope // By owning or recruiting organization.
	Person        *apitype.UUID
	PaymentQR     *bool
	Status        apitype.PledgeStatus
	UpdatedAfter  *apitype.Time
	ReleasedAfter *apitype.Time
	ReleasedBy    apitype.Time // The present, with ReleasedAfter.

	WithPersonOwner bool // Read PersonOwner.
}
