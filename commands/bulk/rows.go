package bulk

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient"
)

// Row is one record of a file, as it is written.
type Row struct {
	Line  int      `json:"line"`            // The line where it begins. A CSV header is line 1.
	Text  []byte   `json:"text,omitempty"`  // The JSON of the record; nil in CSV.
	Cells []string `json:"cells,omitempty"` // In CSV, under the header.
	Sum   Sum      `json:"sum,omitzero"`    // Set by [SumOf] for a row whose results are kept.
	Wrong string   `json:"wrong,omitempty"` // Why it cannot be read; empty mostly.
	Ends  bool     `json:"ends,omitempty"`  // It cannot be read, and so no row after it can.
}

// Rows are the records of a file, of which one at a time is read.
type Rows struct {
	Header []string // Of CSV; nil in JSON.
	Form   Form     // Of CSV.
	// All yields the records once. A wrong row has its own error; an error of the iterator means that no further row
	// can be read.
	All iter.Seq2[Row, error]
}

// Format describes how a file is read. Empty parts are detected by its name and content.
type Format struct {
	Name      string // Of the file, - for none.
	Delimiter string // One character, or tab.
	Encoding  string // One of [Encodings].
}

// beginning is the number of bytes by which a file is recognised.
const beginning = 64 << 10

// ReadRows begins to read a file of JSON or CSV.
func ReadRows(in io.Reader, f Format) (Rows, error) {
	raw := bufio.NewReaderSize(in, beginning)
	if begin, _ := raw.Peek(4); string(begin) == "PK\x03\x04" || string(begin) == "\xd0\xcf\x11\xe0" {
		return Rows{}, &Fault{
			Message: "this is a workbook (.xlsx, .ods or .xls), not CSV",
			Hint:    "save it as CSV in the spreadsheet, and name the country: --country NL",
		}
	}
	text, form, err := newTextReader(raw, f.Encoding)
	if err != nil {
		return Rows{}, err
	}
	whole := bufio.NewReaderSize(text, beginning)
	begin, err := whole.Peek(beginning)
	if err != nil && !errors.Is(err, io.EOF) {
		return Rows{}, unreadable(err)
	}
	if len(begin) == 0 {
		return Rows{All: func(func(Row, error) bool) {}}, nil
	}
	if f.isCSV(begin) {
		if !bytes.ContainsRune(begin, '\n') && bytes.ContainsRune(begin, '\r') { // As old programs for Macs end lines.
			whole = bufio.NewReaderSize(&feedReader{whole}, beginning)
			begin, _ = whole.Peek(beginning) // Its error is that of the reading above, or comes again.
		}
		rows, err := readCSV(whole, begin, f.Delimiter)
		form.delimiter = rows.Form.delimiter
		rows.Form = form
		return rows, err
	}
	return Rows{All: jsonRows(whole, begin)}, nil
}

// unreadable returns the error of a file that cannot be read any further.
func unreadable(err error) error {
	fault, isFault := errors.AsType[*Fault](err)
	if isFault {
		return fault
	}
	if apiclient.KindOf(err) == apiclient.KindInterrupted {
		return err
	}
	return &Fault{Message: "read the lines: " + err.Error()}
}

// isCSV recognises CSV by the flags, by the name of the file, or by its beginning.
func (f Format) isCSV(data []byte) bool {
	extension := strings.ToLower(filepath.Ext(f.Name))
	if f.Delimiter != "" || extension == ".csv" || extension == ".tsv" {
		return true
	}
	if slices.Contains([]string{".json", ".ndjson", ".jsonl"}, extension) {
		return false
	}
	data = bytes.TrimSpace(data)
	return len(data) > 0 && !bytes.ContainsRune([]byte(`{[`), rune(data[0]))
}

// jsonRows reads one object a line, or a document: an array of objects, or objects over several lines. begin is the
// beginning of the file.
func jsonRows(in io.Reader, begin []byte) iter.Seq2[Row, error] {
	text := jsontext.Value(bytes.TrimLeft(begin, " \t\r\n"))
	if text.Kind() == '[' {
		return documentRows(in, true)
	}
	if text.Kind() == '{' && isOverLines(text, len(begin) == beginning) {
		return documentRows(in, false)
	}
	return func(yield func(Row, error) bool) {
		stopped := false
		err := EachLine(in, func(number int, line []byte) bool {
			stopped = !yield(Row{Line: number, Text: bytes.Clone(line)}, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(Row{}, unreadable(err))
		}
	}
}

// isOverLines reports whether the first object of a text goes on below its first line. more means that the file goes on
// after the text.
func isOverLines(text jsontext.Value, more bool) bool {
	line, _, found := bytes.Cut(text, []byte("\n"))
	if !found || jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true)) {
		return false
	}
	value, err := newDecoder(bytes.NewReader(text)).ReadValue()
	return err == nil && bytes.IndexByte(value, '\n') >= 0 || more && errors.Is(err, io.ErrUnexpectedEOF)
}

func newDecoder(in io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true))
}

func documentRows(in io.Reader, isArray bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		lines := &lineCounter{in: in, line: 1}
		dec := newDecoder(lines)
		if isArray {
			_, _ = dec.ReadToken() // It was looked at.
		}
		for {
			if isArray && dec.PeekKind() == ']' {
				_, _ = dec.ReadToken()
				isArray = false
			}
			text, err := dec.ReadValue()
			syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
			if errors.Is(err, io.EOF) {
				return
			}
			if isSyntax {
				yield(Row{Line: lines.at(syntax.ByteOffset), Wrong: errJSON.Error(), Ends: true}, nil)
				return
			}
			if err != nil {
				yield(Row{}, unreadable(err))
				return
			}
			if !yield(Row{Line: lines.at(dec.InputOffset() - int64(len(text))), Text: bytes.Clone(text)}, nil) {
				return
			}
		}
	}
}

// lineCounter returns the line of an offset in the input.
type lineCounter struct {
	in    io.Reader
	read  int64
	line  int
	feeds []int64 // The ends of lines after the place that was asked for last.
}

func (l *lineCounter) Read(to []byte) (int, error) {
	n, err := l.in.Read(to)
	for i, b := range to[:n] {
		if b == '\n' {
			l.feeds = append(l.feeds, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset. The offsets must not decrease.
func (l *lineCounter) at(place int64) int {
	passed, _ := slices.BinarySearch(l.feeds, place)
	l.line += passed
	l.feeds = slices.Delete(l.feeds, 0, passed)
	return l.line
}

// feedReader reads carriage returns as line feeds.
type feedReader struct{ in io.Reader }

func (f *feedReader) Read(to []byte) (int, error) {
	n, err := f.in.Read(to)
	for i, b := range to[:n] {
		if b == '\r' {
			to[i] = '\n'
		}
	}
	return n, err
}

// separatorLine matches the first line that names the delimiter for Excel.
var separatorLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^\"?sep=(.)\"?\r?\n")
})

func readCSV(in io.Reader, begin []byte, delimiter string) (Rows, error) {
	isNamed := delimiter != ""
	lines := 0 // Before the header.
	if m := separatorLine().FindSubmatch(begin); m != nil {
		if _, err := io.CopyN(io.Discard, in, int64(len(m[0]))); err != nil {
			return Rows{}, unreadable(err)
		}
		begin, delimiter, lines = begin[len(m[0]):], cmp.Or(delimiter, string(m[1])), 1
	}
	comma, err := delimiterOf(begin, delimiter)
	if err != nil {
		return Rows{}, err
	}
	reader := csv.NewReader(&lineLimiter{in: in})
	reader.Comma = comma
	header, err := reader.Read()
	for err == nil && isBlankRow(header) {
		reader.FieldsPerRecord = 0 // Of the next row.
		header, err = reader.Read()
	}
	if fault, ok := errors.AsType[*Fault](err); ok {
		return Rows{}, fault
	}
	if err != nil {
		return Rows{}, &Fault{Message: "line 1: there is no CSV header"}
	}
	form := Form{delimiter: comma}
	if !isNamed && !strings.ContainsRune(delimiters, comma) { // A line names it that a file of mistakes does not have.
		form.delimiter = ','
	}
	return Rows{
		Header: header,
		Form:   form,
		All:    func(yield func(Row, error) bool) { csvRows(reader, lines, yield) },
	}, nil
}

// lineLimiter refuses a line that is longer than [MaxLine].
type lineLimiter struct {
	in     io.Reader
	length int
}

func (l *lineLimiter) Read(to []byte) (int, error) {
	n, err := l.in.Read(to)
	if end := bytes.LastIndexByte(to[:n], '\n'); end >= 0 {
		l.length = -end - 1
	}
	if l.length += n; l.length > MaxLine {
		return 0, &Fault{Message: "read the lines: a line is longer than 16 MiB"}
	}
	return n, err
}

// csvRows yields the rows below a header. above is the number of lines above the header.
func csvRows(reader *csv.Reader, above int, yield func(Row, error) bool) {
	for {
		cells, err := reader.Read()
		parse, isParse := errors.AsType[*csv.ParseError](err)
		if errors.Is(err, io.EOF) {
			return
		}
		if isParse {
			row := Row{
				Line:  parse.StartLine + above,
				Cells: cells,
				Wrong: parse.Err.Error(),
				Ends:  !errors.Is(parse.Err, csv.ErrFieldCount),
			}
			if !yield(row, nil) || row.Ends {
				return
			}
			continue
		}
		if err != nil {
			yield(Row{}, unreadable(err))
			return
		}
		line, _ := reader.FieldPos(0)
		if isBlankRow(cells) {
			continue
		}
		if !yield(Row{Line: line + above, Cells: cells}, nil) {
			return
		}
	}
}

// isBlankRow reports whether a row shows nothing, as spreadsheets leave them below the last one.
func isBlankRow(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return Trimmed(cell) != "" })
}

// Trimmed returns a cell without the blanks at its ends: spaces, and characters without a width.
func Trimmed(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\u200b\u200c\u200d\u2060\ufeff", r)
	})
}

// delimiters are the known separators of cells, the usual one first.
const delimiters = ",;\t|"

// delimiterOf returns the named delimiter, or the most frequent one in the header.
func delimiterOf(data []byte, named string) (rune, error) {
	if named == "tab" || named == `\t` {
		return '\t', nil
	}
	if named != "" {
		r := []rune(named)
		if len(r) != 1 || strings.ContainsRune("\"\r\n\ufffd", r[0]) {
			return 0, &Fault{Message: "--delimiter must be one character, or tab"}
		}
		return r[0], nil
	}
	header, rest, _ := bytes.Cut(bytes.TrimLeft(data, "\r\n"), []byte("\n"))
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	best, most := ',', 0
	for _, candidate := range delimiters {
		n := 2 * countOutside(string(header), candidate)
		if n > 0 && countOutside(string(first), candidate) == n/2 { // A name may have another one of them.
			n++
		}
		if n > most {
			best, most = candidate, n
		}
	}
	return best, nil
}

// countOutside counts a character outside of quotes.
func countOutside(text string, wanted rune) int {
	count, quoted := 0, false
	for _, r := range text {
		if r == '"' {
			quoted = !quoted
		} else if r == wanted && !quoted {
			count++
		}
	}
	return count
}
