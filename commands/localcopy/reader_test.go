package localcopy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// unsynced returns a sync that stores nothing.
func unsynced() *syncing {
	return &syncing{
		Copy:   newCopy("", nil, nil),
		writer: &writer{batch: &batch{}, made: map[string]*statement{}},
	}
}

// lines returns the rows as texts.
func (f found) lines(b *batch) []string {
	var lines []string
	for _, row := range f.rows {
		line := row.sql[:strings.Index(row.sql, " VALUES")]
		for _, c := range row.values {
			switch c.kind {
			case cellNull:
				line += "|NULL"
			case cellWhole:
				line += fmt.Sprint("|", c.number)
			case cellReal:
				line += fmt.Sprint("|", math.Float64frombits(uint64(c.number)))
			case cellText:
				line += fmt.Sprintf("|%q", b.texts[c.number:][:c.length])
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// compared reads a record both ways and compares the rows. It reports whether the reader took it.
func compared[T any](t *testing.T, s *syncing, of source[T], at func(T) apitype.Time, raw []byte) bool {
	t.Helper()
	s.clear()
	if !of.reader.read(raw, s.batch) {
		return false
	}
	value, err := apiclient.Record[T]{Raw: raw}.Decode()
	if err != nil {
		t.Errorf("%s was read, and its type refuses it: %v", raw, err)
		return true
	}
	want := of.byType(value, s.batch)
	got := of.reader.found
	if diff := cmp.Diff(want.lines(s.batch), got.lines(s.batch)); diff != "" {
		t.Errorf("%s (-type +reader):\n%s", raw, diff)
	}
	if got.id != want.id || !got.time.Equal(at(value)) {
		t.Errorf("%s: got the uuid %s and the time %s", raw, got.id, got.time)
	}
	return true
}

// odd are values that some service may send.
var odd = []string{
	`null`, `""`, `"x"`, `"é"`, `"a\"b\\\u00e9\n"`, `"\ud800"`, `"\u0000"`, "\"\xff\"", `true`, `false`, `{}`,
	`[]`, `[{}]`, `[null]`, `{"uuid":"x"}`, `0`, `5`, `-1`, `05`, `5.5`, `5.25`, `5.255`, `1e3`,
	`12345678901234567890`, `"5"`, `0.10`, `-0`, `5.0`, `"3F2A0C6E-5D7B-4D0E-9A43-0C3F5A0E9B11"`,
	`"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"`, `"00000000-0000-0000-0000-000000000000"`,
	`"2026-02-29T00:00:00.000Z"`, `"2028-02-29T00:00:00.000Z"`, `"2026-01-31T23:59:59.999Z"`,
	`"2026-04-31T00:00:00.000Z"`, `"2026-11-29T16:05:01Z"`, `"2026-11-29T16:05:01.000+01:00"`,
	`"2026-11-29T24:00:00.000Z"`, `"2026-11-29T00:00:60.000Z"`, `"2026-11-29"`, `"2026-13-01"`, `"2026-12-31"`,
	`"1899-12-31"`, `"0000-00-00"`, `"[Circular 1]"`,
}

// variants returns a JSON value with each part of it replaced by each odd value, and without each member.
func variants(value any) []string {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	put := func(change func(json.RawMessage)) {
		for _, other := range odd {
			change(json.RawMessage(other))
		}
	}
	text := func(v any) string {
		data, _ := json.Marshal(v)
		return string(data)
	}
	members := func(but, other string) string {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(object)) {
			switch {
			case name != but:
				parts = append(parts, fmt.Sprintf("%q:%s", name, text(object[name])))
			case other != "":
				parts = append(parts, fmt.Sprintf("%q:%s", name, other))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	var all []string
	switch {
	case isObject:
		for name := range object {
			all = append(all, members(name, ""), strings.Replace(members("", ""), "{", fmt.Sprintf(`{%q:7,`, name), 1))
			put(func(other json.RawMessage) { all = append(all, members(name, string(other))) })
			for _, other := range variants(object[name]) {
				all = append(all, members(name, other))
			}
		}
	case isList && len(list) > 0:
		for _, other := range variants(list[0]) {
			all = append(all, "["+other+"]", "["+text(list[0])+" ,"+other+"]")
		}
	}
	return all
}

// checkReader compares both ways for the records of a list, and for their variants.
func checkReader[T any](
	t *testing.T,
	h *servicetest.Harness,
	path string,
	of func(*syncing) source[T],
	at func(T) apitype.Time,
) {
	t.Helper()
	var page struct {
		Edges []struct{ Node json.RawMessage }
	}
	h.Do(h.Token(), http.MethodGet, path, "").Decode(&page)
	s := unsynced()
	source := of(s)
	taken := 0
	seen := map[int]bool{} // One record alone, and one with other rows.
	for _, edge := range page.Edges {
		if !compared(t, s, source, at, edge.Node) {
			t.Errorf("%s: the reader leaves %s to its type", path, edge.Node)
			continue
		}
		var value any
		servicetest.Check(t, json.Unmarshal(edge.Node, &value))
		kinds := min(len(source.reader.found.rows), 2)
		if seen[kinds] {
			continue
		}
		seen[kinds] = true
		for _, variant := range variants(value) {
			if jsontext.Value(variant).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) &&
				compared(t, s, source, at, []byte(variant)) {
				taken++
			}
		}
	}
	if taken < 200 {
		t.Errorf("%s: the reader took %d variants, want some hundreds", path, taken)
	}
}

// The reader makes the rows that the type of a record makes, or leaves the record to the type. It leaves none of the
// service's own.
func TestReaderReadsLikeTheTypes(t *testing.T) {
	h := servicetest.New(t)
	h.Sample(40)
	checkReader(t, h, "/api/v1/persons?first=100", func(s *syncing) source[apitype.Person] {
		return s.persons(apiclient.Feed{Since: "createdAfter"})
	}, func(p apitype.Person) apitype.Time { return p.CreatedAt })
	checkReader(t, h, "/api/v1/calls?first=100", func(s *syncing) source[apitype.Call] {
		return s.calls(apiclient.Feed{})
	}, func(c apitype.Call) apitype.Time { return c.LastUpdatedAt })
	checkReader(t, h, "/api/v1/pledges?first=100&include=transactions,person", func(s *syncing) source[apitype.Pledge] {
		return s.pledges(feedPledges, apiclient.Feed{Since: "updatedAfter"})
	}, func(p apitype.Pledge) apitype.Time { return p.UpdatedAt })
}

// FuzzReader compares both ways for any JSON.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","lastUpdatedAt":"2026-11-29T16:03:34.000Z",` +
			`"attempts":[{}],"result":{}}`,
		`{"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","updatedAt":"2026-11-29T16:03:34.000Z","donationAmount":5,` +
			`"initialDonationAmount":5.5,"transactions":[{"amount":1.25,"name":"\u00e9"}],"person":{"uuid":null}}`,
		`{"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","createdAt":"2026-11-29T16:03:34.000Z","optInSms":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := unsynced()
		isValid := jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if !isValid { // It only has to end.
			s.calls(apiclient.Feed{}).reader.read(raw, s.batch)
			return
		}
		compared(t, s, s.persons(apiclient.Feed{Since: "createdAfter"}),
			func(p apitype.Person) apitype.Time { return p.CreatedAt }, raw)
		compared(t, s, s.calls(apiclient.Feed{}), func(c apitype.Call) apitype.Time { return c.LastUpdatedAt }, raw)
		compared(t, s, s.pledges(feedPledges, apiclient.Feed{Since: "updatedAfter"}),
			func(p apitype.Pledge) apitype.Time { return p.UpdatedAt }, raw)
	})
}
