package commands

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/service/servicetest"
)

// The limits of a page's language, and of all docs together.
const (
	maxWords, maxMean, allWords, changelogLines, readmeWords = 35, 16.0, 21_000, 60, 420
)

// oddWords matches unusual words, and words for persons that stand for programs.
var oddWords = regexp.MustCompile(`(?i)\b(rings?|ringing|rung|rang|nobody|somebody|of yours|what waits|whoever|parted|told of|is told|are told|` +
	`speaks? against|whole or absent|older than it may|sign that turns|put off|by and by|who rings)\b`)

// Marks of a text that are not words, and sentences' ends.
var (
	codeBlocks   = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^    .*?$|^<.*?>$|<!--.*?-->")
	inlineCode   = regexp.MustCompile("`[^`]*`")
	links        = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	pieces       = regexp.MustCompile(`\n[ \t]*\n|\n(?:#+|[ \t]*[-*]|[ \t]*\d+\.)[ \t]|\||\n---`)
	ends         = regexp.MustCompile(`[.!?]["”)*]*(?:\s+|$)|:\n`)
	indented     = regexp.MustCompile(`\n[ $]{2,}|\n(?:[A-Z_,]+) {2,}| {3,}`)
	wordInText   = regexp.MustCompile(`[\pL\d]`)
	abbreviation = strings.NewReplacer("e.g.", "eg", "i.e.", "ie", "…", "x")
)

// sentences returns the sentences of a text, without code, tables taken apart by cells.
func sentences(text string) []string {
	text = links.ReplaceAllString(inlineCode.ReplaceAllString(codeBlocks.ReplaceAllString(text, ""), "X"), "$1")
	var all []string
	for _, piece := range pieces.Split("\n"+abbreviation.Replace(text), -1) {
		for _, sentence := range ends.Split(piece, -1) {
			if wordInText.MatchString(sentence) {
				all = append(all, strings.Join(strings.Fields(sentence), " "))
			}
		}
	}
	return all
}

// countWords returns how many fields of a text have a letter or a digit.
func countWords(text string) int {
	var n int
	for word := range strings.FieldsSeq(text) {
		if wordInText.MatchString(word) {
			n++
		}
	}
	return n
}

// checkEnglish fails the test for a long sentence, an odd word, and a text with a high mean.
func checkEnglish(t *testing.T, name, text string) {
	t.Helper()
	words, long := 0, 0
	for _, sentence := range sentences(text) {
		n := countWords(sentence)
		if n > maxWords {
			t.Errorf("%s: a sentence has %d words: %s", name, n, sentence)
		}
		if odd := oddWords.FindString(sentence); odd != "" {
			t.Errorf("%s: %q in: %s", name, odd, sentence)
		}
		if n >= 4 { // Less is a heading, or a cell.
			words, long = words+n, long+1
		}
	}
	if mean := float64(words) / float64(max(long, 1)); long > 3 && mean > maxMean {
		t.Errorf("%s: a sentence has %.1f words on average, want at most %.0f", name, mean, maxMean)
	}
}

// docs returns the text of each page in the tree by its path.
func docs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		if err == nil &&
			entry.IsDir() &&
			(entry.Name() == "testdata" || entry.Name() == "node_modules" || entry.Name() == ".git" ||
				entry.Name() == "dist" || strings.HasSuffix(name, "embedded/scripts")) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".md") {
			text, err := os.ReadFile(path)
			all[strings.TrimPrefix(name, "../")] = string(text)
			return err
		}
		return err
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("got %d docs, %v, want 20 at least", len(all), err)
	}
	return all
}

// The docs are short and in plain English.
func TestPlainEnglish(t *testing.T) {
	t.Parallel()
	total := 0
	for name, text := range docs(t) {
		total += countWords(text)
		checkEnglish(t, name, text)
	}
	if total > allWords {
		t.Errorf("the docs have %d words, want at most %d: delete some of another page", total, allWords)
	}
	if n := countWords(docs(t)["README.md"]); n > readmeWords {
		t.Errorf("the README has %d words, want at most %d", n, readmeWords)
	}
	for release := range strings.SplitSeq(docs(t)["CHANGELOG.md"], "\n## ") {
		if n := strings.Count(release, "\n"); n > changelogLines {
			t.Errorf("the changelog has %d lines of one release, want at most %d", n, changelogLines)
		}
	}
}

// So is the help.
func TestPlainEnglishOfTheHelp(t *testing.T) {
	t.Parallel()
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		checkEnglish(t, cmd.CommandPath(), cmd.Short+"\n\n"+cmd.Long)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { checkEnglish(t, cmd.CommandPath()+" --"+f.Name, f.Usage) })
	})
	for name, topic := range topics() {
		if name != "keys" {
			checkEnglish(t, "help "+name, indented.ReplaceAllString(topic(), "\n\n"))
		}
	}
}

// So are the descriptions of openapi.json.
func TestPlainEnglishOfTheDescription(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../service/httpapi/openapi.json")
	servicetest.Check(t, err)
	described := regexp.MustCompile(`"(?:description|summary)": "((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(string(text), -1)
	if len(described) < 100 {
		t.Fatalf("got %d descriptions, want 100 at least", len(described))
	}
	var all strings.Builder
	for _, found := range described {
		all.WriteString(strings.ReplaceAll(found[1], `\n`, "\n") + "\n\n")
	}
	checkEnglish(t, "openapi.json", all.String())
}
