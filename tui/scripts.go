package tui

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fundesk/tui/widget"
)

// maxScript is how much of a script is read, in bytes.
const maxScript = 256 << 10

// readScripts reads the conversation scripts of the configuration folder: markdown
// files named after a call type and a language, scripts/verification.nl.md, or the
// type alone. One that cannot be read does not stand in the way of the others.
func readScripts(configDir string) (scriptsRead, error) {
	scripts := scriptsRead{}
	if configDir == "" {
		return scripts, nil
	}
	folder := filepath.Join(configDir, "scripts")
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return scripts, nil
	}
	if err != nil {
		return scripts, err
	}
	var errs []error
	for _, file := range files {
		name, isScript := strings.CutSuffix(file.Name(), ".md")
		if !isScript {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(content) > maxScript {
			content = content[:maxScript]
		}
		scripts[name] = cleanLines(strings.TrimSpace(string(content)))
	}
	return scripts, errors.Join(errs...)
}

// pickScript chooses the script for the call on screen.
func (d *desk) pickScript() {
	d.script = nil
	if d.call == nil {
		return
	}
	language := ""
	if p := d.call.Person.Pointer(); p != nil {
		language = value(p.Language)
	}
	for _, name := range []string{string(d.call.Type) + "." + language, string(d.call.Type)} {
		if script, found := d.scripts[name]; found {
			d.script = script
			return
		}
	}
}

// markdown draws the little of markdown that scripts need: headings, lists, emphasis.
func markdown(s styles, lines []string, width int) []string {
	var drawn []string
	for _, line := range lines {
		text := strings.TrimSpace(line)
		role := s.plain
		switch {
		case strings.HasPrefix(text, "#"):
			text, role = strings.TrimSpace(strings.TrimLeft(text, "#")), s.bold
		case strings.HasPrefix(text, ">"):
			text, role = strings.TrimSpace(text[1:]), s.accent
		case strings.HasPrefix(text, "* "), strings.HasPrefix(text, "- "):
			text = "- " + strings.TrimSpace(text[2:])
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "**", ""), "__", "")
		for _, part := range widget.Wrap(text, width) {
			drawn = append(drawn, role(part))
		}
	}
	return drawn
}
