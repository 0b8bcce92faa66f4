package card

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// DialledNumber is a number of the donor that was dialled.
type DialledNumber struct {
	Kind string // Of [Number].
	At   time.Time
}

// RangText returns when another number of the donor was dialled last, or an empty text.
func (k Card) RangText(than Number) string {
	for _, earlier := range slices.Backward(k.Dials) {
		if earlier.Kind != than.Kind {
			return " (" + k.Say("%s called at %s", k.Say(earlier.Kind), earlier.At.Format("15:04")) + ")"
		}
	}
	return ""
}

// NextNumber returns the number that the next key dials: the number with the fewest dials, without numbers that do not
// exist. It returns false if the donor has no number.
func (k Card) NextNumber() (Number, bool) {
	least := 0
	var next Number
	var found bool
	for _, n := range Numbers(k.Call.Person.Pointer()) {
		times := 0
		if k.IsStruck(n.Kind) {
			times = len(k.Dials) + 1
		}
		for _, earlier := range k.Dials {
			if earlier.Kind == n.Kind {
				times++
			}
		}
		if !found || times < least {
			next, least, found = n, times, true
		}
	}
	return next, found
}

// Rang returns when a number of the donor was dialled last, or the zero time.
func (k Card) Rang(kind string) time.Time {
	for _, earlier := range slices.Backward(k.Dials) {
		if earlier.Kind == kind {
			return earlier.At
		}
	}
	return time.Time{}
}

// Dialled returns when the agent dialled for the call on the desk; the zero time is never.
func (k Card) Dialled() time.Time {
	if n := len(k.Dials); n > 0 {
		return k.Dials[n-1].At
	}
	return time.Time{}
}

// Since returns when work on the call on the desk began: when it was dialled, or else came on the screen.
func (k Card) Since() time.Time {
	return cmp.Or(k.Dialled(), k.ShownAt)
}

// Whose returns the agent with a lease of the call on the Desk, or an empty text if the service has no queue.
func (k Card) Whose() string {
	if k.Holder != nil {
		return "with a colleague"
	}
	if k.Lease != nil {
		return "reserved"
	}
	if k.HasQueue {
		return "not reserved"
	}
	return ""
}

// IsStruck reports whether a number of the donor was found not to exist while the call is on the Desk.
func (k Card) IsStruck(kind string) bool { return slices.Contains(k.Struck, kind) }

// DialledKind returns which number was dialled last: the only one, if the agent dialled by hand, or an empty text.
func (k Card) DialledKind() string {
	if n := len(k.Dials); n > 0 {
		return k.Dials[n-1].Kind
	}
	if all := Numbers(k.Call.Person.Pointer()); len(all) == 1 {
		return all[0].Kind
	}
	return ""
}

// KindOf returns which number an attempt is about. An agent who dialled by hand, and found that a number does not
// exist, rang the one that the card names next.
func (k Card) KindOf(reason apitype.NotReached) string {
	kind := k.DialledKind()
	if reason != apitype.NotReachedNoSuchNumber || kind != "" && !k.IsStruck(kind) {
		return kind
	}
	next, _ := k.NextNumber()
	return next.Kind
}

// NumberAfter returns another number that was not dialled yet, after one that does not exist.
func (k Card) NumberAfter(reason apitype.NotReached) (Number, bool) {
	kind := k.KindOf(reason)
	if reason != apitype.NotReachedNoSuchNumber || kind == "" {
		return Number{}, false
	}
	for _, n := range Numbers(k.Call.Person.Pointer()) {
		if n.Kind != kind && k.Rang(n.Kind).IsZero() && !k.IsStruck(n.Kind) {
			return n, true
		}
	}
	return Number{}, false
}

// ReasonWords returns the reason of an attempt in words.
func ReasonWords(reason apitype.NotReached) string {
	return strings.ReplaceAll(string(reason), "-", " ")
}

// NotReachedText returns that the donor was not reached, and the reason if there is one.
func (k Card) NotReachedText(reason apitype.NotReached) string {
	if reason == "" {
		return k.Say("not reached")
	}
	return k.Say("not reached") + ", " + k.Say(ReasonWords(reason))
}
