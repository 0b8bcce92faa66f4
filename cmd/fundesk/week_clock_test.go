//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// clockOfMain is where a program is given its clock.
var clockOfMain = regexp.MustCompile(`(Now:\s+)time\.Now,`)

// clockFromFile is the clock that the programs of a week get instead.
const clockFromFile = `
func clockOfTest() time.Time {
	text, err := os.ReadFile(os.Getenv("FUNDESK_TEST_CLOCK"))
	if err != nil {
		panic(err)
	}
	ahead, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(ahead)
}
`

// buildWithClock builds both programs into a folder. Their clock is ahead by what a file says.
func buildWithClock(t *testing.T, folder string) {
	t.Helper()
	replaced := map[string]string{}
	for _, name := range []string{"fundesk", "fundeskd"} {
		path, err := filepath.Abs(filepath.Join("..", name, "main.go"))
		servicetest.Check(t, err)
		source, err := os.ReadFile(path)
		servicetest.Check(t, err)
		if n := len(clockOfMain.FindAll(source, -1)); n != 1 {
			t.Fatalf("%s gives its clock at %d places, want 1", path, n)
		}
		text := clockOfMain.ReplaceAllString(string(source), "${1}clockOfTest,") + clockFromFile
		replaced[path] = filepath.Join(folder, name+"_main.go")
		servicetest.Check(t, os.WriteFile(replaced[path], []byte(text), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	servicetest.Check(t, err)
	file := filepath.Join(folder, "overlay.json")
	servicetest.Check(t, os.WriteFile(file, overlay, 0o600))
	args := []string{
		"build", "-overlay", file, "-ldflags=-w", "-o", folder + "/", "fundesk/cmd/fundesk", "fundesk/cmd/fundeskd",
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// weekClock is the clock that all programs of a week share.
type weekClock struct {
	t    *testing.T
	file string

	mu    sync.Mutex
	ahead time.Duration
}

func newWeekClock(t *testing.T, file string, start time.Time) *weekClock {
	t.Helper()
	c := &weekClock{t: t, file: file}
	c.set(start)
	return c
}

func (c *weekClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// set sets the clock. A program never reads half of its file.
func (c *weekClock) set(to time.Time) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = time.Until(to)
	servicetest.Check(c.t, os.WriteFile(c.file+".new", []byte(c.ahead.String()), 0o600))
	servicetest.Check(c.t, os.Rename(c.file+".new", c.file))
}

// weekDay returns a time of a day of the week: 0 is its Monday.
func weekDay(day int, clock string) time.Time {
	at, err := time.ParseInLocation("15:04", clock, time.UTC)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, time.May, 11+day, at.Hour(), at.Minute(), 0, 0, amsterdam)
}

var (
	amsterdam = mustLoad("Europe/Amsterdam")
	london    = mustLoad("Europe/London")
)

func mustLoad(zone string) *time.Location {
	location, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return location
}

// inLines splits what a program printed.
func inLines(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
