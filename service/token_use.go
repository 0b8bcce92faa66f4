package service

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// tokenUse is the first use of a token on a day.
type tokenUse struct {
	on      apitype.Date
	expires apitype.Time
}

// tokenUses are uses that are not saved yet. The zero value is ready.
type tokenUses struct {
	mu   sync.Mutex
	uses map[apitype.UUID]tokenUse
}

// note notes that a token is used. What does not fit is noted the next day.
func (u *tokenUses) note(t verifiedToken, now time.Time) {
	if !isFirst(t.used, now) {
		return
	}
	use := tokenUse{apitype.DateOf(now.UTC()), apitype.NewTime(t.expires.Add(-tokenLeeway))}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.uses == nil {
		u.uses = map[apitype.UUID]tokenUse{}
	}
	if known, there := u.uses[t.id]; there && known.expires.After(use.expires.Time) {
		use.expires = known.expires
	} else if !there && len(u.uses) >= maxVerified {
		return
	}
	u.uses[t.id] = use
}

// take empties it.
func (u *tokenUses) take() map[apitype.UUID]tokenUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.uses
	u.uses = nil
	return taken
}

// putBack is for uses that could not be saved; what was noted since counts.
func (u *tokenUses) putBack(uses map[apitype.UUID]tokenUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.Copy(uses, u.uses)
	u.uses = uses
}

// SaveTokenUse saves on which day tokens were used last, in one transaction for all that were used
// since it was called before: at most one write a day and token. Where nothing can be changed, as on
// a standby, it saves nothing and tries again when it is called the next time.
func (s *Service) SaveTokenUse(ctx context.Context) error {
	uses := s.uses.take()
	if len(uses) == 0 {
		return nil
	}
	if s.ReadyForChanges(ctx) != nil {
		s.uses.putBack(uses)
		return nil
	}
	err := s.update(ctx, "save when tokens were used", func(tx Tx) error {
		// In one order: programs that save at once wait for each other, and for nothing else.
		for _, id := range slices.SortedFunc(maps.Keys(uses), apitype.UUID.Compare) {
			if err := tx.UseToken(id, uses[id].on, uses[id].expires); err != nil {
				return err
			}
		}
		return s.dropKeys(tx)
	})
	if err != nil {
		s.uses.putBack(uses)
	}
	return err
}
