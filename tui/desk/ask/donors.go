package ask

import (
	"slices"
	"strings"

	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
)

// mostFound limits the donors that a question offers.
const mostFound = 9

// Find asks for the donor on the line. It puts the open call on the Desk, or asks about a new one.
func (q *Questions) Find(search string) Answer {
	if search == "" {
		return Answer{
			Next: &Question{Title: q.day.Search.Title(), Typed: q.Find, Empty: func() Answer { return Answer{} }},
		}
	}
	q.day.Changes.Drafts.KeepLine(drafts.SearchLine, "")
	return Answer{Events: q.day.Search.SearchFor(search), Then: func() Answer { return q.found() }}
}

// found offers the donors that were found.
func (q *Questions) found() Answer {
	s := q.day.Search
	found, isKnown, isHere := q.day.FindDonors(mostFound), s.IsKnown(), s.IsSearchedHere()
	s.LeaveSearch()
	if !isKnown { // The failed reading already has a message.
		return Answer{}
	}
	if len(found) == 0 && isHere {
		return Answer{
			Wrong: q.Say(
				"not among the donors of the newest %d calls; this service cannot search others",
				s.CallsSearched(),
			),
		}
	}
	if len(found) == 0 {
		return Answer{Wrong: "no donor was found"}
	}
	ask := &Question{Title: "number of the donor"}
	if isHere {
		ask.Lines = []string{
			q.Say("This service cannot search: only the donors of the newest %d calls are found.", s.CallsSearched()),
		}
	}
	for _, donor := range found {
		known := slices.DeleteFunc(
			[]string{donor.Name, q.day.Locale.Spoken(donor.Phone), donor.City},
			func(part string) bool { return part == "" },
		)
		pick := func() Answer { return Answer{Events: q.day.OpenDonor(donor), Then: q.opened} }
		ask.Choices = append(ask.Choices, Choice{Label: strings.Join(known, ", "), Pick: pick})
	}
	return ask.again()
}

// opened asks about a new call if the donor has no open one.
func (q *Questions) opened() Answer {
	c := q.day.Caller
	if c == nil {
		return Answer{}
	}
	q.day.Caller = nil
	ask := q.NewCall(*c)
	ask.Title = "number"
	return Answer{Events: []event.Event{event.Notice{Text: q.Say("%s has no open call", c.Name)}}, Next: ask}
}
