//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The user and the settings that a package brings for the service.
const (
	serviceUser     = "fundeskd"
	serviceSettings = "/etc/fundeskd/fundeskd.env"
)

// asService lets root's commands work on the database of the installed service, as its user:
// root's own home would get another database, whose tokens the service refuses, and files of
// root's beside the database would stop it. Who names a database or another home is left alone.
func asService(args []string) error {
	root, err := user.LookupId("0")
	if err != nil || os.Geteuid() != 0 || !isForService(args, os.Getenv, root.HomeDir) {
		return nil // A system that does not know root has no package of ours.
	}
	text, err := os.ReadFile(serviceSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	account, err := user.Lookup(serviceUser)
	if err != nil {
		return fmt.Errorf("%s is there and its user is not: %w", serviceSettings, err)
	}
	for name, value := range settingsIn(string(text)) {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("read %s: %w", serviceSettings, err)
		}
	}
	uid, wrong := strconv.Atoi(account.Uid)
	gid, wrongToo := strconv.Atoi(account.Gid)
	if err := errors.Join(wrong, wrongToo, os.Setenv("HOME", account.HomeDir)); err != nil {
		return err
	}
	syscall.Umask(0o077)
	if err := errors.Join(syscall.Setgroups([]int{gid}), syscall.Setgid(gid), syscall.Setuid(uid)); err != nil {
		return fmt.Errorf("become the user %s: %w", serviceUser, err)
	}
	return nil
}

// isForService reports whether a command of root is for the installed service: neither its
// arguments nor the environment name a database or another home.
func isForService(args []string, getenv func(string) string, rootHome string) bool {
	names := func(variable string) bool { return getenv(variable) != "" }
	isDatabase := func(arg string) bool { return arg == "--database" || strings.HasPrefix(arg, "--database=") }
	return getenv("HOME") == rootHome && !slices.ContainsFunc(args, isDatabase) &&
		!slices.ContainsFunc([]string{"FUNDESKD_DATABASE", "FUNDESK_DATA_DIR", "XDG_DATA_HOME"}, names)
}

// settingsIn are the settings of a file as systemd reads it: NAME=VALUE, the value perhaps in
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
