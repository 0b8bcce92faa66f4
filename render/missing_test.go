package render_test

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

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
