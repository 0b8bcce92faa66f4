package service

import (
	"time"

	"fundesk/apiclient/apitype"
)

// The rows of a store, and the ranges and filters of lists.

// Organization is an organization with its settings.
type Organization struct {
	apitype.OrganizationReference
	MaxCallAttempts *int          // Nil means no maximum. Spec gap: C5.
	CoolingOff      time.Duration // From a pledge's creation to its release. Spec gap: G2.
	// Settings for agents. Nil means none in a creation, and no change in a change.
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
	Quality    []byte  // The quality result. Nil if there is none.
	Rev        int64
	Doc        []byte
	Terms      []string // By which the person is found. Written only.
}

// CallRow is a call as it is kept. Doc is the node as the call list sends it when
// nothing is included.
type CallRow struct {
	UUID                apitype.UUID
	Owner               apitype.UUID       // Owning organization of the person.
	Person              apitype.UUID       // Of a new row; it does not change, and the document has it.
	Case                *apitype.UUID      // The same.
	Status              apitype.CallStatus // Written; the document has it.
	CompletedBy         *apitype.UUID      // Of a completed call with the user of the completion. Private has it.
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
	PledgeRow *PledgeRow // The pledge's document. Nil if the call has no pledge, or one outside the filter's Viewer.
}

// PledgeRow is a pledge as it is kept. Doc is the node as the pledge list sends it,
// without the members that depend on the moment or on another row: releasedAt,
// signatureSignedUrl and recruiterUser.
type PledgeRow struct {
	Number      int64 // By which lists find its transactions.
	UUID        apitype.UUID
	Owner       apitype.UUID // Owning organization.
	Recruiting  apitype.UUID // Recruiting organization.
	Person      apitype.UUID
	PersonOwner apitype.UUID // Owning organization of the person, read when a filter asks for it.
	// The person's owner and document, read with the row. The caller may not see every person.
	PersonRow     *PersonRow
	Recruiter     apitype.UUID
	Status        apitype.PledgeStatus
	CreatedAt     apitype.Time
	UpdatedAt     apitype.Time
	ReleasedAt    *apitype.Time // May lie in the future. Spec gap: G2.
	EndedAt       *apitype.Time // Nil for a lead and an active pledge.
	External      bool
	PaymentQR     bool // Has a transaction of that method; kept by InsertRows.
	HasSignature  bool
	Private       []byte // What answers do not show, as JSON.
	RecruiterUser []byte // Read from the users, nil when unknown.
	Rev           int64
	Doc           []byte
	Bytes         int // Only in Kept.
}

// TransactionRow is a transaction as it is kept and sent.
type TransactionRow struct {
	UUID      apitype.UUID
	Pledge    apitype.UUID // Of a new row, and of Kept.
	CreatedAt apitype.Time
	Method    string
	Doc       []byte
	Bytes     int // Only in Kept.
}

// WholePledge is a pledge with everything that belongs to it. Answers show the parts that the caller may see.
type WholePledge struct {
	PledgeRow
	PersonRow    *PersonRow       // Nil when it is unknown.
	Transactions []TransactionRow // The newest first.
	Calls        []CallRow        // That name it, the most recent first.
}

// WholeCall is a call with its person and its pledge, which belongs to the same person.
type WholeCall struct {
	CallRow
	Pledge *WholePledge // Nil when the call has none.
}

// Rows are new rows that are saved together, each kind after the kinds that it refers to. A transaction may mark its
// pledge as begun by a payment QR.
type Rows struct {
	Persons      []PersonRow
	Pledges      []PledgeRow
	Signatures   []SignatureRow // Of these pledges.
	Calls        []CallRow
	Transactions []TransactionRow
	Queue        []QueueRow // The waiting calls among them.
	Contacts     []Contact
}

// SignatureRow is the signature file of a pledge.
type SignatureRow struct {
	Pledge  apitype.UUID
	Content []byte
}

// Taken is a new row whose uuid is already stored.
type Taken struct {
	Kind LoadKind
	UUID apitype.UUID
}

// Position is the position of a record in a list: by time, the newest first, then by uuid descending. Spec gap: L5.
type Position struct {
	Rank int // In the queue: deferred for the user, for any user, not deferred, given back by the user.
	At   apitype.Time
	UUID apitype.UUID
}

// compare returns a negative number if p comes after q in a list.
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
	Above    *Bound // Only rows before this position.
	Below    *Bound // Only rows after this position.
	Backward bool   // Cut from the end; rows then come in reverse order.
	Limit    int
	Bytes    int // After this number of bytes, and at least two rows, only one more row is read. Zero sets no limit.
}

// IsFull reports whether rows of this size are enough, except for one more row that shows whether the list goes on.
// Two rows are always read: the first may be the row of the cursor.
func (r Range) IsFull(rows, bytes int) bool { return r.Bytes > 0 && rows >= 2 && bytes > r.Bytes }

// PersonFilter chooses persons. Zero values do not filter.
type PersonFilter struct {
	Scope        Scope
	CreatedAfter *apitype.Time
	UpdatedAfter *apitype.Time
	IBAN         string
	Search       Search
	WithRev      bool // Read Rev.
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
	CompletedBy         *apitype.UUID
	WithPerson          bool  // Read of PersonRow what lists show.
	WithQuality         bool  // And its Quality.
	WithPledge          bool  // Read PledgeRow.
	WithPledgeNumber    bool  // Read its Number at least.
	WithRev             bool  // Read Rev.
	WithCompletedBy     bool  // Read CompletedBy.
	WithPrivate         bool  // Read Private.
	Viewer              Scope // Pledges of other organizations are not read. Spec gap: A3.
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
	WithPerson      bool // Read PersonRow.
	WithRev         bool // Read Rev.
}

// Scrubbed is the result of a cleaning, after which the files of the database should contain no erased value.
type Scrubbed struct {
	Rewritten []string `json:"rewritten"` // The rewritten tables.
	Later     []string `json:"later"`     // What holds it in unused space until the next cleaning.
	Busy      []string `json:"-"`         // The tables that the next cleaning may rewrite.
	// Left has the tables that are too large, or owned by another role, with the number of their file. Another number
	// means that the table was rewritten since.
	Left map[string]int64 `json:"-"`
}

// ErasedPerson is the record of an erasure.
type ErasedPerson struct {
	UUID     apitype.UUID `json:"uuid"`
	ErasedAt apitype.Time `json:"erasedAt"`
}

// Kept has everything that is stored about a person, without the documents. Bytes of each row has the document's
// length, and the reader gets some documents at a time.
type Kept struct {
	Person       PersonRow // Without a document when they were erased.
	ErasedAt     *apitype.Time
	Calls        []CallRow
	Pledges      []PledgeRow
	Transactions []TransactionRow
	Signatures   []SignatureRow
	Marks        []MarkRow
	Waiting      int        // Calls in the queue.
	Leases       []LeaseRow // Ended ones, too.
	ContactedAt  *apitype.Time
	Consents     []apitype.Consent
	Blocks       []Block // By the person's objections. They outlive an erasure.
}

// MarkRow is a mark with the account that made it.
type MarkRow struct {
	Account apitype.UUID `json:"account"`
	apitype.ProcessedEntry
}

// Retention has the number of months after which data of an organization's donors is erased or reduced. Nil means
// never. Spec gap: S61.
type Retention struct {
	Organization apitype.UUID `json:"organization"`
	// Calls that have ended lose their notes, external metadata and what is known of the recording.
	Calls *int `json:"calls"`
	// Erases persons without a pledge.
	Leads *int `json:"leads"`
	// Erases persons whose pledges have all ended.
	Persons *int `json:"persons"`
	// Deletes lines of the audit. Only the retention of the whole database has it, which has no organization.
	Audit *int `json:"audit"`
}

// RetainQuery chooses records that may be old enough: those after a position, up to a limit.
type RetainQuery struct {
	Organization apitype.UUID
	Before       apitype.Time
	Leads        bool // Persons without a pledge; else those with pledges.
	After        *Position
	Limit        int
}

// RetentionFacts are the inputs of a run of the retention.
type RetentionFacts struct {
	Newest  *apitype.Time // The time of the newest line of the audit. Nil if there is none.
	Persons int           // Not erased.
}
