package render_test

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Any path of the JSON of a record may be a column: what is not there is empty, and a name that no record
// has is refused.
func TestPathsAsColumns(t *testing.T) {
	t.Parallel()
	raw := `{"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","status":"completed","attemptsCount":2,"requestedAt":"2026-11-20T09:15:00Z",
		"externalMetadata":{"applicationName":"d","additionalProperties":{"line":{"number":7}}},
		"person":{"optInPhone":false,"createdAt":"2026-11-20T09:15:00Z","address":{"city":"Utrecht"},"qualityResult":{"score":3.50}},
		"pledgeCase":{"donationAmount":12.5,"externalMetadata":{"source":"street"},"person":{"address":{"zipCode":"1234 AB"}}},
		"attempts":[{"userUuid":null,"attemptAt":"2026-11-20T09:15:00Z"}]}`
	for path, want := range map[string]string{
		"person.address.city": "Utrecht", "person.address.street": "", "person.optInPhone": "false", "person.qualityResult.score": "3.50",
		"person.qualityResult.createdAt": "", "person.createdAt": "2026-11-20T09:15:00.000Z", "person.mandate.createdAt": "",
		"pledgeCase.donationAmount": "12.5", "pledgeCase.externalMetadata.source": "street", "pledgeCase.externalMetadata.nothing": "",
		"pledgeCase.person.address.zipCode": "1234 AB", "externalMetadata.additionalProperties.line.number": "7",
		"attempts": `[{"userUuid":null,"attemptAt":"2026-11-20T09:15:00.000Z","createdAt":null}]`, "transactions": "",
	} {
		if got := list(t, render.Options{Format: render.TSV, Columns: []string{path}}, raw); got != want+"\n" {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"person.address.cty", "uuid.x", "attempts.0", "status.", ".status", "requestedAt.Time", ""} {
		if _, err := render.Select(render.CallColumns(), []string{path}, false); err == nil {
			t.Errorf("%s: got a column, want a refusal", path)
		}
	}
}

// What the service left out is an empty cell, and never a value that looks like one.
func TestMissingIdentifiers(t *testing.T) {
	t.Parallel()
	const zero = "00000000-0000-0000-0000-000000000000"
	for noun, got := range map[string]string{
		"call": row(t, render.CallColumns(), apitype.Call{}), "person": row(t, render.PersonColumns(), apitype.Person{}), "pledge": row(t, render.PledgeColumns(), apitype.Pledge{}),
	} {
		if strings.Contains(got, zero) {
			t.Errorf("%s: got %s, want no identifier", noun, got)
		}
	}
}

// row is a record with all its columns.
func row[T any](t *testing.T, columns []render.Column[T], record T) string {
	t.Helper()
	var out strings.Builder
	if err := render.Record(&out, columns, render.Options{Format: render.CSV}, []byte("{}"), func() (T, error) { return record, nil }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
