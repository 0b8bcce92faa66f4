//go:build unix

package tui

import (
	"math/rand/v2"
	"strings"
	"testing"

	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// A terminal that takes nothing for a while stops neither typing nor saving, and shows
// all of it afterwards.
func TestStoppedTerminalStopsNothing(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	box, err := outbox.Open(dir, outbox.Options{BaseURL: w.URL, Account: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, w.URL, w.Token(), dir)
	p.see("take the next call")
	p.write("n")
	p.see("Anna Jansen", onCard(1))
	p.write("i")
	p.see("leave notes")

	// The drawn text has no reader, and soon exceeds the system's buffer.
	p.mu.Lock()
	random, want := rand.New(rand.NewPCG(5, 11)), ""
	for range 12 {
		piece := randomText(random, 200)
		p.write(piece + "\x0c") // ctrl+l has all of it drawn.
		want += piece
		if waitForDraft(t, box, want, patience); t.Failed() {
			break
		}
	}
	p.mu.Unlock()

	isWhole := func(screen string) bool { return strings.Contains(unwrap(screen), tail(want)) }
	p.until(isWhole, []string{tail(want)})
	const foreign = "written by somebody else"
	p.mu.Lock()
	_, _ = p.screen.Write([]byte("\x1b[5;5H" + foreign))
	p.mu.Unlock()
	p.write("\x0c")
	// A poll may have changed other lines before that.
	p.until(func(screen string) bool {
		return isWhole(screen) && !strings.Contains(screen, foreign)
	}, []string{"no " + foreign})
}
