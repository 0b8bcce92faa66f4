package desk

import "time"

// How a key that ends a call is told from one that was not meant for it.
const (
	visibleFor = 600 * time.Millisecond // How long a call is visible before such a key ends it.
	repeatsIn  = 150 * time.Millisecond // A key that comes again within this time is being held down.
)

// Guard keeps keys from ending a call that nobody has looked at: a key that is held down
// would record an attempt on every donor of the queue. The zero value has seen nothing.
type Guard struct {
	shownAt time.Time
	touched bool // A key that ends no call came since.
	key     string
	at      time.Time
}

// Show notes that another call came on screen.
func (g *Guard) Show(now time.Time) { g.shownAt, g.touched = now, false }

// Press notes a key; ends tells that it would end the call on screen. It reports whether
// the key is to be ignored.
func (g *Guard) Press(key string, isRepeat, ends bool, now time.Time) (ignored bool) {
	isRepeat = isRepeat || key == g.key && now.Sub(g.at) < repeatsIn
	g.key, g.at = key, now
	if !ends {
		g.touched = true
		return false
	}
	return isRepeat || !g.touched && now.Sub(g.shownAt) < visibleFor
}
