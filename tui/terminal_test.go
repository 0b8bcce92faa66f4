package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"

	"fundesk/service/servicetest"
)

func staticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// terminal is the interface running in a terminal emulator.
type terminal struct {
	t      testing.TB
	screen *vt.Emulator
	keys   *io.PipeWriter
	mu     sync.Mutex
	wrote  chan struct{}
	done   chan error
	sent   int // Keys pressed.
	// cooked means that there is no terminal: another program turns a line feed into a new line.
	cooked bool
	after  strings.Builder
}

// Write draws on the emulated screen.
func (m *terminal) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		select {
		case m.wrote <- struct{}{}:
		default:
		}
	}()
	if m.screen == nil {
		return len(p), nil // The screen has no reader any more.
	}
	m.after.Write(p)
	drawn := p
	if m.cooked {
		drawn = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	_, err := m.screen.Write(drawn)
	return len(p), err
}

// text returns the screen as it is now.
func (m *terminal) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := strings.Split(m.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// patience is how long a test waits for a quick event. It only ends a test that hangs: a machine may stall for a while.
const patience = time.Minute

// start runs the interface in width by height cells.
func start(t *testing.T, o Options, width, height int) *terminal {
	t.Helper()
	in, keys := io.Pipe()
	m := &terminal{
		t:      t,
		cooked: true,
		screen: vt.NewEmulator(width, height),
		keys:   keys,
		wrote:  make(chan struct{}, 1),
		done:   make(chan error, 1),
	}
	// The emulator answers the program's questions to the terminal. The tests need none of the answers.
	go func() { _, _ = io.Copy(io.Discard, m.screen) }()
	o.In, o.Out = in, m
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.done <- run(ctx, o, tea.WithWindowSize(width, height),
			tea.WithEnvironment([]string{"TERM=xterm", "CLICOLOR_FORCE=1"}))
	}()
	t.Cleanup(func() {
		cancel()
		_ = keys.Close()
		<-over // It writes to the folders of the test until then.
	})
	return m
}

// press types keys: single characters, or one of the named ones.
func (m *terminal) press(keys ...string) {
	m.t.Helper()
	named := map[string]string{
		"enter":     "\r",
		"esc":       "\x1b",
		"ctrl+s":    "\x13",
		"ctrl+c":    "\x03",
		"down":      "\x1b[B",
		"space":     " ",
		"backspace": "\x7f",
	}
	for _, key := range keys {
		text, isNamed := named[key]
		if !isNamed {
			text = key
		}
		m.sent++
		lookFirst(m.t, key)
		if _, err := io.WriteString(m.keys, text); err != nil {
			m.t.Fatal(err)
		}
	}
}

// see waits until the screen shows all of the texts.
func (m *terminal) see(texts ...string) string {
	m.t.Helper()
	return m.until(func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}, texts)
}

// gone waits until the screen no longer shows a text.
func (m *terminal) gone(text string) string {
	m.t.Helper()
	return m.until(func(screen string) bool { return !strings.Contains(screen, text) }, []string{"no " + text})
}

func (m *terminal) until(ok func(string) bool, what []string) string {
	m.t.Helper()
	deadline := time.After(servicetest.Patience(m.t, patience))
	for {
		screen := m.text()
		if ok(screen) {
			return screen
		}
		select {
		case <-m.wrote:
		case err := <-m.done:
			m.t.Fatalf("the program ended (%v) before the screen showed %q:\n%s", err, what, screen)
		case <-deadline:
			m.t.Fatalf("waited in vain for %q:\n%s", what, screen)
		}
	}
}

// ended waits for the end of the program and returns what it wrote last.
func (m *terminal) ended() string {
	m.t.Helper()
	select {
	case err := <-m.done:
		if err != nil {
			m.t.Fatalf("run: got %v, want none", err)
		}
	case <-time.After(servicetest.Patience(m.t, patience)):
		m.t.Fatalf("the program does not end:\n%s", m.text())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.after.String()
}

// golden compares a screen with the file of that name.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		servicetest.Check(t, os.MkdirAll("testdata", 0o755))
		servicetest.Check(t, os.WriteFile(path, []byte(screen+"\n"), 0o644))
	}
	want, err := os.ReadFile(path)
	servicetest.Check(t, err)
	if diff := cmp.Diff(string(want), screen+"\n"); diff != "" {
		t.Errorf("screen differs from %s (-want +got); -update rewrites it:\n%s", path, diff)
	}
}
