//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"fundesk/service/servicetest"
)

// TestSecondSignal ends a program with a running request. It reports what it waits for, and a second signal ends it at
// once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	account := e.account("a --all-organizations")
	command := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0")
	command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
	out, err := command.StdoutPipe()
	servicetest.Check(t, err)
	log, err := command.StderrPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, command.Start())
	url, err := bufio.NewReader(out).ReadString('\n')
	servicetest.Check(t, err)
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp",
		strings.TrimPrefix(strings.TrimSpace(url), "http://"))
	servicetest.Check(t, err)
	defer func() { _ = connection.Close() }()
	_, err = fmt.Fprintf(connection,
		"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n", account.Token)
	servicetest.Check(t, err)
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q %v, want 100: the handler waits for the body", line, err)
	}
	servicetest.Check(t, command.Process.Signal(syscall.SIGTERM))
	lines, said := bufio.NewScanner(log), false
	for !said && lines.Scan() {
		said = strings.Contains(lines.Text(), "a second signal ends at once")
	}
	if !said {
		t.Error("got no word of what is waited for")
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("got %v, want a program that still runs", err)
	}
	if _, err := io.Copy(io.Discard, log); err != nil {
		t.Error(err)
	}
	_ = command.Wait() // Its code is looked at.
	if code := command.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("got code %d, want %d", code, exitInterrupted)
	}
}

// TestLogReaderGone shows that the service goes on when the reader of its log is gone.
func TestLogReaderGone(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	command := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0")
	command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE=")
	out, err := command.StdoutPipe()
	servicetest.Check(t, err)
	log, err := command.StderrPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, command.Start())
	url, err := bufio.NewReader(out).ReadString('\n')
	servicetest.Check(t, errors.Join(err, log.Close()))
	for range 3 { // The line about the first may be what ends it.
		replies(t, strings.TrimSpace(url)+"/healthz", "", http.StatusOK)
	}
	servicetest.Report(t, errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait()))
}

// interruptedInput is lines of which the last never comes: the program is interrupted when
// it waits for it.
type interruptedInput struct {
	lines     io.Reader
	interrupt context.CancelFunc
	over      <-chan struct{}
}

// Read interrupts at the end of the lines.
func (r *interruptedInput) Read(into []byte) (int, error) {
	if n, err := r.lines.Read(into); err == nil {
		return n, nil
	}
	r.interrupt()
	<-r.over
	return 0, io.EOF
}

// TestInterruptedLoad interrupts a load that waits for its input. It reports that it left nothing.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var errs lockedBuffer
	p := e.program("", io.Discard, &errs)
	p.In = &interruptedInput{
		lines:     strings.NewReader(organizationLine + "\n" + personLine + "\n"),
		interrupt: interrupt,
		over:      t.Context().Done(),
	}
	code := run(ctx, []string{"load", "-"}, p)
	if want := "fundeskd: interrupted; nothing was saved\n"; code != 130 || errs.String() != want {
		t.Errorf("got code %d, %q, want 130, %q", code, errs.String(), want)
	}
	var organizations []any
	if e.must(&organizations, "organization list"); len(organizations) != 0 {
		t.Errorf("got %d organizations, want none kept", len(organizations))
	}
}

// A dump with a closed reader or a full disk fails under its own name, and retires nothing.
func TestDumpThatIsNotReadRetiresNothing(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		e.t = t
		e.done("sample")
		read, closed, err := os.Pipe()
		servicetest.Check(t, errors.Join(err, read.Close()))
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if errors.Is(err, os.ErrNotExist) { // Not on every system.
			full, err = closed, nil
		}
		servicetest.Check(t, err)
		for _, out := range []*os.File{closed, full} {
			var errs bytes.Buffer
			command := exec.CommandContext(t.Context(), os.Args[0], "dump", "-", "--retire")
			command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder,
				"FUNDESKD_DATABASE="+e.database)
			command.Stdout, command.Stderr = out, &errs
			servicetest.Check(t, command.Start())
			_ = command.Wait()
			text := errs.String()
			code := command.ProcessState.ExitCode()
			if code != exitFailure || !strings.Contains(text, "write ") || strings.Contains(text, "does not answer") {
				t.Errorf("%s: got code %d, %s, want 1 and the error of the output", out.Name(), code, text)
			}
			e.account(out.Name(), "--all-organizations") // It was not retired.
		}
	})
}

// TestBackupThatIsNotRead streams a backup to a reader that goes away, and kills another one. Neither leaves a copy of
// the database, which no erasure would reach.
func TestBackupThatIsNotRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(*exec.Cmd, io.Closer) error
	}{
		{"closed", func(_ *exec.Cmd, out io.Closer) error { return out.Close() }},
		{"killed", func(command *exec.Cmd, _ io.Closer) error { return command.Process.Kill() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newFileEnvironment(t)
			e.done("sample")
			command := exec.CommandContext(t.Context(), os.Args[0], "backup", "-")
			command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE=")
			out, err := command.StdoutPipe()
			servicetest.Check(t, err)
			servicetest.Check(t, command.Start())
			_, err = io.ReadFull(out, make([]byte, 100))
			servicetest.Check(t, errors.Join(err, test.end(command, out)))

			err = command.Wait()

			if err == nil {
				t.Error("got exit code 0 of a backup that was not read")
			}
			for _, left := range listing(e.folder) {
				if left.IsDir() {
					t.Errorf("left over: %s", left.Name())
				}
			}
		})
	}
}

// TestHangUp closes the terminal of commands that wait for their input. They end like interrupted ones, and leave no
// incomplete file.
func TestHangUp(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"load":    "fundeskd: interrupted; nothing was saved\n",
		"restore": "fundeskd: interrupted\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newFileEnvironment(t)
			command := exec.CommandContext(t.Context(), os.Args[0], name, "-")
			command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE=")
			var errs lockedBuffer
			command.Stderr = &errs
			in, err := command.StdinPipe()
			servicetest.Check(t, err)
			servicetest.Check(t, command.Start())
			const moreThanAPipeHolds = 1 << 20
			_, err = io.WriteString(in, organizationLine+strings.Repeat("\n", moreThanAPipeHolds))
			servicetest.Check(t, errors.Join(err, command.Process.Signal(syscall.SIGHUP)))
			_ = command.Wait() // Its code is looked at.
			if code := command.ProcessState.ExitCode(); code != exitInterrupted || errs.String() != want {
				t.Errorf("got code %d, %q, want %d, %q", code, errs.String(), exitInterrupted, want)
			}
			for _, left := range listing(e.folder) {
				if strings.Contains(left.Name(), unfinished) {
					t.Errorf("left over: %s", left.Name())
				}
			}
		})
	}
}
