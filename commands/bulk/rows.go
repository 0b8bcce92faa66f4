package bulk

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is one record of a file, as it is written.
type Row struct {
	Line  int      // Where it begins; a CSV header is line 1.
	Text  []byte   // The JSON of the record; nil in CSV.
	Cells []string // In CSV, under the header.
	Wrong error    // Why it cannot be read; nil mostly.
}

// SumText is the text of which a check sum is made.
func (r Row) SumText() []byte {
	if r.Text != nil {
		return r.Text
	}
	return []byte(strings.Join(r.Cells, "\x00"))
}

// Rows are the records of a file.
type Rows struct {
	Header []string // Of CSV; nil in JSON.
	All    []Row
}

// Format says how a file is to be read; what is empty is told by its name and content.
type Format struct {
	Name      string // Of the file, - for none.
	CSV       bool
	Delimiter string // One character, or tab.
	Encoding  string // One of [Encodings].
}

// Encodings are the names of encodings that can be read.
var Encodings = []string{"utf-8", "utf-16", "cp1252", "latin1"}

// maxFile is the largest file that is read, in bytes: all of it is checked before the first
// request, and is kept until then.
const maxFile = 1 << 30

// ReadRows reads a file of JSON or CSV. Its error is a file that cannot be read at all; a
// row that is wrong says so itself.
func ReadRows(in io.Reader, f Format) (Rows, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return Rows{}, &Fault{Message: "read the lines: " + err.Error()}
	}
	if len(data) > maxFile {
		return Rows{}, &Fault{"the file is larger than 1 GiB", "split it; each part is checked whole"}
	}
	if data, err = decodeText(data, f.Encoding); err != nil {
		return Rows{}, err
	}
	if f.isCSV(data) {
		return readCSV(data, f.Delimiter)
	}
	return readJSON(data)
}

// isCSV tells CSV by what was asked for, by the name of the file, or by what it begins with.
func (f Format) isCSV(data []byte) bool {
	switch extension := strings.ToLower(filepath.Ext(f.Name)); {
	case f.CSV, f.Delimiter != "", extension == ".csv", extension == ".tsv":
		return true
	case slices.Contains([]string{".json", ".ndjson", ".jsonl"}, extension):
		return false
	}
	data = bytes.TrimSpace(data)
	return len(data) > 0 && !bytes.ContainsRune([]byte(`{["`), rune(data[0]))
}

// readJSON reads one object a line, or one document: an object over several lines, or an
// array of objects.
func readJSON(data []byte) (Rows, error) {
	var rows Rows
	text := jsontext.Value(bytes.TrimSpace(data))
	if kind := text.Kind(); (kind == '[' || kind == '{' && bytes.IndexByte(text, '\n') >= 0) && text.IsValid(jsontext.AllowDuplicateNames(true)) {
		return readDocument(data), nil
	}
	err := EachLine(bytes.NewReader(data), func(number int, line []byte) {
		rows.All = append(rows.All, Row{Line: number, Text: bytes.Clone(line)})
	})
	if err != nil {
		return Rows{}, &Fault{Message: "read the lines: " + err.Error()}
	}
	return rows, nil
}

// readDocument reads the objects of a document that is whole.
func readDocument(data []byte) Rows {
	var rows Rows
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if jsontext.Value(data).Kind() == '[' {
		_, _ = dec.ReadToken() // The document is valid.
	}
	line, counted := 1, int64(0)
	for dec.PeekKind() != ']' {
		text, err := dec.ReadValue()
		if err != nil { // Its end.
			return rows
		}
		begin := dec.InputOffset() - int64(len(text))
		line += bytes.Count(data[counted:begin], []byte("\n"))
		counted = begin
		rows.All = append(rows.All, Row{Line: line, Text: bytes.Clone(text)})
	}
	return rows
}

// readCSV reads rows under a header.
func readCSV(data []byte, delimiter string) (Rows, error) {
	if end := bytes.IndexByte(data, '\n'); end > MaxLine || end < 0 && len(data) > MaxLine {
		return Rows{}, &Fault{Message: "read the header: a line is longer than 16 MiB"}
	}
	comma, err := delimiterOf(data, delimiter)
	if err != nil {
		return Rows{}, err
	}
	reader := csv.NewReader(bytes.NewReader(data))
	reader.Comma = comma
	header, err := reader.Read()
	if err != nil {
		return Rows{}, &Fault{Message: "line 1: there is no CSV header"}
	}
	rows := Rows{Header: header}
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			parse, ok := errors.AsType[*csv.ParseError](err)
			if !ok {
				return Rows{}, &Fault{Message: "read the rows: " + err.Error()}
			}
			rows.All = append(rows.All, Row{Line: parse.StartLine, Cells: cells, Wrong: parse.Err})
			if errors.Is(parse.Err, csv.ErrFieldCount) {
				continue
			}
			return rows, nil
		}
		line, _ := reader.FieldPos(0)
		if isEmptyRow(cells) { // As spreadsheets leave them below the last one.
			continue
		}
		rows.All = append(rows.All, Row{Line: line, Cells: cells})
	}
}

func isEmptyRow(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" })
}

// delimiters are what separates cells, the usual one first.
const delimiters = ",;\t|"

// delimiterOf is the delimiter that was named, or the most frequent one of the header.
func delimiterOf(data []byte, named string) (rune, error) {
	switch {
	case named == "tab", named == `\t`:
		return '\t', nil
	case named != "":
		r := []rune(named)
		if len(r) != 1 || strings.ContainsRune("\"\r\n\ufffd", r[0]) {
			return 0, &Fault{Message: "--delimiter must be one character, or tab"}
		}
		return r[0], nil
	}
	header, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, candidate := range delimiters {
		if n := countOutside(string(header), candidate); n > most {
			best, most = candidate, n
		}
	}
	return best, nil
}

// countOutside is how often a character stands outside of quotes.
func countOutside(text string, wanted rune) int {
	count, quoted := 0, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case r == wanted && !quoted:
			count++
		}
	}
	return count
}
