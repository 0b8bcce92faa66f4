package service

import (
	"context"
	"testing"

	"fundesk/apiclient/apitype"
)

// seedOnly is a store that answers nothing but its secret: whatever reaches for a
// record panics.
type seedOnly struct{ Store }

// SigningSeed is a constant secret.
func (seedOnly) SigningSeed(context.Context) ([]byte, error) { return make([]byte, 32), nil }

func newTestService(t *testing.T) *Service {
	t.Helper()
	s, err := New(t.Context(), Options{Store: seedOnly{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPermissions takes each permission away and calls its operations: they are refused
// before the store is asked. Spec gap: A2.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s, id := newTestService(t), apitype.NewUUID()
	ctx := t.Context()
	operations := []struct {
		name       string
		permission Permission
		call       func(Caller) error
	}{
		{"list persons", PersonsRead, func(c Caller) error { _, err := s.ListPersons(ctx, c, apitype.PersonListOptions{}); return err }},
		{"get person", PersonsRead, func(c Caller) error { _, err := s.GetPerson(ctx, c, id); return err }},
		{"create person", PersonsCreate, func(c Caller) error { _, err := s.CreatePerson(ctx, c, apitype.CreatePersonRequest{}); return err }},
		{"update person", PersonsUpdate, func(c Caller) error {
			_, err := s.UpdatePerson(ctx, c, id, nil, apitype.UpdatePersonRequest{})
			return err
		}},
		{"list calls", CallsRead, func(c Caller) error { _, err := s.ListCalls(ctx, c, apitype.CallListOptions{}); return err }},
		{"list calls with persons", PersonsRead, func(c Caller) error {
			_, err := s.ListCalls(ctx, c, apitype.CallListOptions{Include: []string{apitype.IncludePersonQualityResult}})
			return err
		}},
		{"list calls with pledges", PledgesRead, func(c Caller) error {
			_, err := s.ListCalls(ctx, c, apitype.CallListOptions{Include: []string{apitype.IncludePledge}})
			return err
		}},
		{"list calls with transactions", PledgesRead, func(c Caller) error {
			_, err := s.ListCalls(ctx, c, apitype.CallListOptions{Include: []string{apitype.IncludeTransactions}})
			return err
		}},
		{"get call", CallsRead, func(c Caller) error { _, err := s.GetCall(ctx, c, id); return err }},
		{"create call", CallsCreate, func(c Caller) error { _, err := s.CreateCall(ctx, c, apitype.CreateCallRequest{}); return err }},
		{"attempt", CallsAttempt, func(c Caller) error { _, err := s.AddAttempt(ctx, c, id, nil, apitype.AddAttemptRequest{}); return err }},
		{"complete", CallsComplete, func(c Caller) error {
			_, err := s.CompleteCall(ctx, c, id, nil, apitype.CompleteCallRequest{})
			return err
		}},
		{"cancel", CallsCancel, func(c Caller) error { _, err := s.CancelCall(ctx, c, id, nil, apitype.CancelCallRequest{}); return err }},
		{"expire", CallsExpire, func(c Caller) error { _, err := s.ExpireCall(ctx, c, id, nil, apitype.ExpireCallRequest{}); return err }},
		{"list pledges", PledgesRead, func(c Caller) error { _, err := s.ListPledges(ctx, c, apitype.PledgeListOptions{}); return err }},
		{"get pledge", PledgesRead, func(c Caller) error { _, err := s.GetPledge(ctx, c, id); return err }},
		{"create pledge", PledgesCreate, func(c Caller) error { _, err := s.CreatePledge(ctx, c, apitype.CreatePledgeRequest{}); return err }},
		{"update pledge", PledgesUpdate, func(c Caller) error {
			_, err := s.UpdatePledge(ctx, c, id, nil, apitype.UpdatePledgeRequest{})
			return err
		}},
		{"act on pledge", PledgesAct, func(c Caller) error { _, err := s.ActOnPledge(ctx, c, id, nil, apitype.ActionDrop); return err }},
		{"mark processed", EntitiesMark, func(c Caller) error { _, err := s.MarkProcessed(ctx, c, nil); return err }},
	}
	used := map[Permission]bool{}
	for _, operation := range operations {
		used[operation.permission] = true
		t.Run(operation.name, func(t *testing.T) {
			t.Parallel()
			caller := Caller{Account: Account{Scope: Scope{All: true}}}
			for _, p := range Permissions {
				if p != operation.permission {
					caller.Permissions = append(caller.Permissions, p)
				}
			}
			if err := operation.call(caller); KindOf(err) != Forbidden {
				t.Errorf("got %v, want forbidden", err)
			}
			if err := operation.call(Caller{}); KindOf(err) != Forbidden {
				t.Errorf("without any permission: got %v, want forbidden", err)
			}
		})
	}
	for _, p := range Permissions {
		if !used[p] {
			t.Errorf("no operation needs %s", p)
		}
	}
}
