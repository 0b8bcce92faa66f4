package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/render"
)

// resolve returns the value of a field as a request has it. With a country, phone numbers, days and amounts are
// read as they are written there.
func (r *rowReader) resolve(field change.Field, given any, isCell bool) (any, error) {
	text, isText := given.(string)
	if given == nil || isCell && text == "" {
		return nil, nil
	}
	if isText && r.country != "" && field.Kind == apitype.PhoneField {
		text = render.International(text, r.country)
		given = text
	}
	if !isCell {
		return given, nil
	}
	var err error
	switch field.Kind {
	case apitype.DateField:
		if text, err = localDay(text, r.country); err == nil && !isWholeDay(text) {
			err = errWholeDay
		}
	case apitype.TimeField:
		if text, err = localDay(text, r.country); err == nil && isPartOfDay(text) {
			err = errWholeDay
		}
	case apitype.AmountField:
		text, err = cellAmount(text, r.country)
	case apitype.NumberField:
		text = decimalPoint(text, r.country)
	case apitype.YesNoField:
		text = truthWord(text)
	}
	if err != nil {
		return nil, err
	}
	if word, has := genderWords[strings.ToLower(text)]; has && field.Path == "gender" {
		if r.country == "" {
			return nil, errGender
		}
		text = word
	}
	return change.FieldJSON(r.session, field, []string{text})
}

var errGender = errors.New(
	"must be a word; --country NL reads the letter, --value 'gender:V=female' says what it means",
)

// genderWords are the letters of Dutch, German, English and French.
var genderWords = map[string]string{"m": "male", "v": "female", "w": "female", "f": "female"}

// unguarded returns a cell without the mark that keeps a spreadsheet from reading a formula or a number.
func unguarded(cell string) string {
	cell = render.WithoutTextMark(cell)
	if len(cell) > 1 && cell[0] == '\'' && render.IsFormula(cell[1:]) {
		return cell[1:]
	}
	return cell
}

var errWholeDay = errors.New("must be a whole day such as 1980-05-17, with year, month and day")

// isPartOfDay reports whether a text is a year, or a year and a month.
func isPartOfDay(text string) bool {
	year, month, _ := strings.Cut(strings.TrimSpace(text), "-")
	isNumber := func(text string) bool { return strings.Trim(text, "0123456789") == "" }
	return len(year) == 4 && isNumber(year) && len(month) <= 2 && isNumber(month)
}

// isWholeDay reports whether a text may name a day by itself, unlike a word that depends on today.
func isWholeDay(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > 4 && strings.Trim(text[:4], "0123456789") == "" && !isPartOfDay(text)
}

var errDayOrder = errors.New("can be read as two days; --country says in which order day and month stand")

// localDay turns a time that begins with day, month and year into one that begins with YYYY-MM-DD. It returns any
// other text unchanged.
func localDay(text, country string) (string, error) {
	day, after, _ := strings.Cut(strings.TrimSpace(text), " ")
	parts := strings.FieldsFunc(day, func(r rune) bool { return strings.ContainsRune("-/.", r) })
	if len(parts) != 3 || len(parts[0]) > 2 || len(parts[1]) > 2 || len(parts[2]) != 4 {
		return text, nil
	}
	first, err1 := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return text, nil
	}
	if country == "" && first <= 12 && second <= 12 && first != second {
		return "", errDayOrder
	}
	if country == "US" || country == "" && second > 12 {
		first, second = second, first
	}
	text = strings.TrimSpace(fmt.Sprintf("%s-%02d-%02d %s", parts[2], second, first, after))
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} { // A time of a record is in UTC.
		at, err := time.Parse(layout, text)
		if err == nil {
			return at.Format(time.RFC3339Nano), nil
		}
	}
	return text, nil
}

// errThousands is of a number such as 1.250.
var errThousands = errors.New("can be read as thousands and as cents; --country says which")

// errThirdDecimal is of a number such as 1,250 where the comma is the decimal sign.
var errThirdDecimal = errors.New("has three digits after its decimal sign, and may be meant in thousands")

// hasThirdDecimal reports whether a text is a number with three digits after its only sign, which is the decimal sign.
func hasThirdDecimal(text string, sign byte) bool {
	whole, rest, found := strings.Cut(strings.TrimSpace(text), string(sign))
	return found && whole != "" && len(rest) == 3 && strings.Trim(whole+rest, "0123456789") == ""
}

// cellAmount writes an amount with a point before its cents. It returns any other text unchanged.
func cellAmount(text, country string) (string, error) {
	sign := byte(0)
	if country != "" {
		if sign = '.'; render.HasDecimalComma(country) {
			sign = ','
		}
	}
	if sign != 0 && hasThirdDecimal(text, sign) {
		return "", errThirdDecimal
	}
	amount, err := apitype.ParseTypedAmount(text, sign)
	if _, ambiguous := errors.AsType[*apitype.AmbiguousAmount](err); ambiguous {
		return "", errThousands
	}
	if err != nil {
		return text, nil
	}
	return amount.String(), nil
}

// decimalPoint writes a number with a point if its country writes a decimal comma.
func decimalPoint(text, country string) string {
	whole, cents, found := strings.Cut(text, ",")
	if !found || country == "" || !render.HasDecimalComma(country) || strings.ContainsAny(cents, ",.") {
		return text
	}
	return strings.ReplaceAll(whole, ".", "") + "." + cents
}

// truthWord returns true or false for the words of spreadsheets.
func truthWord(text string) string {
	switch strings.ToLower(text) {
	case "true", "yes", "y", "ja", "j", "1", "waar", "wahr", "vrai", "oui":
		return "true"
	case "false", "no", "n", "nee", "nein", "0", "onwaar", "falsch", "faux", "non":
		return "false"
	default:
		return text
	}
}

// isShownAs reports whether a row has the value that a record shows.
func (r *rowReader) isShownAs(path string, f wantedField, shown any) bool {
	text, isText := f.given.(string)
	if f.isEmpty() {
		return shown == nil || shown == ""
	}
	if f.isCell && isText {
		switch shown.(type) {
		case json.Number:
			return apiclient.IsSame(path, json.Number(decimalPoint(text, r.country)), shown)
		case bool:
			return truthWord(text) == fmt.Sprint(shown)
		case string: // A read-only field, whose kind is unknown here.
			day, err := localDay(text, r.country)
			if err == nil && r.country != "" && (day == shown || render.International(text, r.country) == shown) {
				return true
			}
		}
	}
	sent := f.given
	if raw, ok := sent.(json.RawMessage); ok {
		var decoded any
		if apitype.DecodeExact(raw, &decoded) == nil {
			sent = decoded
		}
	}
	return apiclient.IsSame(path, sent, shown)
}
