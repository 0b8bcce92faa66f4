package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/commands/profile"
)

// A line is taken apart as a shell would, and by the flags that every command has.
func TestPartsOfALine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                       nil,
		"  \t\n ":                nil,
		"a":                      {"a"},
		" a  b\tc\nd ":           {"a", "b", "c", "d"},
		`'' b`:                   {"", "b"},
		`b ""`:                   {"b", ""},
		`a"b c"'d "e'f`:          {`ab cd "ef`},
		`call list --x "a b" ''`: {"call", "list", "--x", "a b", ""},
	} {
		if got, err := shellWords(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, test := range []struct {
		line, names, joined string
	}{
		{"", "", ""},
		{"call list", "call list", "call list"},
		{"--profile p call -q list --retry 3 x", "call list x", "--profile p call -q list --retry 3 x"},
		{"-o json --arg a open - 1", "open - 1", "-o json --arg=a=open - 1"},
		{"--quiet open 1", "open 1", "--quiet open 1"},
		{"call -- -q x", "call -q x", "call -- -q x"},
		{"call --", "call", "call --"},
		{"--", "", "--"},
		{"-q help", "help", "-q help"},
		{"__complete x", "__complete x", "__complete x"},
		{"calls", "calls", "calls"},
		{"open --profile", "open", "open --profile"},
		{"x --opt-in-sms false y --opt-in-mail true", "x false y true", "x --opt-in-sms=false y --opt-in-mail=true"},
		{"x --opt-in-sms maybe --opt-in-sms", "x maybe", "x --opt-in-sms maybe --opt-in-sms"},
		{"x --arg a b c", "x b c", "x --arg=a=b c"},
		{"x --arg a=b c", "x c", "x --arg a=b c"},
		{"x --arg a", "x", "x --arg a"},
		{"x -- --arg a b", "x --arg a b", "x -- --arg a b"},
	} {
		args := strings.Fields(test.line)
		if got := strings.Join(positional(args), " "); got != test.names {
			t.Errorf("%s: got the names %q, want %q", test.line, got, test.names)
		}
		if got := strings.Join(joinValues(args), " "); got != test.joined {
			t.Errorf("%s: got %q, want %q", test.line, got, test.joined)
		}
	}
}

// What people write into cells is what the interface takes.
func TestCellsOfACountry(t *testing.T) {
	t.Parallel()
	day := func(text, country string) string {
		got, err := localDay(text, country)
		if err != nil {
			return err.Error()
		}
		return got
	}
	for _, test := range []struct{ got, want string }{
		{day("1-2-2026", "NL"), "2026-02-01"},
		{day("1/2/2026", "US"), "2026-01-02"},
		{day(" 01.02.2026 10:30 ", "DE"), "2026-02-01 10:30"},
		{day("1-2-2026", ""), "can be read as two days; --country says in which order day and month stand"},
		{day("12-12-2026", ""), "2026-12-12"},
		{day("12-11-2026", ""), "can be read as two days; --country says in which order day and month stand"},
		{day("13-12-2026", ""), "2026-12-13"},
		{day("12-13-2026", ""), "2026-12-13"},
		{day("2026-02-01", "NL"), "2026-02-01"},
		{day("1-2-26", "NL"), "1-2-26"},
		{day("001-2-2026", "NL"), "001-2-2026"},
		{day("1-002-2026", "NL"), "1-002-2026"},
		{day("1-2", "NL"), "1-2"},
		{day("a-2-2026", "NL"), "a-2-2026"},
		{day("1-b-2026", "NL"), "1-b-2026"},
		{day("soon", "NL"), "soon"},
		{decimalPoint("1.234,50", "NL"), "1234.50"},
		{decimalPoint("12,5", "NL"), "12.5"},
		{decimalPoint("1234", "NL"), "1234"},
		{decimalPoint("1,234.50", "NL"), "1,234.50"},
		{decimalPoint("1,2,3", "NL"), "1,2,3"},
		{decimalPoint("12,50", "US"), "12,50"},
		{decimalPoint("12,50", ""), "12,50"},
		{truthWord("JA"), "true"},
		{truthWord("1"), "true"},
		{truthWord("Nee"), "false"},
		{truthWord("0"), "false"},
		{truthWord("maybe"), "maybe"},
		{unguarded("'=1"), "=1"},
		{unguarded("'a"), "'a"},
		{unguarded("'"), "'"},
		{unguarded("=1"), "=1"},
		{tally(map[string]int{"b": 1, "a": 1, "z": 2}), "z 2, a 1, b 1"},
		{tally(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}), "a 1, b 1, c 1, d 1, e 1"},
		{tally(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}), "a 1, b 1, c 1, d 1, e 1, 1 field more"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A service is told with its port and its profile; a clock that is wrong with how far it is.
func TestWhatIsToldOfAService(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := newSession(App{Now: func() time.Time { return now }}, nil)
	clock := func(ahead time.Duration) string {
		return s.checkClock(http.Header{"Date": {now.Add(ahead).Format(http.TimeFormat)}})
	}
	at := profile.Profile{BaseURL: "https://a.example"}
	times := func(text string) string {
		of := timeTrait("call", map[string]any{"requestedAt": text})
		return fmt.Sprint(of.OK, " ", of.Found, "; ", of.Does)
	}
	paging := func(text string) string {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		return pagingTrait("call", object).Found
	}
	for _, test := range []struct{ got, want string }{
		{(&target{baseURL: "https://a.example"}).service(), "https://a.example:443"},
		{(&target{baseURL: "http://localhost/x"}).service(), "http://localhost:80/x"},
		{(&target{baseURL: "https://a.example:444"}).service(), "https://a.example:444"},
		{(&target{baseURL: "embedded:demo", name: "demo", fromProfile: true}).service(), "embedded:demo (profile demo)"},
		{(&target{baseURL: "https://b.example", name: "p", profile: at}).service(), "https://b.example:443 (settings of profile p)"},
		{loginHint(nil), "log in: fundesk auth login; or try the demo: fundesk demo"},
		{s.checkClock(nil), "the service tells no time"},
		{clock(0), "differs from the service by 0s"},
		{clock(time.Minute), "differs from the service by -1m0s"},
		{clock(-time.Minute), "differs from the service by 1m0s"},
		{clock(61 * time.Second), "this machine differs from the service by -1m1s; check its clock"},
		{clock(-61 * time.Second), "this machine differs from the service by 1m1s; check its clock"},
		{times("soon"), "false requestedAt is no ISO 8601 time; a record with it cannot be shown as a table; -o json shows it as it was sent"},
		{times("2026-11-23T09:00:00.000Z"), "true UTC with milliseconds; "},
		{times("2026-11-23T09:00:00Z"), "false another form of ISO 8601, or whole seconds; reads it; an own attempt is recognised by its second"},
		{times("2026-11-23T09:00:00.5Z"), "false another form of ISO 8601; reads it, and shows UTC with milliseconds"},
		{paging(`{"pageInfo":{"hasNextPage":true,"hasPreviousPage":true,"endCursor":"a"}}`), "flags and cursors"},
		{paging(`{"pageInfo":{"hasNextPage":false,"hasPreviousPage":false}}`), "flags and cursors"},
		{paging(`{"pageInfo":{"hasNextPage":true,"endCursor":"a"}}`), "cursors without flags"},
		{paging(`{"pageInfo":{"hasPreviousPage":true,"endCursor":"a"}}`), "cursors without flags"},
		{paging(`{"pageInfo":{"hasNextPage":true,"hasPreviousPage":true}}`), "flags without a cursor in pageInfo"},
		{paging(`{}`), "neither flags nor cursors"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// What could not be read is counted once, however often it is read.
func TestOmissions(t *testing.T) {
	t.Parallel()
	var o omissions
	o.add("call 1", "/person")
	o.add("call 2", "")
	o.add("call 1", "/person")
	if n, first := o.read(); n != 2 || first != "/person of call 1" {
		t.Errorf("got %d, %q, want two, the first of call 1", n, first)
	}
	for n := range 10_001 {
		o.add(fmt.Sprint(n), "")
	}
	if n, _ := o.read(); n != 10_000 {
		t.Errorf("got %d, want no more than ten thousand", n)
	}
	source := &rowSource{size: 8}
	source.read.Add(2)
	if got := [...]float64{source.share(), (&rowSource{}).share()}; got != [...]float64{0.25, 0} {
		t.Errorf("got %v of the file read, want a quarter, and nothing of one whose length nobody knows", got)
	}
}

// An amount of a cell is read as its country writes it; without a country one of two meanings is refused.
func TestAmountsOfCells(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, country, want string }{
		{"12,50", "NL", "12.5"}, {"1.250,00", "NL", "1250"}, {"1.250", "NL", "1250"}, {"2.500", "DE", "2500"}, {"1,250", "US", "1250"}, {"1.250", "", ""}, {"12.50", "", "12.5"}, {"€ 30", "NL", "30"}, {"much", "NL", "much"},
	} {
		got, err := cellAmount(test.text, test.country)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q in %q: got %q, %v, want %q", test.text, test.country, got, err, test.want)
		}
	}
}
