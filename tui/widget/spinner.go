package widget

import (
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
)

// Spinner turns during a longer wait, and only then, so that an idle screen is not drawn again. Follow is called after
// each message with the state of the wait. The zero value never turns.
type Spinner struct {
	After   time.Duration // How long something has not come before it turns.
	model   spinner.Model
	waiting bool
	turning bool
	wait    int // Counts what was waited for.
}

// late is sent when a wait may have become a longer one.
type late struct{ wait int }

// The signs of a spinner: each of one cell.
var (
	turningDisc = spinner.Spinner{Frames: []string{"◐", "◓", "◑", "◒"}, FPS: time.Second / 8}
	turningLine = spinner.Spinner{Frames: spinner.Line.Frames, FPS: time.Second / 8}
)

// NewSpinner returns a spinner for what takes longer than a moment.
func NewSpinner(ascii bool) Spinner {
	signs := turningDisc
	if ascii {
		signs = turningLine
	}
	return Spinner{After: 300 * time.Millisecond, model: spinner.New(spinner.WithSpinner(signs))}
}

// Follow takes a message in, and whether something is waited for now.
func (s *Spinner) Follow(msg tea.Msg, waiting bool) tea.Cmd {
	began := waiting && !s.waiting
	s.waiting = waiting
	s.turning = s.turning && waiting
	if began && s.After > 0 {
		s.wait++
		wait := s.wait
		return tea.Tick(s.After, func(time.Time) tea.Msg { return late{wait} })
	}
	switch msg := msg.(type) {
	case late:
		if waiting && msg.wait == s.wait && !s.turning {
			s.turning = true
			return s.model.Tick
		}
	case spinner.TickMsg:
		if s.turning {
			var next tea.Cmd
			s.model, next = s.model.Update(msg)
			return next
		}
	}
	return nil
}

// Sign returns the sign of a wait: dots, until it turns.
func (s *Spinner) Sign() string {
	if s.turning {
		return " " + s.model.View()
	}
	return "…"
}
