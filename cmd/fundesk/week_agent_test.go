//go:build unix

package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// keyState is what became of a key by what the agent saw.
type keyState int

const (
	keyUnsure keyState = iota // The agent saw no confirmation.
	keyTaken                  // The Desk confirmed the change.
	keyUndone                 // The Desk confirmed that it was undone.
)

// keyPress is a key of a Desk that ended a call.
type keyPress struct {
	desk    *weekDesk
	verb    string // attempt, complete or later.
	says    string // What the Desk says when it has taken the key.
	donor   *weekDonor
	note    string // Of a completion, and the reason of a callback.
	reason  string // Why the donor was not reached; empty without one.
	email   string // Of a correction.
	asked   []string
	warned  bool // The card was not reserved any more, and the agent went on.
	seq     int64
	shownAt int64
	at      time.Time
	real    time.Time
	state   keyState
}

// visible is how long an agent looks at a call before a key ends it. The Desk counts no key that ends a call twice
// within a second.
const visible = 1100 * time.Millisecond

// work does some tasks of an agent.
func (d *weekDesk) work(tasks int) {
	if d.asleep {
		return
	}
	d.open()
	d.rouse()
	for range tasks {
		if !d.task() {
			return
		}
	}
}

// rouse types a key that changes nothing: after a leap of the clock the first key only makes the Desk read again.
func (d *weekDesk) rouse() {
	key := "x"
	if strings.Contains(d.look(), "leave notes") {
		key = escapeKey
	}
	d.write(key)
	time.Sleep(visible)
}

// task works one call. It reports whether there was one.
func (d *weekDesk) task() bool {
	screen := d.look()
	if dialogOf(screen) != "" {
		d.write(escapeKey)
		d.await(func(screen string) bool { return dialogOf(screen) == "" })
	}
	if strings.Contains(d.look(), "leave notes") {
		d.write(escapeKey)
		d.await(func(screen string) bool { return !strings.Contains(screen, "leave notes") })
	}
	if !d.hasCard() {
		return false
	}
	time.Sleep(visible)
	screen = d.look()
	isWarned := len(warningsOf(screen)) > 0 || strings.Contains(screen, "checking…")
	isMine := isReserved(screen)
	if isWarned || !isMine && d.luck(4) > 0 {
		d.giveBack()
		return true
	}
	d.choose()
	return true
}

// isReserved reports whether the card says that the call is the agent's.
func isReserved(screen string) bool {
	return strings.Contains(screen, "reserved") && !strings.Contains(screen, "not reserved")
}

// dial dials the number on the card. It reports whether the Desk did so without a question.
func (d *weekDesk) dial() bool {
	d.write("d")
	d.await(func(screen string) bool {
		return strings.Contains(screen, "the clock is running") || dialogOf(screen) != ""
	})
	if dialogOf(d.look()) == "" {
		return true
	}
	d.write(escapeKey)
	d.giveBack()
	return false
}

// choose chooses what an agent does with the call on the card.
func (d *weekDesk) choose() {
	if d.luck(3) == 0 && !d.dial() {
		return
	}
	switch luck := d.luck(20); {
	case luck < 5:
		d.notReached("")
	case luck < 8:
		d.notReached([]string{"no-answer", "busy", "voicemail"}[d.luck(3)])
	case luck < 13:
		d.complete("reached", "")
	case luck < 14:
		d.complete("no more calls", "")
	case luck < 16:
		d.complete("moved", fmt.Sprintf("new%d@example.org", d.front.next()))
	case luck < 18:
		d.later()
	case luck < 19:
		d.giveBack()
	default:
		d.pause()
	}
}

// hasCard reports whether a call is on the desk; it takes one if none is.
func (d *weekDesk) hasCard() bool {
	name := cardOf(d.look())
	if name == "" {
		d.write("n")
		arrives := time.NewTimer(1500 * time.Millisecond)
		defer arrives.Stop()
		for name == "" {
			select {
			case <-arrives.C:
				return false
			case <-d.ended:
				return false
			case <-time.After(50 * time.Millisecond):
				name = cardOf(d.look())
			}
		}
	}
	if name != d.shown {
		d.shown, d.shownAt = name, d.front.next()
	}
	return true
}

// press notes a key that ends a call, and types it.
func (d *weekDesk) press(k *keyPress, keys string) *keyPress {
	d.mu.Lock()
	k.donor = d.byName[d.shown]
	d.mu.Unlock()
	k.desk, k.shownAt = d, d.shownAt
	k.warned = !isReserved(d.look())
	k.seq, k.at, k.real = d.front.next(), d.clock.now(), time.Now()
	d.mu.Lock()
	d.keys = append(d.keys, k)
	d.mu.Unlock()
	d.write(keys)
	return k
}

// settle waits until the Desk confirms a key, and answers what it asks. Now and then the agent undoes it.
func (d *weekDesk) settle(k *keyPress) {
	name := d.shown
	isRefused := false
	d.await(func(screen string) bool {
		if isConfirmed(messageOf(screen), k.says, name) {
			k.state = keyTaken
			return true
		}
		if dialogOf(screen) != "" {
			isRefused = !d.answer(k, screen)
		}
		return isRefused
	})
	if k.state != keyTaken {
		d.Logf("%s: %s of %s is not confirmed, asked %q:\n%s", d.name, k.verb, name, k.asked, d.look())
		return
	}
	if d.luck(8) == 0 {
		d.undo(k)
	}
}

// isConfirmed reports whether a message says that a change of a donor's call is held or sent.
func isConfirmed(message, says, name string) bool {
	isHeld := strings.Contains(message, "◷ ") || strings.Contains(message, "undoes it")
	return isHeld && strings.Contains(message, says) && strings.Contains(message, name)
}

// answersOfAgent are the questions that an agent answers, each with its key. All others end the task.
var answersOfAgent = map[string]string{
	"Send the result anyway?":     "y",
	"with the corrections anyway": "y",
	"Save it anyway?":             "y",
	"Changed elsewhere: ":         "k",
	"where do your notes go?":     "n",
}

// answer answers the question of a dialog. It reports whether the task goes on.
func (d *weekDesk) answer(k *keyPress, screen string) bool {
	title := dialogOf(screen)
	if title == "Call back later" || title == "Not reached: why?" {
		return true // It is about to close.
	}
	key := escapeKey
	for text, known := range answersOfAgent {
		if strings.Contains(screen, text) {
			key = known
		}
	}
	k.asked = append(k.asked, title)
	d.write(key)
	d.await(func(screen string) bool { return dialogOf(screen) != title })
	return key != escapeKey
}

// undo takes a key back, if the Desk says so.
func (d *weekDesk) undo(k *keyPress) {
	d.write("u")
	switch d.see("undone: ", "nothing to undo", "cannot undo") {
	case "undone: ":
		k.state = keyUndone
	case "":
		k.state = keyUnsure
	}
	d.shown = ""
}

// reasonKeys are the keys of A.
var reasonKeys = map[string]string{"no-answer": "1", "busy": "2", "voicemail": "3"}

// notReached notes an attempt.
func (d *weekDesk) notReached(reason string) {
	keys := "a"
	if reason != "" {
		d.write("A")
		if d.see("Not reached: why?") == "" {
			d.write(escapeKey)
			return
		}
		keys = reasonKeys[reason]
	}
	k := d.press(&keyPress{verb: "attempt", says: "not reached", reason: reason}, keys)
	d.settle(k)
}

// complete chooses a result, corrects the address for e-mail where one is given, writes notes and sends all.
func (d *weekDesk) complete(label, email string) {
	if email != "" && !d.correct(email) {
		return
	}
	digit := regexp.MustCompile(`(\d) ` + label).FindStringSubmatch(d.look())
	if digit == nil {
		d.Logf("%s: no result %q on the card:\n%s", d.name, label, d.look())
		return
	}
	d.write("c")
	if d.see("/ another") == "" {
		d.write(escapeKey)
		return
	}
	d.write(digit[1])
	if d.see("0 to 9") != "" {
		d.write("8")
	}
	d.write("i")
	if d.see("leave notes") == "" {
		d.write(escapeKey)
		return
	}
	note := fmt.Sprintf("note %d", d.front.next())
	d.write("\x05" + eraseKey + note)
	if d.see(note) == "" {
		return
	}
	k := d.press(&keyPress{verb: "complete", says: label, note: note, email: email}, completeKey)
	d.settle(k)
}

// correct corrects the address for e-mail on the card.
func (d *weekDesk) correct(email string) bool {
	d.write("f")
	if d.see("esc closes") == "" {
		return false
	}
	d.write("3")
	if d.see("enter takes it") == "" {
		d.write(escapeKey)
		return false
	}
	d.write(email + "\r")
	isTaken := d.see(email+" ✎") != ""
	d.write(escapeKey)
	return d.await(func(screen string) bool { return !strings.Contains(screen, "esc close") }) && isTaken
}

// later schedules a callback for the next morning or in two hours.
func (d *weekDesk) later() {
	d.write("b")
	if d.see("Call back later") == "" {
		d.write(escapeKey)
		return
	}
	reason := "reason x" + inLetters(d.front.next())
	when := []string{"in 2 hours ", "tomorrow 10:30 ", "in 3 hours "}[d.luck(3)]
	d.write(when + reason)
	if d.see(reason) == "" {
		d.write(escapeKey)
		return
	}
	k := d.press(&keyPress{verb: "later", says: "later: ", note: reason}, "\r")
	d.settle(k)
}

// inLetters spells a number. Digits in the reason of a callback could be a time.
func inLetters(n int64) string {
	var letters strings.Builder
	for _, digit := range fmt.Sprint(n) {
		letters.WriteRune(digit - '0' + 'q' - 6)
	}
	return letters.String()
}

// giveBack gives a call back.
func (d *weekDesk) giveBack() {
	before := cardOf(d.look())
	d.write("s")
	d.await(func(screen string) bool {
		isSaid := strings.Contains(messageOf(screen), before) || strings.Contains(screen, "given back")
		return cardOf(screen) != before || dialogOf(screen) != "" || isSaid
	})
	d.shown = ""
}

// pause pauses, and goes on with the next key.
func (d *weekDesk) pause() {
	d.write("P")
	if d.see("coaching") == "" {
		d.write(escapeKey)
		return
	}
	d.write("2")
	if d.see("paused ·") == "" {
		d.Logf("%s does not pause:\n%s", d.name, d.look())
	}
	d.write("x")
	d.await(func(screen string) bool { return !strings.Contains(screen, "paused ·") })
	d.shown = ""
}
