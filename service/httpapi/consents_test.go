package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// addConsent adds a consent that was given some hours before the floor opened, and returns the status of the answer.
func (f *floor) addConsent(person apitype.UUID, what string, hours int) int {
	channel, basis, _ := strings.Cut(what, " ")
	at := apitype.NewTime(f.base.Add(-time.Duration(hours) * time.Hour))
	body := fmt.Sprintf(`{"channel":%q,"basis":%q,"source":"web form","wording":"You may call me.","at":%q,"userUuid":%q}`,
		channel, basis, at, f.users[0])
	return f.Do(f.token, "POST", consentsPath(person), body).Status
}

func consentsPath(person apitype.UUID) string {
	return "/fundesk/v1/persons/" + person.String() + "/consents"
}

// consents reads the channels and bases of a person's consents, newest first.
func (f *floor) consents(person apitype.UUID) []string {
	f.t.Helper()
	var all apitype.Consents
	f.get(consentsPath(person)).Decode(&all)
	var found []string
	for _, c := range all.Consents {
		found = append(found, string(c.Channel)+" "+string(c.Basis))
	}
	return found
}

// The newest consent of a channel decides its opt-in, and for phone whether the numbers are blocked.
// Promise S81: consents decide opt-ins, are only added, exported, and erased with the donor.
func TestConsentsDecideOptIns(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const number = "+31612345678"
		donor := f.donor(number)
		yes, no := new(true), new(false)
		want := []string{}
		for _, step := range []struct {
			what    string
			hours   int // Before the floor opened.
			at      int // Its later place in the list. -1 means that it is there already.
			optIns  optIns
			blocked bool
		}{
			{"phone consent", 40, 0, optIns{Phone: yes}, false},
			{"phone consent", 40, -1, optIns{Phone: yes}, false},
			{"phone withdrawn", 50, 1, optIns{Phone: yes}, false},
			{"email withdrawn", 60, 2, optIns{Phone: yes, Email: no}, false},
			{"phone withdrawn", 30, 0, optIns{Phone: no, Email: no}, true},
			{"phone customer", 30, 0, optIns{Phone: no, Email: no}, true},
			{"phone consent", 20, 0, optIns{Phone: yes, Email: no}, false},
			{"sms consent", 10, 0, optIns{Phone: yes, Email: no, SMS: yes}, false},
			{"mail consent", 9, 0, optIns{Phone: yes, Email: no, SMS: yes, Mail: yes}, false},
		} {
			f.Clock.Advance(time.Minute)
			before := f.In(-time.Second)
			servicetest.Same(t, step.what, 201, f.addConsent(donor, step.what, step.hours))
			if step.at >= 0 {
				want = slices.Insert(want, step.at, step.what)
			}
			servicetest.Same(t, step.what+": the consents", want, f.consents(donor))
			var got optIns
			f.get(personPath(donor)).Decode(&got)
			servicetest.Same(t, step.what+": the opt-ins", step.optIns, got)
			servicetest.Same(t, step.what+": the number blocked", step.blocked, f.isBlocked(number))
			changed := f.listed(f.token, "/api/v1/persons?updatedAfter="+before.String())
			if isNew := step.at >= 0; (len(changed) == 1) != isNew {
				t.Errorf("%s: got the changed persons %v, want one: %t", step.what, changed, isNew)
			}
		}
		got := f.export(donor)
		if strings.Count(got, `"You may call me."`) != len(want) {
			t.Errorf("the export has not the %d consents: %s", len(want), got)
		}
		const line = `"operation":"person.consent"`
		if strings.Count(got, line) != len(want) || !strings.Contains(got, `"fields":["consents.phone","optInPhone"]`) {
			t.Errorf("the export has not an audit line for each consent: %s", got)
		}
		f.erase(donor)
		kept, err := service.View(t.Context(), f.Service, "read", func(r service.Reader) (service.Kept, error) {
			return r.Kept(donor)
		})
		servicetest.Check(t, err)
		if got := f.addConsent(donor, "sms consent", 1); got != 404 || len(kept.Consents) != 0 {
			t.Errorf("an erased donor: got %d and the consents %v, want 404 and none", got, kept.Consents)
		}
	})
}

// An older proof lifts no later objection, however the donor objected and by whatever channel. A newer one does.
// Promise S81: the newest word of the donor decides an opt-in.
func TestOlderConsentLiftsNoObjection(t *testing.T) {
	const number = "+31612345678"
	objections := map[string]struct {
		channels []string
		object   func(f *floor, person apitype.UUID)
	}{
		"a result": {[]string{"phone"}, func(f *floor, person apitype.UUID) { f.completeWith(person, "stop") }},
		"a death": {
			[]string{"phone", "email", "mail", "sms"},
			func(f *floor, person apitype.UUID) { f.completeWith(person, "died") },
		},
		"an update": {[]string{"phone", "email", "mail", "sms"}, func(f *floor, person apitype.UUID) {
			f.update(person, `{"optIns":{"phone":false,"email":false,"mail":false,"sms":false}}`)
		}},
		"a second objection": {[]string{"phone"}, func(f *floor, person apitype.UUID) {
			f.addConsent(person, "phone withdrawn", 9)
			f.completeWith(person, "stop")
		}},
		"an objection whose opt-ins were cleared": {
			[]string{"phone", "email", "mail", "sms"},
			func(f *floor, person apitype.UUID) {
				f.update(person, `{"optIns":{"phone":false,"email":false,"mail":false,"sms":false}}`)
				f.update(person, `{"optIns":null}`)
			},
		},
	}
	for name, objection := range objections {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				f.setEffects()
				donor := f.donor(number)
				objection.object(f, donor)
				wasBlocked := f.isBlocked(number)
				f.Clock.Advance(2 * time.Hour)
				for _, channel := range objection.channels {
					consent := func(hours int) bool {
						if got := f.addConsent(donor, channel+" consent", hours); got != 201 {
							t.Fatalf("got %d, want 201", got)
						}
						person := f.get(personPath(donor)).Object()
						return person["optIn"+strings.ToUpper(channel[:1])+channel[1:]] == true
					}
					if consent(1) || f.isBlocked(number) != wasBlocked {
						t.Errorf("a consent for %s before the objection lifted it", channel)
					}
					if !consent(-1) || channel == "phone" && f.isBlocked(number) {
						t.Errorf("a consent for %s after the objection did not lift it", channel)
					}
					wasBlocked = f.isBlocked(number)
				}
			})
		})
	}
}

// An objection to phone calls outlives its line of the audit.
// Promise S81: the newest word of the donor decides an opt-in.
func TestOlderConsentAfterPrune(t *testing.T) {
	objections := map[string]func(f *floor, person apitype.UUID){
		"a result":  func(f *floor, person apitype.UUID) { f.completeWith(person, "stop") },
		"a death":   func(f *floor, person apitype.UUID) { f.completeWith(person, "died") },
		"an update": func(f *floor, person apitype.UUID) { f.optIn(person, "false") },
	}
	for name, object := range objections {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				f.setEffects()
				donor := f.donor("+31612345678")
				object(f, donor)
				f.Clock.Advance(2 * service.ChangesKept)
				_, err := f.Privacy.PruneAudit(t.Context(), f.Now(), "test")
				servicetest.Check(t, err)
				isOptedIn := func(hours int) bool {
					f.addConsent(donor, "phone consent", hours)
					var got optIns
					f.get(personPath(donor)).Decode(&got)
					return *got.Phone
				}
				servicetest.Same(t, "after an older consent", false, isOptedIn(1))
				servicetest.Same(t, "after a newer consent", true, isOptedIn(-1))
			})
		})
	}
}

// An objection and an older consent that are saved together leave the donor out, in whatever order.
// Promise S81: the newest word of the donor decides an opt-in.
func TestOlderConsentBesideObjection(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const donors = 12
		var persons []apitype.UUID
		for range donors {
			persons = append(persons, f.donor("+31612345678"))
		}
		var all, waiting sync.WaitGroup
		waiting.Add(2 * donors)
		held, release := make(chan bool), make(chan bool)
		all.Go(func() {
			err := f.Store.Write(t.Context(), service.WriteIsolated, func(service.Tx) error {
				close(held)
				<-release
				return nil
			})
			servicetest.Report(t, err)
		})
		<-held
		f.Serve(f.On(hooked{f.Store, at("before Write", waiting.Done)}))
		for _, donor := range persons {
			all.Go(func() { f.update(donor, `{"optIns":{"email":false}}`) })
			all.Go(func() { f.addConsent(donor, "email consent", 1) })
		}
		waiting.Wait()
		close(release)
		all.Wait()
		for _, donor := range persons {
			var got optIns
			f.get(personPath(donor)).Decode(&got)
			servicetest.Same(t, "the opt-ins", optIns{Email: new(false)}, got)
		}
	})
}

// Mistakes are refused, and parallel consents are all kept.
func TestConsentsRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donor := f.donor("+31612345678")
		path := consentsPath(donor)
		at := func(ahead time.Duration) string { return f.In(ahead).String() }
		good := fmt.Sprintf(`{"channel":"sms","basis":"customer","at":%q}`, at(4*time.Minute))
		elsewhere := f.Token(servicetest.For(f.Organization("B")))
		for _, test := range []struct {
			token, path, body string
			want              int
		}{
			{f.token, path, good, 201},
			{f.token, consentsPath(apitype.NewUUID()), good, 404},
			{elsewhere, path, good, 404},
			{f.token, path, `{}`, 400},
			{f.token, path, `{"channel":"fax","basis":"customer","at":"2026-01-01"}`, 400},
			{f.token, path, `{"channel":"sms","basis":"maybe","at":"2026-01-01"}`, 400},
			{f.token, path, `{"channel":"sms","basis":"consent","at":"2026-01-01"}`, 400}, // Without its source.
			{f.token, path, `{"channel":"sms","basis":"customer"}`, 400},
			{f.token, path, fmt.Sprintf(`{"channel":"sms","basis":"customer","at":%q}`, at(6*time.Minute)), 400},
			{f.token, path, `{"channel":"sms","basis":"customer","at":"2026-01-01","source":""}`, 400},
			{f.token, path, `{"channel":"sms","basis":"customer","at":"2026-01-01","by":"me"}`, 400},
		} {
			f.Want(test.want, test.token, "POST", test.path, test.body)
		}
		f.Want(404, elsewhere, "GET", path, "")
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				servicetest.Same(t, "consents at once", 201, f.addConsent(donor, "mail consent", n/2))
			})
		}
		all.Wait()
		if got := f.consents(donor); len(got) != 4 {
			t.Errorf("got %v, want 4: three pairs are repeats", got)
		}
	})
}
