package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// papers are those whose promises carry an identifier, at the beginning of a row of a table.
var papers = map[string]*regexp.Regexp{
	"SECURITY.md":        regexp.MustCompile(`(?m)^(?:\| )?(P\d+)(?: \||:)`),
	"service/DESIGN.md":  regexp.MustCompile(`(?m)^\| (S\d+) \|`),
	"service/PRIVACY.md": regexp.MustCompile(`(?m)^\| (K\d+) \|`),
}

// promises are the identifiers of the papers.
func promises() ([]string, error) {
	var all []string
	for paper, promise := range papers {
		text, err := os.ReadFile(filepath.FromSlash(paper))
		if err != nil {
			return nil, err
		}
		for _, found := range promise.FindAllStringSubmatch(string(text), -1) {
			all = append(all, found[1])
		}
	}
	slices.Sort(all)
	return all, nil
}

// everyPromiseHasRow is an error that names what the papers promise and nothing breaks.
func everyPromiseHasRow(rows []row) error {
	promised, err := promises()
	if err != nil {
		return err
	}
	var missing []string
	for _, id := range promised {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.promise() == id }) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s has no row for %s", listPath, strings.Join(missing, ", "))
	}
	return nil
}

// manuals are the pages of which every flag has a row.
var manuals = []string{"commands/man/*.1", "cmd/fundeskd/man/*.1"}

var (
	synopsis   = regexp.MustCompile(`\.SH SYNOPSIS\n\\fB((?:[a-z]+ ?)+)`)
	ownOptions = regexp.MustCompile(`(?s)\n\.SH OPTIONS\n(.*?)\n\.SH `)
	option     = regexp.MustCompile(`\.TP\n(?:\\fB-\w\\fP, )?\\fB--([\w-]+)\\fP.*\n(.*)`)
)

// manualFlags are the flags of both programs as "program noun verb --name", those that several
// commands share, with the same words, in one.
func manualFlags() ([][]string, error) {
	var flags [][]string
	shared := make(map[string]int) // By program, name and words.
	for _, pattern := range manuals {
		pages, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				return nil, err
			}
			command := synopsis.FindStringSubmatch(string(text))
			options := ownOptions.FindStringSubmatch(string(text))
			if command == nil {
				return nil, fmt.Errorf("%s has no synopsis", page)
			}
			if options == nil {
				continue
			}
			for _, found := range option.FindAllStringSubmatch(options[1], -1) {
				key := pattern + found[1] + found[2]
				at, known := shared[key]
				if found[1] == "help" {
					continue
				}
				if !known {
					at = len(flags)
					shared[key] = at
					flags = append(flags, nil)
				}
				flags[at] = append(flags[at], strings.TrimSpace(command[1])+" --"+found[1])
			}
		}
	}
	return flags, nil
}

// flagEdits have the trees of commands look for what they are to ignore.
var flagEdits = []edit{
	{"commands/commands.go", "\n\treturn root\n}\n", "\n\treturn ignore.Flags(root)\n}\n"},
	{"cmd/fundeskd/main.go", "\n\treturn root\n}\n", "\n\treturn ignore.Flags(root)\n}\n"},
}

// readNames reads the list of what has a name in the papers, a line each: a flag of the manual
// pages, "program noun verb --name PACKAGE TEST", or a bound, "FILE CONSTANT PACKAGE TEST",
// which is doubled, and halved. Every flag has a line, and every bound that service and client share.
func readNames(path string, first int) ([]row, error) {
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	flags, err := manualFlags()
	if err != nil {
		return nil, err
	}
	var rows []row
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: want a flag or a bound, a package and a test: %s", path, n+1, line)
		}
		r := row{number: first + len(rows), id: strings.Join(fields[:len(fields)-2], " "), pkg: fields[len(fields)-2], test: fields[len(fields)-1]}
		if strings.HasSuffix(fields[0], ".go") {
			r.constant, r.id = constant{fields[0], fields[1]}, fields[1]
			half := r
			half.number, half.id, half.half = r.number+1, r.id+"/2", true
			rows = append(rows, r, half)
		} else {
			at := slices.IndexFunc(flags, func(names []string) bool { return slices.Contains(names, r.id) })
			if at < 0 {
				return nil, fmt.Errorf("%s:%d: no manual page has another flag %s", path, n+1, r.id)
			}
			r.flags = flags[at]
			flags = slices.Delete(flags, at, at+1)
			rows = append(rows, r)
		}
	}
	var missing []string
	for _, names := range flags {
		missing = append(missing, names[0])
	}
	shared, err := sharedBounds()
	for _, name := range shared {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.constant == constant{boundsPath, name} }) {
			missing = append(missing, boundsPath+" "+name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s has no line for:\n%s", path, strings.Join(missing, "\n"))
	}
	return rows, err
}

// boundsPath are the bounds that service and client share.
const boundsPath = "apiclient/apitype/limits.go"

var bound = regexp.MustCompile(`(?m)^\t(Max\w+)\s+= `)

func sharedBounds() ([]string, error) {
	text, err := os.ReadFile(filepath.FromSlash(boundsPath))
	var names []string
	for _, found := range bound.FindAllStringSubmatch(string(text), -1) {
		names = append(names, found[1])
	}
	return names, err
}

// numbersPath lists the numbers of the papers, each with what it is: the identifiers of rows,
// or why it needs none.
const numbersPath = ".ci/mutants/numbers.txt"

// numbered are the papers whose numbers have a row. Those of docs/speed.md and service/SCALE.md are
// measured, or goals of what is measured.
var numbered = []string{"README.md", "SECURITY.md", "service/DESIGN.md", "service/PRIVACY.md", "docs/*.md"}

var number = regexp.MustCompile(`(?:^|[^\w.#/-])(\d[\d,.]*) ?(ms|s|seconds?|minutes?|hours?|h|days?|d|weeks?|months?|years?|[KMG]iB|[kKMG]B|bytes?|characters?|levels?|attempts?|records?|entries|times|organizations|problems|calls)(?:[^\w-]|$)`)

// everyNumberIsKnown is an error that names the numbers of the papers that the list does not have.
func everyNumberIsKnown(rows []row) error {
	text, err := os.ReadFile(filepath.FromSlash(numbersPath))
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		known[name] = false
		for id := range strings.SplitSeq(what, ", ") {
			if !strings.Contains(id, " ") && !slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
				return fmt.Errorf("%s: %s: there is no row %s", numbersPath, name, id)
			}
		}
	}
	for _, pattern := range numbered {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, found := range number.FindAllStringSubmatch(string(text), -1) {
				name := found[1] + " " + found[2]
				if _, listed := known[name]; !listed && filepath.Base(file) != "speed.md" {
					return fmt.Errorf("%s says %q, which %s does not have", file, name, numbersPath)
				}
				known[name] = true
			}
		}
	}
	for name, said := range known {
		if !said {
			return fmt.Errorf("%s: no paper says %q", numbersPath, name)
		}
	}
	return nil
}
