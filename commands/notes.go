package commands

import (
	"fmt"
	"strings"

	"fundesk/render"
)

// note tells a person something that is no error, unless --quiet.
func (s *session) note(format string, args ...any) {
	if !s.flags.quiet {
		s.warn(format, args...)
	}
}

// warn tells what --quiet must not hide: that a list is short. Where errors are told as
// JSON it waits for the end: an error is the only line then.
func (s *session) warn(format string, args ...any) {
	s.notes = append(s.notes, "fundesk: "+render.Clean(fmt.Sprintf(format, args...)))
	if !wantsJSON(s.args) {
		s.tellNotes()
	}
}

// warnOmitted says once what could not be read, and was left out of what was shown.
func (s *session) warnOmitted() {
	if n, first := s.omitted.read(); n > 0 {
		s.warn("%s could not be read and left out, the first of them %s; -o json shows it as it was sent", count(n, "embedded object"), first)
	}
}

// tellNotes writes the notes that were kept.
func (s *session) tellNotes() {
	for _, note := range s.notes {
		fmt.Fprintln(s.app.Err, note)
	}
	s.notes = nil
}

// cleanJSON is a line of JSON as stderr may show it.
func (s *session) cleanJSON(line []byte) []byte {
	if isTerminal(s.app.Err) {
		return render.CleanJSON(line)
	}
	return line
}

// wantsJSON reports whether errors are to be told as JSON. It looks at the arguments
// themselves: they may be what is wrong.
func wantsJSON(args []string) bool {
	output, jq := "", false
	for i, arg := range args {
		if arg == "--" {
			break
		}
		short := "" // What follows -o, alone or behind others as in -qo.
		if letters := strings.TrimLeft(strings.TrimPrefix(arg, "-"), "qh"); strings.HasPrefix(arg, "-") && strings.HasPrefix(letters, "o") {
			short = letters
		}
		switch {
		case (short == "o" || arg == "--output") && i+1 < len(args):
			output = args[i+1]
		case strings.HasPrefix(arg, "--output="):
			output = strings.TrimPrefix(arg, "--output=")
		case short != "":
			output = strings.TrimPrefix(short[1:], "=")
		case arg == "--jq", strings.HasPrefix(arg, "--jq="):
			jq = true
		}
	}
	return render.Format(output).IsJSON() || output == "" && jq
}
