package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// fault spoils the first change; everything else reaches the real service.
type fault struct {
	name string
	// spoil answers instead of the service; deliver hands the request to it.
	spoil func(w http.ResponseWriter, r *http.Request, deliver func() *httptest.ResponseRecorder)
	// certain says that the change must have taken effect exactly once, whatever the
	// operation.
	certain  bool
	redirect bool
	hangs    bool // Never answers: the client must not wait for long.
}

// hang closes the connection without another byte.
func hang(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

func faults() []fault {
	status := func(code int) func(http.ResponseWriter, *http.Request, func() *httptest.ResponseRecorder) {
		return func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) { w.WriteHeader(code) }
	}
	return []fault{
		{name: "nothing", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			copyAnswer(w, deliver())
		}},
		{name: "429", certain: true, spoil: status(429)},
		{name: "503 before", certain: true, spoil: status(503)},
		{name: "503 after", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			deliver()
			w.WriteHeader(503)
		}},
		{name: "reset before", spoil: func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) { hang(w) }},
		{name: "reset after", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			deliver()
			hang(w)
		}},
		{name: "cut after the status", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			answer := deliver()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()+10))
			w.WriteHeader(answer.Code)
			w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		}},
		{name: "time-out after", certain: true, hangs: true, spoil: func(_ http.ResponseWriter, r *http.Request, deliver func() *httptest.ResponseRecorder) {
			deliver()
			<-r.Context().Done()
		}},
		{name: "HTML instead", spoil: func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<h1>Log in</h1>")
		}},
		{name: "HTML after", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			deliver()
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<h1>Log in</h1>")
		}},
		{name: "redirect", redirect: true, spoil: func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
		}},
		{name: "delivered twice", certain: true, spoil: func(w http.ResponseWriter, _ *http.Request, deliver func() *httptest.ResponseRecorder) {
			deliver()
			copyAnswer(w, deliver())
		}},
	}
}

func copyAnswer(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

// faulty is the real service behind a connection that spoils the first change.
func faulty(t *testing.T, h *servicetest.Harness, f fault) *apiclient.Client {
	t.Helper()
	var spoiled atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || spoiled.Swap(true) {
			h.Handler.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		f.spoil(w, r, func() *httptest.ResponseRecorder {
			again := r.Clone(context.WithoutCancel(r.Context()))
			again.Body = io.NopCloser(bytes.NewReader(body))
			recorder := httptest.NewRecorder()
			h.Handler.ServeHTTP(recorder, again)
			return recorder
		})
	}))
	t.Cleanup(server.Close)
	token, timeout := h.Token(), time.Minute
	if f.hangs {
		timeout = 2 * time.Second // Not less: a busy machine needs as much for an honest answer.
	}
	client, err := apiclient.New(apiclient.Options{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil },
		Timeout: timeout, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	return client
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
	s.setup = faulty(t, h, faults()[0])
	person, err := answered[apitype.Person](s.setup.Send(t.Context(), must(apiclient.CreatePersonChange(s.newPerson()))))
	servicetest.Check(t, err)
	s.person = person.UUID
	call, err := answered[apitype.Call](s.setup.Send(t.Context(), must(apiclient.CreateCallChange(s.newCall()))))
	servicetest.Check(t, err)
	s.call = call.UUID
	pledge, err := answered[apitype.Pledge](s.setup.Send(t.Context(), must(apiclient.CreatePledgeChange(s.newPledge()))))
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
	return apitype.CreateCallRequest{RequestedAt: *s.at(), PersonUUID: s.person, Type: new(apitype.CallHappy), Notes: new("ring twice")}
}

func (s *stage) newPledge() apitype.CreatePledgeRequest {
	return apitype.CreatePledgeRequest{
		PersonUUID: s.person, CreatedAt: *s.at(), OwningOrganizationUUID: s.organization, RecruitingOrganizationUUID: s.organization,
		InitialDonationInterval: "monthly", InitialDonationAmount: apitype.Cents(1250), RecruiterUserUUID: apitype.NewUUID(), StartsAt: *s.at(),
		ExternalMetadata: new(apitype.Object(`{"a":{"b":1.50}}`)),
	}
}

// operation is a change, and how often it took effect.
type operation struct {
	name string
	run  func(ctx context.Context, s *stage, c *apiclient.Client) error
	// effect counts; more than one is a change that was applied twice.
	effect func(t *testing.T, s *stage) int
	// twice says that the service itself cannot recognise a second delivery.
	twice bool
}

func operations() []operation {
	total := func(list func(c *apiclient.Client) (int, error), before int) func(*testing.T, *stage) int {
		return func(t *testing.T, s *stage) int {
			n, err := list(s.setup)
			servicetest.Check(t, err)
			return n - before
		}
	}
	persons := func(c *apiclient.Client) (int, error) {
		page, err := c.Persons.List(context.Background(), apitype.PersonListOptions{})
		return len(page.Records), err
	}
	calls := func(c *apiclient.Client) (int, error) {
		page, err := c.Calls.List(context.Background(), apitype.CallListOptions{})
		return len(page.Records), err
	}
	pledges := func(c *apiclient.Client) (int, error) {
		page, err := c.Pledges.List(context.Background(), apitype.PledgeListOptions{})
		return len(page.Records), err
	}
	callIs := func(status apitype.CallStatus) func(*testing.T, *stage) int {
		return func(t *testing.T, s *stage) int {
			call, err := apiclient.Decoded(s.setup.Calls.Get(t.Context(), s.call))
			servicetest.Check(t, err)
			return map[bool]int{true: 1}[call.Status == status]
		}
	}
	return []operation{
		{name: "create person", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CreatePersonChange(s.newPerson())))
			return err
		}, effect: total(persons, 1)},
		{name: "create call", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CreateCallChange(s.newCall())))
			return err
		}, effect: total(calls, 1)},
		{name: "create pledge", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CreatePledgeChange(s.newPledge())))
			return err
		}, effect: total(pledges, 1)},
		{name: "update person", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{Email: apitype.Set("a@example.org"), IBAN: apitype.Clear[string]()})))
			return err
		}, effect: func(t *testing.T, s *stage) int {
			person, err := apiclient.Decoded(s.setup.Persons.Get(t.Context(), s.person))
			servicetest.Check(t, err)
			return map[bool]int{true: 1}[person.Email != nil && *person.Email == "a@example.org" && person.IBAN == nil]
		}},
		{name: "update pledge", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.UpdatePledgeChange(s.pledge, apitype.UpdatePledgeRequest{DonationAmount: apitype.Set(apitype.Cents(1510))})))
			return err
		}, effect: func(t *testing.T, s *stage) int {
			pledge, err := apiclient.Decoded(s.setup.Pledges.Get(t.Context(), s.pledge))
			servicetest.Check(t, err)
			return map[bool]int{true: 1}[pledge.DonationAmount == apitype.Cents(1510)]
		}},
		{name: "attempt", twice: true, run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.AddAttemptChange(s.call, apitype.AddAttemptRequest{AttemptAt: s.at(), UserUUID: &s.person})))
			return err
		}, effect: func(t *testing.T, s *stage) int {
			call, err := apiclient.Decoded(s.setup.Calls.Get(t.Context(), s.call))
			servicetest.Check(t, err)
			return call.AttemptsCount
		}},
		{name: "complete", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CompleteCallChange(s.call, apitype.CompleteCallRequest{UserUUID: &s.person, Result: &apitype.CallResultRequest{CompletedAt: s.at(), ResultCode: new("ok")}})))
			return err
		}, effect: callIs(apitype.CallCompleted)},
		{name: "cancel", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CancelCallChange(s.call, apitype.CancelCallRequest{CancelledAt: s.at()})))
			return err
		}, effect: callIs(apitype.CallCancelled)},
		{name: "expire", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.ExpireCallChange(s.call, apitype.ExpireCallRequest{ExpiredAt: s.at()})))
			return err
		}, effect: callIs(apitype.CallExpired)},
		{name: "action", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			_, err := c.Send(ctx, apiclient.PledgeActionChange(s.pledge, apitype.ActionDrop, ""))
			return err
		}, effect: func(t *testing.T, s *stage) int {
			pledge, err := apiclient.Decoded(s.setup.Pledges.Get(t.Context(), s.pledge))
			servicetest.Check(t, err)
			return map[bool]int{true: 1}[pledge.Status == apitype.PledgeDropped]
		}},
		{name: "mark processed", run: func(ctx context.Context, s *stage, c *apiclient.Client) error {
			return c.EntityAccess.MarkProcessed(ctx, []apitype.ProcessedEntry{{EntityName: apitype.EntityCall, EntityUUID: s.call, ProcessedAt: *s.at()}})
		}, effect: func(*testing.T, *stage) int { return 1 }},
	}
}

// Whatever happens to the first request, the change takes effect exactly once, or the
// error says what is known.
func TestChangesUnderFaults(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		for _, f := range faults() {
			t.Run(op.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				err := op.run(t.Context(), s, faulty(t, s.h, f))
				effect := op.effect(t, s)
				switch {
				case f.redirect:
					if apiclient.KindOf(err) != apiclient.KindUnavailable {
						t.Errorf("got %v, want unavailable: a redirect is never followed", err)
					}
				case err == nil && effect == 1:
				case err == nil && effect == 2 && op.twice && f.name == "delivered twice":
				case err != nil && !f.certain && effect == 0 && apiclient.KindOf(err) == apiclient.KindUnknownOutcome:
				default:
					t.Errorf("got effect %d and %v of kind %s", effect, err, apiclient.KindOf(err))
				}
			})
		}
	}
}

// A change that somebody else overtook is a conflict, not a success.
func TestLostAnswerThenSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	other := fault{spoil: func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
		if _, err := s.setup.Send(context.Background(), must(apiclient.CancelCallChange(s.call, apitype.CancelCallRequest{}))); err != nil {
			t.Errorf("cancel: %v", err)
		}
		hang(w)
	}}
	_, err := faulty(t, s.h, other).Send(t.Context(), must(apiclient.CompleteCallChange(s.call, apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{CompletedAt: s.at()}})))
	if apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestUpdateOvertaken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	other := fault{spoil: func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
		if _, err := s.setup.Send(context.Background(), must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{Email: apitype.Set("third@example.org")}))); err != nil {
			t.Errorf("update: %v", err)
		}
		hang(w)
	}}
	_, err := faulty(t, s.h, other).Send(t.Context(), must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{Email: apitype.Set("mine@example.org")})))
	if apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

// A chosen uuid that is taken is a conflict, although the record may look the same.
func TestChosenUUIDIsTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.newPerson()
	r.UUID = &s.person
	if _, err := s.setup.Send(t.Context(), must(apiclient.CreatePersonChange(r))); apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestMarkProcessedConverges(t *testing.T) {
	t.Parallel()
	for _, savesGood := range []bool{true, false} {
		t.Run(fmt.Sprintf("good ones saved %v", savesGood), func(t *testing.T) {
			t.Parallel()
			marked := map[apitype.UUID]bool{}
			var bad []apitype.UUID
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var request apitype.MarkProcessedRequest
				decode(t, r.Body, &request)
				if len(request.Entries) > 500 {
					t.Errorf("got %d entries in a request", len(request.Entries))
				}
				var failed []string
				for _, entry := range request.Entries {
					if slices.Contains(bad, entry.EntityUUID) {
						failed = append(failed, fmt.Sprintf(`{"entityName":"call","entityUuid":%q,"errorMessage":"unknown"}`, entry.EntityUUID))
					}
				}
				for _, entry := range request.Entries {
					if (savesGood || len(failed) == 0) && !slices.Contains(bad, entry.EntityUUID) {
						marked[entry.EntityUUID] = true
					}
				}
				if len(failed) > 0 {
					answer(w, 400, `{"errors":[`+join(failed)+`]}`)
					return
				}
				w.WriteHeader(204)
			})
			var entries []apitype.ProcessedEntry
			for i := range 1200 {
				id := apitype.NewUUID()
				entries = append(entries, apitype.ProcessedEntry{EntityName: apitype.EntityCall, EntityUUID: id, ProcessedAt: apitype.NewTime(servicetest.Start)})
				if i%400 == 0 {
					bad = append(bad, id)
				}
			}
			err := client.EntityAccess.MarkProcessed(t.Context(), entries)
			var refused *apiclient.MarkError
			if !errors.As(err, &refused) || len(refused.Failed) != len(bad) || len(marked) != len(entries)-len(bad) {
				t.Errorf("got %v and %d marked, want %d failed and all others marked", err, len(marked), len(bad))
			}
		})
	}
}

// A service that chooses the uuid itself has created the record all the same: sent again,
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
	record, err := client.Send(t.Context(), must(apiclient.CreatePersonChange(apitype.CreatePersonRequest{OwningOrganizationUUID: apitype.NewUUID(), RecruitingOrganizationUUID: apitype.NewUUID()})))
	if err != nil || !bytes.Contains(record.Body, []byte(chosen)) {
		t.Fatalf("got %v, %v, want the record of the service", record, err)
	}
	if got := creations.Load(); got != 1 {
		t.Errorf("got %d creations, want 1", got)
	}
}

// A service may keep whole seconds only. What it says was lost is still recognised there.
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
					answer(w, http.StatusOK, `{"uuid":"`+id.String()+`","status":"requested","attempts":[`+join(attempts)+`]}`)
					return
				}
				var request apitype.AddAttemptRequest
				decode(t, r.Body, &request)
				attempts = append(attempts, `{"attemptAt":"`+keep(request.AttemptAt.Time).Format(time.RFC3339)+`"}`)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			at := apitype.NewTime(servicetest.Start.Add(700 * time.Millisecond))
			if _, err := client.Send(t.Context(), must(apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{AttemptAt: &at}))); err != nil || len(attempts) != 1 {
				t.Errorf("got %v and %d attempts, want one", err, len(attempts))
			}
		})
	}
}
