package desk

import "time"

// A key that ends a call may have been meant for the call before it.
const (
	visibleFor = 600 * time.Millisecond // How long a call is visible before such a key ends it.
	repeatsIn  = time.Second            // The same key counts again only after a pause of this length.
)

// Guard knows the keys that the agent presses. It keeps a key from ending a call that the agent
// has not seen: a key that is held down would record an attempt on every donor of the queue. The
// zero value has seen nothing.
type Guard struct {
	shownAt time.Time            // When the call on the desk came on screen.
	at      time.Time            // When the last key came.
	presses int                  // How many keys have come: what the agent asks for knows after which key.
	keys    map[string]time.Time // When each key was pressed last.
}

// Show notes that another call came on screen.
func (g *Guard) Show(now time.Time) { g.shownAt = now }

// Touch notes that the agent did something.
func (g *Guard) Touch(now time.Time) {
	g.presses++
	g.at = now
}

// Press handles a key. ends means that it would end the call on the screen. It reports whether the key is ignored: the
// call was visible too briefly, or the same key came a moment ago. Keys that arrive together count as a moment apart,
// too.
func (g *Guard) Press(key string, isRepeat, ends bool, now time.Time) (ignored bool) {
	g.Touch(now)
	return g.Count(key, isRepeat, now) && ends || ends && now.Sub(g.shownAt) < visibleFor
}

// Count notes when a key was pressed, and reports whether that repeats an earlier press of it.
func (g *Guard) Count(key string, isRepeat bool, now time.Time) (repeats bool) {
	last, before := g.keys[key]
	if g.keys == nil {
		g.keys = map[string]time.Time{}
	}
	g.keys[key] = now
	return isRepeat || before && now.Sub(last) < repeatsIn
}

// noKeyFor reports whether no key came for so long. It uses a clock that runs while a computer sleeps.
func (g *Guard) noKeyFor(long time.Duration, now time.Time) bool {
	return !g.at.IsZero() && now.Round(0).Sub(g.at.Round(0)) >= long
}

// isIdle reports whether no key came for so long that the agent may have gone.
func (g *Guard) isIdle(now time.Time) bool { return g.noKeyFor(idleTime, now) }
