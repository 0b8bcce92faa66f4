// Package debounce keeps a key from ending a call that the agent has not seen: a key that is held down would record an
// attempt on every donor of the queue. It also counts the keys, so that a request remembers the key that it came from.
package debounce

import "time"

// A key that ends a call may have been meant for the call before it.
const (
	VisibleFor = 600 * time.Millisecond // How long a call or an offer is visible before such a key counts.
	repeatsIn  = time.Second            // The same key counts again only after a pause of this length.
)

// bouncesIn is the pause after which a key that ends no call does its work again.
const bouncesIn = 300 * time.Millisecond

// idleTime is the time without a key after which the agent may have gone.
const idleTime = 15 * time.Minute

// Keys has the keys that the agent presses. The zero value has none.
type Keys struct {
	ShownAt time.Time // When the call on the Desk came on screen.
	LastAt  time.Time // When the last key came.
	Presses int       // How many keys have come.

	pressedAt map[string]time.Time // When each key was pressed last.
}

// Show notes that another call came on screen.
func (k *Keys) Show(now time.Time) { k.ShownAt = now }

// Touch notes that the agent did something.
func (k *Keys) Touch(now time.Time) {
	k.Presses++
	k.LastAt = now
}

// Press handles a key. ends means that it would end the call on the screen. It reports whether the key is ignored: the
// call was visible too briefly, or the same key came a moment ago. Keys that arrive together count as a moment apart,
// too.
func (k *Keys) Press(key string, isRepeat, ends bool, now time.Time) bool {
	k.Touch(now)
	return k.Count(key, isRepeat, now) && ends || ends && now.Sub(k.ShownAt) < VisibleFor
}

// Count notes when a key was pressed, and reports whether that repeats an earlier press of it.
func (k *Keys) Count(key string, isRepeat bool, now time.Time) bool {
	repeats := k.comesWithin(repeatsIn, key, isRepeat, now)
	if k.pressedAt == nil {
		k.pressedAt = map[string]time.Time{}
	}
	k.pressedAt[key] = now
	return repeats
}

// Bounces reports whether a key that is pressed now is held down, or was pressed a moment ago.
func (k *Keys) Bounces(key string, isRepeat bool, now time.Time) bool {
	return k.comesWithin(bouncesIn, key, isRepeat, now)
}

func (k *Keys) comesWithin(pause time.Duration, key string, isRepeat bool, now time.Time) bool {
	last, before := k.pressedAt[key]
	return isRepeat || before && now.Sub(last) < pause
}

// NoneFor reports whether no key came for so long. It uses a clock that runs while a computer sleeps.
func (k *Keys) NoneFor(long time.Duration, now time.Time) bool {
	return !k.LastAt.IsZero() && now.Round(0).Sub(k.LastAt.Round(0)) >= long
}

// AreIdle reports whether no key came for so long that the agent may have gone.
func (k *Keys) AreIdle(now time.Time) bool { return k.NoneFor(idleTime, now) }
