package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestOwnAccountIsMadeAgain lets the transaction that makes a program's own account run twice, as after a conflict. The
// account is stored, and its token is accepted.
func TestOwnAccountIsMadeAgain(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		token, err := f.On(trying{f.Store}).OwnToken(t.Context(), "sandbox", time.Hour)
		servicetest.Check(t, err)
		f.Want(200, token, http.MethodGet, "/api/v1/calls", "")
	})
}

// trying is a store whose changes run twice: nothing of the first try is kept.
type trying struct{ service.Store }

func (s trying) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	failed := errors.New("a conflict")
	err := s.Store.Write(ctx, mode, func(tx service.Tx) error { return cmp.Or(change(tx), failed) })
	if !errors.Is(err, failed) {
		return err
	}
	return s.Store.Write(ctx, mode, change)
}

// TestTokenBesideARotation replaces the signing key before the row of a new token is stored. The token is signed with
// the new key, so requests accept it.
func TestTokenBesideARotation(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		account := f.Account()
		s := f.On(hooked{f.Store, once("before Write", func() {
			_, err := service.RotateKey(t.Context(), f.Store, f.Clock.Now)
			servicetest.Report(t, err)
		})})
		token, _, err := s.IssueToken(t.Context(), account.UUID, time.Hour)
		servicetest.Check(t, err)
		f.restart() // The running process may use the earlier key for two seconds.
		f.Want(200, token, http.MethodGet, "/api/v1/calls", "")
	})
}

// TestAccountComesWithItsToken fails between a new account and its token: neither is left.
func TestAccountComesWithItsToken(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		before, err := f.Service.Accounts(t.Context())
		servicetest.Check(t, err)
		account := service.Account{Name: "dialer", Scope: service.Scope{All: true}}
		_, _, _, err = f.On(hooked{f.Store, failAt("before Audit token.issue", errCut)}).
			AddAccountWithToken(t.Context(), account, time.Hour)
		after, readErr := f.Service.Accounts(t.Context())
		servicetest.Check(t, readErr)
		if !errors.Is(err, errCut) || len(after) != len(before) {
			t.Errorf("got %v and %d accounts, want %d", err, len(after), len(before))
		}
		_, token, _, err := f.Service.AddAccountWithToken(t.Context(), account, time.Hour)
		servicetest.Check(t, err)
		f.Want(403, token, http.MethodGet, "/api/v1/calls", "")
	})
}

// TestTokensReplacedAtOnce replaces the tokens of an account without any in the middle of another replacement, at
// another process. One of the two tokens is good.
func TestTokensReplacedAtOnce(t *testing.T) {
	t.Parallel()
	f := postgresFloor(t)
	account, err := f.Service.AddAccount(t.Context(), service.Account{
		Name: "dialer", Permissions: []service.Permission{service.CallsRead}, Scope: service.Scope{All: true},
	})
	servicetest.Check(t, err)
	var tokens [2]string
	replace := func(s *service.Service) (token string) {
		token, _, _, err := s.ReplaceTokens(t.Context(), account.UUID, time.Hour, 0)
		servicetest.Report(t, err)
		return token
	}
	tokens[1] = replace(f.On(hooked{f.Store, once("after Tokens", func() { tokens[0] = replace(f.Service) })}))
	for i, want := range []int{http.StatusUnauthorized, http.StatusOK} {
		f.Want(want, tokens[i], http.MethodGet, "/api/v1/calls", "")
	}
}
