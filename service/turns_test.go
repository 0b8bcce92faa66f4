package service

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// An account that asks for much waits for itself: others come next, in turn, however many of its
// requests wait.
// Promise S32: the next turn is of the account that has the fewest.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2)
		names := map[string]context.Context{}
		for _, name := range []string{"greedy", "a", "b"} {
			names[name] = WithRequest(t.Context(), Request{Account: apitype.NewUUID()})
		}
		var order []string
		ask := func(n int, name string) (end func()) {
			done := make(chan struct{})
			go func() {
				if err := turns.Take(names[name]); err != nil {
					t.Error(err)
				}
				order = append(order, fmt.Sprint(name, n))
				<-done
				turns.End(names[name])
			}()
			synctest.Wait()
			return func() {
				close(done)
				synctest.Wait()
			}
		}
		var ends []func()
		for n, name := range []string{"greedy", "greedy", "greedy", "greedy", "a", "a", "b"} {
			ends = append(ends, ask(n, name))
		}
		if turns.TryTake(names["b"]) || turns.Held() != 2 {
			t.Errorf("got %d turns, want 2 and no more", turns.Held())
		}
		gone, cancel := context.WithCancel(names["b"])
		cancel()
		if err := turns.Take(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v for a caller who has gone", err)
		}
		for _, first := range []int{0, 1, 4, 6, 5, 2, 3} { // Each has its turn when it ends.
			ends[first]()
		}
		want := []string{"greedy0", "greedy1", "a4", "b6", "greedy2", "a5", "greedy3"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Error(diff)
		}
		if turns.Held() != 0 || len(turns.accounts) != 0 {
			t.Errorf("got %d turns of %d accounts in the end, want none", turns.Held(), len(turns.accounts))
		}
	})
}
