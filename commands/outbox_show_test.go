package commands

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A change that has ended is shown for a day, without what was typed: its text is erased from the disk.
func TestOutboxShowOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	for outcome, line := range map[string]string{"accepted": "outbox send", "dropped": "outbox drop --all --yes"} {
		var isUp atomic.Bool
		address := serving(t, readsThen(func(w http.ResponseWriter, r *http.Request) {
			answer := status(http.StatusServiceUnavailable, "text/plain", "down")
			if isUp.Load() {
				answer = status(http.StatusOK, "application/json", `{"uuid":"`+testID+`","status":"completed"}`)
			}
			answer(w, r)
		}))
		l := lineAt(t, address, "token")
		now := time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC)
		l.now = func() time.Time { return now }
		l.try(t, "call complete "+testID+" --result-code reached --notes typed-words --outbox --yes").MustEnd(10)
		id := strings.TrimSpace(l.must(t, "outbox list -o id"))
		l.try(t, "outbox show", id).MustEnd(0).Prints("typed-words")
		isUp.Store(true)
		now = now.Add(time.Hour)
		l.must(t, line)
		now = now.Add(23*time.Hour + 50*time.Minute)
		for _, format := range []string{"table", "json"} {
			shown := l.try(t, "outbox show -o "+format, id).Ends(0).Omits("typed-words")
			shown.Prints(outcome, testID, id, address, "2026-06-17T14:00:00")
		}
		now = now.Add(20 * time.Minute)
		l.try(t, "outbox show", id).Ends(3, "there is no entry")
	}
}
