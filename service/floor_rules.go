package service

import (
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
)

// The settings of an organization limit which donors are called: with an opt-in, within some years after the last
// pledge, and at some hours. The queue applies them for every client. Spec gap: S84.

// QueueKind has the properties of a waiting call that filters and rules use, except its times.
type QueueKind struct {
	Owner    apitype.UUID
	Type     apitype.CallType
	Language string // Empty when none is known.
	OptedIn  bool   // To phone calls.
	Country  string // Where the person is called. Empty if neither the address nor the number shows it.
}

// String returns the kind as the store keeps it.
func (k QueueKind) String() string {
	optedIn := "0"
	if k.OptedIn {
		optedIn = "1"
	}
	return strings.Join([]string{hex.EncodeToString(k.Owner[:]), string(k.Type), k.Language, optedIn, k.Country}, " ")
}

// ParseQueueKind reads a kind as the store keeps it.
func ParseQueueKind(text string) QueueKind {
	words := strings.Split(text, " ")
	words = append(words, "", "", "", "", "")
	k := QueueKind{
		Type:     apitype.CallType(words[1]),
		Language: words[2],
		OptedIn:  words[3] == "1",
		Country:  words[4],
	}
	_, _ = hex.Decode(k.Owner[:], []byte(words[0])[:min(len(words[0]), 2*len(k.Owner))])
	return k
}

// Kind returns the kind of a call that waits.
func (q *QueueRow) Kind() QueueKind {
	return QueueKind{
		Owner:    q.Owner,
		Type:     q.Type,
		Language: q.Language,
		OptedIn:  q.OptedIn,
		Country:  q.Country,
	}
}

// storedRules are the parts of an organization's settings that the queue uses.
type storedRules struct {
	Owner         apitype.UUID                   `json:"owner"`
	RequireOptIn  []apitype.CallType             `json:"requireOptIn,omitempty"`
	YearsAfterEnd int                            `json:"yearsAfterEnd,omitzero"`
	Country       string                         `json:"country,omitzero"`
	Holidays      []string                       `json:"holidays,omitempty"`
	CallingHours  map[string]apitype.HoursOfDays `json:"callingHours,omitempty"`
}

// RulesText returns what the queue keeps of the settings of an organization. "" is nothing: every donor may be
// called at any hour.
func RulesText(owner apitype.UUID, s apitype.OrganizationSettings) (string, error) {
	rules := storedRules{Owner: owner, RequireOptIn: s.RequireOptIn, YearsAfterEnd: s.YearsAfterEnd}
	if s.Country != "" {
		rules.Country, rules.Holidays, rules.CallingHours = s.Country, s.Holidays, s.CallingHours
	}
	if len(rules.RequireOptIn) == 0 && rules.YearsAfterEnd == 0 && rules.Country == "" {
		return "", nil
	}
	text, err := json.Marshal(rules, json.Deterministic(true))
	return string(text), err
}

// FloorRules are the limits of all organizations that have some. Nil limits no call.
type FloorRules struct {
	of map[apitype.UUID]organizationRules
}

type organizationRules struct {
	requireOptIn []apitype.CallType
	years        int         // Zero allows any number of years after the last pledge.
	plan         *hours.Plan // Nil allows any hour.
}

// knownRules are the rules that were read last, with their text.
type knownRules struct {
	text  string
	rules *FloorRules
}

// rulesCache keeps the rules that were read last: they seldom change, and every take reads them.
type rulesCache struct{ last atomic.Pointer[knownRules] }

// ParseRules reads the rules as a store has them.
type ParseRules func(text string) (*FloorRules, error)

// FloorRules reads the rules as a store has them: a JSON array.
func (s *Service) FloorRules(text string) (*FloorRules, error) {
	if known := s.floorRules.last.Load(); known != nil && known.text == text {
		return known.rules, nil
	}
	var all []storedRules
	if err := decode("rules of the queue", []byte(text), &all); err != nil {
		return nil, err
	}
	var rules *FloorRules
	if len(all) > 0 {
		rules = &FloorRules{of: make(map[apitype.UUID]organizationRules, len(all))}
	}
	for _, one := range all {
		timetable := apitype.OrganizationSettings{
			Country:      one.Country,
			Holidays:     one.Holidays,
			CallingHours: one.CallingHours,
		}
		rules.of[one.Owner] = organizationRules{
			requireOptIn: one.RequireOptIn,
			years:        one.YearsAfterEnd,
			plan:         hours.NewPlan(timetable),
		}
	}
	s.floorRules.last.Store(&knownRules{text, rules})
	return rules, nil
}

// ReadFloorRules reads the rules that hold.
func (s *Service) ReadFloorRules(r Reader) (*FloorRules, error) {
	text, err := r.QueueRules()
	if err != nil {
		return nil, err
	}
	return s.FloorRules(text)
}

// Limit reports whether an organization of a scope limits which donors are called.
func (r *FloorRules) Limit(scope Scope) bool {
	if r == nil {
		return false
	}
	for owner := range r.of {
		if scope.Contains(owner) {
			return true
		}
	}
	return false
}

// Permits reports whether persons of a kind may be called at all: an opt-in may be needed.
func (r *FloorRules) Permits(k QueueKind) bool {
	if r == nil || k.OptedIn {
		return true
	}
	return !slices.Contains(r.of[k.Owner].requireOptIn, k.Type)
}

// IsOpen reports whether persons of a kind may be called at a time. A callback is given whatever the hour.
func (r *FloorRules) IsOpen(k QueueKind, at apitype.Time) bool {
	if r == nil {
		return true
	}
	plan := r.of[k.Owner].plan
	return plan == nil || plan.IsOpen(k.Country, at.Time)
}

// Opens returns when persons of a kind may be called next. Nil is not within a year.
func (r *FloorRules) Opens(k QueueKind, at apitype.Time) *apitype.Time {
	plan := r.of[k.Owner].plan
	opens, ok := plan.Opens(k.Country, at.Time)
	if !ok {
		return nil
	}
	return new(apitype.NewTime(opens))
}

// Lapsed has the time before which a last pledge ended too long ago, by organization.
type Lapsed struct {
	Before apitype.Time
	Owners []apitype.UUID
}

// Lapsed returns before which time the last pledge of a person must not have ended, for the organizations of a scope
// that limit it.
func (r *FloorRules) Lapsed(scope Scope, now apitype.Time) []Lapsed {
	if r == nil {
		return nil
	}
	byYears := map[int][]apitype.UUID{}
	for owner, rules := range r.of {
		if rules.years > 0 && scope.Contains(owner) {
			byYears[rules.years] = append(byYears[rules.years], owner)
		}
	}
	var all []Lapsed
	for years, owners := range byYears {
		slices.SortFunc(owners, apitype.UUID.Compare)
		all = append(all, Lapsed{Before: yearsBefore(now, years), Owners: owners})
	}
	slices.SortFunc(all, func(a, b Lapsed) int { return a.Before.Compare(b.Before.Time) })
	return all
}

// limitsYears reports whether an organization limits calls by the end of the last pledge.
func (r *FloorRules) limitsYears(owner apitype.UUID) bool { return r != nil && r.of[owner].years > 0 }

func yearsBefore(now apitype.Time, years int) apitype.Time {
	return apitype.NewTime(now.AddDate(-years, 0, 0))
}

// mayBeCalled reports whether a call may be given as its row is.
func (r *FloorRules) mayBeCalled(q QueueRow, now apitype.Time) bool {
	if r == nil {
		return true
	}
	years := r.of[q.Owner].years
	isLapsed := years > 0 && q.EndedAt != nil && q.EndedAt.Before(yearsBefore(now, years).Time)
	isCallback := q.DueAt != nil
	return !isLapsed && r.Permits(q.Kind()) && (isCallback || r.IsOpen(q.Kind(), now))
}

// asPerson sets what a call that waits keeps of its person, and reports whether that changed.
func (q *QueueRow) asPerson(p apitype.Person) bool {
	before, wasOut := q.Kind(), q.OptedOut
	q.Language, q.OptedOut = languageOf(p), optedOut(p)
	q.OptedIn = p.OptInPhone != nil && *p.OptInPhone
	q.Country = hours.CountryOf(p)
	return q.Kind() != before || q.OptedOut != wasOut
}

// pledgesChanged carries over to the queue when the last pledge of a person for an organization ended.
func pledgesChanged(tx Tx, person, owner apitype.UUID, now apitype.Time) error {
	ended, isKept, err := tx.PledgesEnded(person, owner)
	if err != nil || isKept {
		return err
	}
	return RefreshEligibility(tx, person, now, func(row *QueueRow) bool {
		changed := row.Owner == owner && !equalTimes(row.EndedAt, ended)
		if changed {
			row.EndedAt = ended
		}
		return changed
	})
}

// pledgesChangedFor does the same after a change of a pledge. A call that is created at the same time, and is kept from
// the queue by the end of an earlier pledge, holds the person, too.
func pledgesChangedFor(tx Tx, pledge PledgeRow, now apitype.Time) error {
	if err := tx.HoldEnded(pledge.Person, pledge.Owner); err != nil {
		return err
	}
	return pledgesChanged(tx, pledge.Person, pledge.Owner, now)
}

func equalTimes(a, b *apitype.Time) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}
