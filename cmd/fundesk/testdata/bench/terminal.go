package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// What the terminal interface holds when its memory is read.
const (
	terminalRows    = 10_000
	terminalPersons = 7_000 // They have more calls than that.
	terminalRest    = 3 * time.Second
	terminalKeys    = 300 // So many keys are timed, each a while after the frame before.
	terminalIdle    = 50 * time.Millisecond
)

// terminal measures the memory of the terminal interface with many rows of a real service, compared with the least
// program of the same library. Only Linux reports it.
func (p programs) terminal() (err error) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return nil
	}
	build := exec.Command("go", "build", "-o", p.folder+"/", "fundesk/cmd/fundesk/testdata/hello")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build hello: %w: %s", err, out)
	}
	server, err := p.sampleService()
	if err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	p.url, p.token = server.url, server.token
	own, err := p.open("fundesk", "tui", "calls")
	if err != nil {
		return err
	}
	defer own.close()
	if err := own.loadRows(terminalRows); err != nil {
		return err
	}
	hello, err := p.open("hello")
	if err != nil {
		return err
	}
	defer hello.close()
	own.quiet(terminalRest)
	hello.quiet(terminalRest)
	now, most, err := own.memory()
	if err != nil {
		return err
	}
	least, _, err := hello.memory()
	if err != nil {
		return err
	}
	waits, err := own.keyToFrame(terminalKeys)
	if err != nil {
		return err
	}
	row("terminal with "+thousands(terminalRows)+" calls", fmt.Sprintf("%.1f MB, %.1f at most", now, most),
		fmt.Sprintf("hello %.1f MB", least), now/least, "≤ 25 MB")
	fmt.Printf("| key to frame, median; p99 of %d keys | %s; %s |  |  | ≤ 6; ≤ 12 ms |\n",
		len(waits), ms(waits[len(waits)/2]), ms(waits[len(waits)*99/100]))
	return nil
}

// sampleService starts the real service on sample data.
func (p programs) sampleService() (service, error) {
	d := p.database(filepath.Join(p.folder, "terminal.db"))
	if out, err := d.command("sample", "--persons", strconv.Itoa(terminalPersons)).CombinedOutput(); err != nil {
		return service{}, fmt.Errorf("make sample data: %w: %s", err, out)
	}
	return d.serve()
}

// screen is a program in a pseudo-terminal.
type screen struct {
	command *exec.Cmd
	file    *os.File
	drawn   chan string
	shown   *vt.Emulator // What was taken of drawn so far.
}

func (p programs) open(program string, args ...string) (*screen, error) {
	s := &screen{
		command: exec.Command(filepath.Join(p.folder, program), args...),
		drawn:   make(chan string),
		shown:   vt.NewEmulator(120, 40),
	}
	s.command.Env = append(
		os.Environ(),
		"HOME="+p.folder,
		"XDG_CONFIG_HOME=",
		"XDG_STATE_HOME="+filepath.Join(p.folder, "state"),
		"XDG_CACHE_HOME=",
		"FUNDESK_PROFILE=",
		"FUNDESK_BASE_URL="+p.url,
		"FUNDESK_TOKEN="+p.token,
		"TERM=xterm-256color",
		"LC_ALL=C.UTF-8",
	)
	file, err := pty.StartWithSize(s.command, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return nil, err
	}
	s.file = file
	go func() { _, _ = io.Copy(io.Discard, s.shown) }() // The emulator's answers to what the program asks.
	go func() {
		defer close(s.drawn)
		buffer := make([]byte, 64<<10)
		for {
			n, err := file.Read(buffer)
			if err != nil { // The program has ended.
				return
			}
			s.drawn <- string(buffer[:n])
		}
	}()
	return s, nil
}

// close ends the program; it has nothing to save.
func (s *screen) close() {
	_ = s.command.Process.Kill()
	for range s.drawn { // Until the reader is gone.
		continue
	}
	_ = s.command.Wait()
	_ = s.file.Close()
}

// quiet reads what is drawn until nothing was for so long, which a clock on the screen
// does not let happen for more than a second.
func (s *screen) quiet(wait time.Duration) (drawn string) {
	for deadline := time.Now().Add(max(wait, time.Second)); time.Now().Before(deadline); {
		select {
		case text, alive := <-s.drawn:
			if !alive {
				return drawn
			}
			drawn += text
			_, _ = s.shown.Write([]byte(text))
		case <-time.After(wait):
			return drawn
		}
	}
	return drawn
}

var rowCount = regexp.MustCompile(`([\d,]+) calls`)

// loadRows goes to the end of the list until it has enough rows.
func (s *screen) loadRows(want int) error {
	s.quiet(time.Second)
	last := ""
	for range 20 * want / 100 {
		if _, err := s.file.WriteString("G"); err != nil {
			return err
		}
		s.quiet(20 * time.Millisecond)
		match := rowCount.FindStringSubmatch(s.shown.String())
		if match == nil {
			continue
		}
		last = match[1]
		if n, _ := strconv.Atoi(strings.ReplaceAll(last, ",", "")); n >= want {
			return nil
		}
	}
	return fmt.Errorf("the terminal interface shows %q calls, want %d", last, want)
}

// keyToFrame presses keys that move the cursor, and returns how long each waited for what it draws, the shortest first.
func (s *screen) keyToFrame(keys int) ([]time.Duration, error) {
	var waits []time.Duration
	for i := range keys {
		key := "k"
		if i%2 == 1 {
			key = "j"
		}
		s.quiet(terminalIdle)
		started := time.Now()
		if _, err := s.file.WriteString(key); err != nil {
			return nil, err
		}
		text, isAlive := <-s.drawn
		if !isAlive {
			return nil, errors.New("the terminal interface has ended")
		}
		waits = append(waits, time.Since(started))
		_, _ = s.shown.Write([]byte(text))
	}
	slices.Sort(waits)
	return waits, nil
}

// memory returns the present and the highest memory of the program, in MB.
func (s *screen) memory() (now, most float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && (fields[0] == "VmRSS:" || fields[0] == "VmHWM:") {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return 0, 0, err
			}
			if fields[0] == "VmRSS:" {
				now = kilobytes / 1000
			} else {
				most = kilobytes / 1000
			}
		}
	}
	return now, most, nil
}
