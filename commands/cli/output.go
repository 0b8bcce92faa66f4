package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/render"
)

// OutcomeOf adds to the error of a change with a lost answer that it may have taken effect.
func OutcomeOf(isRead bool, err error) error {
	known, _ := ErrorAs(err)
	if isRead || known == nil || !known.Sent {
		return err
	}
	unclear := *known
	switch known.Kind {
	case apiclient.KindUnavailable:
		unclear.Kind = apiclient.KindUnknownOutcome
		unclear.Message = "the change was sent, and its outcome is unknown: " + known.Message
	case apiclient.KindInterrupted:
		unclear.Message = "interrupted; the change may have reached the service"
	}
	return &unclear
}

// Done ends a change that took effect. A full disk must not make it look like a failure, which would be repeated. A
// closed pipe ends the command quietly.
func (s *Session) Done(printing error) error {
	if printing == nil || IsClosedPipe(printing) {
		return printing
	}
	s.Warn("done; the answer cannot be shown: %s", printing)
	return nil
}

// PrintAnswer prints whatever was answered.
func PrintAnswer(s *Session, options render.Options, answer *apiclient.Response) error {
	if len(answer.Body) == 0 {
		return nil
	}
	if !jsontext.Value(answer.Body).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		if options.Query != nil || options.Format.IsJSON() {
			return &apiclient.Error{
				Kind:    apiclient.KindUnavailable,
				Status:  answer.Status,
				Message: "the answer is not JSON",
			}
		}
		text := string(answer.Body)
		if options.Terminal {
			text = render.CleanLines(text)
		}
		_, err := fmt.Fprint(s.App.Out, text)
		return err
	}
	if options.Query != nil {
		return options.Query.Print(s.App.Out, options, answer.Body)
	}
	if options.Format == render.NDJSON {
		return render.Line(s.App.Out, options, answer.Body)
	}
	return render.Document(s.App.Out, options, bytes.TrimSpace(answer.Body))
}

// WantedColumns returns the columns to print or to sort by.
func (s *Session) WantedColumns() []string {
	if by := strings.TrimPrefix(s.Flags.SortBy, "-"); by != "" {
		return append(slices.Clone(s.Flags.Columns), by)
	}
	return s.Flags.Columns
}

// Format returns the chosen format, or the one that suits the output.
func (s *Session) Format() (render.Format, error) {
	if s.Flags.Output != "" {
		format, err := render.ParseFormat(s.Flags.Output)
		if err != nil {
			return "", UsageError(err.Error())
		}
		return format, nil
	}
	if s.Flags.JQ != "" {
		return render.JSON, nil
	}
	if s.OnTerminal() {
		return render.Table, nil
	}
	return render.TSV, nil
}

// Output returns the options for writing records.
func (s *Session) Output() (render.Options, error) {
	format, err := s.Format()
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{
		Format:   format,
		Columns:  s.Flags.Columns,
		SortBy:   s.Flags.SortBy,
		Excel:    strings.ToUpper(s.Flags.excel),
		Terminal: s.OnTerminal(),
		Now:      s.App.Now(),
		Location: time.Local,
	}
	if o.SortBy != "" && format != render.Table && format != render.Wide {
		s.Note("--sort-by gathers the whole list before anything is printed")
	}
	switch countries := append(render.PhoneCountries(), "EN"); {
	case o.Excel == "":
	case !slices.Contains(countries, o.Excel):
		return o, NotOneOf("--for-excel", s.Flags.excel, countries)
	case format != render.CSV:
		return o, WithHint(UsageError("--for-excel needs -o csv"), "add -o csv")
	}
	if s.Flags.UTC {
		o.Location = time.UTC
	}
	if s.Flags.JQ != "" {
		o.Query, err = s.query()
		if err != nil {
			return o, err
		}
	}
	if o.Terminal {
		o.Width, o.Locale, o.TooNarrow = s.width(), s.Locale(), s.tooNarrow
		o.Color = s.App.Getenv("TERM") != "dumb"
	}
	forced := s.App.Getenv("CLICOLOR_FORCE")
	o.Color = (o.Color || forced != "" && forced != "0") && !s.Flags.NoColor && s.App.Getenv("NO_COLOR") == ""
	return o, nil
}

func (s *Session) query() (*render.Query, error) {
	var variables []render.Variable
	for _, text := range s.Flags.Arguments {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, UsageError("--arg " + Quote(text) + " is not NAME VALUE")
		}
		variables = append(variables, render.Variable{Name: strings.TrimPrefix(name, "$"), Value: value})
	}
	q, err := render.ParseQuery(s.Flags.JQ, variables...)
	if err != nil {
		return nil, UsageError(err.Error())
	}
	return q, nil
}

// tooNarrow names the parts of a table that did not fit the terminal.
func (s *Session) tooNarrow(shortened, missing []string) {
	var parts []string
	if len(shortened) > 0 {
		parts = append(parts, strings.Join(shortened, ", ")+" shortened")
	}
	if len(missing) > 0 {
		parts = append(parts, "no room for "+strings.Join(missing, ", "))
	}
	s.Note("the terminal is too narrow: %s; -o wide prints all", strings.Join(parts, ", "))
}

// Locale returns how the user writes amounts, dates and numbers.
func (s *Session) Locale() render.Locale { return render.LocaleFrom(s.App.Getenv) }

func (s *Session) width() int {
	if file, ok := s.App.Out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 80
}

// Pair is one line of a value that is not a record of the service: a name and a text.
type Pair [2]string

// blanks keeps a value on one line: a token may contain any text about itself.
var blanks = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// ShowOne prints a value of our own: as JSON, or line by line.
func ShowOne(s *Session, value any, lines []Pair) error {
	options, err := s.Output()
	if err != nil {
		return err
	}
	if options.Format.IsJSON() || options.Query != nil {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return render.Record(s.App.Out, nil, options, raw, func() (struct{}, error) { return struct{}{}, nil })
	}
	width := 0
	for _, line := range lines {
		width = max(width, render.Width(line[0]))
	}
	for _, line := range lines {
		text := blanks.Replace(line[1])
		switch {
		case line[0] == "":
		case options.Format == render.TSV:
			text = line[0] + "\t" + text
		default:
			text = render.Pad(line[0], width) + "  " + text
		}
		if options.Terminal {
			text = render.Clean(text)
		}
		if _, err := fmt.Fprintln(s.App.Out, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

// Printer prints records by their columns. It is made before the service is asked, so that what cannot be
// printed is refused before anything is done.
type Printer[T any] struct {
	render.Options
	out     io.Writer
	columns []render.Column[T]
}

// Print prepares the output of records. identifier is the member that -o id prints. Empty means the uuid.
func Print[T any](s *Session, identifier string, columns []render.Column[T]) (Printer[T], error) {
	p := Printer[T]{out: s.App.Out, columns: columns}
	var err error
	p.Options, err = s.Output()
	if err == nil {
		_, err = render.Select(columns, p.Columns, false)
	}
	p.Identifier = identifier
	return p, err
}

// To returns the printer for another output, which is not a terminal.
func (p Printer[T]) To(out io.Writer) Printer[T] {
	p.out, p.Terminal, p.Color = out, false, false
	return p
}

// With returns the printer with a column more, unless it has one of that name.
func (p Printer[T]) With(column render.Column[T]) Printer[T] {
	if slices.ContainsFunc(p.columns, func(c render.Column[T]) bool { return c.Name == column.Name }) {
		return p
	}
	p.columns = append(slices.Clip(p.columns), column)
	return p
}

// Open prepares the output of records, and connects to the service that they come from.
func Open[T any](
	ctx context.Context,
	s *Session,
	identifier string,
	columns []render.Column[T],
) (*apiclient.Client, Printer[T], error) {
	p, err := Print(s, identifier, columns)
	if err != nil {
		return nil, p, err
	}
	client, err := s.Connect(ctx)
	return client, p, err
}

// List begins a list.
func (p Printer[T]) List() (*render.List[T], error) {
	return render.NewList(p.out, p.columns, p.Options)
}

// Record prints the record that a request answers, unless it failed.
func (p Printer[T]) Record(record apiclient.Record[T], err error) error {
	if err != nil {
		return err
	}
	return render.Record(p.out, p.columns, p.Options, record.Raw, record.Decode)
}

// Members prints the objects of one member of the answer to a request, unless that failed.
func (p Printer[T]) Members(member string, answer json.RawMessage, err error) error {
	if err != nil {
		return err
	}
	var members map[string]json.RawMessage
	var raws []json.RawMessage
	err = json.Unmarshal(answer, &members)
	if err == nil {
		err = json.Unmarshal(members[member], &raws)
	}
	if err != nil {
		return Failure(apiclient.KindUnavailable, "the answer is not what the queue promises: it has no %s", member)
	}
	return p.raws(slices.Values(raws))
}

func (p Printer[T]) raws(raws iter.Seq[json.RawMessage]) error {
	list, err := p.List()
	if err != nil {
		return err
	}
	for raw := range raws {
		if err := list.Add(raw, func() (value T, err error) { return value, json.Unmarshal(raw, &value) }); err != nil {
			return err
		}
	}
	return list.Close()
}

// ShowList prints our own values as a list. identifier is the member that -o id prints. Empty if they have none.
func ShowList[T any](s *Session, identifier string, columns []render.Column[T], values []T) error {
	return ShowEach(s, identifier, columns, slices.Values(values))
}

// ShowEach does the work of [ShowList] for a sequence of values.
func ShowEach[T any](s *Session, identifier string, columns []render.Column[T], values iter.Seq[T]) error {
	p, err := Print(s, identifier, columns)
	if err != nil {
		return err
	}
	return p.Each(values)
}

// Each prints values of our own as a list.
func (p Printer[T]) Each(values iter.Seq[T]) error {
	var wrong error
	err := p.raws(func(yield func(json.RawMessage) bool) {
		for value := range values {
			var raw json.RawMessage
			raw, wrong = json.Marshal(value)
			if wrong != nil || !yield(raw) {
				return
			}
		}
	})
	return cmp.Or(err, wrong)
}

// Count returns a number with its noun.
func Count(n int, noun string) string { return render.Plural(n, noun, noun+"s") }
