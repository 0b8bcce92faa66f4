package entry

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC) // A Friday.

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// donor returns the empty form for a call to a person with a pledge.
func donor() Form {
	address := apitype.Address{Street: "Weg", HouseNumber: "1", ZipCode: "1000 AA", City: "Stad", Country: "NL"}
	person := apitype.Person{
		UUID:              callID(101),
		LastName:          new("Bos"),
		Email:             new("b@example.org"),
		OptInPhone:        new(true),
		MobilePhoneNumber: new("+31612345678"),
		Address:           apitype.Embed(address),
	}
	pledge := apitype.Pledge{
		UUID:             callID(201),
		DonationAmount:   apitype.Cents(1250),
		DonationInterval: "monthly",
		StartsAt:         apitype.NewTime(morning.AddDate(0, 0, -10)),
		EndsAt:           new(apitype.NewTime(time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC))),
	}
	results := []apitype.ResultChoice{
		{Code: "glad"},
		{Code: "corrected", Effect: new(apitype.EffectCorrected)},
		{Code: "never", Effect: new(apitype.EffectOptOut), AsksNotes: true},
		{Code: "died", Effect: new(apitype.EffectNoContact)},
	}
	return Form{
		Entered: new(Entered),
		Now:     func() time.Time { return morning },
		Call: &apitype.Call{
			UUID:       callID(1),
			PersonUUID: callID(101),
			Status:     apitype.CallRequested,
			Type:       apitype.CallHappy,
			Person:     apitype.Embed(person),
			PledgeCase: apitype.Embed(pledge),
		},
		Choices: func() []apitype.ResultChoice { return results },
		Effect:  func(apitype.ResultChoice) apitype.ResultEffect { return "" },
		Save:    func() {},
	}
}

// fix returns a detail by its label.
func fix(t *testing.T, form Form, label string) Fix {
	t.Helper()
	all := form.Fixes()
	i := slices.IndexFunc(all, func(f Fix) bool { return f.Label == label })
	if i < 0 {
		t.Fatalf("there is no detail %s", label)
	}
	return all[i]
}

const notAStreet = "is more than a street, and no address in NL: type the street alone"

// Each detail that an agent may correct has a key of its own, which is in the order of the details.
func TestKeysOfDetails(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, f := range slices.Concat(fixesOf[apitype.Person](apitype.PersonFields(), nil),
		fixesOf[apitype.Pledge](apitype.PledgeFields(), nil)) {
		keys = append(keys, f.Press)
	}
	slices.Sort(keys)
	want := strings.Split(fixOrder, "")
	slices.Sort(want)
	servicetest.Same(t, "the keys of fixOrder, and those of the fields of apitype", want, keys)
}

// Each detail is corrected as it is typed, and refused with a sentence.
func TestCorrections(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ label, typed, is, wrong, sent string }{
		{"mobile", " 06 12345679 ", "+31612345679", "", `person {"mobilePhoneNumber":"+31612345679"}`},
		{"mobile", "", "", "", `person {"mobilePhoneNumber":null}`},
		{"mobile", "+31612345678", "+31612345678", "", ""},
		{"mobile", "12", "+31612345678", "must be in international format, such as +31612345678", ""},
		{"may be phoned", "no", "no", "", `person {"optIns":{"phone":false}}`},
		{"sms wanted", "yes", "yes", "", `person {"optIns":{"sms":true}}`},
		{"amount", "15,5", "15.50", "", `pledge {"donationAmount":15.5}`},
		{"amount", "", "12.50", "cannot be cleared", ""},
		{"amount", "much", "12.50", "is not an amount in euros: write 12.50", ""},
		{"amount", "0", "12.50", "is required and must be greater than 0", ""},
		{"interval", "yearly", "yearly", "", `pledge {"donationInterval":"yearly"}`},
		{"interval", "", "monthly", "cannot be cleared", ""},
		{"ends", "3.1.2027", "2027-01-03", "", `pledge {"endsAt":"2027-01-03T00:00:00.000Z"}`},
		{"ends", "", "", "", `pledge {"endsAt":null}`},
		{"ends", "1/1/2020", "2027-01-02", "must not be before startsAt", ""},
		{"born", "2-12-1967", "1967-12-02", "", `person {"dateOfBirth":"1967-12-02"}`},
		{"born", "1967-12-02", "1967-12-02", "", `person {"dateOfBirth":"1967-12-02"}`},
		{"born", "once", "", "is not a day: write 2-12-1967 or 1967-12-02", ""},
		{"born", "2-12-2067", "", "must be a day from 1900-01-01 to today", ""},
		{"last name", "Vos", "Vos", "", `person {"name":{"lastName":"Vos"}}`},
		{"country", "XX", "NL", "must be an ISO 3166-1 country code of two letters, such as NL", ""},
		{"city", "", "Stad", "cannot be cleared alone; clear the address", ""},
		{"postcode", "3gisela@example.org", "1000 AA", "is an e-mail address", ""},
		{"postcode", "Stad", "1000 AA", "is not a postcode", ""},
		{"postcode", "1000 AA, Stad", "1000 AA", "is not a postcode", ""},
		{"postcode", "1000 AB", "1000 AB", "", `person {"address":{"zipCode":"1000 AB"}}`},
		{"street", "she moved to number 12 last week", "Weg", notAStreet, ""},
		{"street", "lives at 12 now", "Weg", notAStreet, ""},
		{"street", "anna@example.org", "Weg", notAStreet, ""},
		{
			label: "street",
			typed: "Straße des 17. Juni",
			is:    "Straße des 17. Juni",
			sent:  `person {"address":{"street":"Straße des 17. Juni"}}`,
		},
		{
			"street", "Carrer de la Mare de Déu de la Salut", "Carrer de la Mare de Déu de la Salut", "",
			`person {"address":{"street":"Carrer de la Mare de Déu de la Salut"}}`,
		},
		{"city", "anna@example.org", "Stad", "is an e-mail address", ""},
	} {
		form := donor()
		if wrong := form.Correct(fix(t, form, test.label), test.typed); wrong != test.wrong {
			t.Errorf("%s %q: got %q, want %q", test.label, test.typed, wrong, test.wrong)
		}
		if got := fix(t, form, test.label); got.Is != test.is || got.IsChanged() != (test.sent != "") {
			t.Errorf("%s %q: got it %q, changed %t, want %q", test.label, test.typed, got.Is, got.IsChanged(), test.is)
		}
		var sent []string
		updates, err := form.Updates()
		if err != nil {
			t.Errorf("%s %q: got %v", test.label, test.typed, err)
		}
		for _, c := range updates {
			sent = append(sent, c.Operation().Noun()+" "+string(c.Body))
		}
		if got := strings.Join(sent, "; "); got != test.sent {
			t.Errorf("%s %q: got %s sent, want %s", test.label, test.typed, got, test.sent)
		}
	}
	form := Form{Entered: new(Entered)}
	if form.Corrected() != nil || form.Results() != nil || form.ResultWords() != "" {
		t.Error("got corrections without a call")
	}
	form = donor()
	form.Call.Person = apitype.Embedded[apitype.Person]{}
	if form.Fixes() != nil {
		t.Error("got details of nobody")
	}
	form = donor()
	external := form.Call.PledgeCase.Value()
	external.ExternalSource = apitype.Embed(apitype.ExternalSource{Name: "crm"})
	form.Call.PledgeCase = apitype.Embed(external)
	for _, f := range form.Fixes() {
		why := "pledge of an external source: its owner changes it"
		if f.IsOfPledge() != (f.Why == why) || f.Why != "" && form.Correct(f, "1") != "cannot be corrected: "+why {
			t.Errorf("%s: got %q, want a pledge that another system manages left alone", f.Label, f.Why)
		}
	}
}

// Corrections choose their result, and a result that ends all calls corrects the opt-in. Undoing one undoes the other.
func TestResultsOfCorrections(t *testing.T) {
	t.Parallel()
	form := donor()
	correct := func(label, text string) {
		t.Helper()
		if wrong := form.Correct(fix(t, form, label), text); wrong != "" {
			t.Fatalf("%s: %s", label, wrong)
		}
	}
	want := func(step, code string, optOut bool) {
		t.Helper()
		if is := form.Corrections[OptOutKey] == "no"; form.ResultCode != code || is != optOut {
			t.Errorf("%s: got %q, opted out %t, want %q, %t", step, form.ResultCode, is, code, optOut)
		}
	}
	correct("e-mail", "c@example.org")
	want("a correction", "corrected", false)
	correct("may be phoned", "no")
	want("an opt-out", "never", true)
	correct("may be phoned", "yes")
	want("undone", "corrected", false)
	correct("e-mail", "b@example.org")
	want("all taken back", "", false)
	form.SetResult("never")
	want("the result of an opt-out", "never", true)
	correct("e-mail", "c@example.org")
	want("a correction after it", "never", true)
	if why := form.WhyNotComplete(); why != "write notes first: never (opt-out) asks for them" {
		t.Errorf("got %q, want that notes are missing", why)
	}
	form.SetNotes(" x ")
	if why := form.WhyNotComplete(); why != "" {
		t.Errorf("got %q, want it complete", why)
	}
	form.SetResult("glad")
	want("another result", "glad", false)
	correct("may be phoned", "no")
	want("an opt-out by hand", "glad", true)
	form.SetResult("never")
	form.SetResult("glad")
	want("an opt-out by hand is kept", "glad", true)
	form.SetResult("")
	if why := form.WhyNotComplete(); why != "choose the result first" {
		t.Errorf("got %q, want that the result is missing", why)
	}
	form = donor()
	correct("post wanted", "no")
	form.SetResult("died")
	ended := map[string]string{OptOutKey: "no", "optIns/email": "no", "optIns/mail": "no", "optIns/sms": "no"}
	servicetest.Same(t, "what a death corrects", ended, form.Corrections)
	form.SetResult("never")
	servicetest.Same(t, "what is left with an opt-out", map[string]string{OptOutKey: "no", "optIns/mail": "no"},
		form.Corrections)
	form = donor()
	form.Call.Person.Pointer().OptInPhone = new(false)
	form.SetResult("never")
	want("who is opted out already", "never", false)
	form.Call.Status = apitype.CallExpired
	if got := form.Ended(); got != "the call is expired already" {
		t.Errorf("got %q, want that it has ended", got)
	}
	form.Call.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{})
	if got := form.Ended(); got != "" {
		t.Errorf("got %q of a call of another system, want nothing", got)
	}
	for code, want := range map[string]string{"": "must be 1 to 100 printable characters", "glad": ""} {
		if got := CheckCode(code); got != want {
			t.Errorf("%q: got %q, want %q", code, got, want)
		}
	}
}

// What was changed elsewhere is named in the agent's language, consents with their new value.
func TestChangedDetails(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"":   "mobile, may not be phoned any more, e-mail wanted",
		"de": "mobil, darf nicht mehr angerufen werden, will E-Mail",
	} {
		form := donor()
		form.Texts.Language = language
		now := *form.Call
		person := *form.Call.Person.Pointer()
		person.OptInPhone, person.OptInEmail = new(false), new(true)
		person.MobilePhoneNumber = new("+31687654321")
		now.Person = apitype.Embed(person)
		servicetest.Same(t, language, want, strings.Join(form.ChangedDetails(*form.Call, now), ", "))
	}
}

// Each of two terminals has read the same draft. A correction that only one of them has changed is that one's; of a
// correction that both have changed, the one that is merged wins.
func TestJoinCorrections(t *testing.T) {
	t.Parallel()
	const key = "name/lastName"
	of := func(values ...string) (d outbox.Draft) {
		for _, is := range values {
			d.Corrections = map[string]string{key: is}
		}
		return d
	}
	for _, test := range []struct{ base, mine, theirs, want outbox.Draft }{
		{base: of("Bos"), mine: of("Bos"), theirs: of("Smit"), want: of("Smit")},
		{base: of("Bos"), mine: of("Smit"), theirs: of("Bos"), want: of("Smit")},
		{base: of("Bos"), mine: of("Smit"), theirs: of("Vos"), want: of("Smit")},
		{base: of("Bos"), mine: of(), theirs: of("Bos"), want: of()},
		{base: of("Bos"), mine: of(), theirs: of("Smit"), want: of("Smit")},
		{base: of("Bos"), mine: of("Bos"), theirs: of(), want: of("Bos")},
		{base: of(), mine: of(), theirs: of(""), want: of("")},
		{base: of(), mine: of(""), theirs: of("Smit"), want: of("")},
	} {
		if got := Join(test.base, test.mine, test.theirs); !maps.Equal(got.Corrections, test.want.Corrections) {
			t.Errorf("%v, then %v and %v: got %v, want %v",
				test.base.Corrections, test.mine.Corrections, test.theirs.Corrections, got.Corrections, test.want.Corrections)
		}
	}
}

// A line ends with the value that is entered for its detail, in whatever face, or with the recorded value. Others stay,
// and so does the line of a value that is refused.
func TestUnfinishedLineEnds(t *testing.T) {
	t.Parallel()
	e := donor()
	email := e.Fixes()[slices.IndexFunc(e.Fixes(), func(f Fix) bool { return f.Key == "email" })]
	for what, end := range map[string]func(){
		"corrected":   func() { e.Correct(email, "b@example.com") },
		"uncorrected": func() { e.Uncorrect(email) },
	} {
		e.KeepLine(CallbackLine, "tomor")
		e.KeepLine(email.Key, "b@")
		if wrong := e.Correct(email, "b@"); wrong == "" || len(e.Unfinished) != 2 {
			t.Errorf("refused: got %q and %v, want both lines", wrong, e.Unfinished)
		}
		end()
		servicetest.Same(t, what, map[string]string{CallbackLine: "tomor"}, e.Unfinished)
	}
}
