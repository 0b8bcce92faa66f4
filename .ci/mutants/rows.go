package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is a promise, the edits that break it, and the test that turns red.
type row struct {
	number   int    // Of the switch.
	id       string // Of the paper's promise, -something where it has several rows.
	edits    []edit
	flags    []string // That are ignored, with their commands, in place of edits.
	constant constant // That is doubled, or halved, in place of edits.
	half     bool
	pkg      string
	test     string // As -run takes it; empty: it is about speed, and measured.
}

// edit puts a text of a file, which is there once, in another's place.
type edit struct{ file, old, new string }

// constant is the name of a number, and the file where it stands.
type constant struct{ file, name string }

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
			id, _, _ := strings.Cut(line, " ")
			rows, file = append(rows, row{id: id, number: len(rows) + 1}), ""
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
	text = strings.ReplaceAll(text, "@or(", fmt.Sprintf("mutant.Or(%d, ", r.number))
	return strings.ReplaceAll(text, "@on", fmt.Sprintf("mutant.On(%d)", r.number))
}

// edited are the sources with the edits of all rows in them, by file.
func edited(rows []row) (map[string]string, error) {
	sources, err := scaled(rows)
	if err != nil {
		return nil, err
	}
	var ignored strings.Builder
	edits := flagEdits
	for _, r := range rows {
		edits = append(edits, r.edits...)
		if r.flags != nil {
			fmt.Fprintf(&ignored, "\t%d: %#v,\n", r.number, r.flags)
		}
	}
	for _, e := range edits {
		if _, read := sources[e.file]; !read {
			text, err := os.ReadFile(filepath.FromSlash(e.file))
			if err != nil {
				return nil, err
			}
			sources[e.file] = string(text)
		}
		if n := strings.Count(sources[e.file], e.old); n != 1 {
			return nil, fmt.Errorf("%s has the text of an edit %d times, not once:\n%s", e.file, n, e.old)
		}
		sources[e.file] = strings.Replace(sources[e.file], e.old, e.new, 1)
	}
	sources["mutant/ignore/ignore.go"] = fmt.Sprintf(flagSource, ignored.String())
	return sources, nil
}

// packagesOf are those whose tests the rows name.
func packagesOf(rows []row) []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.pkg)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// scaling is the switches of a constant; -1: none.
type scaling struct{ double, half int }

// scaled are the sources in which the constants of rows are used, with twice or half their value
// where the row is switched on.
func scaled(rows []row) (map[string]string, error) {
	numbers := make(map[constant]scaling)
	for _, r := range rows {
		if r.constant.name == "" {
			continue
		}
		of, known := numbers[r.constant]
		if !known {
			of = scaling{-1, -1}
		}
		if r.half {
			of.half = r.number
		} else {
			of.double = r.number
		}
		numbers[r.constant] = of
	}
	edited := make(map[string]string)
	if len(numbers) == 0 {
		return edited, nil
	}
	files, err := sources()
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, file := range files {
		if of := scalings(file, root, numbers); of != nil {
			changes = append(changes, of...)
			edited[file.path] = ""
		}
	}
	for path := range edited {
		if edited[path], err = withChanges(path, changes); err != nil {
			return nil, err
		}
	}
	for _, c := range changes {
		for named, of := range numbers {
			if max(of.double, of.half) == c.number {
				delete(numbers, named)
			}
		}
	}
	for named := range numbers {
		return nil, fmt.Errorf("%s: the constant %s is used nowhere", named.file, named.name)
	}
	return edited, nil
}

// scalings are the uses of constants in a file, by the switches of their rows. Where another
// constant is made of one, it stays.
func scalings(file source, root string, numbers map[constant]scaling) []change {
	f := &finder{source: file}
	scale := func(n ast.Expr, name *ast.Ident) bool {
		object, isConstant := f.info.Uses[name].(*types.Const)
		if !isConstant {
			return true
		}
		path, _ := filepath.Rel(root, f.set.Position(object.Pos()).Filename)
		of, known := numbers[constant{filepath.ToSlash(path), object.Name()}]
		if kind, ok := f.typeName(f.info.TypeOf(n)); known && ok {
			text := f.text[f.offset(n.Pos()):f.offset(n.End())]
			f.add(n, "scaled", f.around(n, fmt.Sprintf("mutant.Scaled[%s](%d, %d, ", kind, of.double, of.half), fmt.Sprintf(", 2*(%s), (%[1]s)/2)", text))...)
			f.changes[len(f.changes)-1].number = max(of.double, of.half)
		}
		return false
	}
	for _, declaration := range file.file.Decls {
		ast.Inspect(declaration, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.GenDecl:
				return n.Tok == token.VAR
			case *ast.ArrayType:
				return false
			case *ast.SelectorExpr:
				return scale(n, n.Sel)
			case *ast.Ident:
				return scale(n, n)
			}
			return true
		})
	}
	return f.changes
}
