package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/render"
)

// resolve returns the value of a field as a request has it. It reads phone numbers in the form of the country of the
// row, and days and amounts in the form of the file.
func (r *rowReader) resolve(f wantedField) (any, error) {
	text, isText := f.given.(string)
	if f.given == nil || f.isCell && text == "" {
		return nil, nil
	}
	if f.isCell {
		if err := damaged(text); err != nil {
			return nil, err
		}
	}
	if isText && f.field.Kind == apitype.PhoneField && f.country != "" {
		return render.Dialled(text, f.country)
	}
	if !f.isCell {
		return f.given, nil
	}
	text, err := r.read(f, text)
	if err != nil {
		return nil, err
	}
	return change.FieldJSON(r.session, f.field, []string{text})
}

// read returns the text of a cell in the form of the interface.
func (r *rowReader) read(f wantedField, text string) (string, error) {
	switch f.field.Kind {
	case apitype.DateField:
		text, err := localDay(text, r.orderOf(f))
		if err == nil && !isWholeDay(text) {
			err = errWholeDay
		}
		return text, err
	case apitype.TimeField:
		text, err := localDay(text, r.orderOf(f))
		if err == nil && isPartOfDay(text) {
			err = errWholeDay
		}
		return text, err
	case apitype.AmountField:
		return cellAmount(text, r.decimal, r.country)
	case apitype.NumberField:
		return decimalPoint(text, r.decimalSign()), nil
	case apitype.YesNoField:
		return truthWord(text), nil
	}
	switch f.field.Path {
	case "gender":
		return genderWord(text, r.country)
	case "language":
		if localeName().MatchString(text) { // nl_NL, as programs keep it.
			return strings.ToLower(text[:2]), nil
		}
	case "address.country":
		return cmp.Or(countryOf(text), text), nil
	}
	return text, nil
}

var localeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z]{2}[-_][a-zA-Z]{2}$`)
})

// orderOf returns the order of day and month in a field: the order of its column, or else of the file.
func (r *rowReader) orderOf(f wantedField) string {
	if f.column != nil && f.order != "" {
		return f.order
	}
	none := dateEvidence{}
	order, _ := none.order(r.dates, r.country)
	return order
}

// decimalSign returns the decimal sign of the file, or zero if it is not known.
func (r *rowReader) decimalSign() byte {
	if r.decimal != "" {
		return r.decimal[0]
	}
	if r.country == "" {
		return 0
	}
	if render.HasDecimalComma(r.country) {
		return ','
	}
	return '.'
}

// unguarded returns a cell without the mark that keeps a spreadsheet from reading a formula or a number.
func unguarded(cell string) string {
	cell = render.WithoutTextMark(cell)
	if len(cell) > 1 && cell[0] == '\'' && render.IsFormula(cell[1:]) {
		return cell[1:]
	}
	return cell
}

var (
	errFormula = errors.New("is the error of a formula, not a value; correct it in the spreadsheet")
	errRounded = errors.New(
		"is a number that the spreadsheet has rounded; format its column as text there, and save the file again",
	)
)

// formulaError matches the error of a formula in the languages of spreadsheets: #N/A, #REF!, #NAAM?, #¡VALOR!.
var formulaError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^#(?:N/A|N/B|N/D|NV|[¡¿]?[A-ZÀ-Þ/0]+[!?])$`)
})

// roundedNumber matches a long number as a spreadsheet shows it in a narrow column: 1,23457E+11.
var roundedNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{2,3}$`)
})

// damaged returns why a cell has lost its value in a spreadsheet, or nil.
func damaged(cell string) error {
	if formulaError().MatchString(cell) {
		return errFormula
	}
	if roundedNumber().MatchString(cell) {
		return errRounded
	}
	return nil
}

// errThousands is returned for a number such as 1.250 or 1,250.
var errThousands = errors.New(
	"can be read as thousands and as cents; write two decimals, or decimal = \",\" or \".\" in the file of --mapping",
)

// isThousandsOrCents reports whether a text is a number with one sign and three digits after it.
func isThousandsOrCents(text string) bool {
	text = strings.TrimSpace(text)
	at := strings.IndexAny(text, ".,")
	if at < 1 {
		return false
	}
	whole, rest := text[:at], text[at+1:]
	return len(rest) == 3 && strings.Trim(whole+rest, "0123456789") == ""
}

// cellAmount writes an amount with a point before its cents. It returns any other text unchanged. decimal is the sign
// that a mapping states, or empty.
func cellAmount(text, decimal, country string) (string, error) {
	if decimal == "" && isThousandsOrCents(text) {
		return "", errThousands
	}
	sign := (&rowReader{decimal: decimal, country: country}).decimalSign()
	if decimal != "" && isThousandsOrCents(text) {
		return decimalPoint(strings.TrimSpace(text), sign), nil
	}
	amount, err := apitype.ParseTypedAmount(text, sign)
	if _, ambiguous := errors.AsType[*apitype.AmbiguousAmount](err); ambiguous {
		return "", errThousands
	}
	if err != nil {
		if err := otherSign(text, sign); err != nil {
			return "", err
		}
		return text, nil
	}
	return amount.String(), nil
}

// otherSign returns an error that names the decimal sign of the file, if a text is an amount with the other one.
func otherSign(text string, sign byte) error {
	other := map[byte]byte{',': '.', '.': ','}[sign]
	if other == 0 {
		return nil
	}
	if _, err := apitype.ParseTypedAmount(text, other); err != nil {
		return nil
	}
	return fmt.Errorf(
		"has the decimal sign %q, and the file has %q; state the other one as decimal in the file of --mapping",
		string(other), string(sign),
	)
}

// decimalPoint writes a number with a point before its decimals. It returns a number of another form unchanged.
func decimalPoint(text string, sign byte) string {
	thousands := "."
	if sign == '.' {
		thousands = ","
	}
	whole, cents, found := strings.Cut(text, string(rune(sign)))
	if sign == 0 || strings.ContainsAny(cents, ",.") {
		return text
	}
	groups := strings.Split(whole, thousands)
	for _, group := range groups[1:] {
		if len(group) != 3 {
			return text
		}
	}
	if !found {
		return strings.Join(groups, "")
	}
	return strings.Join(groups, "") + "." + cents
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

// isShownText reports whether a cell is the text of a record as a file keeps it: without blanks at its ends, with one
// character for the end of a line, and in a spreadsheet without the zeros that a number begins with.
func isShownText(cell, shown string) bool {
	shown = strings.ReplaceAll(shown, "\r\n", "\n")
	short := strings.TrimLeft(shown, "0")
	isNumber := strings.Trim(shown, "0123456789") == ""
	return cell == trimmed(shown) || isNumber && short != "" && cell == short
}

// isReadOnlyAs reports whether a cell is the value of a field of an unknown kind that no request has.
func (r *rowReader) isReadOnlyAs(f wantedField, text, shown string) bool {
	country := cmp.Or(f.country, r.country)
	if f.creates || f.updates || country == "" {
		return false
	}
	day, err := localDay(text, r.orderOf(f))
	return err == nil && day == shown || render.International(text, country) == shown
}

// isShownAs reports whether a row has the value that a record shows.
func (r *rowReader) isShownAs(path string, f wantedField, shown any) bool {
	text, isText := f.given.(string)
	if f.isEmpty() {
		return shown == nil || shown == ""
	}
	if f.isCell && isText {
		switch was := shown.(type) {
		case json.Number:
			return apiclient.IsSame(path, json.Number(decimalPoint(text, r.decimalSign())), shown)
		case bool:
			return truthWord(text) == fmt.Sprint(shown)
		case string:
			isAsItIs := f.cell != "" && isShownText(f.cell, was) // A mark of a spreadsheet that is part of the value.
			if isAsItIs || isShownText(text, was) || r.isReadOnlyAs(f, text, was) {
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
