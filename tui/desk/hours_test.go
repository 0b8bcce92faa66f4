package desk

import (
	"slices"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/floor"
)

// A callback shows the donor's time and ours, with a warning if it is outside the donor's calling hours.
func TestTimesOfCallbacksKnowCallingHours(t *testing.T) {
	t.Parallel()
	d := newDay()
	d.Now = func() time.Time { return time.Date(2026, 11, 22, 16, 57, 0, 0, time.UTC) } // A Sunday.
	d.Call = &apitype.Call{
		Person: apitype.Embed(apitype.Person{Address: apitype.Embed(apitype.Address{Country: "NL"})}),
	}
	d.Hours = card.CallingHours{"NL": {Sunday: "10:00-18:00"}}
	for hours, want := range map[time.Duration][2]string{
		0:        {"Sun 22 Nov 17:57 there (16:57 here)", ""},
		1:        {"Sun 22 Nov 18:57 there (17:57 here)", "calls are made from 10:00 to 18:00"},
		6:        {"Sun 22 Nov 23:57 there (22:57 here)", "calls are made from 10:00 to 18:00"},
		7:        {"Mon 23 Nov 00:57 there (Sun 22 Nov 23:57 here)", "calls are made from 09:00 to 21:00"},
		24:       {"Mon 23 Nov 17:57 there (16:57 here)", ""},
		100 * 24: {"Tue 2 Mar 2027 17:57 there (16:57 here)", ""},
	} {
		at := d.Now().Add(hours * time.Hour)
		if want[1] != "" {
			want[1] = want[0] + " is outside calling hours: " + want[1]
		}
		if got := [2]string{d.Card().BothTimes(at), d.Card().OutsideHours(at)}; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var offers []string
	for _, o := range d.Card().LaterOffers() {
		offers = append(offers, o.Label+": "+d.Card().LaterEcho(card.At(o.At), len(offers) == 0))
	}
	if want := []string{
		"in 2 hours: Sun 22 Nov 19:57 there (18:57 here), for you",
		"tomorrow at this time: Mon 23 Nov 17:57 there (16:57 here), for any agent",
		"next working day at 10: Mon 23 Nov 10:00 there (09:00 here), for any agent",
	}; !slices.Equal(offers, want) {
		t.Errorf("got %q, want %q", offers, want)
	}
	d.Now = func() time.Time { return time.Date(2026, 11, 27, 16, 57, 0, 0, time.UTC) } // A Friday.
	if at := d.Card().LaterOffers()[2].At; at.Weekday() != time.Monday || at.Day() != 30 {
		t.Errorf("got %v, want the Monday", at)
	}
}

// newDay returns a desk without a service.
func newDay() *Day {
	return New(Options{Client: new(apiclient.Client), Outbox: new(outbox.Outbox), Languages: []string{"nl"}})
}

func TestSameNumberOfSomebodyElse(t *testing.T) {
	t.Parallel()
	d := newDay()
	call := func(n int, number string) apitype.Call {
		person := apitype.Person{UUID: callID(100 + n), MobilePhoneNumber: &number}
		return apitype.Call{
			UUID:       callID(n),
			PersonUUID: person.UUID,
			Status:     apitype.CallRequested,
			Person:     apitype.Embed(person),
		}
	}
	d.Walk.Learn(call(1, "+31612345671"))
	d.Walk.Learn(call(2, "0031612345672"))
	own := call(3, "+31612345671")
	d.Call = &own
	want := []string{"1 open call of another donor with the same number"}
	if got := d.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// At a service with calling hours, the card shows the same hours, and warns of a callback outside.
func TestHoursOfTheService(t *testing.T) {
	t.Parallel()
	dutch := apitype.OrganizationSettings{
		Country:      "NL",
		CallingHours: map[string]apitype.HoursOfDays{"BE": {Weekday: "10:00-24:00"}},
		Holidays:     []string{"NL:2026-11-30"},
	}
	tests := []struct {
		name       string
		now        string
		person     apitype.Person
		isCallback bool
		want       string
	}{
		{"open", "2026-11-27T12:00:00Z", apitype.Person{}, false, ""},
		{
			name:   "a donor of the organization's country",
			now:    "2026-11-27T07:30:00Z",
			person: apitype.Person{},
			want:   "it is 08:30 on Friday in NL: calls are made from 09:00 to 21:00",
		},
		{
			name:   "Saturday afternoon",
			now:    "2026-11-28T15:30:00Z",
			person: apitype.Person{},
			want:   "it is 16:30 on Saturday in NL: calls are made from 10:00 to 16:00",
		},
		{
			name:   "Sunday",
			now:    "2026-11-29T12:00:00Z",
			person: apitype.Person{},
			want:   "it is 13:00 on Sunday in NL: no calls on that day",
		},
		{
			name:   "a holiday that was added",
			now:    "2026-11-30T12:00:00Z",
			person: apitype.Person{},
			want:   "it is 13:00 on Monday in NL: no calls on a public holiday",
		},
		{
			name:       "a holiday",
			now:        "2026-12-25T12:00:00Z",
			person:     apitype.Person{},
			isCallback: true,
			want:       "a callback outside calling hours: it is 13:00 on Friday in NL: no calls on a public holiday",
		},
		{
			name:   "by the number",
			now:    "2026-11-27T08:30:00Z",
			person: apitype.Person{PhoneNumber: new("+3225551234")},
			want:   "it is 09:30 on Friday in BE: calls are made from 10:00 to 24:00",
		},
		{
			"the address counts before the number", "2026-11-27T09:30:00Z",
			apitype.Person{PhoneNumber: new("+3225551234"), Address: apitype.Embed(apitype.Address{Country: "GB"})},
			false, "",
		},
		{
			name:       "a callback at night",
			now:        "2026-11-27T22:00:00Z",
			person:     apitype.Person{},
			isCallback: true,
			want:       "a callback outside calling hours: it is 23:00 on Friday in NL: calls are made from 09:00 to 21:00",
		},
		{"a callback by day", "2026-11-27T12:00:00Z", apitype.Person{}, true, ""},
	}
	for _, test := range tests {
		d := newDay()
		d.floor.Put(floor.Kept{Settings: apitype.Settings{Organizations: []apitype.OrganizationSettings{dutch}}})
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		d.Now = func() time.Time { return now }
		call := apitype.Call{UUID: callID(1), Status: apitype.CallRequested, Person: apitype.Embed(test.person)}
		d.Call = &call
		shown := d.Card()
		if test.isCallback {
			shown.Lease = &apitype.Lease{CallUUID: call.UUID, DueAt: new(apitype.NewTime(now))}
		}
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if got := shown.Warnings(card.Elsewhere{}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", test.name, got, want)
		}
		isDutch := test.person.PhoneNumber == nil
		if at := d.Card().LaterOffers()[2].At; isDutch && at.Format(time.DateOnly) == "2026-11-30" {
			t.Errorf("%s: got a holiday as the next working day", test.name)
		}
	}
}
