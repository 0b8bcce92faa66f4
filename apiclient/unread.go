package apiclient

import (
	"errors"
	"iter"
	"strconv"

	"fundesk/apiclient/apitype"
)

// ErrUnreadable is in the chain of the error of a record that is too large or breaks the interface. A repeat would not
// help, and it does not hide other records.
var ErrUnreadable = errors.New("the record cannot be read")

// unread is a record of a list that could not be read.
type unread struct{ name, why string }

func noRecord(cursor string) unread {
	name := "an element without a cursor"
	if cursor != "" {
		name = "the element at the cursor " + strconv.Quote(cursor)
	}
	return unread{name, "is not a record"}
}

// tooLargeAlone returns the record of a page that is too large with this record alone.
func tooLargeAlone(id, after string) unread {
	if id == "" {
		id = "one after the cursor " + strconv.Quote(after)
	}
	return unread{id, "is larger than " + strconv.Itoa(apitype.MaxRecordBytes>>20) + " MiB"}
}

// maxNamed limits the unreadable records that an error names.
const maxNamed = 20

// unreadError returns the error of a list with unreadable records. atEnd means that all others were yielded.
func unreadError(all []unread, atEnd bool) *Error {
	e := &Error{Kind: KindUnavailable, Err: ErrUnreadable}
	if atEnd {
		e.Err = errors.Join(e.Err, ErrAtEnd)
	}
	for _, u := range all[:min(len(all), maxNamed)] {
		e.Detail = append(e.Detail, u.name)
	}
	e.Message = "a record was not read: " + all[0].name + " " + all[0].why
	if len(all) > 1 {
		e.Message = strconv.Itoa(len(all)) + " records were not read; the first of them, " + all[0].name + ", " +
			all[0].why
	}
	return e
}

// Err returns nil if every record of a page was read, or else an error that names the others.
func (p Page[T]) Err() error {
	if len(p.unread) == 0 {
		return nil
	}
	return unreadError(p.unread, true)
}

// Rows makes a row of each record of a page, one after the other, because a page of decoded records takes several
// times the memory of its text. It leaves out unreadable records and reports them to Options.Omitted.
func Rows[T, R any](page Page[T], row func(T) R) []R {
	rows := make([]R, 0, len(page.Records))
	for _, r := range page.Records {
		value, err := r.Decode()
		if err == nil {
			rows = append(rows, row(value))
		} else if page.omitted != nil {
			page.omitted(err.Error(), "")
		}
	}
	if err := page.Err(); err != nil && page.omitted != nil {
		page.omitted(err.Error(), "")
	}
	return rows
}

// Omit reports a record that was left out to Options.Omitted, with its error.
func (c *Client) Omit(err error) {
	if c.options.Omitted != nil {
		c.options.Omitted(err.Error(), "")
	}
}

// Readable yields the readable values of a walk. It leaves out unreadable records, and calls told for each. Any other
// error ends the walk.
func Readable[T any](records iter.Seq2[Record[T], error], told func(error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for record, err := range records {
			value, err := Decoded(record, err)
			if errors.Is(err, ErrUnreadable) && (record.Raw != nil || errors.Is(err, ErrAtEnd)) {
				told(err)
			} else if !yield(value, err) {
				return
			}
		}
	}
}
