// Package manual makes the manual pages of a release from the commands that they describe. The tests of both programs
// call it, since a release is the only reader of the pages:
//
//	manual.Write(t, root, *pages, manual.Section{"FILES", text})
//
// It must not know which program it is about, and no program imports it.
package manual

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Section is a text that each page ends with, as it is written. A title in lower case is that
// of a page of its own, section 7.
type Section struct{ Title, Text string }

// Write writes the pages of root and all its subcommands into folder, section 1, named like fundesk-call-list.1, and
// the topics, section 7. It fails the test if a page is not one that a manual reader takes. Empty writes nothing.
func Write(t *testing.T, root *cobra.Command, folder string, sections ...Section) {
	t.Helper()
	all, err := pages(root, sections)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		isForeign := func(r rune) bool { return r >= 0x80 }
		if !strings.Contains(text, "\n.SH NAME\n") || strings.ContainsFunc(text, isForeign) {
			t.Errorf("%s: got a page without a name, or with a character that readers do not take", name)
		}
		if folder == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pages returns the text of each page by its file's name.
func pages(root *cobra.Command, sections []Section) (map[string]string, error) {
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
		header := &doc.GenManHeader{
			Title:   strings.ToUpper(name),
			Section: "1",
			Date:    &time.Time{},
			Source:  root.Name(),
			Manual:  root.Name(),
		}
		errs = append(errs, doc.GenMan(cmd, header, &page))
		all[name+".1"] = ascii(within(tidy(page.String()), common(sections)))
		for _, child := range cmd.Commands() {
			add(child)
		}
	}
	add(root)
	for _, s := range sections {
		if isTopic(s) {
			all[root.Name()+"-"+s.Title+".7"] = ascii(topic(root.Name(), s))
		}
	}
	return all, errors.Join(errs...)
}

// isTopic reports whether a section is a page of its own.
func isTopic(s Section) bool { return s.Title == strings.ToLower(s.Title) }

// dated is the day of a page: one of today would make every page stale, and none is warned of.
const dated = "2026-11-22"

// tidy takes out of a page what manual readers warn of, and lays options out as such.
func tidy(page string) string {
	page = strings.Replace(page, `"Jan 0001"`, `"`+dated+`"`, 1)
	var lines []string
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, " \t\n")
		isOption := strings.HasPrefix(line, `\fB-`)
		switch last := len(lines) - 1; {
		case line == "":
			continue
		case isOption && lines[last] == ".PP":
			lines[last] = ".TP"
		case isOption:
			lines = append(lines, ".TP")
		}
		lines = append(lines, strings.TrimPrefix(line, "\t"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// within puts the sections that every page has where readers look for them.
func within(page, sections string) string {
	for _, next := range []string{".SH EXAMPLE\n", ".SH SEE ALSO\n"} {
		if before, after, found := strings.Cut(page, next); found {
			return before + sections + next + after
		}
	}
	return page + sections
}

// ascii writes other characters as every manual reader takes them.
func ascii(page string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(page, "…", "...") {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// common returns the sections at the end of each page.
func common(sections []Section) string {
	var b strings.Builder
	for _, s := range sections {
		if !isTopic(s) {
			b.WriteString(".SH " + s.Title + "\n" + literal(s.Text))
		}
	}
	return b.String()
}

// topic returns the page of a help topic.
func topic(program string, s Section) string {
	name := program + "-" + s.Title
	title, _, _ := strings.Cut(s.Text, "\n")
	body := strings.TrimLeft(strings.TrimPrefix(s.Text, title), "\n")
	return ".nh\n.TH \"" + strings.ToUpper(name) + "\" \"7\" \"" + dated + "\" \"" + program + "\" \"" + program +
		"\"\n.SH NAME\n" + name + " \\- " + strings.ToLower(title) +
		"\n.SH DESCRIPTION\n" + literal(body)
}

// literal returns a text that keeps its line breaks.
func literal(text string) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), `\`, `\e`)
	var b strings.Builder
	b.WriteString(".nf\n")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`)
		}
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}
