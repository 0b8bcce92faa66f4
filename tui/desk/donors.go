package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Donor is a person as one is found who rings back.
type Donor struct {
	ID       apitype.UUID
	Name     string
	City     string
	Phone    string       // The number to show; "" for none.
	OpenCall apitype.UUID // One that is known to be open; zero for none.
	numbers  [2]string    // Phone numbers, digits only.
}

// Caller is a donor on the line who has no open call.
type Caller struct {
	Donor
	Pledge *apitype.UUID // The newest; nil for none.
}

// Search holds what was read of the persons. The interface has no filter for names and
// numbers: they are walked, the newest first, while somebody searches, and so many at a time.
type Search struct {
	*base
	all      []Donor
	cursor   string
	size     int
	most     int    // How many are read before somebody asks for more.
	isOpen   bool   // Somebody searches.
	wanted   string // What is read until there are mostFound of it; "" reads on.
	reading  bool
	ended    bool
	mayBeCut bool // Nothing tells whether these are all.
}

// donorsRead is a page of donors.
type donorsRead struct {
	donors   []Donor
	cursor   string
	more     bool
	mayBeCut bool
	size     int
}

// donorCalls are the calls of a donor, as far as they matter.
type donorCalls struct {
	Caller
	open apitype.UUID // Zero for none.
}

// pledgesLooked is how many pledges of a donor are looked at for an open call.
const pledgesLooked = 10

// DonorsAtOnce is how many donors a search reads: at 500 a request, ten requests. What is read
// is kept as long as the program runs.
const DonorsAtOnce = 5_000

// SearchDonors begins to read who there is, the newest DonorsAtOnce; it goes on until LeaveSearch.
func (s *Search) SearchDonors() []Event {
	s.isOpen = true
	s.most = max(s.most, DonorsAtOnce)
	s.readDonors()
	return s.drain()
}

// SearchOn reads DonorsAtOnce more.
func (s *Search) SearchOn() []Event {
	s.most = len(s.all) + DonorsAtOnce
	s.readDonors()
	return s.drain()
}

// HasMoreDonors reports whether there are donors that only SearchOn reads.
func (s *Search) HasMoreDonors() bool {
	return s.most > 0 && !s.ended && !s.reading && len(s.all) >= s.most
}

// LeaveSearch ends the reading. What was read is kept for the next search.
func (s *Search) LeaveSearch() { s.isOpen, s.wanted = false, "" }

// DonorsRead returns how many donors can be found so far; all reports whether there are no others.
func (s *Search) DonorsRead() (n int, all bool) {
	return len(s.all), s.ended && !s.mayBeCut
}

// IsReadingDonors reports whether more donors are about to come.
func (s *Search) IsReadingDonors() bool { return s.reading }

func (s *Search) readDonors() {
	if !s.isOpen || s.reading || s.ended || len(s.all) >= s.most || len(s.FindDonors(s.wanted, mostFound)) == mostFound {
		return
	}
	s.reading = true
	after, size := s.cursor, cmp.Or(s.size, WalkPage)
	do(&s.events, func(ctx context.Context) (donorsRead, error) {
		page, err := OrFewer(&size, func(size int) (apiclient.Page[apitype.Person], error) {
			return s.Client.Persons.List(ctx, apitype.PersonListOptions{Paging: apitype.Paging{After: after, First: &size}})
		})
		if err != nil {
			return donorsRead{}, err
		}
		return donorsRead{
			donors: apiclient.Rows(page, newDonor), cursor: page.EndCursor, size: size,
			more: page.HasNextPage && page.EndCursor != "" && page.EndCursor != after, mayBeCut: page.MayBeCut,
		}, nil
	}, s.onDonors)
}

func newDonor(p apitype.Person) Donor {
	return Donor{
		ID: p.UUID, Name: render.PersonName(p), City: p.Address.Value().City, numbers: phoneNumbers(p),
		Phone: cmp.Or(Value(p.MobilePhoneNumber), Value(p.PhoneNumber)),
	}
}

func (s *Search) onDonors(read donorsRead, err error) {
	s.reading = false
	if !s.day.isRead("cannot read the donors", err) {
		s.isOpen = false
		return
	}
	s.all = append(s.all, read.donors...)
	s.cursor, s.size, s.ended, s.mayBeCut = read.cursor, read.size, !read.more, read.mayBeCut
	s.readDonors()
}

// FindDonors returns those who have the words in their name or city, or the digits in one of their
// numbers, however they are written; those with an open call come first.
func (s *Search) FindDonors(search string, limit int) []Donor {
	terms, number := SearchTerms(search), newDialled(search)
	if len(terms) == 0 {
		return nil
	}
	known, open := slices.Concat(s.day.leases.offers(queueShown+1), s.day.queue.candidates), map[apitype.UUID]apitype.UUID{}
	for _, c := range known {
		if _, has := open[c.person]; !has && !s.day.Changes.isPending(c.ID) {
			open[c.person] = c.ID
		}
	}
	var found, others []Donor
	seen := map[apitype.UUID]bool{}
	add := func(donor Donor) {
		if seen[donor.ID] || !donor.has(terms, number) {
			return
		}
		seen[donor.ID] = true
		if donor.OpenCall = open[donor.ID]; donor.OpenCall.IsZero() {
			others = append(others, donor)
		} else {
			found = append(found, donor)
		}
	}
	for _, c := range known {
		donor := Donor{ID: c.person, Name: c.Name, numbers: c.numbers}
		if i := slices.IndexFunc(s.all, func(other Donor) bool { return other.ID == c.person }); i >= 0 {
			donor = s.all[i]
		}
		add(donor)
	}
	for _, donor := range s.all {
		if add(donor); len(found)+len(others) >= limit {
			break
		}
	}
	found = append(found, others...)
	return found[:min(len(found), limit)]
}

// FindsInList is [Finds] for the text of a record. A number is found however it is written, as
// among the donors of the Desk.
func FindsInList(text string, terms []string) bool {
	if Finds(text, terms) {
		return true
	}
	number := newDialled(strings.Join(terms, " "))
	if len(number.digits) < leastDigits {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		if digits, isNumber := strings.CutPrefix(word, "+"); isNumber && number.isIn(digits) {
			return true
		}
	}
	return false
}

// dialled is a part of a number as a phone shows it.
type dialled struct {
	digits  string // Without what is dialled before it at home or abroad; "" for what is no number.
	isStart bool   // The number begins with them, but for the code of its country.
}

func newDialled(search string) dialled {
	search = strings.TrimSpace(search)
	if strings.Trim(search, "+0123456789 -/.()") != "" {
		return dialled{}
	}
	digits := apitype.Digits(strings.ReplaceAll(search, "(0)", ""))
	return dialled{strings.TrimLeft(digits, "0"), strings.HasPrefix(search, "+") || strings.HasPrefix(digits, "0")}
}

// isIn reports whether a number, of digits only, has that part.
func (d dialled) isIn(number string) bool {
	at := strings.Index(number, d.digits)
	return at >= 0 && (!d.isStart || at <= countryCode)
}

// How much of a number is looked for, and how long the code of a country is at most.
const (
	leastDigits = 3
	countryCode = 3
)

func (d Donor) has(terms []string, number dialled) bool {
	if len(number.digits) >= leastDigits {
		return number.isIn(d.numbers[0]) || number.isIn(d.numbers[1])
	}
	return Finds(d.Name+" "+d.City, terms)
}

// OpenDonor puts the open call of a donor on the desk. Where none is known it is looked for,
// and Caller is set where there is none.
func (s *Search) OpenDonor(donor Donor) []Event {
	if !donor.OpenCall.IsZero() {
		return s.day.Take(donor.OpenCall)
	}
	s.sayf("looking for an open call of %s…", donor.Name)
	asked := s.day.Guard.presses
	do(&s.events, func(ctx context.Context) (donorCalls, error) { return readDonorCalls(ctx, s.Client, donor) }, func(found donorCalls, err error) {
		s.notify(Notice{}) // The search is over.
		switch {
		case err != nil && found.open.IsZero():
			s.day.failRead(s.Say("cannot look for an open call of %s", found.Name), err)
		case found.open.IsZero():
			s.day.Gate.admit(arrival{asked: asked, text: s.Say("%s has no open call", found.Name), run: func() { s.day.Caller = &found.Caller }})
		default:
			s.day.Gate.admit(arrival{asked: asked, text: s.Say("the open call of %s was found", found.Name), run: func() { s.day.takeCall(found.open) }})
		}
	})
	return s.drain()
}

// readDonorCalls looks for an open call of a donor, and for a pledge that a new call is about. The
// interface has no filter on calls by person: where none is announced, the calls of the pledges are read.
func readDonorCalls(ctx context.Context, client *apiclient.Client, donor Donor) (donorCalls, error) {
	found := donorCalls{Caller: Caller{Donor: donor}}
	known, err := found.askOpen(ctx, client)
	if err != nil || !found.open.IsZero() {
		return found, err
	}
	page, err := client.Pledges.List(ctx, apitype.PledgeListOptions{PersonUUID: &donor.ID, Paging: apitype.Paging{First: new(pledgesLooked)}})
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
			if call.Status == apitype.CallRequested && found.open.IsZero() {
				found.open = call.UUID
			}
		}
	}
	return found, err
}

// askOpen asks for the open calls of the donor, where the service announces the filters that this takes;
// known is whether it does.
func (f *donorCalls) askOpen(ctx context.Context, client *apiclient.Client) (known bool, err error) {
	for _, extension := range []string{apitype.ExtensionFilters, apitype.ExtensionStatus} {
		if has, err := client.Has(ctx, extension); err != nil || !has {
			return false, err
		}
	}
	page, err := client.Calls.List(ctx, apitype.CallListOptions{
		PersonUUID: &f.ID, Statuses: []apitype.CallStatus{apitype.CallRequested}, Paging: apitype.Paging{First: new(1)},
	})
	for _, id := range apiclient.Rows(page, func(c apitype.Call) apitype.UUID { return c.UUID }) {
		f.open = id
	}
	return true, err
}

// mostFound is how many donors a question offers.
const mostFound = 9

// Find asks for a donor who calls back, by a name, a city or digits of a number. It puts the open call on the desk,
// or asks what a new one is to be about.
func (q *Questions) Find(search string) Answer {
	if search == "" {
		return Answer{Next: &Question{Title: "name, city, or digits of a number", Typed: q.Find, Empty: func() Answer { return Answer{} }}}
	}
	q.day.Search.wanted = search
	return Answer{Events: q.day.Search.SearchDonors(), Then: func() Answer { return q.found(search) }}
}

// found offers the donors that were found. Where the newest have none it asks whether to read on.
func (q *Questions) found(search string) Answer {
	s := q.day.Search
	found := s.FindDonors(search, mostFound)
	if len(found) == 0 && s.HasMoreDonors() {
		n, _ := s.DonorsRead()
		leave := does(func() []Event {
			s.LeaveSearch()
			return nil
		})
		title := q.Say("no match among the newest %s; m looks through more, empty for not", q.day.Count(n, "donor", "donors"))
		return Answer{Next: &Question{Title: title, Empty: leave, Typed: func(text string) Answer {
			if text != "m" {
				return leave()
			}
			return Answer{Events: s.SearchOn(), Then: func() Answer { return q.found(search) }}
		}}}
	}
	if s.LeaveSearch(); len(found) == 0 {
		return Answer{Wrong: "no donor has that name or number"}
	}
	ask := &Question{Title: "number of the donor"}
	for _, donor := range found {
		known := slices.DeleteFunc([]string{donor.Name, q.day.Locale.Spoken(donor.Phone), donor.City}, func(part string) bool { return part == "" })
		pick := func() Answer { return Answer{Events: s.OpenDonor(donor), Then: q.opened} }
		ask.Choices = append(ask.Choices, Choice{Label: strings.Join(known, ", "), Pick: pick})
	}
	return ask.again()
}

// opened asks what a new call is to be about where the donor who was looked for has no open one.
func (q *Questions) opened() Answer {
	c := q.day.Caller
	if c == nil {
		return Answer{}
	}
	q.day.Caller = nil
	ask := q.NewCall(*c)
	ask.Title = "number"
	return Answer{Events: []Event{Notice{Text: q.Say("%s has no open call", c.Name)}}, Next: ask}
}

// NewCall asks for a call to a donor who is on the line, and puts it on the desk as soon as the
// service has it. It is not held: somebody is waiting.
func (d *Day) NewCall(c Caller, kind apitype.CallType) []Event {
	id := apitype.NewUUID()
	d.holdReturn(d.Say("new call")+": "+c.Name, id)
	change, err := apiclient.CreateCallChange(apitype.CreateCallRequest{
		UUID: &id, PersonUUID: c.ID, RelatedCaseUUID: c.Pledge, Type: &kind, RequestedAt: *d.Changes.now(), RequestedByUserUUID: d.Agent,
	})
	d.opening, d.openedAt = id, d.Guard.presses
	return d.Changes.Submit(Change{Change: change, Label: d.Say("new call, %s", d.Say(render.Words(string(kind)))) + ": " + c.Name, err: err, atOnce: true})
}
