package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// unlessInterrupted is what read gives, or that the context ended first: a terminal, or a
// pipe that nobody writes to, would keep an interrupted command waiting. The read is left
// behind then; the program ends.
func unlessInterrupted[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, &apiclient.Error{Kind: apiclient.KindInterrupted, Message: "interrupted", Err: ctx.Err()}
	}
}

// untilInterrupted reads what in gives until the context ends.
func untilInterrupted(ctx context.Context, in io.Reader) io.Reader {
	from, to := io.Pipe()
	context.AfterFunc(ctx, func() {
		to.CloseWithError(&apiclient.Error{Kind: apiclient.KindInterrupted, Message: "interrupted", Err: ctx.Err()})
	})
	go func() {
		_, err := io.CopyBuffer(to, struct{ io.Reader }{in}, make([]byte, 64<<10))
		to.CloseWithError(err)
	}()
	return from
}

// readAll reads stdin to its end.
func (s *session) readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	return unlessInterrupted(ctx, func() ([]byte, error) {
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, usageError("read stdin: " + err.Error())
		}
		return data, nil
	})
}

// readInput reads a file, or stdin for "-".
func (s *session) readInput(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return s.readAll(ctx, s.app.In)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return data, nil
}

// ask asks a yes-or-no question; off a terminal --yes must have answered it.
func (s *session) ask(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !s.canAsk() {
		return withHint(usageError(question+": not confirmed, and there is nobody to ask"), "add --yes")
	}
	s.prompt(question + "? [y/N] ")
	answer, err := s.line(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return failure(apiclient.KindFailure, "not done")
	}
}

// canAsk reports whether somebody sees a question and can answer it.
func (s *session) canAsk() bool {
	return !s.flags.noInput && isTerminal(s.app.In) && isTerminal(s.app.Err)
}

// namedRecords is how many records a question names.
const namedRecords = 3

// recordRef is a record that a question names.
type recordRef struct {
	noun string
	id   apitype.UUID
}

// refsOf are the first records of changes.
func refsOf(changes []apiclient.Change) []recordRef {
	refs := make([]recordRef, min(len(changes), namedRecords))
	for i := range refs {
		refs[i] = recordRef{changes[i].Operation().Noun(), changes[i].UUID}
	}
	return refs
}

// askChange asks whether to change something at the service, which it names, and the first
// of that many records.
func (s *session) askChange(ctx context.Context, yes bool, question string, first []recordRef, total int) error {
	if yes {
		return nil
	}
	service, err := s.serviceName()
	if err != nil {
		return err
	}
	if service != "" {
		question += " at " + service
	}
	reading, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for i, ref := range first {
		question += []string{": ", ", ", ", "}[i] + s.called(reading, ref)
	}
	if more := total - len(first); more > 0 && len(first) > 0 {
		question += " and " + strconv.Itoa(more) + " more"
	}
	return s.ask(ctx, yes, question)
}

// called is a record as a person knows it. Names are for the eyes of who is asked: an error
// has none.
func (s *session) called(ctx context.Context, ref recordRef) string {
	if !s.canAsk() {
		return ref.id.String()
	}
	client, err := s.connect(ctx)
	if err != nil {
		return ref.id.String() // The change will say why.
	}
	var person apitype.Person
	switch ref.noun {
	case "person":
		person = shownRecord(ctx, client.Persons, ref.id)
	case "call":
		person = shownRecord(ctx, client.Calls, ref.id).Person.Value()
	case "pledge":
		person = shownRecord(ctx, client.Pledges, ref.id).Person.Value()
	}
	return strings.TrimSpace(render.PersonName(person) + " " + ref.id.String())
}

// shownRecord is a record, or an empty one where it cannot be read.
func shownRecord[T any, O apiclient.ListOptions](ctx context.Context, of *apiclient.Collection[T, O], id apitype.UUID) (value T) {
	if record, err := of.Get(ctx, id); err == nil {
		value, _ = record.Decode() // A name is only wanted.
	}
	return value
}

// line is one line of the input. The end of the input is io.EOF, with what stood before it.
func (s *session) line(ctx context.Context) (string, error) {
	line, err := unlessInterrupted(ctx, func() (string, error) { return readLine(s.app.In) })
	switch {
	case apiclient.KindOf(err) == apiclient.KindInterrupted:
		fmt.Fprintln(s.app.Err) // What comes next is not part of the question.
		return "", err
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("read the answer: %w", err)
	default:
		return line, err
	}
}

// maxSecret is the longest line that is read without being shown, in bytes; what goes
// beyond it the library forgets.
const maxSecret = 4096

// readSecret asks for one line that is not shown. The terminal is put back before the read
// is left behind, which would otherwise go on to hide what is typed.
func (s *session) readSecret(ctx context.Context, file *os.File, prompt string) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	keys := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, s.app.Err}, "")
	line, err := unlessInterrupted(ctx, func() (string, error) { return keys.ReadPassword(prompt) })
	if restoring := term.Restore(fd, before); restoring != nil {
		return "", fmt.Errorf("show again what is typed: %w", restoring)
	}
	switch {
	case errors.Is(err, io.EOF), apiclient.KindOf(err) == apiclient.KindInterrupted: // ctrl+c, as a key or as a signal.
		fmt.Fprintln(s.app.Err)
		return "", failure(apiclient.KindInterrupted, "interrupted")
	case err != nil:
		return "", err
	case len(line) >= maxSecret:
		return "", withHint(usageError("what was typed is too long"), "pipe it in: fundesk auth login --with-token < token.txt")
	default:
		return line, nil
	}
}

// readLine reads one line byte by byte: what follows it belongs to somebody else.
func readLine(in io.Reader) (string, error) {
	var line []byte
	buffer := make([]byte, 1)
	for {
		n, err := in.Read(buffer)
		if n == 1 {
			if buffer[0] == '\n' {
				return string(line), nil
			}
			line = append(line, buffer[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}
