package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// farBehind limits the bytes that wait for the terminal before no further frame is drawn: about two whole screens.
const farBehind = 16 << 10

// lastWait limits the wait for a stopped terminal after a second signal to end.
const lastWait = time.Second

// output writes the drawings of the library to the terminal in the background. A terminal that reads nothing stops
// neither typing nor saving.
type output struct {
	terminal io.Writer
	ends     context.Context // When it is done, a stopped terminal is not waited for.
	caughtUp func()          // Called when the terminal has taken everything, after frames were left out.

	mu        sync.Mutex
	waiting   []byte
	drained   chan struct{} // Closed when the terminal has taken everything. Nil if nothing is being written.
	isLeftOut bool          // A frame was left out since the terminal fell behind.
}

// Write takes the drawings and settings of the library. It waits only for the end of the alternate screen, because the
// terminal is given back after it.
func (o *output) Write(b []byte) (int, error) {
	const leave = ansi.ResetModeAltScreenSaveCursor
	isLeaving := bytes.Contains(b, []byte(leave))
	written := b
	if isLeaving { // Some terminals bring what no longer fits a smaller screen back into their scrollback.
		written = bytes.ReplaceAll(b, []byte(leave), []byte(ansi.EraseEntireScreen+leave))
	}
	o.mu.Lock()
	o.waiting = append(o.waiting, written...)
	if o.drained == nil {
		o.drained = make(chan struct{})
		go o.write()
	}
	drained := o.drained
	o.mu.Unlock()
	if isLeaving {
		o.wait(drained)
	}
	return len(b), nil
}

// write writes the waiting bytes. Another part ends the program if the terminal is gone.
func (o *output) write() {
	for {
		o.mu.Lock()
		next := o.waiting
		o.waiting = nil
		if len(next) == 0 {
			close(o.drained)
			leftOut := o.isLeftOut
			o.drained, o.isLeftOut = nil, false
			o.mu.Unlock()
			if leftOut {
				o.caughtUp()
			}
			return
		}
		o.mu.Unlock()
		_, _ = o.terminal.Write(next)
	}
}

// wait waits until the terminal has taken everything.
func (o *output) wait(drained <-chan struct{}) {
	select {
	case <-drained:
		return
	case <-o.ends.Done():
	}
	select {
	case <-drained:
	case <-time.After(lastWait):
	}
}

// leavesOut reports whether the terminal is too far behind for another frame.
func (o *output) leavesOut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	isBehind := len(o.waiting) > farBehind
	o.isLeftOut = o.isLeftOut || isBehind
	return isBehind
}

// forLibrary returns the writer of the library. It is a terminal if the output is a file.
func (o *output) forLibrary() io.Writer {
	if file, isFile := o.terminal.(*os.File); isFile {
		return &outputFile{output: o, file: file}
	}
	return o
}

// outputFile has the methods of a terminal, besides Write, that the library needs.
type outputFile struct {
	*output
	file *os.File
}

func (f *outputFile) Fd() uintptr                { return f.file.Fd() }
func (f *outputFile) Read(b []byte) (int, error) { return f.file.Read(b) }
func (f *outputFile) Close() error               { return f.file.Close() }

// paced shows an interface no faster than its terminal takes the frames.
type paced struct {
	tea.Model
	out  *output
	last tea.View
}

// Update implements tea.Model.
func (p *paced) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := p.Model.Update(msg)
	return p, cmd
}

// View implements tea.Model.
func (p *paced) View() tea.View {
	if !p.out.leavesOut() {
		p.last = p.Model.View()
	}
	return p.last
}

// caughtUp is sent when the terminal has taken everything after frames were left out, so that the latest is drawn.
type caughtUp struct{}
