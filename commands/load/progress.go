package load

import (
	"fmt"
	"time"

	"fundesk/commands/cli"
)

// progress shows on one line of a terminal how far a run is.
type progress struct {
	session *cli.Session
	total   int            // Zero if unknown; share is used then.
	share   func() float64 // Of the whole, 0 if unknown.
	done    int
	started time.Time
	shown   time.Time
}

func newProgress(s *cli.Session, total int, share func() float64) *progress {
	return &progress{
		session: s,
		total:   total,
		share:   share,
		started: s.App.Now(),
	}
}

func (p *progress) step() {
	p.done++
	now := p.session.App.Now()
	elapsed := now.Sub(p.started)
	if p.session.Flags.Quiet || now.Sub(p.shown) < 200*time.Millisecond || elapsed < time.Second {
		return
	}
	inPlace := p.inPlace()
	if !inPlace && (now.Sub(p.shown) < 10*time.Second || cli.WantsJSON(p.session.Args)) {
		return
	}
	p.shown = now
	text, share := fmt.Sprintf("%d read", p.done), 0.0
	if p.total > 0 {
		text, share = fmt.Sprintf("%d of %d", p.done, p.total), float64(p.done)/float64(p.total)
	} else if p.share != nil {
		share = p.share()
	}
	text += fmt.Sprintf(", %.0f a second", float64(p.done)/elapsed.Seconds())
	if share > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(elapsed)*(1-share)/share).Round(time.Second))
	}
	if inPlace {
		fmt.Fprintf(p.session.App.Err, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.session.App.Err, text)
	}
}

// inPlace reports whether the line is written over: on a terminal without a screen reader.
func (p *progress) inPlace() bool {
	return cli.IsTerminal(p.session.App.Err) && !p.session.IsAccessible()
}

func (p *progress) end() {
	if p.inPlace() && !p.shown.IsZero() {
		fmt.Fprint(p.session.App.Err, "\r\x1b[K")
	}
}
