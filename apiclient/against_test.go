package apiclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// behindLoss returns a client whose first change goes to lose, and whose first answer is lost. Lose may deliver the
// change to the service.
func behindLoss(t *testing.T, s *stage, lose func(deliver func())) *apiclient.Client {
	t.Helper()
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isFirst := false
		if r.Method != http.MethodGet {
			once.Do(func() { isFirst = true })
		}
		if !isFirst {
			s.h.Handler.ServeHTTP(w, r)
			return
		}
		lose(func() {
			answer := httptest.NewRecorder()
			s.h.Handler.ServeHTTP(answer, r)
			if answer.Code/100 != 2 {
				t.Errorf("got status %d, want the change accepted", answer.Code)
			}
		})
		hang(w)
	}))
	t.Cleanup(server.Close)
	return clientOf(t, s.h, server.URL)
}

// lostThen delivers a change, loses its answer, and lets another writer act before the client reads the record.
func lostThen(t *testing.T, s *stage, act func(ctx context.Context) error) *apiclient.Client {
	t.Helper()
	return behindLoss(t, s, func(deliver func()) {
		deliver()
		if err := act(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func (s *stage) externalPledge(t *testing.T, status apitype.PledgeStatus) apitype.UUID {
	t.Helper()
	request := s.newPledge()
	request.Status = &status
	request.ExternalSource = &apitype.ExternalSource{Name: "crm", Identifier: "1"}
	pledge, err := answered[apitype.Pledge](s.setup.Send(t.Context(), must(apiclient.CreatePledgeChange(request))))
	servicetest.Check(t, err)
	return pledge.UUID
}

// An action with a lost answer never undoes another writer's later change.
func TestLostActionsKeepANewerStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		from        apitype.PledgeStatus
		mine, other apitype.PledgeAction
		want        apitype.PledgeStatus
	}{
		{"activated, then cancelled", "lead", "activate", "cancel", "cancelled"},
		{"cancelled, then activated", "lead", "cancel", "activate", "active"},
		{"cancelled, then put back", "active", "cancel", "activate", "active"},
		{"dropped, then activated", "lead", "drop", "activate", "active"},
		{"fulfilled, then cancelled", "active", "fulfill", "cancel", "cancelled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			pledge := s.externalPledge(t, test.from)
			client := lostThen(t, s, func(ctx context.Context) error {
				_, err := s.setup.Send(ctx, apiclient.PledgeActionChange(pledge, test.other, ""))
				return err
			})
			_, err := client.Send(t.Context(), apiclient.PledgeActionChange(pledge, test.mine, ""))
			if apiclient.KindOf(err) != apiclient.KindConflict {
				t.Errorf("got %v, want a conflict", err)
			}
			got, err := apiclient.Decoded(s.setup.Pledges.Get(t.Context(), pledge))
			servicetest.Check(t, err)
			if got.Status != test.want {
				t.Errorf("got status %s, want %s", got.Status, test.want)
			}
		})
	}
}

// An action that was chosen for another status than the pledge has is not sent.
func TestActionsAreMadeAgainstTheShownStatus(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	pledge := s.externalPledge(t, apitype.PledgeCancelled)
	_, err := s.setup.Send(t.Context(),
		apiclient.PledgeActionChange(pledge, apitype.ActionActivate, apitype.PledgeLead))
	if apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
	_, err = s.setup.Send(t.Context(), apiclient.PledgeActionChange(pledge, apitype.ActionCancel, apitype.PledgeLead))
	if err != nil {
		t.Errorf("the target status: got %v, want success", err)
	}
}

// An update that landed and was put back by another writer is not made again.
func TestLostUpdatesKeepARevert(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	email := func(text string) apiclient.Change {
		return must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{Email: apitype.Set(text)}))
	}
	_, err := s.setup.Send(t.Context(), email("first@example.org"))
	servicetest.Check(t, err)
	client := lostThen(t, s, func(ctx context.Context) error {
		_, err := s.setup.Send(ctx, email("first@example.org"))
		return err
	})
	if _, err := client.Send(t.Context(), email("second@example.org")); apiclient.KindOf(err) != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict", err)
	}
	person, err := apiclient.Decoded(s.setup.Persons.Get(t.Context(), s.person))
	servicetest.Check(t, err)
	if *person.Email != "first@example.org" {
		t.Errorf("got %s, want the value that was put back", *person.Email)
	}
}

// A creation with a UUID of ours took effect, even if the record was edited before the client read it.
func TestLostCreationsMayBeEdited(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	change := must(apiclient.CreatePersonChange(s.newPerson()))
	client := lostThen(t, s, func(ctx context.Context) error {
		edit := apitype.UpdatePersonRequest{Name: apitype.Set(apitype.NamePatch{LastName: apitype.Set("Smit")})}
		_, err := s.setup.Send(ctx, must(apiclient.UpdatePersonChange(change.UUID, edit)))
		return err
	})
	answer, err := client.Send(t.Context(), change)
	person, err := answered[apitype.Person](answer, err)
	servicetest.Check(t, err)
	if *person.LastName != "Smit" || !answer.EditedSince {
		t.Errorf("got %s, edited since %v, want the edited record", *person.LastName, answer.EditedSince)
	}
}

// A creation that is answered with another donor's record is not taken for created.
func TestCreationsAnsweredWithAnotherRecord(t *testing.T) {
	t.Parallel()
	const other = `{"uuid":"11111111-1111-4111-8111-111111111111","lastName":"Smit"}`
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			answer(w, http.StatusCreated, other)
			return
		}
		answer(w, http.StatusNotFound, `{}`)
	})
	request := apitype.CreatePersonRequest{
		OwningOrganizationUUID:     apitype.NewUUID(),
		RecruitingOrganizationUUID: apitype.NewUUID(),
		Name:                       &apitype.Name{LastName: new("Jansen")},
	}
	record, err := client.Send(t.Context(), must(apiclient.CreatePersonChange(request)))
	if apiclient.KindOf(err) != apiclient.KindUnknownOutcome {
		t.Errorf("got %v, %v, want an unknown outcome", record, err)
	}
}

// An older attempt at a whole second is not taken for one at a fraction of that second.
func TestLostAttemptBesideAWholeSecond(t *testing.T) {
	t.Parallel()
	for _, fraction := range []time.Duration{133, 499, 600, 999} {
		s := newStage(t)
		attempt := func(at time.Time) apiclient.Change {
			return must(apiclient.AddAttemptChange(s.call, apitype.AddAttemptRequest{
				AttemptAt: new(apitype.NewTime(at)),
			}))
		}
		whole := servicetest.Start.Truncate(time.Second)
		_, err := s.setup.Send(t.Context(), attempt(whole))
		servicetest.Check(t, err)
		client := behindLoss(t, s, func(func()) {})
		_, err = client.Send(t.Context(), attempt(whole.Add(fraction*time.Millisecond)))
		if apiclient.KindOf(err) != apiclient.KindUnknownOutcome {
			t.Errorf("%d ms: got %v, want an unknown outcome", fraction, err)
		}
	}
}
