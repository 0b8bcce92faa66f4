package find

import (
	"strings"

	"fundesk/apiclient/apitype"
)

// Number is a part of a phone number that an agent looks for.
type Number struct {
	digits  string // Without the prefix for calls at home or abroad. Empty if it is not a number.
	isStart bool   // The number begins with them, but for the code of its country.
}

// How many digits are looked for at least, and how long the code of a country is at most.
const (
	leastDigits = 3
	countryCode = 3
)

// NumberOf reads a typed number in any form. The zero value is not a number.
func NumberOf(typed string) Number {
	typed = strings.TrimSpace(typed)
	if strings.Trim(typed, "+0123456789 -/.()") != "" {
		return Number{}
	}
	digits := apitype.Digits(strings.ReplaceAll(typed, "(0)", ""))
	return Number{
		digits:  strings.TrimLeft(digits, "0"),
		isStart: strings.HasPrefix(typed, "+") || strings.HasPrefix(digits, "0"),
	}
}

// IsLong reports whether it has enough digits to look for.
func (n Number) IsLong() bool { return len(n.digits) >= leastDigits }

// IsIn reports whether a phone number, of digits only, has this part.
func (n Number) IsIn(number string) bool {
	at := strings.Index(number, n.digits)
	return at >= 0 && (!n.isStart || at <= countryCode)
}

// InRecord is [In] for the text of a record. It also finds a phone number, in any form, among the text's numbers that
// begin with a plus sign.
func InRecord(text string, terms []string) bool {
	if In(text, terms) {
		return true
	}
	number := NumberOf(strings.Join(terms, " "))
	if !number.IsLong() {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		if digits, isNumber := strings.CutPrefix(word, "+"); isNumber && number.IsIn(digits) {
			return true
		}
	}
	return false
}
