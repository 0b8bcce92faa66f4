// Package manual keeps the manual pages in the tree equal to the commands that they
// describe. The tests of both programs call it:
//
//	manual.Check(t, root, "man", *update)
//
// It must not know which program it is about, and no program imports it.
package manual

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Check fails the test when folder holds other pages than those of root and all its
// subcommands, section 1, named like fundesk-call-list.1. With update it writes them first.
func Check(t *testing.T, root *cobra.Command, folder string, update bool) {
	t.Helper()
	want, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := write(folder, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the manual pages in %s are stale; run this test with -update:\n%s", folder, diff)
	}
}

// pages is the text of each page by its file's name.
func pages(root *cobra.Command) (map[string]string, error) {
	all := map[string]string{}
	var errs []error
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		var page bytes.Buffer
		cmd.DisableAutoGenTag = true
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &time.Time{}, Source: root.Name(), Manual: root.Name()}
		errs = append(errs, doc.GenMan(cmd, header, &page))
		// A date would make every page stale once a month.
		all[name+".1"] = strings.Replace(page.String(), `"Jan 0001"`, `""`, 1)
		for _, child := range cmd.Commands() {
			add(child)
		}
	}
	add(root)
	return all, errors.Join(errs...)
}

func write(folder string, pages map[string]string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func read(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		pages[entry.Name()] = string(text)
	}
	return pages, nil
}
