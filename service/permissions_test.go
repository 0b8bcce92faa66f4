package service

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestCursors(t *testing.T) {
	t.Parallel()
	s := newTestService(t)
	place := Position{At: apitype.TimeFromMilli(-2208988800000), UUID: apitype.NewUUID()} // 1900
	cursor := string(s.cursors(callCursor).append(nil, place))
	got, ok := s.cursors(callCursor).parse(cursor)
	if !ok || got.compare(place) != 0 {
		t.Fatalf("got %v %v, want %v", got, ok, place)
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.cursors(personCursor).parse(cursor); ok {
		t.Error("a cursor of another list was taken")
	}
	for i := range raw {
		raw[i] ^= 1
		if _, ok := s.cursors(callCursor).parse(base64.RawURLEncoding.EncodeToString(raw)); ok {
			t.Errorf("a cursor altered at byte %d was taken", i)
		}
		raw[i] ^= 1
	}
	for i := range cursor {
		if _, ok := s.cursors(callCursor).parse(cursor[:i]); ok {
			t.Errorf("a cursor cut at %d was taken", i)
		}
	}
}

// A page ends before its edges get longer than 4 MiB less a KiB, at the end that it was read towards, and has one
// row in any case. Spec gap: S32.
func TestPageIsCut(t *testing.T) {
	t.Parallel()
	const most = 4<<20 - 1<<10
	for _, test := range []struct {
		name     string
		rows     []int // How long the part of each gets.
		backward bool
		want     pageOf[int]
		bytes    int
	}{
		{"none", nil, false, pageOf[int]{}, 0},
		{"as much as may be", []int{most - 2, 1, 1}, false, pageOf[int]{rows: []int{most - 2, 1, 1}}, most},
		{"a byte more", []int{most - 1, 1, 1}, false, pageOf[int]{rows: []int{most - 1, 1}, next: true}, most},
		{"one that is longer", []int{most + 1}, false, pageOf[int]{rows: []int{most + 1}}, most + 1},
		{"one that is longer, and another", []int{most + 1, 1}, false, pageOf[int]{rows: []int{most + 1}, next: true}, most + 1},
		{"as much as may be, backward", []int{1, 1, most - 2}, true, pageOf[int]{rows: []int{1, 1, most - 2}}, most},
		{"a byte more, backward", []int{1, 1, most - 1}, true, pageOf[int]{rows: []int{1, most - 1}, hasPrevious: true}, most},
		{"one that is longer, backward", []int{1, 2, most + 1}, true, pageOf[int]{rows: []int{most + 1}, hasPrevious: true}, most + 1},
	} {
		page := pageOf[int]{rows: test.rows}
		bytes := page.cut(test.backward, func(row int) int { return row })
		if diff := cmp.Diff(test.want, page, cmp.AllowUnexported(pageOf[int]{})); diff != "" || bytes != test.bytes {
			t.Errorf("%s: got %d bytes, want %d: %s", test.name, bytes, test.bytes, diff)
		}
	}
}

func FuzzCursor(f *testing.F) {
	s := new(Service)
	s.keys.known.Store(testKeys(f, 0))
	good := string(s.cursors(callCursor).append(nil, Position{At: testNow, UUID: apitype.UUID{1}}))
	f.Add(good)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		place, ok := s.cursors(callCursor).parse(text)
		if ok && string(s.cursors(callCursor).append(nil, place)) != text {
			t.Errorf("%q is read as another cursor's place", text)
		}
	})
}
