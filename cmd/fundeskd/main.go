// Command fundeskd is the Fundraising Data Service. It serves the interface from a database, and manages what the
// interface does not: accounts, organizations, loads, backups and personal data. It holds no rule of its own.
//
//	fundeskd organization add --name "Sea Rescue" --abbreviation SR
//	fundeskd account add "call centre" --all-organizations
//	fundeskd serve --listen 127.0.0.1:8080
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"fundesk/cmd/internal/zone"
	"fundesk/service"
	"fundesk/service/sqlstore/pgdriver"
)

// The garbage collector may use 128 MiB. The database engine and the kernel need the rest of 256 MB.
const memoryLimit = 128 << 20

// A request leaves little behind. With Go's default of 100 the collector takes a third of the processor time.
const garbagePercent = 400

// Exit codes.
const (
	exitDone        = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	err := zone.Set(os.Getenv)
	if err != nil {
		fmt.Fprintf(os.Stderr, "fundeskd: warning: %v; times are in UTC until then\n", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, exitOnNextSignal)
	ctx, hangUp := untilHangUp(ctx)
	code := run(ctx, os.Args[1:], program{
		In:              os.Stdin,
		Out:             os.Stdout,
		Err:             os.Stderr,
		Getenv:          os.Getenv,
		Now:             time.Now,
		Sleep:           time.Sleep,
		hangUp:          hangUp,
		serviceSettings: serviceSettings,
	})
	stop()
	os.Exit(code)
}

// untilHangUp returns a context that ends when the terminal is closed, so that a command removes its incomplete files.
// A signal that nohup ignores stays ignored.
func untilHangUp(ctx context.Context) (context.Context, chan os.Signal) {
	ctx, cancel := context.WithCancel(ctx)
	hangUp := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangUp, syscall.SIGHUP)
	}
	go func() {
		<-hangUp
		cancel()
	}()
	return ctx, hangUp
}

// timeout(1) signals the program and then its group, so signals within this time count as one.
const signalGrace = 100 * time.Millisecond

// exitOnNextSignal ends the program at the next signal. The default action of a signal is not enough: a shell starts
// background programs with SIGINT ignored.
func exitOnNextSignal() {
	next := make(chan os.Signal, 1)
	signal.Notify(next, os.Interrupt, syscall.SIGTERM)
	first := time.Now()
	for time.Since(first) < signalGrace {
		<-next
	}
	os.Exit(exitInterrupted)
}

// program is one run of fundeskd: its streams, its environment and the flags that every command has.
type program struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Now    func() time.Time
	Sleep  func(time.Duration)

	hangUp          chan<- os.Signal // Gets SIGHUP, which ends the program. Nil in tests.
	serviceSettings string           // The settings file of the installed service. Empty in tests.
	timeouts        timeouts         // Of serve. Zero means defaultTimeouts.
	answerTimeout   time.Duration    // Of short commands. Zero means defaultAnswerTimeout.
	samplePersons   int              // The default of --persons. Zero means that of the sample.

	// computer is the clock of this computer where Now is another one: in a sandbox. Nil means Now.
	computer func() time.Time

	database  string // --database
	output    string // --output
	noMigrate bool   // --no-migrate
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, p program) int {
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // Cobra reads os.Args if args is nil.
	root.SetIn(p.In)
	out := &checkedOutput{Writer: p.Out}
	root.SetOut(out)
	root.SetErr(p.Err)
	err := cmp.Or(root.ExecuteContext(ctx), out.err)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(p.Err, "fundeskd: interrupted%s\n", interruptedNote(err))
		return exitInterrupted
	}
	fmt.Fprintf(p.Err, "fundeskd: %s%s\n", oneLine(err), p.loginHint(err))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}

// checkedOutput keeps the first error of writing: cobra drops those of help and completions.
type checkedOutput struct {
	io.Writer

	err error
}

// Write passes data on.
func (o *checkedOutput) Write(data []byte) (int, error) {
	n, err := o.Writer.Write(data)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// unsavedError is the error of a command that saves everything or nothing.
type unsavedError struct{ error }

func (e unsavedError) Unwrap() error { return e.error }

// interruptedNote returns what an interrupted command left behind, or an empty text.
func interruptedNote(err error) string {
	if _, ok := errors.AsType[unsavedError](err); ok {
		return "; nothing was saved"
	}
	return ""
}

// loginHint tells root how to run a command again after PostgreSQL refused the login. It may be empty.
func (p *program) loginHint(err error) string {
	isLogin := strings.HasPrefix((pgdriver.Driver{}).Code(err), "28")
	if !isLogin || os.Geteuid() != 0 || p.serviceSettings == "" {
		return ""
	}
	return "; if PostgreSQL takes the names of system users, run: sudo -u fundeskd fundeskd …"
}

var joinLines = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// oneLine returns an error as one printable line, with the cause that the store gave.
func oneLine(err error) string {
	text := err.Error()
	refusal, ok := errors.AsType[*service.Error](err)
	if ok && refusal.Cause != nil {
		text += ": " + refusal.Cause.Error()
	}
	return printable(joinLines.Replace(text))
}
