package page

import (
	"time"
	"unique"

	"fundesk/apiclient"
)

// interned is a text of which there are few and rows many: all that hold it share one copy,
// at the price of one pointer. The zero value is empty.
type interned struct{ shared unique.Handle[string] }

func intern(text string) interned {
	if text == "" {
		return interned{}
	}
	return interned{unique.Make(text)}
}

// String is the text.
func (w interned) String() string {
	if w == (interned{}) {
		return ""
	}
	return w.shared.Value()
}

// timestamp is a time to the microsecond, finer than the interface's, in a third of the
// space.
type timestamp int64

func newTimestamp(t time.Time) timestamp { return timestamp(t.UnixMicro()) }

func (m timestamp) time() time.Time { return time.UnixMicro(int64(m)) }

// readBatch makes rows of a page.
func readBatch[T, R any](row func(T) R) func(apiclient.Page[T], error) (batch[R], error) {
	return func(page apiclient.Page[T], err error) (batch[R], error) {
		if err != nil {
			return batch[R]{}, err
		}
		return batch[R]{rows: apiclient.Rows(page, row), cursor: page.EndCursor, more: page.HasNextPage, mayBeCut: page.MayBeCut}, nil
	}
}

// itself is the row of what is kept whole.
func itself[T any](value T) T { return value }
