package cli

import (
	"fmt"

	"fundesk/render"
)

func (s *Session) Prompt(text string) { fmt.Fprint(s.App.Err, render.Clean(text)) }
