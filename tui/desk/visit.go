package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/entry"
)

// seat is the place of the call on the Desk, which the parts of a Day share. They see the present visit there.
type seat struct {
	*visit        // Never nil.
	Wanted   bool // The agent waits for a call.
	NoneLeft bool // A call was asked for and there was none.
}

// IsOn reports whether a call is on the desk.
func (s *seat) IsOn(id apitype.UUID) bool { return s.Call != nil && s.Call.UUID == id }

// call returns the call on the Desk, or nil.
func (s *seat) call() *apitype.Call { return s.Call }

// visit is the work on one call, from the moment when the agent asks for it until it leaves the Desk. What a reading
// brings belongs to the visit that asked, and is dropped if another one has begun. An empty visit waits for a call.
type visit struct {
	Call    *apitype.Call // Nil without one.
	Checked bool          // It was read again since it was taken.
	Taking  bool          // A certain call is being read for the agent.

	latest *apitype.Call // The newest reading. Nil if Call is the newest.
	number int           // Of the latest reading: earlier ones are dropped.
	reads  bool          // A reading is under way.
	stale  bool          // The card is stale until it is read again.

	claimed   apitype.UUID // The call, if it has no lease of the service.
	claimedBy int          // The reading that claimed it.
	// unleased is the call if the agent opened it without a lease so far. Zero if it has one, or the service refused
	// it.
	unleased  apitype.UUID
	holder    *apitype.LeaseHolder // The other user with a lease of the donor. Nil if there is none.
	isFreed   bool                 // The lease of the call has ended.
	isBlocked bool                 // A number of the donor is blocked.
	isErased  bool                 // The donor was erased while the card was shown.

	entered  entry.Entered
	script   card.Script
	consents card.Consents  // Of the donor, as far as they were read.
	undone   *changes.Group // The undone change of the call. Nil without one.
	progress

	// results are the results of the call, which keep their digits while it is on the Desk. Nil before they were asked
	// for.
	results []apitype.ResultChoice
}

// progress is what the agent did for the donor. A new reading does not change it, and an undo brings it back.
type progress struct {
	dials  []card.DialledNumber // In the order of time.
	struck []struckNumber
	walk   card.Walk // Through the script.
	// callbackReason is why the donor wanted to be called back. Empty without a callback.
	callbackReason string
}

// isCurrent reports whether a reading is the latest of this visit.
func (v *visit) isCurrent(read callRead) bool { return read.visit == v && read.number == v.number }
