package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// unlessInterrupted returns the result of read, or the error of the context if that ends first. A terminal, or a pipe
// without a writer, would keep an interrupted command waiting. The reading goroutine is abandoned, because the program
// ends.
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

// UntilInterrupted reads what in gives until the context ends.
func UntilInterrupted(ctx context.Context, in io.Reader) io.Reader {
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

// ReadAll reads stdin to its end.
func (s *Session) ReadAll(ctx context.Context, in io.Reader) ([]byte, error) {
	return unlessInterrupted(ctx, func() ([]byte, error) {
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, UsageError("read stdin: " + err.Error())
		}
		return data, nil
	})
}

// ReadInput reads a file, or stdin for "-".
func (s *Session) ReadInput(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return s.ReadAll(ctx, s.App.In)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, UsageError(err.Error())
	}
	return data, nil
}

// Prompt writes a question; the answer comes on its line.
func (s *Session) Prompt(text string) { fmt.Fprint(s.App.Err, render.Clean(text)) }

// Ask asks a yes-or-no question; off a terminal --yes must have answered it.
func (s *Session) Ask(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !s.CanAsk() {
		return WithHint(
			UsageError(question+": not confirmed, and there is no terminal to ask on"),
			"add --yes",
		)
	}
	s.Prompt(question + "? [y/N] ")
	answer, err := s.Line(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return Failure(apiclient.KindFailure, "not done")
	}
}

// CanAsk reports whether stdin and stderr are terminals, and the user did not forbid questions.
func (s *Session) CanAsk() bool {
	return !s.Flags.NoInput && IsTerminal(s.App.In) && IsTerminal(s.App.Err)
}

// NamedRecords is the number of records that a question names.
const NamedRecords = 3

// RecordRef is a record that a question names.
type RecordRef struct {
	Noun string
	ID   apitype.UUID
}

// RefsOf returns the first records of changes.
func RefsOf(changes []apiclient.Change) []RecordRef {
	refs := make([]RecordRef, min(len(changes), NamedRecords))
	for i := range refs {
		refs[i] = RecordRef{changes[i].Operation().Noun(), changes[i].UUID}
	}
	return refs
}

// AskChange asks whether to change something at the service, which it names, and the first
// of that many records.
func (s *Session) AskChange(ctx context.Context, yes bool, question string, first []RecordRef, total int) error {
	if yes {
		return nil
	}
	service, err := s.ServiceName()
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
	return s.Ask(ctx, yes, question)
}

// called returns the name of a record for a question at the terminal. Errors never contain it.
func (s *Session) called(ctx context.Context, ref RecordRef) string {
	if !s.CanAsk() {
		return ref.ID.String()
	}
	client, err := s.Connect(ctx)
	if err != nil {
		return ref.ID.String() // The change itself reports the reason.
	}
	var person apitype.Person
	switch ref.Noun {
	case "person":
		person = shownRecord(ctx, client.Persons, ref.ID)
	case "call":
		person = shownRecord(ctx, client.Calls, ref.ID).Person.Value()
	case "pledge":
		person = shownRecord(ctx, client.Pledges, ref.ID).Person.Value()
	}
	return strings.TrimSpace(render.PersonName(person) + " " + ref.ID.String())
}

// shownRecord returns a record, or an empty one if it cannot be read.
func shownRecord[T any, O apiclient.ListOptions](
	ctx context.Context,
	of *apiclient.Collection[T, O],
	id apitype.UUID,
) T {
	var value T
	if record, err := of.Get(ctx, id); err == nil {
		value, _ = record.Decode() // A name is only wanted.
	}
	return value
}

// Line returns one line of the input. At the end of the input it returns io.EOF with the text before it.
func (s *Session) Line(ctx context.Context) (string, error) {
	line, err := unlessInterrupted(ctx, func() (string, error) { return readLine(s.App.In) })
	if apiclient.KindOf(err) == apiclient.KindInterrupted {
		fmt.Fprintln(s.App.Err) // The following output is not part of the question.
		return "", err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return line, err
}

// A terminal puts these around pasted text, if it was asked to.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	marksPaste = "\x1b[?2004h"
	marksNone  = "\x1b[?2004l"
)

// MarkPastes asks the terminal to mark pasted text for [Session.Answer], until the function that it returns is called.
func (s *Session) MarkPastes() func() {
	if !s.CanAsk() {
		return func() {}
	}
	fmt.Fprint(s.App.Err, marksPaste)
	return func() { fmt.Fprint(s.App.Err, marksNone) }
}

// pasteGap is the time in which the next line of a paste follows. No hand is so fast.
const pasteGap = 50 * time.Millisecond

// longestLine is the length of the longest line that Linux passes on from a terminal, in bytes. It drops the rest.
const longestLine = 4095

// ErrLineCut means that the terminal dropped the end of a line.
var ErrLineCut = errors.New("the terminal cut the line")

// Answer returns the answer to a question. A paste is one answer with all its lines: they would be taken for the
// answers to the questions that follow. At the end of the input it returns io.EOF with the text before it. If a line
// was cut, it returns [ErrLineCut]: the mark behind a paste may be gone, too.
func (s *Session) Answer(ctx context.Context) (string, error) {
	text, err := s.Line(ctx)
	isCut := s.isCut(text)
	for err == nil && (isOpenPaste(text) && !isCut || s.hasInput()) {
		var line string
		line, err = s.Line(ctx)
		isCut = isCut || s.isCut(line)
		text += "\n" + line
	}
	if isCut && err == nil {
		return "", ErrLineCut
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1 // The drawn screen drops them, too.
		}
		return r
	}, ansi.Strip(text)), err
}

// isCut reports whether a terminal may have dropped the end of a line.
func (s *Session) isCut(line string) bool { return len(line) >= longestLine && IsTerminal(s.App.In) }

// isOpenPaste reports whether a text ends within a paste.
func isOpenPaste(text string) bool {
	return strings.LastIndex(text, pasteBegin) > strings.LastIndex(text, pasteEnd)
}

// hasInput reports whether a terminal has another line already.
func (s *Session) hasInput() bool {
	file, isFile := s.App.In.(*os.File)
	return isFile && IsTerminal(file) && isReadable(file, pasteGap)
}

// DropAhead drops the lines that a terminal has already. It reports whether there were any.
func (s *Session) DropAhead(ctx context.Context) (bool, error) {
	file, isFile := s.App.In.(*os.File)
	if !isFile || !IsTerminal(file) || !isReadable(file, 0) {
		return false, nil
	}
	_, err := s.Answer(ctx)
	if errors.Is(err, ErrLineCut) {
		err = nil
	}
	return true, err
}

// maxSecret is the longest line that is read without being shown, in bytes; what goes
// beyond it the library forgets.
const maxSecret = 4096

// ReadSecret asks for one line that is not shown. The terminal is put back before the read
// is left behind, which would otherwise go on to hide what is typed.
func (s *Session) ReadSecret(ctx context.Context, file *os.File, prompt string) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	keys := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, s.App.Err}, "")
	line, err := unlessInterrupted(ctx, func() (string, error) { return keys.ReadPassword(prompt) })
	if restoring := term.Restore(fd, before); restoring != nil {
		return "", fmt.Errorf("show again what is typed: %w", restoring)
	}
	// ctrl+c, as a key or as a signal.
	if errors.Is(err, io.EOF) || apiclient.KindOf(err) == apiclient.KindInterrupted {
		fmt.Fprintln(s.App.Err)
		return "", Failure(apiclient.KindInterrupted, "interrupted")
	}
	if err != nil {
		return "", err
	}
	if len(line) >= maxSecret {
		return "", WithHint(
			UsageError("what was typed is too long"),
			"pipe it in: fundesk auth login --with-token < token.txt",
		)
	}
	return line, nil
}

// readLine reads one line byte by byte, because the input after it belongs to another reader.
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
