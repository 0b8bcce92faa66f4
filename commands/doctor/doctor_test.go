package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"fundesk/commands/cli"
)

// A clock that is wrong is told with how far it is, and what a service decided otherwise with what is done about it.
func TestWhatDoctorTells(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := cli.NewSession(cli.App{Now: func() time.Time { return now }}, nil)
	clock := func(ahead time.Duration) string {
		return checkClock(s, http.Header{"Date": {now.Add(ahead).Format(http.TimeFormat)}})
	}
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
		{checkClock(s, nil), "the service sends no time"},
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
