package read

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/mattn/go-shellwords"

	"fundesk/apiclient"
	"fundesk/commands/cli"
)

// interruptPatience limits the time that a program takes to end after an interrupt.
const interruptPatience = 10 * time.Second

// pageProgram hands each page of a pull to a program.
type pageProgram struct {
	words    []string
	page     bytes.Buffer // The records of the page.
	out, err io.Writer
}

// newPageProgram reads the command line of a program. It splits words as a shell does, and runs none.
func newPageProgram(s *cli.Session, line string) (*pageProgram, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(line)
	if err != nil {
		return nil, cli.UsageError("--exec has an unclosed quote or bracket")
	}
	if parser.Position >= 0 {
		return nil, cli.WithHint(
			cli.UsageError(
				"--exec runs one program, without a shell: "+cli.Quote(line[parser.Position:][:1])+" means nothing",
			),
			"quote it, or put the line into a script",
		)
	}
	if len(words) == 0 {
		return nil, cli.UsageError("--exec names no program")
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, cli.UsageError("--exec: there is no program " + cli.Quote(words[0]))
	}
	return &pageProgram{words: words, out: s.App.Out, err: s.App.Err}, nil
}

// run hands the page to the program and waits for its end. It does nothing if the page is empty. A program that ends
// with 0 has taken the page, even if it was interrupted.
func (p *pageProgram) run(ctx context.Context) error {
	if p.page.Len() == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, p.words[0], p.words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &p.page, p.out, p.err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptPatience
	err := cmd.Run()
	p.page.Reset() // The program need not have read all of it.

	// A child of the program may hold its output open.
	hasEnded := cmd.ProcessState != nil && cmd.ProcessState.Success()
	if hasEnded {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return cli.WithHint(
		cli.Failure(apiclient.KindFailure, "%s ended with %s; the position did not move", p.words[0], err),
		"the next pull hands over the same records",
	)
}
