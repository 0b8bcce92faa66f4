package load

import (
	"errors"
	"io/fs"
	"os"

	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// wrongLines collects the wrong lines: the first of them, and all for a file.
type wrongLines struct {
	count int
	first []bulk.Mistakes
	all   *bulk.Spool[bulk.Mistakes] // Nil without a file.
}

// mostWrong limits the wrong lines of an error.
const mostWrong = 1000

func (w *wrongLines) add(m bulk.Mistakes) {
	w.count++
	if len(w.first) < mostWrong {
		w.first = append(w.first, m)
	}
	if w.all != nil {
		w.all.Add(m)
	}
}

func (w *wrongLines) write(path string, rows bulk.Rows) error {
	if w.all == nil {
		return nil
	}
	if w.count == 0 { // The file of an earlier run would list rows that are correct now.
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return errors.Join(bulk.WriteMistakes(path, rows.Form, rows.Header, w.all.All()), w.all.Err())
}

func (w *wrongLines) texts() []string {
	texts := make([]string, len(w.first))
	for i, m := range w.first {
		texts[i] = m.Error()
	}
	if more := w.count - len(w.first); more > 0 {
		texts = append(texts, "and "+cli.Count(more, "line")+" more")
	}
	return texts
}
