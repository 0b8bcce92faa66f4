//go:build unix

package main

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var (
	weekOfFloor = flag.Bool("week-of-floor", false, "play TestWeekOfAFloor")
	weekSeed    = flag.Uint64("week-seed", 0, "the seed of TestWeekOfAFloor; 0 is a random one")
	weekEnd     = flag.Int("week-days", 7, "how many days TestWeekOfAFloor plays")
)

// TestWeekOfAFloor plays a week of a floor with the programs as they are: agents at Desks in terminals, agents of a
// dialer, a supervisor, an operator and a consumer. In the end all that the agents typed and all that the programs
// sent is compared with the database, the audit, the copy and the feed.
func TestWeekOfAFloor(t *testing.T) {
	if !*weekOfFloor {
		t.Skip("it takes ten minutes: -week-of-floor plays it")
	}
	need(t, "bash")
	seed := *weekSeed
	if seed == 0 {
		seed = rand.Uint64N(1_000_000) + 1
	}
	t.Logf("seed %d", seed)
	begun := time.Now()
	w := newWeek(t, seed)
	t.Cleanup(w.stopService)
	t.Cleanup(w.goHome)
	for day := range *weekEnd {
		for _, hour := range hoursOf(day) {
			w.clock.set(weekDay(day, hour))
			w.happen(day, hour)
			w.everybodyWorks()
		}
		w.clock.set(weekDay(day, "23:30"))
		w.night()
		t.Logf("day %d ends after %s", day, time.Since(begun).Round(time.Second))
	}
	w.endOfWeek()
	w.judge()
	if t.Failed() {
		t.Errorf("again: -week-of-floor -week-seed %d", seed)
	}
}

// hoursOfDay are the times at which the agents work. Between them all are away.
var hoursOfDay = []string{"08:40", "09:10", "09:18", "11:00", "12:00", "12:09", "13:20", "15:30", "17:00", "20:40"}

// hoursOf returns the hours of a day. On Sunday the agents only look whether there is a call.
func hoursOf(day int) []string {
	if day == 6 {
		return hoursOfDay[:2]
	}
	return hoursOfDay
}

// everybodyWorks lets all agents work at once.
func (w *week) everybodyWorks() {
	w.Helper()
	var all sync.WaitGroup
	for _, d := range w.desks {
		all.Go(func() { d.work(2) })
	}
	for _, s := range w.scripts {
		all.Go(s.work)
	}
	all.Wait()
}

// goHome ends all Desks.
func (w *week) goHome() {
	for _, d := range w.desks {
		if d.asleep {
			d.wake()
		}
		d.kill()
	}
}

// endOfWeek sends what waits, pulls and copies for the last time.
func (w *week) endOfWeek() {
	w.Helper()
	for _, d := range w.desks {
		if d.command != nil && d.runs() {
			d.quit()
		}
		d.drain()
	}
	w.night()
}
