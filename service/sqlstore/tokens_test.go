package sqlstore_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestTokens keeps tokens of two accounts: one is used on two days, one ends.
func TestTokens(t *testing.T) { each(t, testTokens) }

func testTokens(t *testing.T, database string) {
	store := reopen(t, database)
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", Scope: all, CreatedAt: now}
	later := func(days int) *apitype.Time { return new(apitype.NewTime(now.AddDate(0, 0, days))) }
	first := service.IssuedToken{UUID: apitype.NewUUID(), Account: account.UUID, IssuedAt: now, ExpiresAt: later(90)}
	second := service.IssuedToken{UUID: apitype.NewUUID(), Account: account.UUID, IssuedAt: *later(1), ExpiresAt: later(91)}
	shared := service.IssuedToken{UUID: apitype.NewUUID(), IssuedAt: now}
	shared.Account = shared.UUID
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(second), tx.InsertToken(first), tx.InsertToken(shared))
	})
	day, next := apitype.DateOf(now.UTC()), apitype.DateOf(now.AddDate(0, 0, 1).UTC())
	update(t, store, func(tx service.Tx) error {
		return errors.Join(
			tx.UseToken(first.UUID, day, *first.ExpiresAt), tx.UseToken(first.UUID, next, *first.ExpiresAt),
			tx.UseToken(shared.UUID, next, *later(9)),
			tx.UseToken(shared.UUID, next, *later(10)), // On the same day nothing is saved again,
			tx.UseToken(shared.UUID, day, *later(11)),  // and nothing of a day before.
			tx.UseToken(account.UUID, day, *later(5)),  // It is no token.
			tx.EndToken(second.UUID, *later(2)),
		)
	})
	first.LastUsedOn, second.EndedAt, shared.LastUsedOn, shared.ExpiresAt = &next, later(2), &next, later(9)
	err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		ofAccount, err := r.Tokens(&account.UUID)
		if diff := cmp.Diff([]service.IssuedToken{first, second}, ofAccount); diff != "" || err != nil {
			t.Errorf("of the account: %v %s", err, diff)
		}
		ofAll, err := r.Tokens(nil)
		if len(ofAll) != 3 || err != nil || cmp.Diff(shared, ofAll[0]) != "" && cmp.Diff(shared, ofAll[2]) != "" {
			t.Errorf("of all: got %v, %v, want that of another account, too", ofAll, err)
		}
		for _, test := range []struct {
			account, token apitype.UUID
			ended          *apitype.Time
			err            error
		}{
			{account.UUID, first.UUID, nil, nil},
			{account.UUID, second.UUID, second.EndedAt, nil},
			{account.UUID, shared.UUID, nil, service.ErrNoRow},
			{account.UUID, account.UUID, nil, service.ErrNoRow},
			{shared.Account, shared.UUID, nil, service.ErrNoRow}, // There is no such account.
		} {
			a, ended, err := r.AccountOfToken(test.account, test.token)
			if !errors.Is(err, test.err) || cmp.Diff(test.ended, ended) != "" || err == nil && a.Name != "a" {
				t.Errorf("%v: got %v, ended %v, %v", test, a, ended, err)
			}
		}
		return nil
	})
	servicetest.Check(t, err)
}
