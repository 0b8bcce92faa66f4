package main

import (
	"fmt"
	"os"
	"strings"
)

// row is a promise, the edits that break it, and the test that turns red.
type row struct {
	id    string // Of the paper's promise, -something where it has several rows.
	says  string
	edits []edit
	pkg   string
	test  string // As -run takes it; empty: it is about speed, and measured.
}

// edit puts a text of a file, which is there once, in another's place.
type edit struct{ file, old, new string }

// promise is the identifier that the paper has.
func (r row) promise() string {
	id, _, _ := strings.Cut(r.id, "-")
	return id
}

// readRows reads the list. A row begins with its id and the sentence; indented below it are
// "in FILE", lines "- old" and "+ new", and "red PACKAGE TEST", or "measured BENCHMARK" alone. In the new text @on is
// whether this row is switched on, and @or(a, b) is a, and b when it is.
func readRows(path string) ([]row, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []row
	measured := make(map[string]bool)
	file := ""
	for n, line := range strings.Split(string(text), "\n") {
		wrong := func(what string) error { return fmt.Errorf("%s:%d: %s: %s", path, n+1, what, line) }
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !strings.HasPrefix(line, "  ") {
			id, says, _ := strings.Cut(line, " ")
			rows, file = append(rows, row{id: id, says: says}), ""
			continue
		}
		if len(rows) == 0 {
			return nil, wrong("no row has begun")
		}
		r := &rows[len(rows)-1]
		sign, rest, _ := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		last := len(r.edits) - 1
		switch {
		case sign == "in":
			file = rest
		case sign == "-" && (last < 0 || r.edits[last].new != "" || r.edits[last].file != file):
			r.edits = append(r.edits, edit{file: file, old: rest})
		case sign == "-":
			r.edits[last].old += "\n" + rest
		case sign == "+" && last >= 0 && r.edits[last].new == "":
			r.edits[last].new = r.switched(rest)
		case sign == "+" && last >= 0:
			r.edits[last].new += "\n" + r.switched(rest)
		case sign == "red":
			r.pkg, r.test, _ = strings.Cut(rest, " ")
		case sign == "measured":
			measured[r.id] = true
		default:
			return nil, wrong("neither in, -, +, red nor measured")
		}
	}
	for _, r := range rows {
		if (len(r.edits) == 0 || r.test == "") && !measured[r.id] {
			return nil, fmt.Errorf("%s: %s has no edit or no test", path, r.id)
		}
	}
	return rows, nil
}

// switched writes out the names that stand for the switch of the row.
func (r row) switched(text string) string {
	text = strings.ReplaceAll(text, "@or(", fmt.Sprintf("mutant.Or(%q, ", r.id))
	return strings.ReplaceAll(text, "@on", fmt.Sprintf("mutant.On(%q)", r.id))
}
