package apitype

// The limits of requests and answers. The service enforces them, and the client uses them. openapi.json and
// service/DESIGN.md list them. Spec gaps: R2, R8, E3, S32.
const (
	MaxBody         = 1 << 20  // Bytes of a request body.
	MaxPageBytes    = 4 << 20  // Bytes of JSON of a page of a list that has more than one edge.
	MaxPledgeCalls  = 100      // Calls shown inside a pledge, the newest.
	MaxCallAttempts = 1_000    // Of one call.
	MaxFocusAreas   = 100      // Of one pledge.
	MaxEntries      = 1_000    // Of one mark-processed request.
	MaxObject       = 64 << 10 // Bytes of external metadata.
	MaxProblems     = 100      // Violations that one refusal lists.

	MaxRecordBytes = 64 << 20 // Of an answer with one record.
	MaxExportBytes = 1 << 30  // Of what the client reads of an export.
	// Of such an answer: attempts have three, and other objects take the rest.
	MaxRecordValues = 5 * MaxPledgeCalls * MaxCallAttempts

	MaxInFlight      = 64 << 20 // Bytes of the bodies and answers of all requests in memory.
	MaxInFlightOfOne = 16 << 20 // The part of one account.
	MaxPaced         = 32 << 20 // Bytes a second of large bodies and answers of one account, while others are at work.
)

// maxItems are the longest arrays of request bodies, by the member that holds them.
var maxItems = map[string]int{"entries": MaxEntries, "attempts": MaxCallAttempts, "focusAreaUuids": MaxFocusAreas}

// MaxItems returns how many elements an array of a request body may have. ok is false for another kind of member.
func MaxItems(member string) (n int, ok bool) {
	n, ok = maxItems[member]
	return n, ok
}
