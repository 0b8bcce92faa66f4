package embedded

import (
	"embed"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// SampleOptions choose the amount of sample data. The same options make the same records, with times relative to the
// day of Now.
type SampleOptions struct {
	Persons int       // 2,000 when zero.
	Seed    uint64    // Chooses among all possible data sets.
	Now     time.Time // Today, cut to midnight UTC.
}

// DefaultSamplePersons is the number of persons of the demo.
const DefaultSamplePersons = 2000

// Sample passes believable records to emit, each after the records that it refers to: two organizations with users and
// focus areas, and then, for each person, the person, the pledges, their transactions and the calls. No record belongs
// to a real person: mail domains are reserved for examples, and the banks of the accounts do not exist. It keeps
// nothing in memory, and returns the first error of emit.
func Sample(o SampleOptions, emit func(service.LoadRecord) error) error {
	if o.Persons == 0 {
		o.Persons = DefaultSamplePersons
	}
	s := &sampler{
		rand:  rand.New(rand.NewPCG(o.Seed, 0x66756e6465736b)),
		today: o.Now.UTC().Truncate(24 * time.Hour),
		now:   o.Now.UTC(),
		emit:  emit,
	}
	s.organizations()
	for range o.Persons {
		if s.err != nil {
			break
		}
		s.household()
	}
	return s.err
}

// sampler makes records one after the other. After an error it makes no more.
type sampler struct {
	rand  *rand.Rand
	today time.Time
	now   time.Time
	emit  func(service.LoadRecord) error
	err   error

	owners     []sampleOrganization
	recruiters []apitype.UUID
	agents     []apitype.UUID
}

// sampleOrganization is an organization with what its pledges refer to.
type sampleOrganization struct {
	reference  apitype.OrganizationReference
	focusAreas []apitype.UUID
}

// household makes a person with everything that hangs on them.
func (s *sampler) household() {
	owner := pick(s, s.owners)
	person := s.person(owner)
	for range 1 + s.chance(15) {
		pledge := s.pledge(person, owner)
		s.transactions(person, pledge)
		s.calls(person, pledge)
	}
}

func (s *sampler) organizations() {
	settings := sampleSettings()
	for _, o := range words().Organizations {
		organization := sampleOrganization{reference: apitype.OrganizationReference{
			UUID: s.uuid(), Name: o.Name, Abbreviation: o.Abbreviation,
		}}
		s.send(service.LoadOrganization, service.LoadedOrganization{
			OrganizationReference: organization.reference,
			MaxCallAttempts:       &o.Attempts,
			CoolingOff:            &o.CoolingOff,
			Settings:              &settings,
		})
		for _, name := range o.FocusAreas {
			area := service.LoadedFocusArea{
				FocusArea:        apitype.FocusArea{UUID: s.uuid(), Name: name},
				OrganizationUUID: organization.reference.UUID,
			}
			organization.focusAreas = append(organization.focusAreas, area.UUID)
			s.send(service.LoadFocusArea, area)
		}
		s.owners = append(s.owners, organization)
	}
	for i := range 20 {
		language := dutch()
		if i%2 == 1 {
			language = german()
		}
		user := service.LoadedUser{UUID: s.uuid(), Name: pick(s, s.names(language)) + " " + pick(s, language.LastNames)}
		if i < 20-sampleAgents {
			user.Identifier = "R-" + s.digits(4)
			s.recruiters = append(s.recruiters, user.UUID)
		} else {
			user.Identifier = agentPrefix + s.digits(4)
			s.agents = append(s.agents, user.UUID)
		}
		s.send(service.LoadUser, user)
	}
}

// names returns the first names of women or of men.
func (s *sampler) names(in *country) []string {
	if s.maybe(50) {
		return in.Women
	}
	return in.Men
}

func (s *sampler) send(kind service.LoadKind, data any) {
	if s.err == nil {
		s.err = s.emit(service.LoadRecord{Kind: kind, Data: data})
	}
}

// uuid returns a version 4 UUID from the seed.
func (s *sampler) uuid() apitype.UUID {
	var id apitype.UUID
	for i := range id {
		id[i] = byte(s.rand.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// digits returns a text of n digits. The first is not zero.
func (s *sampler) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + s.rand.IntN(10))
	}
	text[0] = byte('1' + s.rand.IntN(9))
	return string(text)
}

// chance returns 1 with a probability in percent, or else 0.
func (s *sampler) chance(percent int) int {
	if s.rand.IntN(100) < percent {
		return 1
	}
	return 0
}

// maybe reports true in percent cases of a hundred.
func (s *sampler) maybe(percent int) bool { return s.chance(percent) == 1 }

// between returns a duration from low to high, in whole seconds.
func (s *sampler) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rand.Int64N(int64((high-low)/time.Second)+1))*time.Second
}

// shift returns the start of a working shift on the day of t, at any minute between nine and nine.
func (s *sampler) shift(t time.Time) time.Time {
	return t.Truncate(24 * time.Hour).Add(s.between(9*time.Hour, 21*time.Hour))
}

// past returns t, or a time a little before now if t is in the future.
func (s *sampler) past(t time.Time) time.Time {
	if latest := s.now.Add(-time.Minute); t.After(latest) {
		return latest.Truncate(time.Second)
	}
	return t
}

func pick[T any](s *sampler, values []T) T { return values[s.rand.IntN(len(values))] }

// weighted returns a value. Its probability is its weight among all weights.
func weighted[T comparable](s *sampler, weights []weight[T]) T {
	total := 0
	for _, w := range weights {
		total += w.Weight
	}
	n := s.rand.IntN(total)
	for _, w := range weights {
		if n -= w.Weight; n < 0 {
			return w.Value
		}
	}
	return weights[0].Value
}

type weight[T any] struct {
	Value  T
	Weight int
}

// states has the probability of each status, for records that are younger than a number of days. Zero days has all
// others.
type states[T any] struct {
	Days    int
	Chances []weight[T]
}

// stateOf returns a status for a record of an age.
func stateOf[T comparable](s *sampler, all []states[T], age time.Duration) T {
	for len(all) > 1 && age >= time.Duration(all[0].Days)*day {
		all = all[1:]
	}
	return weighted(s, all[0].Chances)
}

// households has the words of the sample data: names of organizations, donors and agents, and the texts of their
// calls.
type households struct {
	Organizations []struct {
		Name, Abbreviation, CoolingOff string
		Attempts                       int
		FocusAreas                     []string
	}
	Results  map[apitype.CallType][]apitype.ResultChoice
	Outcomes map[apitype.CallType][]struct{ Code, Notes string } // As likely as they are often there.
	Gates    []struct {                                          // The checks of a quality result.
		Identifier, Category, Passed, Failed string
		Maximum                              int
	}
	CallNotes, Locations, Campaigns []string
	PledgeStates                    []states[apitype.PledgeStatus]
	CallStates                      []states[apitype.CallStatus]
	Countries                       [2]country // The Netherlands and Germany.
}

// country has the places of donors, and the beginnings of their numbers.
type country struct {
	Code, Language  string
	Women, Men      []string
	LastNames       []string
	Prefixes        []string // Of the last name; most have none.
	Streets         []string
	Cities          []struct{ Name, Zip string } // Zip is the beginning of their postal codes.
	Bank            string                       // Of no bank that exists.
	AccountDigits   int
	Mobile, Landing string // Number prefixes in international format.
	MobileDigits    int
	LandingDigits   int
}

//go:embed households.json scripts/*.md
var files embed.FS

// words returns the content of households.json.
var words = sync.OnceValue(func() *households {
	text, _ := files.ReadFile("households.json")
	all := new(households)
	if err := json.Unmarshal(text, all); err != nil {
		panic(err) // It is embedded.
	}
	return all
})

func dutch() *country  { return &words().Countries[0] }
func german() *country { return &words().Countries[1] }

// sampleSettings returns what agents of the sample data work by. The scripts are in Dutch, in German, and in
// English for everybody else.
func sampleSettings() apitype.OrganizationSettings {
	daily := apitype.HoursOfDays{Weekday: "09:00-21:00", Saturday: "10:00-18:00", Sunday: "10:00-18:00"}
	settings := apitype.OrganizationSettings{
		Results:      words().Results,
		Scripts:      map[string]string{},
		CallingHours: map[string]apitype.HoursOfDays{"NL": daily, "DE": daily}, // A demo has calls on Sundays, too.
	}
	scripts, _ := files.ReadDir("scripts")
	for _, script := range scripts {
		text, _ := files.ReadFile("scripts/" + script.Name())
		settings.Scripts[strings.TrimSuffix(script.Name(), ".md")] = string(text)
	}
	return settings
}
