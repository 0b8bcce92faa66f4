package render

import (
	"bufio"
	"regexp"
	"strings"
	"sync"
	"time"
)

// tsvSpaces replaces what would break a line of tsv.
var tsvSpaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// writeTSV writes one row of tsv. It is cleaned in a pipe, too: head and cut show it on a
// terminal as it is.
func writeTSV[T any](w *bufio.Writer, columns []Column[T], record T) error {
	return writeRow(w, columns, "\t", "\n", func(column Column[T]) string {
		return Clean(tsvSpaces.Replace(column.Value(record)))
	})
}

// writeCSVHeader writes the names of the columns, for Excel after the mark by which it knows UTF-8.
func writeCSVHeader[T any](w *bufio.Writer, columns []Column[T], o Options) error {
	if o.Excel != "" {
		if _, err := w.WriteString("\ufeff"); err != nil {
			return err
		}
	}
	return writeRow(w, columns, o.delimiter(), "\r\n", func(column Column[T]) string { return csvCell(column.Name, false) })
}

// delimiter returns what separates cells: Excel in a country expects that of its settings.
func (o Options) delimiter() string {
	if o.Excel != "" && (HasDecimalComma(o.Excel) || o.Excel == "CH") {
		return ";"
	}
	return ","
}

// writeCSV writes one row of csv.
func writeCSV[T any](w *bufio.Writer, columns []Column[T], record T, o Options) error {
	return writeRow(w, columns, o.delimiter(), "\r\n", func(column Column[T]) string {
		value := column.Value(record)
		if o.Excel != "" {
			value = excelCell(value, column.Number != nil, o.Excel)
		}
		if o.Terminal {
			value = CleanLines(value)
		}
		return csvCell(value, o.SpreadsheetSafe || o.Excel != "")
	})
}

// writeRow writes the cells of one row.
func writeRow[T any](w *bufio.Writer, columns []Column[T], separator, end string, cell func(Column[T]) string) error {
	row := w.AvailableBuffer()
	for i, column := range columns {
		if i > 0 {
			row = append(row, separator...)
		}
		row = append(row, cell(column)...)
	}
	_, err := w.Write(append(row, end...))
	return err
}

// csvCell quotes a value where RFC 4180 wants it. A safe one begins with an apostrophe
// where a spreadsheet would take it for a formula.
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

// resembling matches texts that Excel takes for a number, a day or a time: phone numbers, postcodes, NOV26.
var resembling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-+ .,:/0-9]*[0-9][-+ .,:/0-9]*|[0-9.]+[eE][0-9]+|[A-Za-z]{3,9}[-. ]?[0-9]{1,4})$`)
})

// excelCell returns a value as Excel in a country keeps it: numbers with its decimal sign, and as text what
// is none.
func excelCell(value string, isNumber bool, country string) string {
	switch _, err := time.Parse(time.DateOnly, value); {
	case isNumber && HasDecimalComma(country):
		return strings.Replace(value, ".", ",", 1)
	case !isNumber && err != nil && len(value) < 100 && resembling().MatchString(value):
		return `="` + value + `"`
	default:
		return value
	}
}

// WithoutTextMark returns a cell without the formula that marks it as text for Excel.
func WithoutTextMark(cell string) string {
	after, isMarked := strings.CutPrefix(cell, `="`)
	if text, ends := strings.CutSuffix(after, `"`); isMarked && ends && resembling().MatchString(text) {
		return text
	}
	return cell
}
