package localcopy

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// writer stores batches in their order while its caller reads the next ones. It uses SQLite below its driver, which
// allocates memory for each text and takes a third of the time of a row.
type writer struct {
	*connection
	*batch      // The one that is being filled.
	made        map[string]*statement
	todo, empty chan *batch // A nil in todo ends the transaction.
	due         []*batch    // Those of the present transaction.
	done        chan struct{}
	failed      atomic.Pointer[error]
	texts       uintptr // Memory of SQLite for the texts of a batch.
	size        int     // Of texts.
}

// batches is the number of batches of a writer. One is filled, and the others are those of a transaction.
const batches = 8

// pause is the wait for the next batch that ends a transaction.
const pause = 20 * time.Millisecond

func newWriter(path string) (*writer, error) {
	c, err := connect(path, sqlite3.SQLITE_OPEN_READWRITE)
	if err != nil {
		return nil, err
	}
	if err := c.run(settings()); err != nil {
		c.close()
		return nil, err
	}
	w := &writer{
		connection: c,
		batch:      &batch{},
		made:       map[string]*statement{},
		todo:       make(chan *batch, batches),
		empty:      make(chan *batch, batches),
		done:       make(chan struct{}),
	}
	for range batches - 1 {
		w.empty <- &batch{}
	}
	go w.work()
	return w, nil
}

// work stores what is to be stored, until the first failure.
func (w *writer) work() {
	defer close(w.done)
	for b := range w.todo {
		if b == nil { // No transaction is open.
			continue
		}
		w.due = append(w.due[:0], b)
		if w.failure() == nil {
			if err := w.store(); err != nil {
				w.failed.Store(&err)
			}
		}
		for _, b := range w.due {
			b.clear()
			w.empty <- b
		}
	}
}

// failure returns the first failure. The batches after it are dropped.
func (w *writer) failure() error {
	err := w.failed.Load()
	if err == nil {
		return nil
	}
	return *err
}

// Close waits for the batches, and closes the connection.
func (w *writer) Close() error {
	close(w.todo)
	<-w.done
	for _, s := range w.made {
		sqlite3.Xsqlite3_finalize(w.tls, s.handle)
	}
	libc.Xfree(w.tls, w.texts)
	w.close()
	return w.failure()
}

// statement returns a statement, which is compiled at its first use.
func (w *writer) statement(sql string) *statement {
	if w.made[sql] == nil {
		w.made[sql] = &statement{sql: sql}
	}
	return w.made[sql]
}

// do appends a statement to the batch.
func (w *writer) do(sql string, values ...any) {
	w.add(w.statement(sql), w.row(values...))
}

// commit hands the batch over. Its failure is that of an earlier batch.
func (w *writer) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil || len(w.steps) == 0 {
		return err
	}
	w.todo <- w.batch
	w.batch = <-w.empty
	return w.failure()
}

// flush waits until all batches are stored.
func (w *writer) flush(ctx context.Context) error {
	if err := w.commit(ctx); err != nil {
		return err
	}
	w.todo <- nil
	var stored [batches - 1]*batch
	for i := range stored {
		stored[i] = <-w.empty
	}
	for _, b := range stored {
		w.empty <- b
	}
	return w.failure()
}

// store executes the due batch, and those that come without a pause, in one transaction.
func (w *writer) store() error {
	if err := w.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for isDue := true; isDue; isDue = w.takeNext() {
		if err := w.executeAll(w.due[len(w.due)-1]); err != nil {
			return w.rollBack(err)
		}
	}
	if err := w.run("COMMIT"); err != nil {
		return w.rollBack(err)
	}
	return nil
}

// rollBack ends a transaction after a failure, which it returns.
func (w *writer) rollBack(failure error) error {
	_ = w.run("ROLLBACK") // SQLite has done it after some failures, and refuses it then.
	return failure
}

// takeNext appends the next batch to those of the transaction. It is false if the transaction ends: the caller wants
// it, has no other batch to fill, or waits for the service, while other programs may want to write.
func (w *writer) takeNext() bool {
	if len(w.due) == batches-1 {
		return false
	}
	select {
	case b := <-w.todo: // Nil at the end.
		if b != nil {
			w.due = append(w.due, b)
		}
		return b != nil
	case <-time.After(pause):
		return false
	}
}

// executeAll executes the statements of a batch.
func (w *writer) executeAll(b *batch) error {
	if err := w.keepTexts(b.texts); err != nil {
		return err
	}
	for _, step := range b.steps {
		if err := w.execute(step); err != nil {
			return err
		}
	}
	return nil
}

// keepTexts copies texts to memory of SQLite.
func (w *writer) keepTexts(texts []byte) error {
	if len(texts) >= w.size {
		libc.Xfree(w.tls, w.texts)
		w.size = 2*len(texts) + 1
		w.texts = libc.Xmalloc(w.tls, types.Size_t(w.size))
		if w.texts == 0 {
			return errors.New("no memory for the texts of a page")
		}
	}
	copy(libc.GoBytes(w.texts, len(texts)), texts)
	return nil
}

// execute executes a statement.
func (w *writer) execute(s step) error {
	if s.handle == 0 {
		if err := w.compile(s.statement, len(s.values)); err != nil {
			return err
		}
	}
	for i, value := range s.values {
		isNull := value.kind == cellNull
		if isNull && s.isNull[i] {
			continue
		}
		s.isNull[i] = isNull
		if w.bind(s.handle, int32(i+1), value) != sqlite3.SQLITE_OK {
			return w.fault()
		}
	}
	code := sqlite3.Xsqlite3_step(w.tls, s.handle)
	for code == sqlite3.SQLITE_ROW {
		code = sqlite3.Xsqlite3_step(w.tls, s.handle)
	}
	if code != sqlite3.SQLITE_DONE {
		err := w.fault()
		sqlite3.Xsqlite3_reset(w.tls, s.handle)
		return err
	}
	sqlite3.Xsqlite3_reset(w.tls, s.handle)
	return nil
}

// compile compiles a statement with n parameters.
func (w *writer) compile(s *statement, n int) error {
	text, err := libc.CString(s.sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(w.tls, text)
	handle, _, code := w.prepare(text)
	if code != sqlite3.SQLITE_OK {
		return w.fault()
	}
	s.handle, s.isNull = handle, make([]bool, n)
	for i := range s.isNull {
		s.isNull[i] = true
	}
	return nil
}

// bind sets a parameter. A text stays in the memory of the batch.
func (w *writer) bind(handle uintptr, i int32, value cell) int32 {
	switch value.kind {
	case cellWhole:
		return sqlite3.Xsqlite3_bind_int64(w.tls, handle, i, value.number)
	case cellReal:
		return sqlite3.Xsqlite3_bind_double(w.tls, handle, i, math.Float64frombits(uint64(value.number)))
	case cellText:
		return sqlite3.Xsqlite3_bind_text(w.tls, handle, i, w.texts+uintptr(value.number), value.length, 0)
	default:
		return sqlite3.Xsqlite3_bind_null(w.tls, handle, i)
	}
}
