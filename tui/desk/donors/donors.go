// Package donors finds donors, and the open call of one.
package donors

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/event"
	"fundesk/tui/find"
)

// Donor is a person in the results of a search.
type Donor struct {
	ID       apitype.UUID
	Name     string
	City     string
	Phone    string       // The number to show. Empty without one.
	OpenCall apitype.UUID // A known open call. Zero without one.
	numbers  [2]string    // Phone numbers, digits only.
}

// Caller is a donor on the line without an open call.
type Caller struct {
	Donor
	Pledge *apitype.UUID // The newest pledge. Nil without one.
}

// Search finds donors. The service searches them if it announces that. Otherwise the donors of the newest calls are
// searched here.
//
// Make it with NewSearch.
type Search struct {
	events     *event.Queue
	connection *connection.State
	client     *apiclient.Client

	typed      string // What the agent looks for.
	answered   string // What found is of.
	found      []Donor
	ofCalls    []Donor // The donors of the newest calls. Nil if the service searches, or before they were read.
	calls      int     // How many calls these are.
	isOpen     bool
	isKnown    bool // Whether the service searches, and ofCalls is read if it does not.
	isSearched bool // By the service.
	reading    bool
}

// NewSearch returns a search that asks a service.
func NewSearch(events *event.Queue, state *connection.State, client *apiclient.Client) *Search {
	return &Search{events: events, connection: state, client: client}
}

// Open is a call that is known to be open, and its donor.
type Open struct {
	Call, Person apitype.UUID
	Name         string
	Numbers      [2]string // Digits only.
}

// donorsRead is an answer to a search.
type donorsRead struct {
	typed      string
	donors     []Donor
	isSearched bool // By the service. Else the donors are of the newest calls.
	calls      int  // How many these are.
}

// Calls are the calls of a donor, as far as they matter.
type Calls struct {
	Caller
	Open apitype.UUID // Zero without one.
}

// pledgesLooked limits the pledges of a donor that are searched for an open call.
const pledgesLooked = 10

// MostFound limits the donors that a search shows.
const MostFound = 50

// callsSearched is the number of newest calls that are searched if the service cannot search donors.
const callsSearched = 500

// SearchFor searches donors by a text, which may be empty at first. The search lasts until LeaveSearch.
func (s *Search) SearchFor(text string) []event.Event {
	s.isOpen, s.typed = true, text
	s.ask()
	return s.events.Drain()
}

// LeaveSearch ends the search. The calls that were read are read again for the next one.
func (s *Search) LeaveSearch() {
	s.isOpen, s.typed, s.answered, s.found = false, "", "", nil
	if !s.isSearched {
		s.isKnown, s.ofCalls = false, nil
	}
}

// IsSearchedHere reports whether only the donors of the newest calls can be found, since the service does not search.
func (s *Search) IsSearchedHere() bool { return s.isKnown && !s.isSearched }

// CallsSearched returns how many calls these are.
func (s *Search) CallsSearched() int { return s.calls }

// IsKnown reports whether the service was asked whether it searches donors, and has answered.
func (s *Search) IsKnown() bool { return s.isKnown }

// IsReadingDonors reports whether an answer is about to come.
func (s *Search) IsReadingDonors() bool { return s.reading }

// wants reports whether the typed text needs a request.
func (s *Search) wants() bool {
	if !s.isKnown {
		return true
	}
	return s.isSearched && s.typed != s.answered && apitype.CheckSearch(s.typed) == nil
}

// ask requests the donors for the typed text, one request at a time.
func (s *Search) ask() {
	if !s.isOpen || s.reading || !s.wants() {
		return
	}
	s.reading = true
	typed := s.typed
	event.Do(
		s.events,
		"donors found",
		func(ctx context.Context) (donorsRead, error) { return searchDonors(ctx, s.client, typed) },
		s.onDonors,
	)
}

// searchDonors asks the service for donors, or reads the donors of the newest calls.
func searchDonors(ctx context.Context, client *apiclient.Client, typed string) (donorsRead, error) {
	read := donorsRead{typed: typed}
	var err error
	read.isSearched, err = client.Has(ctx, apitype.ExtensionSearch)
	if err != nil {
		return read, err
	}
	if !read.isSearched {
		page, err := client.Calls.List(ctx, apitype.CallListOptions{
			Paging:  apitype.Paging{First: new(callsSearched)},
			Include: []string{apitype.IncludePerson},
		})
		calls := apiclient.Rows(page, func(call apitype.Call) apitype.Call { return call })
		read.calls, read.donors = len(calls), donorsOfCalls(calls)
		return read, err
	}
	if apitype.CheckSearch(typed) != nil {
		return read, nil
	}
	page, err := client.Persons.List(
		ctx,
		apitype.PersonListOptions{Search: typed, Paging: apitype.Paging{First: new(MostFound)}},
	)
	read.donors = apiclient.Rows(page, newDonor)
	return read, err
}

// donorsOfCalls returns the donors of calls, each once, with one of their calls that is open.
func donorsOfCalls(calls []apitype.Call) []Donor {
	var donors []Donor
	for _, call := range calls {
		person := call.Person.Pointer()
		if person == nil {
			continue
		}
		at := slices.IndexFunc(donors, func(d Donor) bool { return d.ID == person.UUID })
		if at < 0 {
			at = len(donors)
			donors = append(donors, newDonor(*person))
		}
		if call.Status == apitype.CallRequested && donors[at].OpenCall.IsZero() {
			donors[at].OpenCall = call.UUID
		}
	}
	return donors
}

func newDonor(p apitype.Person) Donor {
	return Donor{
		ID:      p.UUID,
		Name:    render.PersonName(p),
		City:    p.Address.Value().City,
		numbers: PhoneNumbers(p),
		Phone:   cmp.Or(apitype.TextOf(p.MobilePhoneNumber), apitype.TextOf(p.PhoneNumber)),
	}
}

func (s *Search) onDonors(read donorsRead, err error) {
	s.reading = false
	if !s.connection.IsRead("cannot look for donors", err) {
		s.isOpen = false
		return
	}
	s.isKnown, s.isSearched = true, read.isSearched
	if read.isSearched {
		s.answered, s.found = read.typed, read.donors
	} else {
		s.calls, s.ofCalls = read.calls, read.donors
	}
	s.ask()
}

// Among returns the donors for the typed text, those with an open call first. If it searches the known calls, it
// returns donors with the words in their name or city, or with the digits in a number.
func (s *Search) Among(known []Open, isPending func(apitype.UUID) bool, limit int) []Donor {
	terms, number := find.Terms(s.typed), find.NumberOf(s.typed)
	if len(terms) == 0 {
		return nil
	}
	open := map[apitype.UUID]apitype.UUID{}
	for _, c := range known {
		if _, has := open[c.Person]; !has && !isPending(c.Call) {
			open[c.Person] = c.Call
		}
	}
	var found, others []Donor
	seen := map[apitype.UUID]bool{}
	add := func(donor Donor) {
		if seen[donor.ID] {
			return
		}
		seen[donor.ID] = true
		if id := open[donor.ID]; !id.IsZero() {
			donor.OpenCall = id
		}
		if isPending(donor.OpenCall) {
			donor.OpenCall = apitype.UUID{}
		}
		if donor.OpenCall.IsZero() {
			others = append(others, donor)
		} else {
			found = append(found, donor)
		}
	}
	isAnswer := s.isSearched && s.answered == s.typed
	for _, donor := range slices.Concat(s.found, s.ofCalls) {
		if isAnswer || donor.has(terms, number) { // What was found for another text is shown if it has this one.
			add(donor)
		}
	}
	for _, c := range known {
		donor := Donor{ID: c.Person, Name: c.Name, numbers: c.Numbers}
		if donor.has(terms, number) {
			add(donor)
		}
	}
	found = append(found, others...)
	return found[:min(len(found), limit)]
}

func (d Donor) has(terms []string, number find.Number) bool {
	if number.IsLong() {
		return number.IsIn(d.numbers[0]) || number.IsIn(d.numbers[1])
	}
	return find.In(d.Name+" "+d.City, terms)
}

// ReadCalls looks for an open call of a donor, and for a pledge that a new call is about. The
// interface has no filter on calls by person: where none is announced, the calls of the pledges are read.
func ReadCalls(ctx context.Context, client *apiclient.Client, donor Donor) (Calls, error) {
	found := Calls{Caller: Caller{Donor: donor}}
	known, err := found.askOpen(ctx, client)
	if err != nil || !found.Open.IsZero() {
		return found, err
	}
	page, err := client.Pledges.List(
		ctx,
		apitype.PledgeListOptions{PersonUUID: &donor.ID, Paging: apitype.Paging{First: new(pledgesLooked)}},
	)
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		return found, nil // The account may read no pledges.
	}
	if err != nil {
		return found, err
	}
	for _, id := range apiclient.Rows(page, func(p apitype.Pledge) apitype.UUID { return p.UUID }) {
		if known {
			found.Pledge = &id
			break
		}
		pledge, failed := apiclient.Decoded(client.Pledges.Get(ctx, id))
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if found.Pledge == nil {
			found.Pledge = &id
		}
		for _, call := range pledge.Calls.Value() {
			if call.Status == apitype.CallRequested && found.Open.IsZero() {
				found.Open = call.UUID
			}
		}
	}
	return found, err
}

// askOpen requests the open calls of the donor. known is false if the service does not announce the filters for that.
func (f *Calls) askOpen(ctx context.Context, client *apiclient.Client) (known bool, err error) {
	for _, extension := range []string{apitype.ExtensionFilters, apitype.ExtensionStatus} {
		if has, err := client.Has(ctx, extension); err != nil || !has {
			return false, err
		}
	}
	page, err := client.Calls.List(ctx, apitype.CallListOptions{
		PersonUUID: &f.ID, Statuses: []apitype.CallStatus{apitype.CallRequested}, Paging: apitype.Paging{First: new(1)},
	})
	for _, id := range apiclient.Rows(page, func(c apitype.Call) apitype.UUID { return c.UUID }) {
		f.Open = id
	}
	return true, err
}

// Title returns the question for the donor.
func (s *Search) Title() string {
	if s.IsSearchedHere() {
		return "Find a donor: name, city, or digits of a number"
	}
	return "Find a donor: name, number, e-mail, postcode and house number, IBAN"
}

// PhoneNumbers returns the digits of the phone numbers of a person.
func PhoneNumbers(p apitype.Person) [2]string {
	return [2]string{apitype.Digits(apitype.TextOf(p.MobilePhoneNumber)), apitype.Digits(apitype.TextOf(p.PhoneNumber))}
}
