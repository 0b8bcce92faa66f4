package load

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
)

// The interface gets its values from the usual forms of cells.
func TestCellsOfACountry(t *testing.T) {
	t.Parallel()
	day := func(text, country string) string {
		r := &rowReader{country: country}
		got, err := localDay(text, r.orderOf(wantedField{}))
		if err != nil {
			return err.Error()
		}
		return got
	}
	for _, test := range []struct{ got, want string }{
		{day("1-2-2026", "NL"), "2026-02-01"},
		{day("1/2/2026", "US"), "2026-01-02"},
		{day(" 01.02.2026 10:30 ", "DE"), time.Date(2026, 2, 1, 10, 30, 0, 0, time.Local).Format(time.RFC3339)},
		{day("2/1/2026 9:05:07", "US"), time.Date(2026, 2, 1, 9, 5, 7, 0, time.Local).Format(time.RFC3339)},
		{day("2/1/2026 9:05 PM", "US"), "2026-02-01 9:05 PM"},
		{day("1-2-2026 10:30 +01:00", "NL"), "2026-02-01 10:30 +01:00"},
		{day("1-2-2026", ""), "can be read as two days; --dates dmy or mdy says in which order day and month stand"},
		{day("12-12-2026", ""), "2026-12-12"},
		{day("12-11-2026", ""), "can be read as two days; --dates dmy or mdy says in which order day and month stand"},
		{day("13-12-2026", ""), "2026-12-13"},
		{day("12-13-2026", ""), "2026-12-13"},
		{day("2026-02-01", "NL"), "2026-02-01"},
		{day("1-2-26", "NL"), "has a year of two digits; write all four, such as 1980-05-17"},
		{day("1961/4/3", "US"), "1961-04-03"},
		{day("001-2-2026", "NL"), "001-2-2026"},
		{day("1-002-2026", "NL"), "1-002-2026"},
		{day("1-2", "NL"), "1-2"},
		{day("a-2-2026", "NL"), "a-2-2026"},
		{day("1-b-2026", "NL"), "1-b-2026"},
		{day("soon", "NL"), "soon"},
		{decimalPoint("1.234,50", ','), "1234.50"},
		{decimalPoint("12,5", ','), "12.5"},
		{decimalPoint("1234", ','), "1234"},
		{decimalPoint("1,234.50", ','), "1,234.50"},
		{decimalPoint("1,2,3", ','), "1,2,3"},
		{decimalPoint("12,50", '.'), "12,50"},
		{decimalPoint("12,50", 0), "12,50"},
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
		{
			got:  tally(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}),
			want: "a 1, b 1, c 1, d 1, e 1, 1 field more",
		},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A birthday with a time, as databases and spreadsheets write it, stays the day that it names, and a
// time without a zone is one of this place, wherever that is. Not parallel: the zone is a variable.
func TestCellsOfAZone(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	r := &rowReader{session: cli.NewSession(cli.App{Now: time.Now}, nil)}
	born := change.Field{Path: "dateOfBirth", Kind: apitype.DateField}
	asked := change.Field{Path: "requestedAt", Kind: apitype.TimeField}
	for _, test := range []struct {
		zone, text string
		field      change.Field
		want       any
	}{
		{"America/New_York", "1980-05-17 00:00:00", born, "1980-05-17"},
		{"America/New_York", "1980-05-17T00:00", born, "1980-05-17"},
		{"America/New_York", "17-05-1980 00:00:00", born, "1980-05-17"},
		{"Europe/Amsterdam", "1980-05-17 23:30", born, "1980-05-17"},
		{"Europe/Amsterdam", "17-05-1980 23:30:00", born, "1980-05-17"},
		{"Europe/Amsterdam", "20-11-2026 09:15", asked, "2026-11-20T09:15:00.000Z"},
		{"Europe/Amsterdam", "20-11-2026 9:15:30", asked, "2026-11-20T09:15:30.000Z"},
		{"Europe/Amsterdam", "20-11-2026", asked, "2026-11-20T00:00:00.000Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		time.Local = zone
		if got, err := r.resolve(cellOf(test.field, test.text)); err != nil || got != test.want {
			t.Errorf("%s in %s: got %v, %v, want %v", test.text, test.zone, got, err, test.want)
		}
	}
}

// An amount of a cell is read as its country writes it; without a country one of two meanings is refused.
func TestAmountsOfCells(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, country, want string }{
		{"12,50", "NL", "12.5"},
		{"1.250,00", "NL", "1250"},
		{"1.250", "NL", ""},
		{"1,250", "NL", ""},
		{"12,505", "NL", ""},
		{"1.250", "US", ""},
		{"2.500", "DE", ""},
		{"1,250", "US", ""},
		{"1.250", "", ""},
		{"12.50", "", "12.5"},
		{"€ 30", "NL", "30"},
		{"much", "NL", "much"},
		{"1,234.50", "NL", ""},
		{"1.234,50", "GB", ""},
		{"1,234.50", "GB", "1234.5"},
		{"1.234,50", "", "1234.5"},
		{"1 234,50", "FR", "1234.5"},
	} {
		got, err := cellAmount(test.text, "", test.country)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q in %q: got %q, %v, want %q", test.text, test.country, got, err, test.want)
		}
	}
}

// Whole days are read, and no day is invented of a year, a month, or a word.
func TestDaysOfCells(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	r := &rowReader{session: cli.NewSession(cli.App{Now: func() time.Time { return now }}, nil), country: "NL"}
	born := change.Field{Path: "dateOfBirth", Kind: apitype.DateField}
	asked := change.Field{Path: "requestedAt", Kind: apitype.TimeField}
	for _, test := range []struct {
		field change.Field
		text  string
		isDay bool
	}{
		{born, "1979-05-17", true},
		{born, "17-5-1979", true},
		{born, "19790517", true},
		{born, "1979", false},
		{born, "1979-05", false},
		{born, "1979-5", false},
		{born, "now", false},
		{born, "monday", false},
		{born, "7d", false},
		{asked, "2026-12-01", true},
		{asked, "1-12-2026 10:30", true},
		{asked, "2026", false},
		{asked, "2026-12", false},
	} {
		value, err := r.resolve(cellOf(test.field, test.text))
		if isDay := err == nil && value != nil; isDay != test.isDay {
			t.Errorf("%s %q: got %v, %v, want a day: %v", test.field.Path, test.text, value, err, test.isDay)
		}
	}
}

// cellOf returns a cell of a column.
func cellOf(field change.Field, text string) wantedField {
	return wantedField{column: &column{field: field, creates: true}, given: text, isCell: true}
}

// How much of a file was read is known where its length is.
func TestShareOfAFile(t *testing.T) {
	t.Parallel()
	source := &rowSource{size: 8}
	source.read.Add(2)
	if got := [...]float64{source.share(), (&rowSource{}).share()}; got != [...]float64{0.25, 0} {
		t.Errorf("got %v of the file read, want a quarter, and nothing of one whose length nobody knows", got)
	}
}
