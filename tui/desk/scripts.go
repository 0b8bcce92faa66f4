package desk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxScript is how much of a script is read, in bytes.
const maxScript = 256 << 10

// readScripts reads the conversation scripts of the configuration folder: markdown
// files named after a call type and a language, scripts/verification.nl.md, or the
// type alone. One that cannot be read does not stand in the way of the others.
func readScripts(configDir string) (map[string][]string, error) {
	scripts := map[string][]string{}
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
		scripts[name] = strings.Split(strings.TrimSpace(string(content)), "\n")
	}
	return scripts, errors.Join(errs...)
}

// pickScript chooses the script for the call.
func (d *Day) pickScript() {
	d.Script = nil
	if d.Call == nil {
		return
	}
	language := ""
	if p := d.Call.Person.Pointer(); p != nil {
		language = value(p.Language)
	}
	for _, name := range []string{string(d.Call.Type) + "." + language, string(d.Call.Type)} {
		if script, found := d.scripts[name]; found {
			d.Script = script
			return
		}
	}
}
