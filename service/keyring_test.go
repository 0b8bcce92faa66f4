package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// keyStore is a store whose key an operator changes.
type keyStore struct {
	Store
	seed []byte
}

func (s *keyStore) SigningSeed(context.Context) ([]byte, error) { return s.seed, nil }

// A process knows a new key 2 s after it was made, and writes with it 10 s later: by then every
// other one knows it, too. Spec gap: S52.
func TestNewKeyIsUsedWhenAllKnowIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		earlier, both := testKeys(t, 1), testKeys(t, 2, 1)
		store := &keyStore{seed: earlier.seed}
		ring := newKeyring(store)
		if _, err := ring.latest(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.seed = both.seed
		keys := func() *knownKeys {
			known, err := ring.fresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return known
		}
		writesWith := func(known *knownKeys) string { return string(known.writing().cursor) }
		oldKey, newKey := string(earlier.all[0].cursor), string(both.all[0].cursor)
		time.Sleep(2*time.Second - time.Millisecond)
		if got := keys(); len(got.all) != 1 {
			t.Error("the key was read again before 2 s")
		}
		time.Sleep(time.Millisecond)
		if got := keys(); len(got.all) != 2 || writesWith(got) != oldKey {
			t.Errorf("after 2 s: got %d keys, want two, and what is written by the earlier one", len(got.all))
		}
		time.Sleep(10*time.Second - time.Millisecond)
		if writesWith(keys()) != oldKey {
			t.Error("a key writes that others may not know")
		}
		time.Sleep(time.Millisecond)
		if writesWith(keys()) != newKey {
			t.Error("after 10 s: the new key does not write")
		}
	})
}
