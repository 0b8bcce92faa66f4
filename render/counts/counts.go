// Package counts counts records by what they have in common: their status, their organization, their week.
package counts

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Group is a way to count the records of a noun.
type Group[T any] struct {
	Name  string
	Of    func(T) string // Returns an empty text for a record without such a value.
	Shown bool           // It is counted if no group is requested.
	// Each returns the values of a record that may have several. If it is nil, Of returns its only one.
	Each func(T) []string
}

// Values returns the values that a record counts for. One without any counts as none, or not at all if that is "".
func (g Group[T]) Values(record T, none string) []string {
	var values []string
	if g.Each != nil {
		values = g.Each(record)
	} else if value := g.Of(record); value != "" {
		values = []string{value}
	}
	if len(values) == 0 && none != "" {
		values = []string{none}
	}
	return values
}

// Count is the number of records with a value, and their sums.
type Count struct {
	Records int
	Types   map[apitype.CallType]int // Of calls.
	States  map[string]int           // Of calls and pledges, by their status.
	Rating  Mean                     // Of calls.
	Pledged bool                     // It has pledges.
	Cents   int64                    // Of pledges: the sum of the donations, whatever their interval.
	Yearly  int64                    // Of pledges: Euro cents in a year.
	Once    int64                    // Of pledges: Euro cents that are given once.
	// Unvalued is the number of pledges outside of the sums, because of their interval or amount.
	Unvalued int
}

// Mean is the mean of some numbers.
type Mean struct {
	N   int
	sum float64
}

// Value returns the mean; 0 for no numbers.
func (m Mean) Value() float64 { return m.sum / float64(max(m.N, 1)) }

// Counts counts records by some groups.
type Counts[T any] struct {
	Total  Count
	groups []Group[T]
	none   string // What a record without a value counts as; "" leaves it out.
	add    func(*Count, T)
	by     map[string]map[string]*Count
}

// OfCalls returns counts of calls. none is the group of calls without a value. If it is empty, they are left out.
func OfCalls(groups []Group[apitype.Call], none string) *Counts[apitype.Call] {
	return newCounts(groups, none, func(c *Count, call apitype.Call) {
		if c.Types == nil {
			c.Types = map[apitype.CallType]int{}
		}
		c.Types[call.Type]++
		c.state(string(call.Status))
		if rating := call.Result.Value().DonorRetentionRating; rating != nil {
			c.Rating.N++
			c.Rating.sum += rating.Float64()
		}
	})
}

// OfPersons makes counts of persons.
func OfPersons(groups []Group[apitype.Person], none string) *Counts[apitype.Person] {
	return newCounts(groups, none, func(*Count, apitype.Person) {})
}

// OfPledges makes counts of pledges.
func OfPledges(groups []Group[apitype.Pledge], none string) *Counts[apitype.Pledge] {
	inYear := map[apitype.DonationInterval]int64{"monthly": 12, "quarterly": 4, "half-yearly": 2, "yearly": 1}
	return newCounts(groups, none, func(c *Count, p apitype.Pledge) {
		c.Pledged = true
		c.state(string(p.Status))
		cents, whole := p.DonationAmount.Cents()
		times, known := inYear[p.DonationInterval]
		if whole {
			c.Cents += cents
		}
		switch {
		case whole && p.DonationInterval == "once":
			c.Once += cents
		case whole && known:
			c.Yearly += cents * times
		default:
			c.Unvalued++
		}
	})
}

func newCounts[T any](groups []Group[T], none string, add func(*Count, T)) *Counts[T] {
	c := &Counts[T]{
		groups: groups,
		none:   none,
		add:    add,
		by:     map[string]map[string]*Count{},
	}
	for _, g := range groups {
		c.by[g.Name] = map[string]*Count{}
	}
	return c
}

func (c *Count) state(status string) {
	if c.States == nil {
		c.States = map[string]int{}
	}
	c.States[status]++
}

// Add counts a record.
func (c *Counts[T]) Add(record T) {
	c.Total.Records++
	c.add(&c.Total, record)
	for _, g := range c.groups {
		for _, value := range g.Values(record, c.none) {
			count := c.by[g.Name][value]
			if count == nil {
				count = new(Count)
				c.by[g.Name][value] = count
			}
			count.Records++
			c.add(count, record)
		}
	}
}

// Of returns the counts of a group, by value.
func (c *Counts[T]) Of(group string) map[string]*Count { return c.by[group] }

// Ages are the groups of open calls by the days since they were requested: fewer than these.
var Ages = []struct {
	Title string
	Days  int
}{{"today", 1}, {"2-3 days", 3}, {"4-7 days", 7}, {"8-30 days", 30}, {"older", 1 << 20}}

// CallGroups returns the ways to count calls, with days and weeks of a place.
func CallGroups(now time.Time, in *time.Location) []Group[apitype.Call] {
	type call = apitype.Call
	return []Group[call]{
		{"total", func(call) string { return "calls" }, true, nil},
		{"status", func(c call) string { return string(c.Status) }, true, nil},
		{"type", func(c call) string { return string(c.Type) }, true, nil},
		{"requested by type", func(c call) string {
			if c.Status != apitype.CallRequested {
				return ""
			}
			return string(c.Type)
		}, true, nil},
		{"attempts", func(c call) string { return strconv.Itoa(c.AttemptsCount) }, true, nil},
		{"result", func(c call) string { return apitype.TextOf(c.Result.Value().ResultCode) }, true, nil},
		{"rating", func(c call) string {
			if rating := c.Result.Value().DonorRetentionRating; rating != nil {
				return rating.String()
			}
			return ""
		}, true, nil},
		{"day", func(c call) string { return dayOf(c.RequestedAt, in) }, false, nil},
		{"week", func(c call) string { return weekOf(c.RequestedAt, in) }, false, nil},
		{"completed", func(c call) string {
			if c.Status != apitype.CallCompleted || c.CompletedAt == nil {
				return ""
			}
			return dayOf(*c.CompletedAt, in)
		}, false, nil},
		{"age", func(c call) string {
			days := int(now.Sub(c.RequestedAt.Time).Hours() / 24)
			i := 0
			for i < len(Ages)-1 && days >= Ages[i].Days {
				i++
			}
			if c.Status != apitype.CallRequested {
				return ""
			}
			return Ages[i].Title
		}, false, nil},
		{"agent", lastAgent, false, nil},
		{
			"organization",
			func(c call) string { return organizationName(c.Person.Value().OwningOrganization.Value()) },
			false,
			nil,
		},
	}
}

// PersonGroups returns the ways to count persons.
func PersonGroups(in *time.Location) []Group[apitype.Person] {
	type person = apitype.Person
	opt := func(name string, value func(person) *bool) Group[person] {
		return Group[person]{name, func(p person) string { return render.YesNo(value(p)) }, true, nil}
	}
	return []Group[person]{
		{"total", func(person) string { return "persons" }, true, nil},
		{"organization", func(p person) string { return organizationName(p.OwningOrganization.Value()) }, true, nil},
		{"language", func(p person) string { return apitype.TextOf(p.Language) }, true, nil},
		{"country", func(p person) string { return p.Address.Value().Country }, true, nil},
		opt("optInPhone", func(p person) *bool { return p.OptInPhone }),
		opt("optInEmail", func(p person) *bool { return p.OptInEmail }),
		opt("optInMail", func(p person) *bool { return p.OptInMail }),
		opt("optInSms", func(p person) *bool { return p.OptInSMS }),
		{"day", func(p person) string { return dayOf(p.CreatedAt, in) }, false, nil},
		{"week", func(p person) string { return weekOf(p.CreatedAt, in) }, false, nil},
	}
}

// PledgeGroups returns the ways to count pledges.
func PledgeGroups(in *time.Location) []Group[apitype.Pledge] {
	type pledge = apitype.Pledge
	return []Group[pledge]{
		{"total", func(pledge) string { return "pledges" }, true, nil},
		{"status", func(p pledge) string { return string(p.Status) }, true, nil},
		{"interval", func(p pledge) string { return string(p.DonationInterval) }, true, nil},
		{"type", func(p pledge) string { return apitype.TextOf(p.RecruitmentType) }, true, nil},
		{"organization", func(p pledge) string { return organizationName(p.OwningOrganization.Value()) }, true, nil},
		{"campaign", func(p pledge) string { return apitype.TextOf(p.CampaignCode) }, true, nil},
		{"day", func(p pledge) string { return dayOf(p.CreatedAt, in) }, false, nil},
		{"week", func(p pledge) string { return weekOf(p.CreatedAt, in) }, false, nil},
	}
}

// lastAgent returns the user of the last attempt, or an empty text.
func lastAgent(c apitype.Call) string {
	attempts := c.Attempts.Value()
	if len(attempts) == 0 {
		return ""
	}
	last := slices.MaxFunc(
		attempts,
		func(a, b apitype.CallAttempt) int { return a.AttemptAt.Compare(b.AttemptAt.Time) },
	)
	if last.UserUUID == nil {
		return ""
	}
	return last.UserUUID.String()
}

func dayOf(t apitype.Time, in *time.Location) string { return t.In(in).Format(time.DateOnly) }

// weekOf returns the week of a time by ISO 8601.
func weekOf(t apitype.Time, in *time.Location) string {
	year, week := t.In(in).ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, week)
}

// organizationName returns the name of an organization, with more than the name if two share it.
func organizationName(o apitype.OrganizationReference) string {
	if o.Abbreviation == "" || o.Name == "" {
		return o.Name + o.Abbreviation
	}
	return o.Name + " (" + o.Abbreviation + ")"
}
