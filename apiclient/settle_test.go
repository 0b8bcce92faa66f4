package apiclient_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// hang closes the connection without another byte.
func hang(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

// plain starts the service without holding each answer against openapi.json: tests of
// thousands of requests have no time for it, and others do it.
func plain(t *testing.T) *servicetest.Harness {
	t.Helper()
	h := servicetest.New(t)
	h.Handler = httpapi.New(httpapi.Options{Service: h.Service, Now: h.Clock.Now})
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// stage is a service with a person, a call and a pledge to change.
type stage struct {
	h                    *servicetest.Harness
	setup                *apiclient.Client
	organization         apitype.UUID
	person, call, pledge apitype.UUID
}

func newStage(t *testing.T) *stage {
	t.Helper()
	h := plain(t)
	s := &stage{h: h, organization: h.Organization("AID")}
	s.setup = clientOf(t, h, h.URL)
	person, err := answered[apitype.Person](s.setup.Send(t.Context(),
		must(apiclient.CreatePersonChange(s.newPerson()))))
	servicetest.Check(t, err)
	s.person = person.UUID
	call, err := answered[apitype.Call](s.setup.Send(t.Context(), must(apiclient.CreateCallChange(s.newCall()))))
	servicetest.Check(t, err)
	s.call = call.UUID
	pledge, err := answered[apitype.Pledge](s.setup.Send(t.Context(),
		must(apiclient.CreatePledgeChange(s.newPledge()))))
	servicetest.Check(t, err)
	s.pledge = pledge.UUID
	return s
}

func (s *stage) at() *apitype.Time { return new(apitype.NewTime(servicetest.Start)) }

func (s *stage) newPerson() apitype.CreatePersonRequest {
	return apitype.CreatePersonRequest{
		OwningOrganizationUUID: s.organization, RecruitingOrganizationUUID: s.organization,
		Name: &apitype.Name{LastName: new("Jansen")}, IBAN: new("nl91 ABNA 0417 1643 00"), Language: new("NL"),
		OptIns:  &apitype.OptIns{SMS: new(true)},
		Address: &apitype.Address{Street: "Weg", HouseNumber: "1", ZipCode: "1000 AA", City: "Stad", Country: "nl"},
	}
}

func (s *stage) newCall() apitype.CreateCallRequest {
	return apitype.CreateCallRequest{
		RequestedAt: *s.at(),
		PersonUUID:  s.person,
		Type:        new(apitype.CallHappy),
		Notes:       new("ring twice"),
	}
}

func (s *stage) newPledge() apitype.CreatePledgeRequest {
	return apitype.CreatePledgeRequest{
		PersonUUID:                 s.person,
		CreatedAt:                  *s.at(),
		OwningOrganizationUUID:     s.organization,
		RecruitingOrganizationUUID: s.organization,
		InitialDonationInterval:    "monthly",
		InitialDonationAmount:      apitype.Cents(1250),
		RecruiterUserUUID:          apitype.NewUUID(),
		StartsAt:                   *s.at(),
		ExternalMetadata:           new(apitype.Object(`{"a":{"b":1.50}}`)),
	}
}

var faultVariants = flag.Int("variants", 1, "how many variants of each fault each change is sent through")

// A change takes effect exactly once, or the error names what is known, whatever happens to its first request.
func TestChangesThroughFaults(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner, token := h.Organization("AID"), h.Token()
	cases := servicetest.NewCases(t, 16) // The time-outs are of one service that is not overrun.
	defer cases.Wait()
	for i := range h.Changes(owner) {
		for _, fault := range servicetest.Faults {
			hangs := fault == servicetest.FaultDelayed ||
				fault == servicetest.FaultDrip ||
				fault == servicetest.FaultKilled
			if testing.Short() && hangs && i > 0 {
				continue
			}
			patience := answerTimeout
			if hangs { // It is waited for in full.
				patience = hangTimeout
			}
			for seed := range *faultVariants {
				cases.Run(fmt.Sprintf("%d/%s/%d", i, fault, seed), func(t *testing.T) {
					faulty := &servicetest.Faulty{Inner: h.Handler}
					client := clientWithin(t, h, faulty.Serve(t), patience)
					change := h.Changes(owner)[i]
					faulty.Arm(fault, i+seed)
					_, err := client.Send(t.Context(), apiclient.Change{
						Op:        change.Op,
						UUID:      change.UUID,
						Method:    change.Method,
						Path:      change.Path,
						Body:      []byte(change.Body),
						Generated: true,
					})
					judge(t, change, fault, err, func() int {
						return h.Effects(token, change, faulty)
					}, faulty.DeliverLate)
				})
			}
		}
	}
}

// judge compares the reports of a change with its effects, before and after late requests arrive.
func judge(
	t *testing.T,
	change servicetest.Change,
	fault servicetest.Fault,
	err error,
	effects func() int,
	deliverLate func(),
) {
	t.Helper()
	before := effects()
	deliverLate()
	after, most := effects(), 1
	if change.RepeatsAddUp && fault == servicetest.FaultDuplicated {
		most = 2
	}
	wanted := map[servicetest.Fault]apiclient.Kind{
		servicetest.FaultRefused:  apiclient.KindRejected,
		servicetest.FaultRedirect: apiclient.KindUnavailable,
	}[fault]
	kind := apiclient.KindOf(err)
	addsUp := apiclient.OperationOf(change.Op).AddsUp
	switch {
	case wanted != "":
		if kind != wanted || after != 0 {
			t.Errorf("%s: got %v of kind %q and %d effects, want kind %q and none", change.Op, err, kind, after, wanted)
		}
	case kind == apiclient.KindUnknownOutcome && addsUp:
		if after > most {
			t.Errorf("%s: got %d effects, want %d at most", change.Op, after, most)
		}
	case err != nil || before < 1 || after > most:
		t.Errorf("%s: got %v, %d and then %d effects, want the change done once", change.Op, err, before, after)
	}
}

// clientOf returns a client of the service at an address. It waits long for an answer, and never sleeps.
func clientOf(t *testing.T, h *servicetest.Harness, url string) *apiclient.Client {
	t.Helper()
	return clientWithin(t, h, url, answerTimeout)
}

func clientWithin(t *testing.T, h *servicetest.Harness, url string, patience time.Duration) *apiclient.Client {
	t.Helper()
	token := h.Token()
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   url,
		Token:     func(context.Context) (string, error) { return token, nil },
		Timeout:   patience,
		Transport: &http.Transport{DisableKeepAlives: true},
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	return client
}

// How long a client waits for an answer: on a loaded machine one may take seconds.
const (
	answerTimeout = 30 * time.Second
	hangTimeout   = 3 * time.Second
)

// If another writer overtakes a change with a lost answer, it is a conflict, not a success.
func TestLostAnswerThenSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	update := func(email string) apiclient.Change {
		return must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{Email: apitype.Set(email)}))
	}
	complete := must(apiclient.CompleteCallChange(s.call, apitype.CompleteCallRequest{
		Result: &apitype.CallResultRequest{CompletedAt: s.at()},
	}))
	cancel := must(apiclient.CancelCallChange(s.call, apitype.CancelCallRequest{}))
	for mine, theirs := range map[*apiclient.Change]apiclient.Change{
		&complete:                       cancel,
		new(update("mine@example.org")): update("third@example.org"),
	} {
		var once sync.Once
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isLost := false
			if r.Method != http.MethodGet {
				once.Do(func() { isLost = true })
			}
			if !isLost {
				s.h.Handler.ServeHTTP(w, r)
				return
			}
			if _, err := s.setup.Send(context.Background(), theirs); err != nil {
				t.Errorf("%s: %v", theirs.Op, err)
			}
			hang(w)
		}))
		_, err := clientOf(t, s.h, server.URL).Send(t.Context(), *mine)
		if apiclient.KindOf(err) != apiclient.KindConflict {
			t.Errorf("%s: got %v, want a conflict", mine.Op, err)
		}
		server.Close()
	}
}

// A chosen uuid that is taken is a conflict, although the record may look the same.
func TestChosenUUIDIsTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.newPerson()
	r.UUID = &s.person
	_, err := s.setup.Send(t.Context(), must(apiclient.CreatePersonChange(r)))
	if apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

// A service that chooses the uuid itself has created the record anyway: sent again,
// the creation would make one more.
func TestCreationWithAnotherUUID(t *testing.T) {
	t.Parallel()
	const chosen = "11111111-1111-4111-8111-111111111111"
	var creations atomic.Int32
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			answer(w, http.StatusNotFound, `{}`)
			return
		}
		creations.Add(1)
		answer(w, http.StatusCreated, `{"uuid":"`+chosen+`"}`)
	})
	record, err := client.Send(t.Context(), must(apiclient.CreatePersonChange(apitype.CreatePersonRequest{
		OwningOrganizationUUID:     apitype.NewUUID(),
		RecruitingOrganizationUUID: apitype.NewUUID(),
	})))
	if err != nil || !bytes.Contains(record.Body, []byte(chosen)) {
		t.Fatalf("got %v, %v, want the record of the service", record, err)
	}
	if got := creations.Load(); got != 1 {
		t.Errorf("got %d creations, want 1", got)
	}
}

// A service may keep whole seconds only. A change that seemed lost is still recognised there.
func TestAttemptKeptInSeconds(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	for name, keep := range map[string]func(time.Time) time.Time{
		"cut":     func(at time.Time) time.Time { return at.Truncate(time.Second) },
		"rounded": func(at time.Time) time.Time { return at.Round(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attempts []string
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					answer(w, http.StatusOK,
						`{"uuid":"`+id.String()+`","status":"requested","attempts":[`+join(attempts)+`]}`)
					return
				}
				var request apitype.AddAttemptRequest
				decode(t, r.Body, &request)
				attempts = append(attempts, `{"attemptAt":"`+keep(request.AttemptAt.Time).Format(time.RFC3339)+`"}`)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			at := apitype.NewTime(servicetest.Start.Add(700 * time.Millisecond))
			_, err := client.Send(t.Context(),
				must(apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{AttemptAt: &at})))
			if err != nil || len(attempts) != 1 {
				t.Errorf("got %v and %d attempts, want one", err, len(attempts))
			}
		})
	}
}
