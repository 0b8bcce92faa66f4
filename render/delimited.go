package render

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// tsvSpaces replaces what would break a line of tsv.
var tsvSpaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// appendTSV adds one row of tsv. It is cleaned in a pipe, too: head and cut show it on a
// terminal as it is.
func appendTSV[T any](b []byte, columns []Column[T], record T) []byte {
	return appendRow(b, columns, "\t", "\n", func(column Column[T]) string {
		return Clean(tsvSpaces.Replace(column.Value(record)))
	})
}

// appendCSVHeader adds the names of the columns, for Excel after the mark by which it knows UTF-8.
func appendCSVHeader[T any](b []byte, columns []Column[T], o Options) []byte {
	if o.Excel != "" {
		b = append(b, "\ufeff"...)
	}
	return appendRow(
		b,
		columns,
		o.delimiter(),
		"\r\n",
		func(column Column[T]) string { return csvCell(column.Name, false) },
	)
}

// delimiter returns the separator of cells, which for Excel depends on the country.
func (o Options) delimiter() string {
	if o.Excel != "" && (HasDecimalComma(o.Excel) || o.Excel == "CH") {
		return ";"
	}
	return ","
}

// appendCSV adds one row of csv.
func appendCSV[T any](b []byte, columns []Column[T], record T, o Options) []byte {
	return appendRow(b, columns, o.delimiter(), "\r\n", func(column Column[T]) string {
		value := column.Value(record)
		if o.Excel != "" {
			value = excelCell(value, column.isNumber(record), o.Excel)
		}
		if o.Terminal {
			value = CleanLines(value)
		}
		return csvCell(value, o.Excel != "")
	})
}

// appendRow adds the cells of one row.
func appendRow[T any](b []byte, columns []Column[T], separator, end string, cell func(Column[T]) string) []byte {
	for i, column := range columns {
		if i > 0 {
			b = append(b, separator...)
		}
		b = append(b, cell(column)...)
	}
	return append(b, end...)
}

// csvCell quotes a value as RFC 4180 requires. With safe, an apostrophe comes before a value that a spreadsheet
// would take for a formula.
func csvCell(value string, safe bool) string {
	if safe && IsFormula(value) && WithoutTextMark(value) == value {
		value = "'" + value
	}
	if !strings.ContainsAny(value, "\",;\r\n") && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}

// IsFormula reports whether a spreadsheet would take a cell for a formula.
func IsFormula(cell string) bool {
	return cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0]))
}

// resembling matches texts that Excel takes for a number, a day or a time: phone numbers, postcodes, NOV26,
// 1-dec, 10 A.
var resembling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:[-+ .,:/0-9]*[0-9][-+ .,:/0-9]*|[0-9.]+[eE][0-9]+|` +
			`[A-Za-z]{3,9}[-. ]?[0-9]{1,4}|[0-9]{1,2}[-./ ]?[A-Za-z]{3,9}(?:[-./ ]?[0-9]{2,4})?|` +
			`[0-9]{1,2}(?::[0-9]{2})? [aApP][mM]?)$`,
	)
})

// excelCell returns a value in a form that Excel in a country keeps: numbers with its decimal sign, and all other
// values as text.
func excelCell(value string, isNumber bool, country string) string {
	if isNumber {
		if HasDecimalComma(country) {
			return strings.Replace(value, ".", ",", 1)
		}
		return value
	}
	_, err := time.Parse(time.DateOnly, value)
	isDate := err == nil
	if !isDate && len(value) < 100 && resembling().MatchString(value) {
		return `="` + value + `"`
	}
	return value
}

// WithoutTextMark returns a cell without the formula that marks it as text for Excel.
func WithoutTextMark(cell string) string {
	after, isMarked := strings.CutPrefix(cell, `="`)
	if text, ends := strings.CutSuffix(after, `"`); isMarked && ends && resembling().MatchString(text) {
		return text
	}
	return cell
}
