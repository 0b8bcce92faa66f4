package cli

import (
	"fmt"

	"fundesk/render"
)

// Prompt writes a question; the answer comes on its line.
func (s *Session) Prompt(text string) { fmt.Fprint(s.App.Err, render.Clean(text)) }
