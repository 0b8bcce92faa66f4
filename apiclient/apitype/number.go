package apitype

import (
	stdjson "encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decimal is a JSON number taken apart: sign, significant digits without zeros at
// either end, and the power of ten of the last digit. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// maxExponent bounds the exponent of decimals. No value of the interface comes near it.
const maxExponent = 1 << 20

var errNumber = errors.New("is not a JSON number")

// parseDecimal takes a JSON number apart. It never builds the number, so a huge
// exponent costs nothing.
func parseDecimal(text string) (decimal, error) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	if !stdjson.Valid([]byte(text)) {
		return decimal{}, errNumber
	}
	isNumber := text[0] == '-' || isDigit(text[0])
	if !isNumber || !isDigit(text[len(text)-1]) {
		return decimal{}, errNumber // In valid text only blanks can follow the last digit.
	}
	var d decimal
	text, d.negative = strings.TrimPrefix(text, "-"), text[0] == '-'
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxExponent || n < -maxExponent {
			n = maxExponent
			if strings.HasPrefix(exponent, "-") {
				n = -maxExponent
			}
		}
		d.exponent = n
	}
	d.exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exponent += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}, nil
	}
	return d, nil
}

// compare orders two decimals by value.
func (d decimal) compare(o decimal) int {
	sign := func(x decimal) int {
		if x.digits == "" {
			return 0
		}
		if x.negative {
			return -1
		}
		return 1
	}
	if s, t := sign(d), sign(o); s != t || s == 0 {
		return s - t
	}
	c := len(d.digits) + d.exponent - len(o.digits) - o.exponent
	if c == 0 {
		c = strings.Compare(d.digits, o.digits)
	}
	if d.negative {
		return -c
	}
	return c
}

// scaled returns the value times ten to the power of places as an integer. ok is false if it is not whole or does not
// fit.
func (d decimal) scaled(places int) (n int64, ok bool) {
	zeros := d.exponent + places
	if d.digits == "" {
		return 0, true
	}
	if zeros < 0 || len(d.digits)+zeros > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(d.digits+strings.Repeat("0", zeros), 10, 64)
	if d.negative {
		n = -n
	}
	return n, err == nil
}

// Number is a JSON number with every digit as it was sent. The zero value is 0.
type Number struct{ text string }

// ParseNumber reads a JSON number.
func ParseNumber(text string) (Number, error) {
	if _, err := parseDecimal(text); err != nil {
		return Number{}, err
	}
	return Number{text: text}, nil
}

// NumberFromInt returns n as a Number.
func NumberFromInt(n int) Number { return Number{text: strconv.Itoa(n)} }

// String returns the number as it was sent.
func (n Number) String() string {
	if n.text == "" {
		return "0"
	}
	return n.text
}

// Float64 returns the nearest binary floating-point value, for charts only.
func (n Number) Float64() float64 {
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f
}

// Int returns the number as an integer. ok is false if it is not whole or too large.
func (n Number) Int() (value int64, ok bool) { return n.decimal().scaled(0) }

// Compare orders numbers by value: 4 and 4.0 are equal.
func (n Number) Compare(other Number) int { return n.decimal().compare(other.decimal()) }

func (n Number) decimal() decimal {
	d, _ := parseDecimal(n.String())
	return d
}

// MarshalJSON writes the number as it was sent.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads a JSON number; null leaves n unchanged.
func (n *Number) UnmarshalJSON(data []byte) error { return unmarshalNumber(data, n, ParseNumber) }

var errWhole = errors.New("must be a whole number")

// WholeNumbers makes a decoder read a whole number in every form that JSON has for it: 15, 15.0 and 1.5e1 are the same.
func WholeNumbers() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, value *int) error {
		text, err := dec.ReadValue()
		if err != nil || text.Kind() == jsontext.KindNull {
			return err
		}
		number, err := ParseNumber(string(text))
		if err != nil {
			return errWhole
		}
		n, isWhole := number.Int()
		if !isWhole {
			return errWhole
		}
		*value = int(n)
		return nil
	})
}

func unmarshalNumber[T any](data []byte, value *T, parse func(string) (T, error)) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := parse(string(data))
	if err != nil {
		return err
	}
	*value = parsed
	return nil
}

// Amount is an amount of money in Euros, exact. Whole cents are kept as such; any
// other JSON number that a service may send is kept as its text. The zero value is 0.
// Spec gap: R7.
type Amount struct {
	cents int64
	other string // The number as sent when it is not a whole number of cents.
}

// The bounds of an amount that the service takes, in Euro cents. Spec gap: R7.
const (
	minAmount = 1
	maxAmount = 999999999
)

// Cents returns an amount of n Euro cents.
func Cents(n int64) Amount { return Amount{cents: n} }

// ParseAmount reads a JSON number of Euros.
func ParseAmount(text string) (Amount, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return Amount{}, err
	}
	if cents, ok := d.scaled(2); ok {
		return Amount{cents: cents}, nil
	}
	return Amount{other: text}, nil
}

// Cents returns the amount in Euro cents. ok is false if it is not a whole number of them.
func (a Amount) Cents() (n int64, ok bool) { return a.cents, a.other == "" }

// String returns the amount in Euros without padding: 25, 12.5, 0.1.
func (a Amount) String() string {
	if a.other != "" {
		return a.other
	}
	text := a.Fixed()
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Fixed returns the amount in Euros with two decimals, or the text as sent if it has more.
func (a Amount) Fixed() string {
	if a.other != "" {
		return a.other
	}
	cents, sign := a.cents, ""
	if cents < 0 {
		cents, sign = -cents, "-"
	}
	fraction := strconv.FormatInt(100+cents%100, 10)[1:]
	return sign + strconv.FormatInt(cents/100, 10) + "." + fraction
}

// MarshalJSON writes the amount as a JSON number.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a JSON number; null leaves a unchanged.
func (a *Amount) UnmarshalJSON(data []byte) error { return unmarshalNumber(data, a, ParseAmount) }

// validate checks a donation amount at pointer.
func (a Amount) validate(v *Violations, pointer string) {
	switch {
	case a == Amount{}:
		v.Add(pointer, "is required and must be greater than 0")
	case a.other == "" && a.cents >= minAmount && a.cents <= maxAmount:
	case a.other == "" || !a.isFraction():
		v.Add(pointer, "must be greater than 0 and at most 9999999.99 euros")
	default:
		v.Add(pointer, "must have at most two decimals")
	}
}

// isFraction reports whether an amount of other than whole cents lies in the bounds.
func (a Amount) isFraction() bool {
	d, _ := parseDecimal(a.other)
	return d.compare(decimal{}) > 0 && d.compare(decimal{digits: "999999999", exponent: -2}) < 0
}
