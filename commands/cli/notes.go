package cli

import (
	"fmt"
	"strings"

	"fundesk/render"
)

// Note prints a message that is not an error, unless --quiet.
func (s *Session) Note(format string, args ...any) {
	if !s.Flags.Quiet {
		s.Warn(format, args...)
	}
}

// Warn prints a message that --quiet must not hide, such as that a list is short. If errors are JSON, it waits for the
// end: an error is the only line then.
func (s *Session) Warn(format string, args ...any) {
	s.notes = append(s.notes, "fundesk: "+render.Clean(fmt.Sprintf(format, args...)))
	if !WantsJSON(s.Args) {
		s.tellNotes()
	}
}

// TellRepaired reports once that an answer was not UTF-8.
func (s *Session) TellRepaired() {
	if s.told || !s.repaired.Load() {
		return
	}
	s.told = true
	s.Warn("the service sent text that is not UTF-8 (perhaps Latin-1); \ufffd stands for each byte that cannot be read")
}

func (s *Session) tellNotes() {
	for _, note := range s.notes {
		fmt.Fprintln(s.App.Err, note)
	}
	s.notes = nil
}

// WantsJSON reports whether errors are printed as JSON. It looks at the arguments themselves, because they may be
// wrong.
func WantsJSON(args []string) bool {
	output, jq := "", false
	for i, arg := range args {
		if arg == "--" {
			break
		}
		short := "" // What follows -o, alone or behind others as in -qo.
		letters := strings.TrimLeft(strings.TrimPrefix(arg, "-"), "qh")
		if strings.HasPrefix(arg, "-") && strings.HasPrefix(letters, "o") {
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
