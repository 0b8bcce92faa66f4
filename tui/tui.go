// Package tui is the terminal interface: the Desk, where an agent works calls, the
// lists of calls, persons and pledges, the outbox and the statistics.
//
// It is handed a ready client, an outbox and a clock, and must not know commands,
// profiles, flags or the service's insides. The root model routes messages; pages are
// plain structs that it sizes, feeds and draws. Nothing reads a disk or a network in
// Update or View: that happens in commands, whose results carry the address of their
// page and a sequence number, so that a stale one is dropped.
//
//	err := tui.Run(ctx, tui.Options{Client: client, Outbox: box, Profile: "demo", Page: "desk"})
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

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/canvas"
)

// Options of the interface. Client and Outbox are required.
type Options struct {
	Client             *apiclient.Client
	Outbox             *outbox.Outbox         // The spool for this service and account.
	Profile            string                 // Name shown in the corner.
	Agent              *apitype.UUID          // Sent with attempts and results.
	ResultCodes        []string               // From the profile; nil: those seen at the service.
	PledgeActions      []apitype.PledgeAction // Nil: apitype.PledgeActions.
	MaxAttempts        int                    // Of a call; 0: not known.
	Languages          []string               // ISO 639-1 codes that the agent speaks; nil: those of the locale.
	ExternalSourceName string                 // Sent with processed marks.
	Locale             render.Locale          // Amounts, dates and phone numbers as they are shown; what is copied stays exact.
	ConfigDir          string                 // Holds scripts/ and keys.toml; "" for none.
	StateFile          string                 // Keeps what the desk remembers of this service; "" for nothing.
	Page               string                 // The first page: desk, calls, persons, pledges, outbox or stats.
	QuitWait           time.Duration          // How long quitting waits for what is still to be sent; 0: 5 s.
	Now                func() time.Time
	In                 io.Reader // Nil: the terminal.
	Out                io.Writer // Nil: the terminal.
	NoColor, ASCII     bool
}

// ticksASecond is how often the library looks what it has to set of the terminal. The
// first screen waits for that, what the canvas draws later does not; and each tick costs
// a little when nothing happens.
const ticksASecond = 90

// quitWait is how long quitting waits for what is still to be sent, where the options do
// not say.
const quitWait = 5 * time.Second

// Run shows the interface until the user quits or ctx ends. Changes that could not be
// sent stay in the outbox, and are said on Out.
func Run(ctx context.Context, o Options) error {
	// Pages are read and let go of all day. Collected this often, what they leave takes a
	// quarter of what is used and not as much again, and reading 10,000 records a tenth
	// more of the processor.
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	return run(ctx, o)
}

// collectAt is how much may be let go of before it is collected, in percent of what is
// used.
const collectAt = 25

// loads counts what was read from the service.
type loads struct {
	begun         int
	seen, settled int // At the last look; at the last rest.
}

// rest reports, once, that nothing was read since the last look, and something before.
func (l *loads) rest() bool {
	quiet := l.begun == l.seen && l.begun != l.settled
	if l.seen = l.begun; quiet {
		l.settled = l.begun
	}
	return quiet
}

// giveBack returns to the system what reading took and no longer needs: the library
// would keep it for minutes. It works beside the interface.
func giveBack() tea.Msg {
	debug.FreeOSMemory()
	return nil
}

// run is Run with further options of the program, for tests.
func run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := newApp(ctx, o)
	if err != nil {
		return err
	}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(ticksASecond), tea.WithoutSignalHandler(), tea.WithFilter(oneWidth)}
	if in := inputOf(o.In); in != nil {
		options = append(options, tea.WithInput(in))
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	a.canvas = canvas.New(o.Out, isCooked(o.In))
	options = append(options, tea.WithOutput(a.canvas.Output()))
	program := tea.NewProgram(a, append(options, more...)...)
	background := a.start(ctx, program.Send)
	stop := a.endOnSignal(ctx, program.Quit, cancel)

	_, runErr := program.Run()
	// Whatever ended the program, what was done and typed reaches the disk.
	if a.written != nil {
		<-a.written
	}
	flushErr := a.keeper.flush()
	stop()
	cancel()
	background.Wait()
	if flushErr != nil {
		return fmt.Errorf("save the drafts: %w", flushErr)
	}
	if runErr != nil && !errors.Is(runErr, tea.ErrProgramKilled) && !errors.Is(runErr, context.Canceled) {
		return fmt.Errorf("run the terminal interface: %w", runErr)
	}
	return a.farewell(o.Out)
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

// start runs what works beside the interface: the sender and the keeper of drafts.
func (a *app) start(ctx context.Context, send func(tea.Msg)) *sync.WaitGroup {
	a.sender = a.Outbox.Sender(a.Client, outbox.SenderOptions{Notify: func(e outbox.Event) { send(outboxEvent{e}) }})
	a.keeper.notify = func(err error) { send(draftsKept{err}) }
	a.keeper.joined = func(j draftJoined) { go send(j) } // While an editor runs nobody hears.
	var group sync.WaitGroup
	group.Go(func() { a.sender.Run(ctx) })
	group.Go(func() { a.keeper.run(ctx) })
	group.Go(func() { a.canvas.Run(ctx) })
	return &group
}

// endOnSignal saves drafts and ends the program when the terminal closes or somebody
// asks the process to end; the second time without waiting for anything.
func (a *app) endOnSignal(ctx context.Context, quit, kill func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals()...)
	done := make(chan struct{})
	go func() {
		for asked := false; ; {
			select {
			case by := <-signals:
				if by == os.Interrupt && a.editor.isRunning() {
					continue // ctrl+c is meant for the editor, or for what that runs.
				}
				if asked {
					kill()
					return
				}
				asked = true
				_ = a.keeper.flush() // Run flushes again and reports.
				a.editor.end(by)
				go quit() // It is heard when the editor has ended.
			case <-ctx.Done():
				return
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// farewell says what stays behind.
func (a *app) farewell(out io.Writer) error {
	entries, _, err := a.Outbox.List()
	if err != nil {
		return err
	}
	waiting, refused := 0, 0
	for _, e := range entries {
		if e.State == outbox.StateRejected {
			refused++
		} else {
			waiting++
		}
	}
	if waiting > 0 {
		_, err = fmt.Fprintf(out, "%s in the outbox; to send: fundesk outbox send\n", plural(waiting, "change stays", "changes stay"))
	}
	if refused > 0 && err == nil {
		_, err = fmt.Fprintf(out, "%s by the service; see: fundesk outbox list\n", plural(refused, "change was refused", "changes were refused"))
	}
	return err
}

// plural is a count with the noun that fits.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
