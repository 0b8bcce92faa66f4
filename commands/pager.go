package commands

import (
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/render"
)

// pager is a program that shows a table, such as less.
type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// startPager has tables shown by the program that FUNDESK_PAGER names. Only a terminal has
// one, and nothing that has no end goes there.
func (s *session) startPager(cmd *cobra.Command) {
	program := s.app.Getenv("FUNDESK_PAGER")
	kind := outputOf(cmd)
	asked := slices.Contains([]render.Format{"", render.Table, render.Wide}, render.Format(s.flags.output)) && s.flags.jq == ""
	if program == "" || s.flags.noPager || !asked || !kind.columns || kind.endless || !isTerminal(s.app.Out) || s.isAccessible() {
		return
	}
	p := exec.CommandContext(cmd.Context(), "sh", "-c", program)
	p.Stdout, p.Stderr, p.Env = s.app.Out, s.app.Err, append(os.Environ(), "LESSCHARSET=utf-8")
	if s.app.Getenv("LESS") == "" {
		p.Env = append(p.Env, "LESS=FRX") // Short tables stay on the screen; colours are drawn.
	}
	in, err := p.StdinPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		s.warn("the pager cannot be started: %s", err)
		return
	}
	s.pager = &pager{in, p}
	s.screen, s.app.Out = s.app.Out, s.pager
}

// endPager waits until the person has read.
func (s *session) endPager() {
	if s.pager == nil {
		return
	}
	_ = s.pager.Close() // The pager may have ended before.
	_ = s.pager.cmd.Wait()
	s.app.Out, s.pager = s.screen, nil
}

// onTerminal reports whether what is printed is seen on a terminal, by a pager or not.
func (s *session) onTerminal() bool { return s.pager != nil || isTerminal(s.app.Out) }
