//go:build unix

package tui

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/service/servicetest"
)

// helloRole makes the test binary play the floor: the least program of the same library.
const helloRole = "hello"

// helloFrames is how many frames a second the floor draws at most: all that the library
// can.
const helloFrames = 120

// hello counts keys, on one line.
type hello struct{ keys int }

func (h hello) Init() tea.Cmd { return nil }

func (h hello) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, pressed := msg.(tea.KeyPressMsg); pressed {
		h.keys++
	}
	return h, nil
}

func (h hello) View() tea.View { return tea.NewView(fmt.Sprintf("hello %d", h.keys)) }

func playHello() {
	if _, err := tea.NewProgram(hello{}, tea.WithFPS(helloFrames)).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Key to frame through a real pseudo-terminal, from the write of a key to the first bytes of its frame, in a list
// of 100,000 rows, and the bytes that a key sends. In the same run a program that only counts keys gets one each
// time. testdata/bench of cmd/fundesk holds the median and the first screen against goals.
func BenchmarkKeyToFrame(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(300)
	p := startRole(b, h.URL+" "+h.Token()+" "+b.TempDir(), 120, 40)
	p.see("take the next call")
	p.write("2")
	p.see("100 calls")
	p.write("\x1b[200~" + fillText + "\x1b[201~j")
	p.see("100,000 calls") // As many as fillRows.
	p.quiet()
	p.againstHello(b, func(i int) string {
		if i/90%2 == 1 {
			return "k"
		}
		return "j"
	})
}

// The same in notes of 2,000 characters on the card: a letter, a row up, a row down, and the letter taken
// out again: each of them draws. Before that, what the program uses while idle.
func BenchmarkKeyToFrameInNotes(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(300)
	p := startRole(b, h.URL+" "+h.Token()+" "+b.TempDir(), 120, 40)
	p.see("take the next call")
	p.write("n")
	p.see("completes once there is a result")
	p.write("i\x1b[200~" + strings.Repeat("Belt morgen terug. ", 105) + "\x1b[201~")
	p.see("morgen terug.")
	p.quiet()
	share := p.idleShare()
	p.againstHello(b, func(i int) string { return []string{"x", "\x1b[A", "\x1b[B", "\x7f"}[i%4] })
	b.ReportMetric(share, "idle-cpu-%")
}

// againstHello presses keys, and in turn as many in the least program, and reports both.
func (p *process) againstHello(b *testing.B, key func(i int) string) {
	hello := startRole(b, helloRole, 120, 40)
	hello.see("hello 0")
	before := p.after.Len()
	var ours, floors []time.Duration
	for i := 0; b.Loop(); i++ {
		ours = append(ours, p.answer(key(i)))
		floors = append(floors, hello.answer("j"))
	}
	b.ReportMetric(float64(p.after.Len()-before)/float64(len(ours)), "bytes/key")
	slices.Sort(ours)
	slices.Sort(floors)
	for _, q := range []int{50, 99} {
		mine, least := ours[len(ours)*q/100], floors[len(floors)*q/100]
		b.ReportMetric(float64(mine.Microseconds())/1000, fmt.Sprintf("p%d-ms", q))
		b.ReportMetric(float64(mine)/float64(least), fmt.Sprintf("p%d/hello", q))
	}
}

// answer presses a key at any moment between two frames, and returns the time to what
// comes of it.
func (p *process) answer(key string) time.Duration {
	time.Sleep(rand.N(time.Second / helloFrames))
	began := time.Now()
	p.write(key)
	<-p.wrote
	took := time.Since(began)
	p.quiet()
	return took
}

// idleTime is how long the program is left alone.
const idleTime = 10 * time.Second

// idleShare returns the share of a processor that the program takes when it is left alone, in percent.
func (p *process) idleShare() float64 {
	before, began := p.usage(), time.Now()
	for time.Since(began) < idleTime {
		p.quiet() // Once a second it draws what depends on the time.
	}
	return 100 * float64(p.usage()-before) / float64(time.Since(began))
}

// usage returns the processor's time of the program so far; zero where the system does not tell.
func (p *process) usage() time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	_, rest, found := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100)
}

// quiet waits until nothing was drawn for a while.
func (m *terminal) quiet() {
	for {
		select {
		case <-m.wrote:
		case <-time.After(30 * time.Millisecond):
			return
		}
	}
}
