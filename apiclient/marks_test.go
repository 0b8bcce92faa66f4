package apiclient

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The error names the entries that were not marked, and those with an unknown outcome.
func TestMarkErrors(t *testing.T) {
	t.Parallel()
	failed := []apitype.ProcessedError{{ErrorMessage: "not  found\nat all"}, {ErrorMessage: "b"}}
	cause := &Error{Status: 502, Message: "bad gateway"}
	for want, e := range map[string]MarkError{
		"one entry could not be marked: not found": {Failed: failed[:1]},
		"2 entries could not be marked: not found": {Failed: failed},
		"the last entry is perhaps not marked: 502 bad gateway": {
			Unconfirmed: make([]apitype.ProcessedEntry, 1),
			Cause:       cause,
		},
		"one entry could not be marked: not found; the last 2 entries are perhaps not marked: 502 bad gateway": {
			Failed:      failed[:1],
			Unconfirmed: make([]apitype.ProcessedEntry, 2),
			Cause:       cause,
		},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	own := apitype.MustParseUUID("6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10")
	entry := apitype.ProcessedEntry{EntityName: "call", EntityUUID: id, ConsumerIdentifier: &own}
	for _, test := range []struct {
		failed apitype.ProcessedError
		want   bool
	}{
		{apitype.ProcessedError{EntityUUID: "5C1D0F0E-8F2F-4E0E-B3A5-2B8F0D9C7A10"}, true},
		{apitype.ProcessedError{EntityUUID: own.String()}, false},
		{
			failed: apitype.ProcessedError{
				EntityUUID:         id.String(),
				EntityName:         "call",
				ConsumerIdentifier: new("6F1D4C2E-8A55-4B0E-9C39-0D2F3B6A7E10"),
			},
			want: true,
		},
		{apitype.ProcessedError{EntityUUID: id.String(), EntityName: "person"}, false},
		{apitype.ProcessedError{EntityUUID: id.String(), ConsumerIdentifier: new("x")}, false},
	} {
		if got := test.failed.Names(entry); got != test.want {
			t.Errorf("%+v: got %t, want %t", test.failed, got, test.want)
		}
	}
	refusal := (apitype.ProcessedError{EntityUUID: id.String(), ConsumerIdentifier: new("x")})
	if refusal.Names(apitype.ProcessedEntry{EntityUUID: id}) {
		t.Error("an entry without an identifier of its own was taken for one with it")
	}
	for _, test := range []struct {
		name                string
		entries             int
		answers             []string // Status and body of each request, the last again and again.
		failed, unconfirmed int
		want                string
	}{
		{"none", 0, nil, 0, 0, "<nil>"},
		{"one request that fails", 500, []string{"403 {}"}, 0, 0, "403 forbidden"},
		{
			name:        "the second one fails",
			entries:     501,
			answers:     []string{"204 ", "403 {}"},
			unconfirmed: 1,
			want:        "the last entry is perhaps not marked: 403 forbidden",
		},
		{
			name:    "a refusal that names nothing of it",
			entries: 2,
			answers: []string{`400 {"errors":[{"entityUuid":"x","errorMessage":"m"}]}`},
			want:    "400 x: m",
		},
		{"a refusal that is none", 2, []string{`400 {"errors":7}`}, 0, 0, "400 bad request"},
		{"a refusal without an entity", 2, []string{`400 {"errors":[{"errorMessage":"m"}]}`}, 0, 0, "400 m"},
		{
			name:        "one is refused, and then all",
			entries:     2,
			answers:     []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`, "403 {}"},
			failed:      1,
			unconfirmed: 2,
			want:        "one entry could not be marked: m; the last 2 entries are perhaps not marked: 403 forbidden",
		},
		{
			name:    "one is refused",
			entries: 2,
			answers: []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`, "204 "},
			failed:  1,
			want:    "one entry could not be marked: m",
		},
		{
			name:    "one is refused for two reasons",
			entries: 2,
			answers: []string{
				`400 {"errors":[{"entityUuid":"` + id.String() +
					`","errorMessage":"m"},{"entityName":"call","entityUuid":"` + id.String() +
					`","errorMessage":"n"},{"entityUuid":"x","errorMessage":"o"}]}`,
				"204 ",
			},
			failed: 1,
			want:   "one entry could not be marked: m; n",
		},
		{
			name:    "all are refused",
			entries: 1,
			answers: []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`},
			failed:  1,
			want:    "one entry could not be marked: m",
		},
	} {
		c, err := New(Options{
			BaseURL: "https://a.example",
			Tries:   1,
			Transport: canned(func(*http.Request) (*http.Response, error) {
				status, body, _ := strings.Cut(test.answers[0], " ")
				test.answers = test.answers[min(1, len(test.answers)-1):]
				n, _ := strconv.Atoi(status)
				return answered(n, body, true), nil
			}),
		})
		servicetest.Check(t, err)
		entries := make([]apitype.ProcessedEntry, test.entries)
		for i := range entries {
			entries[i] = apitype.ProcessedEntry{EntityName: "call", EntityUUID: apitype.NewUUID()}
			if i == 0 {
				entries[i].EntityUUID = id
			}
		}
		err = c.EntityAccess.MarkProcessed(t.Context(), entries)
		marks, _ := errors.AsType[*MarkError](err)
		if marks == nil {
			marks = &MarkError{}
		}
		if fmt.Sprint(err) != test.want ||
			len(marks.Failed) != test.failed ||
			len(marks.Unconfirmed) != test.unconfirmed {
			t.Errorf("%s: got %v, %d failed, %d unconfirmed, want %q, %d, %d", test.name, err, len(marks.Failed),
				len(marks.Unconfirmed), test.want, test.failed, test.unconfirmed)
		}
	}
}
