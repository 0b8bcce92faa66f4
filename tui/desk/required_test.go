package desk

import (
	"slices"
	"testing"

	"fundesk/apiclient/apitype"
)

// The checks that the donor's organization requires are known once the donor is, also if the call came on the Desk
// without its person.
func TestRequiredChecksOfALateDonor(t *testing.T) {
	t.Parallel()
	d := dayAt(t, answers{
		"GET /fundesk/v1": `200 {"extensions":["settings","checks"]}`,
		"GET /fundesk/v1/settings": `200 {"organizations":[` +
			`{"uuid":"10000000-0000-4000-8000-000000000001","requiredChecks":{"happy_call":["objection"]}},` +
			`{"uuid":"10000000-0000-4000-8000-000000000002"}]}`,
	})
	readFloor(t, d)
	call := *floorCall()
	person := call.Person
	call.Person = apitype.Embedded[apitype.Person]{}
	d.visit = new(visit)
	d.present(call)
	if got := d.Card().Required; len(got) != 0 {
		t.Fatalf("got %q of a donor who is not known", got)
	}
	d.Call.Person = person
	if got := d.Card().Required; !slices.Equal(got, []string{"objection"}) {
		t.Errorf("got %q, want what the donor's organization requires", got)
	}
}
