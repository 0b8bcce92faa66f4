package load

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// mixedOrder is the order of a column that has days of both orders.
const mixedOrder = "mixed"

var (
	errWholeDay = errors.New("must be a whole day such as 1980-05-17, with year, month and day")
	errDayOrder = errors.New("can be read as two days; --dates dmy or mdy says in which order day and month stand")
	errMixed    = errors.New("can be read as two days, and its column has both orders; --dates dmy or mdy says which")
	errShort    = errors.New("has a year of two digits; write all four, such as 1980-05-17")
)

// sample is a cell that shows the order of its column.
type sample struct {
	line int
	text string
}

// dateEvidence holds what a column of dates shows about the order of day and month.
type dateEvidence struct {
	day, month, year sample // The first cell of which only this order makes a day.
	isOpen           bool   // A cell fits both orders of day and month, and is two days.
}

// numbersOfDate splits a date that ends or begins with a year of four digits. It returns false for other texts.
func numbersOfDate(text string) (parts [3]int, isYearFirst, ok bool) {
	day, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	day, _, _ = strings.Cut(day, "T")
	fields := strings.FieldsFunc(day, func(r rune) bool { return strings.ContainsRune("-/.", r) })
	if len(fields) != 3 {
		return parts, false, false
	}
	isYearFirst = len(fields[0]) == 4 && len(fields[1]) <= 2 && len(fields[2]) <= 2
	isYearLast := len(fields[0]) <= 2 && len(fields[1]) <= 2 && len(fields[2]) == 4
	if !isYearFirst && !isYearLast {
		return parts, false, false
	}
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil {
			return parts, false, false
		}
		parts[i] = n
	}
	return parts, isYearFirst, true
}

// add notes a cell.
func (e *dateEvidence) add(line int, text string) {
	parts, isYearFirst, ok := numbersOfDate(text)
	note := func(s *sample) {
		if s.line == 0 {
			*s = sample{line, text}
		}
	}
	switch first, second := parts[0], parts[1]; {
	case !ok:
	case isYearFirst:
		note(&e.year)
	case first > 12 && second <= 12:
		note(&e.day)
	case first <= 12 && second > 12:
		note(&e.month)
	case first != second:
		e.isOpen = true
	}
}

// order decides the order of a column. stated is the order that the user named, and country the one of the file. The
// sample shows why the column is read in another order than its country writes.
func (e *dateEvidence) order(stated, country string) (string, sample) {
	usual := ""
	if country != "" {
		usual = dayFirst
		if country == "US" {
			usual = monthFirst
		}
	}
	var against sample
	if stated != "" {
		return stated, sample{}
	}
	if e.day.line > 0 && e.month.line > 0 {
		return mixedOrder, sample{}
	}
	if e.day.line > 0 {
		if usual == monthFirst {
			against = e.day
		}
		return dayFirst, against
	}
	if e.month.line > 0 {
		if usual == dayFirst {
			against = e.month
		}
		return monthFirst, against
	}
	return usual, sample{}
}

// contradiction returns the first cell that cannot have the stated order.
func (e *dateEvidence) contradiction(stated string) (sample, bool) {
	var against sample
	switch stated {
	case dayFirst:
		against = e.month
	case monthFirst:
		against = e.day
	case yearFirst:
		against = e.day
		if against.line == 0 {
			against = e.month
		}
	}
	return against, against.line > 0
}

// survey looks at the cells of a row of CSV before any is read.
func (r *rowReader) survey(header []string, row bulk.Row) {
	for i, cell := range row.Cells {
		if i >= len(header) {
			return
		}
		c := r.column(header[i])
		isDate := (c.creates || c.updates) && (c.field.Kind == apitype.DateField || c.field.Kind == apitype.TimeField)
		if !isDate {
			continue
		}
		if r.evidence[header[i]] == nil {
			r.evidence[header[i]] = &dateEvidence{}
		}
		if _, isMeant := r.meaning(c.field.Path, trimmed(cell)); !isMeant {
			r.evidence[header[i]].add(row.Line, trimmed(cell))
		}
	}
}

// judge decides in which order the days of each column are read. It returns notes for the user, and refuses a named
// order that a column contradicts.
func (r *rowReader) judge(header []string) ([]string, error) {
	var notes []string
	for i, head := range header {
		e := r.evidence[head]
		if e == nil {
			continue
		}
		c := r.column(head)
		if against, has := e.contradiction(r.dates); has {
			return nil, cli.WithHint(
				cli.UsageError(fmt.Sprintf(
					"%s has days of another order than %s: line %d has %s; nothing was sent",
					columnLabel(i, head, c.field.Path), r.dates, against.line, r.quote(against.text),
				)),
				"without --dates and dates the column itself shows the order",
			)
		}
		order, against := e.order(r.dates, r.country)
		c.order = order
		if against.line > 0 {
			notes = append(notes, fmt.Sprintf(
				"%s is read as %s, not in the order of %s: line %d has %s",
				columnLabel(i, head, c.field.Path), order, r.country, against.line, r.quote(against.text),
			))
		}
	}
	return notes, nil
}

// columnLabel names a column of a file by its number, and by its field if that is another name.
func columnLabel(i int, head, field string) string {
	label := fmt.Sprintf("column %d %s", i+1, cli.Quote(trimmed(head)))
	if trimmed(head) != field {
		label += " (" + field + ")"
	}
	return label
}

// isPartOfDay reports whether a text is a year, or a year and a month.
func isPartOfDay(text string) bool {
	year, month, _ := strings.Cut(strings.TrimSpace(text), "-")
	isNumber := func(text string) bool { return strings.Trim(text, "0123456789") == "" }
	return len(year) == 4 && isNumber(year) && len(month) <= 2 && isNumber(month)
}

// isWholeDay reports whether a text may name a day by itself, unlike a word that depends on today, and a number of
// days.
func isWholeDay(text string) bool {
	text = strings.TrimSpace(text)
	isNumber := strings.Trim(text, "0123456789") == ""
	return len(text) > 4 && strings.Trim(text[:4], "0123456789") == "" && !isPartOfDay(text) &&
		(!isNumber || len(text) == 8)
}

// isShortYear reports whether a text is three numbers of at most two digits.
func isShortYear(text string) bool {
	parts := strings.FieldsFunc(strings.TrimSpace(text), func(r rune) bool { return strings.ContainsRune("-/.", r) })
	for _, part := range parts {
		if len(part) > 2 || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 3
}

// localDay turns a time that begins with day, month and year in an order into one that begins with YYYY-MM-DD. It
// returns any other text unchanged.
func localDay(text, order string) (string, error) {
	parts, isYearFirst, ok := numbersOfDate(text)
	if isShortYear(text) {
		return "", errShort
	}
	if !ok {
		return text, nil
	}
	_, after, _ := strings.Cut(strings.TrimSpace(text), " ")
	if isYearFirst {
		if strings.ContainsAny(strings.TrimSpace(text)[:5], "/.") {
			return dayText(parts[0], parts[1], parts[2], after), nil
		}
		return text, nil
	}
	first, second := parts[0], parts[1]
	isOpen := first <= 12 && second <= 12 && first != second
	if isOpen && order == mixedOrder {
		return "", errMixed
	}
	if isOpen && order != dayFirst && order != monthFirst {
		return "", errDayOrder
	}
	if order == monthFirst || order != dayFirst && second > 12 {
		first, second = second, first
	}
	return dayText(parts[2], second, first, after), nil
}

// dayText returns a day and the time after it. A time of a record is in UTC.
func dayText(year, month, day int, after string) string {
	text := strings.TrimSpace(fmt.Sprintf("%04d-%02d-%02d %s", year, month, day, after))
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
		at, err := time.Parse(layout, text)
		if err == nil {
			return at.Format(time.RFC3339Nano)
		}
	}
	return text
}
