package commands

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/render"
)

// format is the chosen format, or what fits the output.
func (s *session) format() (render.Format, error) {
	switch {
	case s.flags.output != "":
		format, err := render.ParseFormat(s.flags.output)
		if err != nil {
			return "", usageError(err.Error())
		}
		return format, nil
	case s.flags.jq != "":
		return render.JSON, nil
	case s.onTerminal():
		return render.Table, nil
	default:
		return render.TSV, nil
	}
}

// output is how records are written.
func (s *session) output() (render.Options, error) {
	format, err := s.format()
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{
		Format: format, Columns: s.flags.columns, SortBy: s.flags.sortBy, NoHeader: s.flags.noHeader, SpreadsheetSafe: s.flags.safeCells,
		Terminal: s.onTerminal(), Now: s.app.Now(), Location: time.Local,
	}
	if o.SortBy != "" && format != render.Table && format != render.Wide {
		s.note("--sort-by gathers the whole list before anything is printed")
	}
	if s.flags.utc {
		o.Location = time.UTC
	}
	if s.flags.jq != "" {
		if o.Query, err = s.query(); err != nil {
			return o, err
		}
	}
	if o.Terminal {
		o.Width, o.Locale, o.TooNarrow = s.width(), s.locale(), s.tooNarrow
		o.Color = s.app.Getenv("TERM") != "dumb"
	}
	forced := s.app.Getenv("CLICOLOR_FORCE")
	o.Color = (o.Color || forced != "" && forced != "0") && !s.flags.noColor && s.app.Getenv("NO_COLOR") == ""
	return o, nil
}

// query is the jq expression with its texts.
func (s *session) query() (*render.Query, error) {
	var variables []render.Variable
	for _, text := range s.flags.arguments {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usageError("--arg " + quote(text) + " is not NAME VALUE")
		}
		variables = append(variables, render.Variable{Name: strings.TrimPrefix(name, "$"), Value: value})
	}
	q, err := render.ParseQuery(s.flags.jq, variables...)
	if err != nil {
		return nil, usageError(err.Error())
	}
	q.Raw = s.flags.raw
	return q, nil
}

// tooNarrow says what of a table did not fit the terminal.
func (s *session) tooNarrow(shortened, missing []string) {
	var parts []string
	if len(shortened) > 0 {
		parts = append(parts, strings.Join(shortened, ", ")+" shortened")
	}
	if len(missing) > 0 {
		parts = append(parts, "no room for "+strings.Join(missing, ", "))
	}
	s.note("the terminal is too narrow: %s; -o wide prints all", strings.Join(parts, ", "))
}

// locale is how the person at the terminal writes amounts, dates and numbers.
func (s *session) locale() render.Locale { return render.LocaleFrom(s.app.Getenv) }

func (s *session) width() int {
	if file, ok := s.app.Out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 80
}

// pair is one line of what is not a record of the service: a name and a value.
type pair struct{ name, value string }

// blanks keep a value on its line: a token says what it likes of itself.
var blanks = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// showOne prints a value of our own: as JSON, or line by line.
func showOne(s *session, value any, lines []pair) error {
	options, err := s.output()
	if err != nil {
		return err
	}
	if options.Format.IsJSON() || options.Query != nil {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return render.Record(s.app.Out, nil, options, raw, func() (struct{}, error) { return struct{}{}, nil })
	}
	width := 0
	for _, line := range lines {
		width = max(width, render.Width(line.name))
	}
	for _, line := range lines {
		text := blanks.Replace(line.value)
		switch {
		case line.name == "":
		case options.Format == render.TSV:
			text = line.name + "\t" + text
		default:
			text = render.Pad(line.name, width) + "  " + text
		}
		if options.Terminal {
			text = render.Clean(text)
		}
		if _, err := fmt.Fprintln(s.app.Out, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

// showList prints values of our own as a list; identifier is the member that -o id prints,
// "" where they have none.
func showList[T any](s *session, identifier string, columns []render.Column[T], values []T) error {
	return showEach(s, identifier, columns, slices.Values(values))
}

// showEach is [showList] for values that are not in memory all at once.
func showEach[T any](s *session, identifier string, columns []render.Column[T], values iter.Seq[T]) error {
	var wrong error
	raws := func(yield func(json.RawMessage) bool) {
		for value := range values {
			var raw json.RawMessage
			if raw, wrong = json.Marshal(value); wrong != nil || !yield(raw) {
				return
			}
		}
	}
	if err := showRaw(s, identifier, columns, raws); err != nil {
		return err
	}
	return wrong
}

// showRaw prints JSON objects as a list.
func showRaw[T any](s *session, identifier string, columns []render.Column[T], raws iter.Seq[json.RawMessage]) error {
	options, err := s.output()
	if err != nil {
		return err
	}
	options.Identifier = identifier
	list, err := render.NewList(s.app.Out, columns, options)
	if err != nil {
		return usageError(err.Error())
	}
	for raw := range raws {
		err := list.Add(raw, func() (value T, err error) { return value, json.Unmarshal(raw, &value) })
		if err != nil {
			return err
		}
	}
	return list.Close()
}

// showMembers prints the objects of one member of an answer as a list.
func showMembers[T any](s *session, identifier string, columns []render.Column[T], raw json.RawMessage, member string) error {
	var answer map[string]json.RawMessage
	var raws []json.RawMessage
	err := json.Unmarshal(raw, &answer)
	if err == nil {
		err = json.Unmarshal(answer[member], &raws)
	}
	if err != nil {
		return failure(apiclient.KindUnavailable, "the answer is not what the queue promises: it has no %s", member)
	}
	return showRaw(s, identifier, columns, slices.Values(raws))
}

// count is a number with its noun.
func count(n int, noun string) string { return render.Plural(n, noun, noun+"s") }
