package main

import (
	"fmt"
	"os"
	"strings"
)

// serviceSettings are the settings of the installed service: a package brings them, for its user to read.
const serviceSettings = "/etc/fundeskd/fundeskd.env"

// useService lets a command of the service's user, which names no database, work on that of the installed
// service. Root gets the command that does: files of root's beside the database would stop the service.
func (p *program) useService() error {
	if p.settings == "" || p.database != "" || p.Getenv("FUNDESKD_DATABASE") != "" || p.Getenv("FUNDESK_DATA_DIR") != "" || p.Getenv("XDG_DATA_HOME") != "" {
		return nil
	}
	text, err := os.ReadFile(p.settings)
	if err != nil {
		return nil // There is no service, or this user has nothing to do with it.
	}
	if os.Geteuid() == 0 {
		return usage("the database of the service belongs to its user; run: sudo -u fundeskd fundeskd …; or name another one with --database")
	}
	for name, value := range settingsIn(string(text)) {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("read %s: %w", p.settings, err)
		}
	}
	return nil
}

// settingsIn returns the settings of a file as systemd reads it: NAME=VALUE, the value perhaps in
// quotes.
func settingsIn(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		for _, quote := range []string{`"`, "'"} {
			if len(value) >= 2 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
				value = value[1 : len(value)-1]
			}
		}
		settings[strings.TrimSpace(name)] = value
	}
	return settings
}
