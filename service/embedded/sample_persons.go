package embedded

import (
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

const day = 24 * time.Hour

func (s *sampler) person(owner sampleOrganization) service.LoadedPerson {
	home := dutch()
	if owner.reference.UUID == s.owners[1].reference.UUID != s.maybe(10) {
		home = german()
	}
	created := s.shift(s.today.Add(-time.Duration(s.rand.IntN(400)) * day))
	p := service.LoadedPerson{
		OwningOrganizationUUID:     owner.reference.UUID,
		RecruitingOrganizationUUID: owner.reference.UUID,
	}
	p.UUID = s.uuid()
	p.PersonUUID = p.UUID
	p.CreatedAt = apitype.NewTime(s.past(created))
	p.Language = &home.Language
	s.identity(&p, home)
	s.contact(&p, home)
	if s.maybe(90) {
		p.IBAN = new(s.iban(home))
		p.Mandate = &service.LoadedMandate{ID: new("M-" + s.digits(8)), CreatedAt: p.CreatedAt}
	}
	if s.maybe(80) {
		p.QualityResult = apitype.Embed(s.qualityResult(&p))
	}
	s.send(service.LoadPerson, p)
	return p
}

func (s *sampler) identity(p *service.LoadedPerson, home *country) {
	gender, names := apitype.Gender("female"), home.Women
	if s.maybe(48) {
		gender, names = "male", home.Men
	}
	first := pick(s, names)
	p.FirstName = &first
	p.LastName = new(pick(s, home.LastNames))
	p.Initials = new(string([]rune(first)[:1]) + ".")
	if s.maybe(18) {
		p.LastNamePrefix = new(pick(s, home.Prefixes))
	}
	if s.maybe(6) {
		p.AcademicTitle = new(weighted(s, []weight[string]{{"Dr.", 6}, {"Prof. Dr.", 1}, {"Ir.", 3}}))
	}
	if s.maybe(4) {
		gender = weighted(s, []weight[apitype.Gender]{{"other", 1}, {"unknown", 2}})
	}
	p.Gender = &gender
	if s.maybe(92) {
		p.DateOfBirth = new(apitype.DateOf(s.today.Add(-time.Duration(18*365+s.rand.IntN(68*365)) * day)))
	}
	p.SocialSecurityNumber = apitype.EmbedPointer[string](nil)
	if s.maybe(12) {
		p.SocialSecurityNumber = apitype.Embed(s.digits(9))
	}
}

func (s *sampler) contact(p *service.LoadedPerson, home *country) {
	if s.maybe(85) {
		p.MobilePhoneNumber = new(home.Mobile + s.digits(home.MobileDigits))
	}
	if p.MobilePhoneNumber == nil || s.maybe(35) {
		p.PhoneNumber = new(home.Landing + s.digits(home.LandingDigits))
	}
	if s.maybe(78) {
		mailbox := asciiName(*p.FirstName) + "." + asciiName(*p.LastName)
		p.Email = new(mailbox + s.digits(3) + "@" + pick(s, []string{"example.org", "example.com", "example.net"}))
	}
	p.OptInEmail = new(p.Email != nil && s.maybe(70))
	p.OptInPhone = new(s.maybe(93))
	p.OptInMail = new(s.maybe(60))
	if s.maybe(80) {
		p.OptInSMS = new(s.maybe(40))
	}
	place := pick(s, home.Cities)
	address := apitype.Address{
		Street:      pick(s, home.Streets),
		HouseNumber: strconv.Itoa(1 + s.rand.IntN(180)),
		ZipCode:     place.Zip + s.digits(2),
		City:        place.Name,
		Country:     home.Code,
	}
	if home == dutch() {
		address.ZipCode += " " + string(rune('A'+s.rand.IntN(26))) + string(rune('A'+s.rand.IntN(26)))
	}
	if s.maybe(15) {
		address.HouseNumberExtension = new(string(rune('a' + s.rand.IntN(4))))
	}
	p.Address = apitype.Embed(address)
}

// asciiName returns a name as a mailbox has it.
func asciiName(name string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss").Replace(strings.ToLower(name))
}

// iban returns a valid IBAN of a bank that does not exist.
func (s *sampler) iban(home *country) string {
	account := home.Bank + s.digits(home.AccountDigits)
	remainder := 0
	for _, c := range account + home.Code + "00" {
		if c >= 'A' {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		} else {
			remainder = (remainder*10 + int(c-'0')) % 97
		}
	}
	return home.Code + strconv.Itoa(198 - remainder)[1:] + account
}

// qualityResult makes how the person's data passed the checks.
func (s *sampler) qualityResult(p *service.LoadedPerson) apitype.QualityResult {
	result := apitype.QualityResult{CreatedAt: p.CreatedAt}
	score, maximum := 0, 0
	for _, gate := range words().Gates {
		points, explanation := gate.Maximum, gate.Passed
		failed := s.maybe(9)
		if gate.Identifier == "age" {
			failed = p.DateOfBirth != nil && p.DateOfBirth.Midnight().AddDate(25, 0, 0).After(s.today)
		}
		if failed {
			points, explanation = s.rand.IntN(gate.Maximum/2), gate.Failed
		}
		score, maximum = score+points, maximum+gate.Maximum
		result.GateResults = append(result.GateResults, apitype.GateResult{
			Identifier:  gate.Identifier,
			Category:    gate.Category,
			Score:       apitype.NumberFromInt(points),
			MaxScore:    apitype.NumberFromInt(gate.Maximum),
			Percentage:  apitype.NumberFromInt(points * 100 / gate.Maximum),
			Explanation: explanation,
			Metadata:    apitype.Object(`{"version":3}`),
		})
	}
	result.Score, result.MaxScore = apitype.NumberFromInt(score), apitype.NumberFromInt(maximum)
	result.Percentage = apitype.NumberFromInt(score * 100 / maximum)
	return result
}
