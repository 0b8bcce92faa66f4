package desk

import (
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/say"
)

// Options of a desk. Client and Outbox are required.
type Options struct {
	say.Texts
	Client  *apiclient.Client
	Outbox  *outbox.Outbox                              // The spool for this service and account.
	Agent   *apitype.UUID                               // Sent with attempts and results.
	Results map[apitype.CallType][]apitype.ResultChoice // From the profile, else ResultCodes.
	// From the profile. Nil means codes from the service.
	ResultCodes        []string
	MaxAttempts        int                          // Of a call. Zero if unknown.
	Languages          []string                     // ISO 639-1 codes. Nil warns of none.
	Filter             apitype.QueueFilter          // The calls that the agent takes. Zero means all.
	Agents             map[apitype.UUID]string      // Names, as far as they are known.
	Hours              card.CallingHours            // Of the countries without the default hours.
	Omitted            func() (n int, first string) // Counts unreadable records and parts. May be nil.
	ExternalSourceName string                       // Sent with processed marks.
	ConfigDir          string                       // The folder of scripts/. Empty without one.
	StateFile          string                       // Stores the Desk's state. Empty stores none.
	QuitWait           time.Duration                // For unsent changes. Zero means 5 s.
	// A program with arguments, see [NumberPlace]. Nil dials none.
	Dial []string
	Now  func() time.Time
}

// quitWait is the default time that quitting waits.
const quitWait = 5 * time.Second

// NumberPlace is replaced by the number in the arguments of [Options].Dial.
const NumberPlace = "{number}"
