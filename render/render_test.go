package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)

// calls are records as a service may send them: unknown fields, long numbers, text
// that attacks a terminal.
var calls = []string{
	`{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","status":"requested","requestedAt":"2026-11-20T09:00:00Z","attemptsCount":2,"lastUpdatedAt":"2026-11-20T09:00:00Z","cancelledAt":null,"completedAt":null,"expiredAt":null,"notes":"tab\there\nnext, \"quoted\"","personUuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","relatedCaseUuid":null,"callingOrganizationUuid":null,"type":"verification","recordingDuration":12.3450,"zzz":9007199254740993,"attempts":[{"userUuid":null,"attemptAt":"2026-11-19T09:15:00Z","createdAt":"2026-11-19T09:15:00Z"}]}`,
	`{"uuid":"6c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","status":"completed","requestedAt":"2026-08-01T09:00:00Z","attemptsCount":0,"lastUpdatedAt":"2026-08-01T09:00:00Z","cancelledAt":null,"completedAt":"2026-08-02T09:00:00Z","expiredAt":null,"notes":"=1+1","personUuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","relatedCaseUuid":null,"callingOrganizationUuid":null,"type":"new_kind","recordingDuration":null,"result":{"resultCode":"\u001b[31mred\u202egnp\u200b漢字","completedAt":null,"notes":null,"donorRetentionRating":8.50}}`,
}

func decode(raw string) func() (apitype.Call, error) {
	return func() (apitype.Call, error) {
		var call apitype.Call
		return call, json.Unmarshal([]byte(raw), &call)
	}
}

// list writes records as a list of calls.
func list(t *testing.T, o render.Options, records ...string) string {
	t.Helper()
	var out bytes.Buffer
	list, err := render.NewList(&out, render.CallColumns(), o)
	for _, raw := range records {
		if err == nil {
			err = list.Add([]byte(raw), decode(raw))
		}
	}
	if err == nil {
		err = list.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func query(t *testing.T, expression string) *render.Query {
	t.Helper()
	q, err := render.ParseQuery(expression)
	if err != nil {
		t.Fatalf("ParseQuery: %v", err)
	}
	return q
}

func TestGolden(t *testing.T) {
	t.Parallel()
	terminal := func(o render.Options) render.Options {
		o.Terminal, o.Color, o.Width = true, true, 100
		return o
	}
	tests := []struct {
		name    string
		options render.Options
	}{
		{"table-pipe", render.Options{Format: render.Table}},
		{"table-terminal", terminal(render.Options{Format: render.Table})},
		{"table-narrow", render.Options{Format: render.Table, Width: 60, Terminal: true}},
		{
			name: "table-columns",
			options: render.Options{
				Format:   render.Table,
				Columns:  []string{"status", "result.resultCode", "attemptsCount"},
				NoHeader: true,
			},
		},
		{
			name: "tsv",
			options: render.Options{
				Format:  render.TSV,
				Columns: []string{"uuid", "notes", "recordingDuration", "result.resultCode"},
			},
		},
		{"csv", render.Options{Format: render.CSV, Columns: []string{"uuid", "notes", "result.donorRetentionRating"}}},
		{"csv-safe", render.Options{Format: render.CSV, Columns: []string{"notes"}, Excel: "EN"}},
		{"json", render.Options{Format: render.JSON}},
		{"json-terminal", terminal(render.Options{Format: render.JSON})},
		{"ndjson", render.Options{Format: render.NDJSON}},
		{"ndjson-terminal", terminal(render.Options{Format: render.NDJSON})},
		{"id", render.Options{Format: render.ID}},
		{
			name: "jq",
			options: render.Options{
				Format: render.JSON,
				Query:  query(t, ".[] | [.zzz, .recordingDuration, .result.donorRetentionRating]"),
			},
		},
		{"jq-merged", render.Options{Format: render.TSV, Query: query(t, ".[].status, length")}},
		{"jq-each", render.Options{Format: render.NDJSON, Query: query(t, ".status, type")}},
		{"jq-endless", render.Options{Format: render.TSV, Endless: true, Query: query(t, ".status")}},
		{
			name: "jq-terminal",
			options: terminal(render.Options{
				Format: render.JSON,
				Query:  query(t, ".[] | {notes, code: .result.resultCode}, .result.resultCode"),
			}),
		},
		{
			name: "jq-each-terminal",
			options: terminal(render.Options{
				Format: render.NDJSON,
				Query:  query(t, ".result.resultCode, [.notes, .result.resultCode]"),
			}),
		},
		{
			name: "jq-bare-terminal",
			options: terminal(render.Options{
				Format: render.TSV,
				Query:  query(t, ".[].result.resultCode, .[].notes, [.[].result.resultCode]"),
			}),
		},
		{"wide", render.Options{Format: render.Wide, Width: 60, Terminal: true}},
		{"id-terminal", terminal(render.Options{Format: render.ID, Identifier: "notes"})},
		{"csv-terminal", terminal(render.Options{Format: render.CSV, Columns: []string{"notes", "result.resultCode"}})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.Now = now
			golden(t, test.name, []byte(list(t, test.options, calls...)))
		})
	}
}

func TestRecordGolden(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options render.Options
	}{
		{"one-table", render.Options{Format: render.Table}},
		{"one-terminal", render.Options{Format: render.Table, Terminal: true, Color: true, Width: 100}},
		{"one-json", render.Options{Format: render.JSON}},
		{"one-tsv", render.Options{Format: render.TSV}},
		{"one-id", render.Options{Format: render.ID}},
		{"one-json-terminal", render.Options{Format: render.JSON, Terminal: true}},
		{"one-ndjson", render.Options{Format: render.NDJSON}},
		{"one-jq", render.Options{Format: render.JSON, Query: query(t, ".uuid, .zzz")}},
		{"one-columns", render.Options{Format: render.Table, Columns: []string{"uuid", "attemptsCount"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.Now = now
			var out bytes.Buffer
			err := render.Record(&out, render.CallColumns(), test.options, []byte(calls[0]), decode(calls[0]))
			if err != nil {
				t.Fatalf("Record: %v", err)
			}
			golden(t, test.name, out.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

// A program gets exactly the bytes of the service.
func TestLossless(t *testing.T) {
	t.Parallel()
	got, want := list(t, render.Options{Format: render.NDJSON}, calls...), strings.Join(calls, "\n")+"\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The first record does not wait for a page of others; they wait for each other.
func TestFirstRecordIsHandedOn(t *testing.T) {
	t.Parallel()
	for format, want := range map[render.Format]string{
		render.JSON: "[\n" + calls[0], render.NDJSON: calls[0] + "\n", render.CSV: "status\r\nrequested\r\n",
		render.TSV: "requested\n", render.ID: "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n", render.Table: "",
	} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			list, err := render.NewList(&out, render.CallColumns(), render.Options{
				Format:  format,
				Columns: []string{"status"},
			})
			if err != nil {
				t.Fatalf("NewList: %v", err)
			}
			for range 2 {
				if err := list.Add([]byte(calls[0]), decode(calls[0])); err != nil {
					t.Fatalf("Add: %v", err)
				}
				if got := out.String(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestEmptyAndFailedLists(t *testing.T) {
	t.Parallel()
	whole := (*render.List[apitype.Call]).Close
	broken := func(l *render.List[apitype.Call]) error { return l.Abort(false) }
	faulty := func(l *render.List[apitype.Call]) error { return l.Abort(true) }
	tests := []struct {
		name   string
		format render.Format
		added  int
		end    func(*render.List[apitype.Call]) error
		want   string
	}{
		{"an empty list", render.JSON, 0, whole, "[]\n"},
		{"an empty ndjson list", render.NDJSON, 0, whole, ""},
		{"an empty csv list has a header", render.CSV, 0, whole, "status\r\n"},
		{"a list that failed at once", render.JSON, 0, broken, ""},
		{"a csv list that failed at once", render.CSV, 0, broken, ""},
		{"a list that failed later is not taken for whole", render.JSON, 1, broken, "[\n{\"a\":1}"},
		{"a list with a fault that was read to its end", render.JSON, 1, faulty, "[\n{\"a\":1}\n]\n"},
		{"an empty table has no header", render.Table, 0, whole, ""},
		{"a table that failed later keeps its rows", render.Table, 1, broken, "STATUS\n\n"},
		{"a csv list has one header", render.CSV, 2, whole, "status\r\n\r\n\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			list, err := render.NewList(&out, render.CallColumns(), render.Options{
				Format:  test.format,
				Columns: []string{"status"},
			})
			if err != nil {
				t.Fatalf("NewList: %v", err)
			}
			for range test.added {
				if err := list.Add([]byte(`{"a":1}`), decode(`{}`)); err != nil {
					t.Fatalf("Add: %v", err)
				}
			}
			if err := test.end(list); err != nil || out.String() != test.want {
				t.Errorf("got %q, %v, want %q", out.String(), err, test.want)
			}
		})
	}
}

// Promise P7: control, bidirectional and zero-width characters are made visible.
func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain text", "Jansen", "Jansen"},
		{"accents and CJK", "Müller 漢字 ✓", "Müller 漢字 ✓"},
		{"an escape sequence", "\x1b]0;x\x07", "␛]0;x␇"},
		{"a carriage return", "a\rb", "a␍b"},
		{"newline and tab", "a\nb\tc", "a b c"},
		{"delete", "a\x7f", "a␡"},
		{"C1 as a code point", "\u009b31m", `\u009b31m`},
		{"C1 as a byte", "\x9b31m", `\x9b31m`},
		{"bidirectional override", "a\u202eb", `a\u202eb`},
		{"a family and a heart on fire", "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥", "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥"},
		{"joiners of Persian and Hindi", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		{"joiners that hide in Latin, or at an end", "a\u200db é\u200cé 👨\u200d", `a\u200db é\u200cé 👨\u200d`},
		{"zero width", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"soft hyphen", "a\u00adb", `a\u00adb`},
		{"a tag character", "a\U000e0041", `a\ue0041`},
		{"a line separator", "a\u2028b", `a\u2028b`},
		{"a paragraph separator", "a\u2029b", `a\u2029b`},
		{
			name: "letters that cannot be seen",
			text: "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
			want: `\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0`,
		},
		{"a private sign", "\ue000", `\ue000`},
		{
			name: "the first and the last tag",
			text: "\U000dffff\U000e0000\U000e0fff\U000e1000",
			want: "\U000dffff" + `\ue0000\ue0fff` + "\U000e1000",
		},
		{"the first and the last control sign", "\x00\x1f", "␀␟"},
		{"a letter that is cut", "a\xe6\xbc", `a\xe6\xbc`},
		{"the sign for what cannot be read", "a\ufffd", "a\ufffd"},
	}
	for _, test := range tests {
		if got := render.Clean(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// JSON on a terminal holds no dangerous character and means the same.
func FuzzCleanJSON(f *testing.F) {
	for _, seed := range []string{"a\u202eb", "a\x7fb", "\x1b[31m", "\U000e0041", "漢字", "\x9b", "\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(strings.ToValidUTF8(text, "?"))
		if err != nil {
			t.Skip()
		}
		cleaned := render.CleanJSON(raw)
		if got := render.Clean(string(cleaned)); got != string(cleaned) {
			t.Errorf("got %q, which a terminal must not see", cleaned)
		}
		var want, got string
		if json.Unmarshal(raw, &want) != nil || json.Unmarshal(cleaned, &got) != nil || got != want {
			t.Errorf("got %q from %s, want %q", got, cleaned, want)
		}
	})
}

func TestMasks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, got, want string }{
		{"an IBAN", render.MaskIBAN("NL91ABNA0417164300"), "NL91••••••••••4300"},
		{"an IBAN with spaces", render.MaskIBAN("NL91 ABNA 0417 1643 00"), "NL91••••••••••4300"},
		{"a short text", render.MaskIBAN("NL91ABNA"), "••••••••"},
		{"a social security number", render.MaskDigits("123456782"), "•••••••82"},
		{"a short number", render.MaskDigits("1234"), "••••"},
		{"the shortest IBAN that shows its ends", render.MaskIBAN("NL91ABNA0"), "NL91•BNA0"},
		{"the shortest number that shows its end", render.MaskDigits("12345"), "•••45"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestRelativeTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		since time.Duration
		want  string
	}{
		{"just now", 3 * time.Second, "now"},
		{"this moment", 0, "now"},
		{"in a moment", -3 * time.Second, "now"},
		{"the last moment", 10*time.Second - 1, "now"},
		{"ten seconds", 10 * time.Second, "10s ago"},
		{"the last second", time.Minute - 1, "59s ago"},
		{"a minute", time.Minute, "1m ago"},
		{"the last day", 60*24*time.Hour - 1, "59d ago"},
		{"sixty days", 60 * 24 * time.Hour, "2026-09-21"},
		{"seconds", 42 * time.Second, "42s ago"},
		{"minutes", 5 * time.Minute, "5m ago"},
		{"hours", 47 * time.Hour, "47h ago"},
		{"days", 59 * 24 * time.Hour, "59d ago"},
		{"long ago", 61 * 24 * time.Hour, "2026-09-20"},
		{"soon", -3 * 24 * time.Hour, "in 3d"},
		{"far away", -100 * 24 * time.Hour, "2027-02-28"},
	}
	for _, test := range tests {
		if got := render.RelativeTime(now.Add(-test.since), now); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// Values are shown in words.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{render.Words("winback"), "win-back"},
		{render.Words("wants_to_stop"), "wants to stop"},
		{render.Ago(now, now), "just now"},
		{render.Ago(now.Add(time.Hour), now), "just now"},
		{render.Ago(now.Add(1-time.Minute), now), "just now"},
		{render.Ago(now.Add(-time.Minute), now), "1 minute ago"},
		{render.Ago(now.Add(1-time.Hour), now), "59 minutes ago"},
		{render.Ago(now.Add(-time.Hour), now), "1 hour ago"},
		{render.Ago(now.Add(1-48*time.Hour), now), "47 hours ago"},
		{render.Ago(now.Add(-48*time.Hour), now), "2 days ago"},
		{render.Language("ar"), "Arabic"},
		{render.Language("NL"), "Dutch"},
		{render.Language("zh"), "Chinese"},
		{render.Language("xx"), "xx"},
		{render.Language("Dutch"), "Dutch"},
		{render.Language(""), ""},
		{render.Plural(0, "call", "calls"), "0 calls"},
		{render.Results(map[string]int{"b": 1, "a_c": 1, "z": 2}), "z 2, a c 1, b 1"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	_, noFormat := render.ParseFormat("x\aml")
	_, noColumn := render.Select(render.QueueStateColumns(), []string{"waiting", "n\aope"}, false)
	_, noColumns := render.Select[any](nil, []string{"x"}, false)
	_, withinList := render.Select(render.PledgeColumns(), []string{"uuid", "transactions.amount"}, false)
	_, broken := render.ParseQuery(".[")
	_, unknown := render.ParseQuery("$x")
	for _, test := range []struct {
		err  error
		want string
	}{
		{noFormat, `-o must be one of table, wide, tsv, csv, json, ndjson, id, not "x␇ml"`},
		{
			err:  noColumn,
			want: `there is no column "n␇ope"; there are waiting, due, deferred, dueNextHour, leased, oldestRequestedAt, closed, opensAt, and any path of the JSON`,
		},
		{
			err:  withinList,
			want: `transactions is a list, and "transactions.amount" is within it: choose by --jq, or ask fundesk query`,
		},
		{noColumns, "what is printed here has no columns; choose fields by --jq"},
		{broken, `jq expression ".[": unexpected EOF`},
		{unknown, `jq expression "$x": variable not defined: $x`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}

// The members of a family stand apart in a table, where terminals would draw them in different widths.
func TestFamiliesInTables(t *testing.T) {
	t.Parallel()
	column := render.Column[string]{Value: func(text string) string { return text }}
	if got, want := column.In("👨\u200d👩\u200d👧 क्\u200dष", render.View{}).Text, "👨👩👧 क्\u200dष"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
