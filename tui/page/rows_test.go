package page

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk"
)

// A list keeps a row of every record that it has shown: what one takes is multiplied by
// 10,000.
func TestRowsAreSmall(t *testing.T) {
	t.Parallel()
	e := NewEnv(t.Context(), nil, desk.New(desk.Options{Outbox: new(outbox.Outbox)}), NewStyles("", false, false))
	person := apitype.Person{
		FirstName:         new("Katharina"),
		LastNamePrefix:    new("von"),
		LastName:          new("Lindenberg"),
		Email:             new("katharina.lindenberg@example.org"),
		MobilePhoneNumber: new("+31612345671"),
		Language:          new("de"),
		Address:           apitype.Embed(apitype.Address{City: "Middelburg"}),
	}
	call := apitype.Call{
		Status:      "requested",
		Type:        "verification",
		Person:      apitype.Embed(person),
		RequestedAt: apitype.NewTime(time.Now()),
		Result:      apitype.Embed(apitype.CallResult{ResultCode: new("wants_to_stop")}),
	}
	pledge := apitype.Pledge{
		Status:           "fulfilled",
		DonationInterval: "half-yearly",
		CreatedAt:        apitype.NewTime(time.Now()),
		CampaignCode:     new("SUMMER-2026"),
	}
	for name, row := range map[string]Row{
		"call":   NewCalls(e).row(call),
		"person": NewPersons(e).row(person),
		"pledge": NewPledges(e).row(pledge),
	} {
		if size := int(unsafe.Sizeof(row)) + len(row.cells); size > 192 {
			t.Errorf("a %s takes %d bytes, want at most 192", name, size)
		}
	}
}

// What a list shows, sorts by and asks of a record comes out of its row as it went in.
func TestRowsKeepWhatTheyShow(t *testing.T) {
	t.Parallel()
	e := NewEnv(t.Context(), nil, desk.New(desk.Options{Outbox: new(outbox.Outbox)}), NewStyles("", false, false))
	l := NewCalls(e)
	for _, at := range []time.Time{
		{},
		time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
		time.Date(1900, 1, 1, 0, 0, 0, 1_000_000, time.UTC),
	} {
		call := apitype.Call{
			UUID: callID(1), Status: "expired", RequestedAt: apitype.NewTime(at), AttemptsCount: 300,
			Person: apitype.Embed(apitype.Person{FirstName: new("Zoë\x1b[2J"), LastName: new("Vos")}),
		}
		row := l.row(call)
		if !row.at().Equal(at) ||
			row.number != 300 ||
			l.text(row, "attemptsCount") != "300" ||
			l.text(row, "status") != "expired" {
			t.Errorf("%s: got %s, %d tries and %q", at, row.at(), row.number, l.text(row, "status"))
		}
		got, want := l.targets([]Row{row}, nil, nil).names[0], render.ShortID(callID(1))+"  Zoë␛[2J Vos"
		if got != want {
			t.Errorf("title: got %q, want %q", got, want)
		}
		if l.isOpen(row) {
			t.Error("an expired call is open")
		}
	}
	e.Day.Locale = render.LocaleFrom(func(name string) string { return map[string]string{"LANG": "nl_NL.UTF-8"}[name] })
	person := apitype.Person{
		UUID:              callID(2),
		LastName:          new("Vos"),
		MobilePhoneNumber: new("+31612345671"),
		Language:          new("de"),
		Email:             new("v@example.org"),
	}
	persons := NewPersons(e)
	found := persons.searched(persons.row(person))
	for _, want := range []string{
		callID(2).String(), "Vos", "+31612345671", "06 12 34 56 71", "German", "v@example.org",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("what words are looked for in: got %q, want %q in it", found, want)
		}
	}
}
