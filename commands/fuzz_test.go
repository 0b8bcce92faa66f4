package commands

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

func FuzzTargets(f *testing.F) {
	for _, seed := range []string{testID, testID + "\r\n\n" + testID, `{"uuid":"` + testID + `"}`, `"` + testID + `"`, "{", "\xff", `{"uuid":7}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ids, err := bulk.ReadTargets(bytes.NewReader(text))
		if err == nil && len(ids) > 1+bytes.Count(text, []byte("\n")) {
			t.Errorf("%q: got %d identifiers, want at most one a line", text, len(ids))
		}
		if err != nil && ids != nil {
			t.Errorf("%q: got %v and identifiers too", text, err)
		}
	})
}

// Every line of an import is counted: it is created, or told by its number.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		`{"name":{"lastName":"A"}}`, `{"name":null}`, `{"name":{"lastName":7}}`, `{"uuid":"` + testID + `"}`, "{}{}", "[", `{"a":{"a":{}}}`,
		"name.lastName,optIns.email\nA,true\n", "name.lastName\n\"A\nB\"\n\"", "name.lastName,iban\nA", "\ufeffuuid\n" + testID + "\n" + testID,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	s := newSession(App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now}, nil)
	flags := &rowFlags{defaults: []string{"owningOrganizationUuid=" + testID, "recruitingOrganizationUuid=" + testID}}
	reader, err := flags.reader(s, s.personRows())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, csv bool) {
		name := "x.json"
		if csv {
			name = "x.csv"
		}
		rows, err := bulk.ReadRows(bytes.NewReader(text), bulk.Format{Name: name})
		if err == nil {
			err = reader.checkHeader(rows.Header)
		}
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q: got an error without words", text)
			}
			return
		}
		lines, err := bulk.NewSpool[plannedLine]()
		if err != nil {
			t.Fatal(err)
		}
		defer lines.Close()
		last, read := 0, 0
		counted := bulk.Rows{Header: rows.Header, All: func(yield func(bulk.Row, error) bool) {
			for row, err := range rows.All {
				if read++; row.Line < last && err == nil {
					t.Errorf("%q: got line %d after %d", text, row.Line, last)
				}
				last = row.Line
				if !yield(row, err) {
					return
				}
			}
		}}
		r := &rowRun{
			rowFlags: flags, session: s, reader: reader, source: &rowSource{Rows: counted}, lines: lines,
			seen: map[apitype.UUID]int32{}, asked: rowQuestion{fields: map[string]int{}},
		}
		if err := r.creations(); err == nil && lines.Len+r.wrong.count != read {
			t.Errorf("%q: got %d lines and %d wrong ones, want %d in all", text, lines.Len, r.wrong.count, read)
		}
		for line := range lines.All() {
			if !json.Valid(line.Change.Body) || line.Change.UUID.IsZero() {
				t.Errorf("%q: got the body %s, want JSON and a uuid", text, line.Change.Body)
			}
		}
		if lines.Err() != nil {
			t.Errorf("%q: %v", text, lines.Err())
		}
		for _, wrong := range r.wrong.first {
			if len(wrong.What) == 0 || wrong.What[0] == "" {
				t.Errorf("%q: line %d is refused without a reason", text, wrong.Row.Line)
			}
		}
	})
}

func FuzzAPIPath(f *testing.F) {
	for _, seed := range []string{"/api/v1/calls?first=1", "https://elsewhere.example/x", "//elsewhere.example/x", "calls", "/%2e%2e/x", "/a?b=%zz", "\x00", "/a#b", "?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, _, err := splitPath(text)
		if err == nil && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//")) {
			t.Errorf("%q: got %q, want a path of the service", text, path)
		}
	})
}

func FuzzFieldValue(f *testing.F) {
	for _, seed := range []string{"12.50", "9007199254740993", "true", "null", `{"a":1}`, "[", "text", "1e400", "-", "007"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text {
			return
		}
		encoded, err := json.Marshal(fieldValueOf(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var same string
		isText := json.Unmarshal(encoded, &same) == nil && same == text
		if isNumber := string(encoded) == text; !isText && !isNumber && !json.Valid([]byte(text)) {
			t.Errorf("%q: got %s", text, encoded)
		}
	})
}

// The position of a pull is taken as it was kept, or refused.
func FuzzPosition(f *testing.F) {
	f.Add([]byte(`{"service":"s","query":"q","after":"2026-11-20T09:15:00.000Z","written":{}}`))
	f.Add([]byte(`{"service":"s","query":"q"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := position{Service: "s", Query: "q"}
		if err := p.load(path); err == nil && (p.Service != "s" || p.Query != "q") {
			t.Errorf("%q: got a position of %q %q", text, p.Service, p.Query)
		}
	})
}
