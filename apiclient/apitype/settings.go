package apitype

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ExtensionEffects announces that completing a call carries out the effect of its result on the person.
const ExtensionEffects = "effects"

// EffectsHeader is on the answer to a completion whose result has an effect on the person. Its value is the stored
// effect.
const EffectsHeader = "Fundesk-Effects"

// ExtensionSettings announces the settings of the floor: the results, scripts and hours that agents work by,
// and the names of users.
const ExtensionSettings = "settings"

// ExtensionRules announces that the queue applies RequireOptIn, YearsAfterEnd, Country and Holidays of the settings,
// and has Closed and OpensAt in its state.
const ExtensionRules = "rules"

// Settings has the settings for agents of the organizations in the account's scope, and the names of users.
// GET /fundesk/v1/settings
type Settings struct {
	Organizations []OrganizationSettings `json:"organizations"`
	Users         []UserName             `json:"users"`
}

// UserName is a user with the name that colleagues know.
type UserName struct {
	UUID UUID   `json:"uuid"`
	Name string `json:"name"`
}

// OrganizationSettings has the settings of one organization.
// PUT /fundesk/v1/settings/{organizationUuid}
type OrganizationSettings struct {
	// In a PUT: the uuid of the path, or left out.
	UUID UUID `json:"uuid,omitzero" toml:"organization"`
	// Nil means no maximum.
	MaxCallAttempts *int `json:"maxCallAttempts" toml:"max_attempts"`
	// In the order of their digits; AllTypes for every type.
	Results map[CallType][]ResultChoice `json:"results" toml:"results,omitempty"`
	// By type and language, such as verification.nl, or by type.
	Scripts map[string]string `json:"scripts" toml:"scripts,omitempty"`
	// By country. A missing country has the default.
	CallingHours map[string]HoursOfDays `json:"callingHours" toml:"calling_hours,omitempty"`
	// RequiredChecks are by type of call. A call that is completed without them is marked, and never refused.
	RequiredChecks map[CallType][]string `json:"requiredChecks,omitzero" toml:"required_checks,omitempty"`

	// NotReached are the rests of a donor after an attempt, by its reason: a text such as "30m" or "48h". Without one
	// the donor rests 4 hours. Only services that announce ExtensionAttempts read it.
	NotReached map[NotReached]string `json:"notReached,omitempty" toml:"not_reached,omitempty"`

	// The rest is left out if it is empty, because only services that announce ExtensionRules read it.

	// RequireOptIn has the types of calls that need an opt-in for phone.
	RequireOptIn []CallType `json:"requireOptIn,omitempty" toml:"require_opt_in,omitempty"`
	// YearsAfterEnd limits the years after the end of the last pledge in which a person may be called. Zero sets no
	// limit.
	YearsAfterEnd int `json:"yearsAfterEnd,omitzero" toml:"years_after_end,omitzero"`
	// Country is the organization's country, two capital letters. If it is empty, calls are offered at any hour.
	Country string `json:"country,omitzero" toml:"country,omitempty"`
	// Holidays changes the public holidays: "-NL" removes the holidays of a country, and "NL:2026-05-05" adds a day.
	Holidays []string `json:"holidays,omitempty" toml:"holidays,omitempty"`
}

// HasRules reports whether the settings have rules that need ExtensionRules.
func (s OrganizationSettings) HasRules() bool {
	return len(s.RequireOptIn) > 0 || s.YearsAfterEnd != 0 || s.Country != "" || len(s.Holidays) > 0
}

// ResultChoice is a result that an agent chooses.
type ResultChoice struct {
	Code      string        `json:"code" toml:"code"`
	Label     string        `json:"label" toml:"label,omitempty"` // In plain words. Empty means the code's words.
	Effect    *ResultEffect `json:"effect" toml:"effect"`         // Nil if there is none.
	AsksNotes bool          `json:"asksNotes" toml:"asks_notes,omitempty"`
}

// AllTypes is the key of the results that hold for every type of call.
const AllTypes CallType = "all"

// ResultsOf returns the results of a type of call in the order of their digits: its own ones, then the ones of
// AllTypes with other codes.
func (s OrganizationSettings) ResultsOf(kind CallType) []ResultChoice {
	all := slices.Clone(s.Results[kind])
	for _, choice := range s.Results[AllTypes] {
		isOwn := slices.ContainsFunc(s.Results[kind], func(own ResultChoice) bool { return own.Code == choice.Code })
		if !isOwn {
			all = append(all, choice)
		}
	}
	return all
}

// Has reports whether a result has an effect.
func (r ResultChoice) Has(effect ResultEffect) bool { return r.Effect != nil && *r.Effect == effect }

// ResultEffect is the effect of a result on the person.
type ResultEffect string

// The effects.
const (
	EffectCorrected ResultEffect = "corrected"  // The result where details were changed.
	EffectOptOut    ResultEffect = "opt-out"    // The donor gets no more phone calls.
	EffectNoContact ResultEffect = "no-contact" // The donor is never contacted again, for example after a death.
)

// ResultEffects returns all effects.
var ResultEffects = []ResultEffect{EffectCorrected, EffectOptOut, EffectNoContact}

// IsOfPerson reports whether an effect changes the person of the call.
func (e ResultEffect) IsOfPerson() bool { return e == EffectOptOut || e == EffectNoContact }

// HoursOfDays are the calling hours in a country, by the kind of day: a span such as 09:00-21:00, "-" for a day
// without calls, or empty for the default.
type HoursOfDays struct {
	Weekday  string `json:"weekday,omitzero" toml:"weekday,omitempty"`
	Saturday string `json:"saturday,omitzero" toml:"saturday,omitempty"`
	Sunday   string `json:"sunday,omitzero" toml:"sunday,omitempty"`
}

// The bounds of settings.
const (
	MaxResults    = 100       // Of one type of call.
	MaxScript     = 256 << 10 // Bytes of one script.
	maxLabel      = 200
	maxScripts    = 200
	maxCountries  = 250
	maxUserName   = 200
	maxAttempts   = 1_000
	maxYears      = 99
	maxHolidays   = 1_000
	scriptExample = "verification.nl"
)

// On returns the span of a day of the week; "" is the default of that day.
func (h HoursOfDays) On(day time.Weekday) string {
	switch day {
	case time.Saturday:
		return h.Saturday
	case time.Sunday:
		return h.Sunday
	default:
		return h.Weekday
	}
}

// Changed returns the names of the members that differ, except the maximum of attempts. A missing member equals an
// empty one.
func (s OrganizationSettings) Changed(o OrganizationSettings) []string {
	var names []string
	if !maps.EqualFunc(s.Results, o.Results, func(a, b []ResultChoice) bool {
		return slices.EqualFunc(a, b, func(a, b ResultChoice) bool {
			return a.Code == b.Code && a.Label == b.Label && a.AsksNotes == b.AsksNotes &&
				equalValues(a.Effect, b.Effect)
		})
	}) {
		names = append(names, "results")
	}
	if !maps.Equal(s.Scripts, o.Scripts) {
		names = append(names, "scripts")
	}
	if !maps.Equal(s.CallingHours, o.CallingHours) {
		names = append(names, "callingHours")
	}
	if !slices.Equal(s.RequireOptIn, o.RequireOptIn) {
		names = append(names, "requireOptIn")
	}
	if s.YearsAfterEnd != o.YearsAfterEnd {
		names = append(names, "yearsAfterEnd")
	}
	if s.Country != o.Country {
		names = append(names, "country")
	}
	if !slices.Equal(s.Holidays, o.Holidays) {
		names = append(names, "holidays")
	}
	if !maps.EqualFunc(s.RequiredChecks, o.RequiredChecks, slices.Equal[[]string]) {
		names = append(names, "requiredChecks")
	}
	if !maps.Equal(s.NotReached, o.NotReached) {
		names = append(names, "notReached")
	}
	return names
}

// Equal reports whether both have the same values.
func (s OrganizationSettings) Equal(o OrganizationSettings) bool {
	return len(s.Changed(o)) == 0 && equalValues(s.MaxCallAttempts, o.MaxCallAttempts)
}

func equalValues[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Validate checks the values.
func (s *OrganizationSettings) Validate() Violations {
	var v Violations
	for _, kind := range slices.Sorted(maps.Keys(s.Results)) {
		at := "/results/" + string(kind)
		if kind != AllTypes && !slices.Contains(CallTypes, kind) {
			v.Add(at, "must be one of verification, happy_call, winback, all")
			continue
		}
		validateResults(&v, at, s.Results[kind])
	}
	if len(s.Scripts) > maxScripts {
		v.Add("/scripts", "must have %d items at most", maxScripts)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Scripts)) {
		kind, language, hasLanguage := strings.Cut(name, ".")
		_, problem := checkLanguage(language)
		switch {
		case !slices.Contains(CallTypes, CallType(kind)) || hasLanguage && problem != "":
			v.Add(
				"/scripts/"+name,
				"is not a name of a script: a type of call, or one with a language such as %s",
				scriptExample,
			)
		case len(s.Scripts[name]) > MaxScript:
			v.Add("/scripts/"+name, "must have at most %d bytes", MaxScript)
		default:
			requireText(&v, "/scripts/"+name, s.Scripts[name], MaxScript)
		}
	}
	if len(s.CallingHours) > maxCountries {
		v.Add("/callingHours", "must have %d items at most", maxCountries)
	}
	for _, country := range slices.Sorted(maps.Keys(s.CallingHours)) {
		at := "/callingHours/" + country
		if problem := CheckCountryCode(country); problem != "" {
			v.Add(at, "%s", problem)
			continue
		}
		for _, day := range []struct{ name, span string }{
			{"weekday", s.CallingHours[country].Weekday},
			{"saturday", s.CallingHours[country].Saturday},
			{"sunday", s.CallingHours[country].Sunday},
		} {
			if _, err := ParseSpan(day.span); day.span != "" && err != nil {
				v.Add(at+"/"+day.name, "%s", err)
			}
		}
	}
	validateRequiredChecks(&v, s.RequiredChecks)
	validateNotReached(&v, s.NotReached)
	if n := s.MaxCallAttempts; n != nil && (*n < 0 || *n > maxAttempts) {
		v.Add("/maxCallAttempts", "must be a whole number from 0 to %d", maxAttempts)
	}
	s.validateRules(&v)
	return v
}

// validateRules checks the rules of the queue.
func (s *OrganizationSettings) validateRules(v *Violations) {
	for i, kind := range s.RequireOptIn {
		at := "/requireOptIn/" + strconv.Itoa(i)
		if !slices.Contains(CallTypes, kind) {
			v.Add(at, "must be one of verification, happy_call, winback")
		} else if slices.Contains(s.RequireOptIn[:i], kind) {
			v.Add(at, "is there twice")
		}
	}
	if s.YearsAfterEnd < 0 || s.YearsAfterEnd > maxYears {
		v.Add("/yearsAfterEnd", "must be a whole number from 1 to %d, or be left out", maxYears)
	}
	if s.Country != "" {
		if problem := CheckCountryCode(s.Country); problem != "" {
			v.Add("/country", "%s", problem)
		}
	}
	if len(s.Holidays) > maxHolidays {
		v.Add("/holidays", "must have %d items at most", maxHolidays)
	}
	const changes = `is not a change of holidays: "-NL" takes those of a country away, "NL:2026-05-05" adds a day`
	for i, line := range s.Holidays {
		if !isHolidayChange(line) {
			v.Add("/holidays/"+strconv.Itoa(i), "%s", changes)
		}
	}
}

func validateNotReached(v *Violations, rests map[NotReached]string) {
	for _, reason := range slices.Sorted(maps.Keys(rests)) {
		at := "/notReached/" + string(reason)
		if !slices.Contains(NotReachedReasons, reason) {
			v.Add(at, "must be one of %s", strings.Join(Texts(NotReachedReasons), ", "))
			continue
		}
		if _, err := ParseRest(rests[reason]); err != nil {
			v.Add(at, "%s", err)
		}
	}
}

func validateRequiredChecks(v *Violations, required map[CallType][]string) {
	for _, kind := range slices.Sorted(maps.Keys(required)) {
		at := "/requiredChecks/" + string(kind)
		if !slices.Contains(CallTypes, kind) {
			v.Add(at, "must be one of %s", strings.Join(Texts(CallTypes), ", "))
			continue
		}
		if len(required[kind]) > MaxChecks {
			v.Add(at, "must have %d items at most", MaxChecks)
			continue
		}
		for i, name := range required[kind] {
			if !isCheckName(name) {
				v.Add(at+"/"+strconv.Itoa(i), "%s", wrongCheckName())
			} else if slices.Contains(required[kind][:i], name) {
				v.Add(at+"/"+strconv.Itoa(i), "is there twice")
			}
		}
	}
}

// CheckCountryCode returns the problem with a country of the settings, or an empty text.
func CheckCountryCode(code string) string {
	stored, problem := checkCountry(code)
	if problem != "" || stored != code {
		return "must be an ISO 3166-1 country code of two capital letters, such as NL"
	}
	return ""
}

// isHolidayChange reports whether a line changes the holidays of a country.
func isHolidayChange(line string) bool {
	if country, isWithout := strings.CutPrefix(line, "-"); isWithout {
		return CheckCountryCode(country) == ""
	}
	country, day, _ := strings.Cut(line, ":")
	_, err := time.Parse(time.DateOnly, day)
	return err == nil && CheckCountryCode(country) == ""
}

func validateResults(v *Violations, at string, results []ResultChoice) {
	if len(results) > MaxResults {
		v.Add(at, "must have %d items at most", MaxResults)
	}
	seen := map[string]bool{}
	for i, r := range results {
		if !isResultCode(r.Code) {
			v.Add(pointerAt(at, i, "code"), "%s", wrongResultCode)
		} else if seen[r.Code] {
			v.Add(pointerAt(at, i, "code"), "is there twice")
		}
		seen[r.Code] = true
		if r.Label != "" {
			requireText(v, pointerAt(at, i, "label"), r.Label, maxLabel)
		}
		optionalEnum(v, pointerAt(at, i, "effect"), r.Effect, ResultEffects)
	}
}

// Span is a part of a day, in minutes after midnight; the zero value is a day without calls.
type Span struct{ From, Until int }

// String returns the span in words.
func (s Span) String() string {
	return fmt.Sprintf("%02d:%02d to %02d:%02d", s.From/60, s.From%60, s.Until/60, s.Until%60)
}

// ParseSpan reads a span such as 09:00-21:00; "-" is a day without calls.
func ParseSpan(text string) (Span, error) {
	if text == "-" {
		return Span{}, nil
	}
	from, until, _ := strings.Cut(text, "-")
	start, isStart := minutesOf(from)
	end, isEnd := minutesOf(until)
	if !isStart || !isEnd || start >= end {
		return Span{}, fmt.Errorf(
			`%q is not a range of hours: write it as "09:00-21:00", or "-" for a day without calls`,
			text,
		)
	}
	return Span{start, end}, nil
}

// minutesOf reads a time of day from 00:00 to 24:00, in minutes.
func minutesOf(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil
}

// CheckUserName returns the problem with the name of a user, or an empty text.
func CheckUserName(name string) string { return checkText(name, maxUserName) }
