// Command compare-promises compares what the docs promise with the tests that prove it, in both
// directions. A promise is an identifier at the beginning of a row or a heading of a document; its test has
// the comment "// Promise S34: …". Run it at the top of the repository.
package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// docs are the documents whose promises have an identifier, and how it is written there.
var docs = map[string]*regexp.Regexp{
	"SECURITY.md":        regexp.MustCompile(`(?m)^(?:\| )?(P\d+)(?: \||:)`),
	"service/DESIGN.md":  regexp.MustCompile(`(?m)^(?:\| |### )(S\d+)(?: \||\. )`),
	"service/PRIVACY.md": regexp.MustCompile(`(?m)^\| (K\d+) \|`),
}

// proof matches a comment that names a promise, and the comments up to the function below it.
var proof = regexp.MustCompile(`(?m)^// Promise ([A-Z]\d+): .*\n(?:// .*\n|//\n)*(func (?:Test|Benchmark|Fuzz))?`)

func main() {
	promised, err := readDocs()
	if err == nil {
		err = compare(promised)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare-promises:", err)
		os.Exit(1)
	}
	fmt.Printf("%d promises, each with a test\n", len(promised))
}

// readDocs returns the identifiers of the docs, each with its page.
func readDocs() (map[string]string, error) {
	promised := make(map[string]string)
	for page, row := range docs {
		text, err := os.ReadFile(filepath.FromSlash(page))
		if err != nil {
			return nil, err
		}
		for _, found := range row.FindAllStringSubmatch(string(text), -1) {
			promised[found[1]] = page
		}
	}
	return promised, nil
}

// compare returns an error that names every promise without a test, and every test whose
// promise no page makes.
func compare(promised map[string]string) error {
	var wrong []string
	proved := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, id := range proofs(string(text)) {
			proved[id] = true
			if promised[id] == "" {
				wrong = append(wrong, fmt.Sprintf("%s: no page has the promise %s", path, id))
			}
		}
		return err
	})
	for _, id := range slices.Sorted(maps.Keys(promised)) {
		if !proved[id] {
			wrong = append(wrong, fmt.Sprintf("%s: no test has the comment // Promise %s: …", promised[id], id))
		}
	}
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%d differ\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	return err
}

// proofs returns the promises that the comments of the tests in a file name.
func proofs(text string) []string {
	var ids []string
	for text != "" {
		found := proof.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		if found[4] >= 0 { // A test stands below.
			ids = append(ids, text[found[2]:found[3]])
		}
		text = text[strings.IndexByte(text[found[0]:], '\n')+found[0]+1:]
	}
	return ids
}
