// Package tui is the terminal interface: the Desk, where an agent works calls, the
// lists of calls, persons and pledges, the outbox, the statistics and the floor.
//
// It is handed a ready client, an outbox and a clock, and must not know commands,
// profiles, flags or the service's insides. The root model routes messages; pages are
// plain structs that it sizes, feeds and draws. Nothing reads a disk or a network in
// Update or View: that happens in commands, whose results carry the address of their
// page and a sequence number, so that a stale one is dropped.
//
//	err := tui.Run(ctx, tui.Options{Options: desk.Options{Client: client, Outbox: box}, Profile: "demo"})
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/desk/event"
)

// Options of the interface. The options of the Desk are required.
type Options struct {
	desk.Options
	Profile        string                 // Name shown in the corner.
	PledgeActions  []apitype.PledgeAction // Nil means apitype.PledgeActions.
	Page           string                 // The first page, one of PageNames.
	In             io.Reader              // Nil means the terminal.
	Out            io.Writer              // Nil means the terminal.
	NoColor, ASCII bool
	Remote         bool     // The terminal is behind a slow line: the page behind a dialog is not drawn again.
	Theme          string   // One of page.Themes; "": the first.
	Mouse          bool     // Clicks and the wheel are taken.
	Hidden         []string // Actions that the Desk does not have, by their names.
	// How the agent gets another token, as a sentence without its stop. Empty if there is no way.
	Login  string
	Notice string    // The first message. Empty for none.
	Log    io.Writer // Gets a line for each message: its time and its name, never its content. Nil writes none.
}

// framesASecond is the most that the library draws. A key waits for its frame half as long as a frame takes.
const framesASecond = 120

// Run shows the interface until the user quits or ctx ends. Unsent changes stay in the outbox, and Out names them.
func Run(ctx context.Context, o Options) error {
	// Pages are read and dropped all day. With this setting garbage is a quarter of the used memory, and reading 10,000
	// records takes a tenth more processor time.
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	return run(ctx, o)
}

// collectAt is the garbage collector's target, in percent of the live memory.
const collectAt = 25

// loads counts the readings of the service: at the last check, and when none was running.
type loads struct{ seen, settled int }

// run does what Run does, with further options of the program, for tests.
func run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := newApp(ctx, o)
	if err != nil {
		return err
	}
	options := []tea.ProgramOption{
		tea.WithContext(ctx),
		tea.WithFPS(framesASecond),
		tea.WithoutSignalHandler(),
		tea.WithFilter(oneWidth),
	}
	if in := inputOf(o.In); in != nil {
		options = append(options, tea.WithInput(in))
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	out := &output{terminal: o.Out, ends: ctx}
	options = append(options, tea.WithOutput(out.forLibrary()))
	program := tea.NewProgram(&paced{Model: a, out: out}, append(options, more...)...)
	out.caughtUp = func() { go program.Send(caughtUp{}) }
	results := mailbox{send: program.Send}
	background := a.Day.Start(ctx, func(r event.Result) { results.put(r) })
	stop := a.hearSignals(ctx, program, cancel)

	_, runErr := program.Run()
	// However the program ends, changes and typed text reach the disk.
	a.Day.Changes.Written()
	flushErr := a.Day.Changes.Drafts.Flush()
	a.Day.End()
	stop()
	cancel()
	background.Wait()
	if flushErr != nil {
		return fmt.Errorf("save the drafts: %w", flushErr)
	}
	if runErr != nil && !errors.Is(runErr, tea.ErrProgramKilled) && !errors.Is(runErr, context.Canceled) {
		return fmt.Errorf("run the terminal interface: %w", runErr)
	}
	lines, err := a.Day.Changes.Remaining()
	for _, line := range lines {
		if _, failed := fmt.Fprintln(o.Out, line); err == nil {
			err = failed
		}
	}
	return err
}

// mailbox sends messages to a program in their order. The program may be busy: a background task does not wait until it
// receives. It is safe for concurrent use.
type mailbox struct {
	send func(tea.Msg)

	mu        sync.Mutex
	waiting   []tea.Msg // The earliest first.
	isSending bool
}

func (m *mailbox) put(msg tea.Msg) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, msg)
	if !m.isSending {
		m.isSending = true
		go m.sendAll()
	}
}

func (m *mailbox) sendAll() {
	for {
		m.mu.Lock()
		if len(m.waiting) == 0 {
			m.isSending = false
			m.mu.Unlock()
			return
		}
		msg := m.waiting[0]
		m.waiting = m.waiting[1:]
		m.mu.Unlock()
		m.send(msg)
	}
}

// oneWidth hides that the terminal could count cells by what a reader takes for a
// character. Not all can, and lines that are fitted one way and drawn the other break
// the borders.
func oneWidth(_ tea.Model, msg tea.Msg) tea.Msg {
	if report, ok := msg.(tea.ModeReportMsg); ok && report.Mode == ansi.ModeUnicodeCore {
		return nil
	}
	return msg
}

// hearSignals saves drafts and ends the program when the terminal closes or the process is asked to
// end; the second time without waiting for anything. A program that continues sets its terminal up.
func (a *app) hearSignals(ctx context.Context, program *tea.Program, kill func()) func() {
	ends, continues := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, endSignals()...)
	notifyContinued(continues)
	done := make(chan struct{})
	go func() {
		for asked := false; ; {
			select {
			case <-continues:
				go program.Send(continued{})
			case <-ends:
				if asked {
					kill()
					return
				}
				asked = true
				_ = a.Day.Changes.Drafts.Flush() // Run flushes again and reports.
				go program.Quit()                // The program may be busy, and the second signal must be heard.
			case <-ctx.Done():
				return
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ends)
		signal.Stop(continues)
		close(done)
	}
}

// continued is sent when the program continues after it was stopped.
type continued struct{}

// noProgram runs for a moment and leaves the terminal alone. The library stops its clock meanwhile, and must have done
// so before it starts the clock again.
type noProgram struct{}

func (noProgram) Run() error {
	time.Sleep(50 * time.Millisecond)
	return nil
}
func (noProgram) SetStdin(io.Reader)  {}
func (noProgram) SetStdout(io.Writer) {}
func (noProgram) SetStderr(io.Writer) {}
