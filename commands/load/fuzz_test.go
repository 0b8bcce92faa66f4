package load

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

const testID = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"

// Every line of an import counts: it is created, or reported by its number.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		`{"name":{"lastName":"A"}}`, `{"name":null}`, `{"name":{"lastName":7}}`, `{"uuid":"` + testID + `"}`, "{}{}",
		"[", `{"a":{"a":{}}}`,
		"name.lastName,optIns.email\nA,true\n", "name.lastName\n\"A\nB\"\n\"", "name.lastName,iban\nA",
		"\ufeffuuid\n" + testID + "\n" + testID,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	s := cli.NewSession(
		cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string {
			return ""
		}, Now: time.Now},
		nil,
	)
	flags := &rowFlags{defaults: []string{"owningOrganizationUuid=" + testID, "recruitingOrganizationUuid=" + testID}}
	shape := Rows{
		Record:  "person",
		Shows:   render.HasPath[apitype.Person],
		Creates: change.Fields(apitype.PersonFields(), apitype.Created),
		Create: func(_ *cli.Session, object map[string]any) (apiclient.Change, error) {
			return change.Make(object, func(r *apitype.CreatePersonRequest) apitype.Violations {
				return r.Validate(time.Now())
			}, apiclient.CreatePersonChange)
		},
	}
	reader, err := flags.reader(s, shape)
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
		all, err := bulk.NewSpool[bulk.Row]()
		if err != nil {
			t.Fatal(err)
		}
		defer all.Close()
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
			rowFlags: flags, session: s, reader: reader, source: &rowSource{Rows: counted}, lines: lines, all: all,
			seen: map[apitype.UUID]int32{}, asked: rowQuestion{fields: map[string]int{}},
		}
		if err := r.prepare(t.Context()); err == nil && lines.Len+r.wrong.count != read {
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
