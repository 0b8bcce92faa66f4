package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// change is a small change of the code that a switch makes. It is text that is put in between,
// so that lines keep their numbers.
type change struct {
	number int    // Of the switch.
	name   string // File, function, what was there and what becomes of it: not the line, which moves.
	file   string
	line   int
	last   int // Line.
	order  int // In the file: what is around another change comes before it.
	put    []insertion
}

// insertion is text at an offset of the file, with %d for the switch, in the place of some bytes.
type insertion struct {
	at, instead int
	text        string
}

// listed is a package as go list tells it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }
}

// source is a file of the programs, with what the compiler knows of it.
type source struct {
	set  *token.FileSet
	info *types.Info
	pkg  *types.Package
	file *ast.File
	path string // From the root of the tree.
	text string
}

// sources are the files of the programs.
func sources() ([]source, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...").Output()
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	var ours []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && !slices.Contains([]string{"servicetest", "manual", "powercut"}, filepath.Base(p.Dir)) {
			ours = append(ours, p)
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []source
	for _, p := range ours {
		of, err := sourcesOf(p, set, imports)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// sourcesOf are the files of a package.
func sourcesOf(p listed, set *token.FileSet, imports types.Importer) ([]source, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	var all []source
	var files []*ast.File
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		path, err := filepath.Rel(root, filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		all = append(all, source{set: set, info: info, file: file, path: filepath.ToSlash(path), text: string(text)})
	}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, set, files, info)
	for i := range all {
		all[i].pkg = pkg
	}
	return all, err
}

// allChanges are those that could be made in the programs.
func allChanges() ([]change, error) {
	files, err := sources()
	if err != nil {
		return nil, err
	}
	var all []change
	for _, file := range files {
		f := &finder{source: file}
		for _, declaration := range file.file.Decls {
			f.function = "var"
			if function, ok := declaration.(*ast.FuncDecl); ok {
				f.function = function.Name.Name
			}
			ast.Inspect(declaration, f.visit)
		}
		all = append(all, f.changes...)
	}
	return all, nil
}

// finder finds the changes of a file.
type finder struct {
	source
	function string
	changes  []change
}

func (f *finder) offset(at token.Pos) int { return f.set.Position(at).Offset }

// add keeps a change of a node.
func (f *finder) add(node ast.Node, what string, put ...insertion) {
	was := strings.Join(strings.Fields(f.text[f.offset(node.Pos()):f.offset(node.End())]), " ")
	if len(was) > 70 {
		was = was[:70] + "…"
	}
	f.changes = append(f.changes, change{
		name: fmt.Sprintf("%s %s: %s: %s", f.path, f.function, was, what), file: f.path, order: len(f.changes), line: f.set.Position(node.Pos()).Line, last: f.set.Position(node.End()).Line, put: put,
	})
}

// around is text before and after a node.
func (f *finder) around(node ast.Node, before, after string) []insertion {
	return []insertion{{f.offset(node.Pos()), 0, before}, {f.offset(node.End()), 0, after}}
}

// visit finds the changes of a node; constants, of which types are made, stay as they are.
func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType:
		return false
	case *ast.CompositeLit:
		if _, isMap := f.info.TypeOf(n).Underlying().(*types.Map); !isMap {
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					ast.Inspect(pair.Value, f.visit)
				} else {
					ast.Inspect(element, f.visit)
				}
			}
			return false
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.IfStmt:
		if isBool(f.info.TypeOf(n.Cond)) {
			f.add(n.Cond, "if not", f.around(n.Cond, "(", ") != mutant.On(%d)")...)
		}
	case *ast.BasicLit:
		f.literal(n)
	case *ast.BlockStmt:
		for _, statement := range n.List {
			if call, isCall := statement.(*ast.ExprStmt); isCall && !f.isPanic(call.X) {
				f.add(statement, "left out", f.around(statement, "if !mutant.On(%d) { ", " }")...)
			}
		}
	}
	return true
}

// binary changes an operator into its neighbour.
func (f *finder) binary(n *ast.BinaryExpr) {
	kind := f.info.Types[n]
	call := func(name, other string) {
		f.add(n, n.Op.String()+" to "+other, insertion{f.offset(n.Pos()), 0, "mutant." + name + "(%d, "},
			insertion{f.offset(n.OpPos), len(n.Op.String()), ", "}, insertion{f.offset(n.End()), 0, ")"})
	}
	lazy := func(name, other string) {
		f.add(n, n.Op.String()+" to "+other, insertion{f.offset(n.Pos()), 0, "mutant." + name + "(%d, "},
			insertion{f.offset(n.OpPos), 2, ", func() bool { return ("}, insertion{f.offset(n.End()), 0, ") })"})
	}
	switch {
	case kind.Value != nil: // A constant.
	case n.Op == token.ADD || n.Op == token.SUB:
		if basic, ok := kind.Type.Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric != 0 {
			call(map[token.Token]string{token.ADD: "Plus", token.SUB: "Minus"}[n.Op], map[token.Token]string{token.ADD: "-", token.SUB: "+"}[n.Op])
		}
	case !isBool(kind.Type):
	case n.Op == token.EQL:
		f.add(n, "== to !=", f.around(n, "((", ") != mutant.On(%d))")...)
	case n.Op == token.NEQ:
		f.add(n, "!= to ==", f.around(n, "((", ") != mutant.On(%d))")...)
	case n.Op == token.LSS:
		call("Less", "<=")
	case n.Op == token.LEQ:
		call("LessEqual", "<")
	case n.Op == token.GTR:
		call("More", ">=")
	case n.Op == token.GEQ:
		call("MoreEqual", ">")
	case n.Op == token.LAND:
		lazy("And", "||")
	case n.Op == token.LOR:
		lazy("Either", "&&")
	}
}

// literal adds one to a whole number.
func (f *finder) literal(n *ast.BasicLit) {
	kind, known := f.info.Types[n]
	if _, err := strconv.Atoi(n.Value); err != nil || n.Kind != token.INT || !known {
		return
	}
	if name, ok := f.typeName(kind.Type); ok {
		f.add(n, n.Value+" plus 1", f.around(n, "mutant.Or["+name+"](%d, ", ", "+n.Value+"+1)")...)
	}
}

// typeName is how the file calls a type; not ok where it has no name for it.
func (s *source) typeName(kind types.Type) (name string, ok bool) {
	ok = true
	name = types.TypeString(kind, func(of *types.Package) string {
		if of == s.pkg {
			return ""
		}
		ok = ok && slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool {
			return i.Name == nil && i.Path.Value == strconv.Quote(of.Path())
		})
		return of.Name()
	})
	basic, isBasic := kind.(*types.Basic)
	return name, ok && !(isBasic && basic.Info()&types.IsUntyped != 0)
}

func isBool(kind types.Type) bool {
	basic, ok := kind.(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

func (f *finder) isPanic(call ast.Expr) bool {
	c, ok := call.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := c.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

// withChanges is the text of a file with those of the changes that are its own.
func withChanges(file string, changes []change) (string, error) {
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return "", err
	}
	type placed struct {
		insertion
		begin, end, order int // Of the change.
	}
	var put []placed
	for _, c := range changes {
		if c.file != file {
			continue
		}
		for _, i := range c.put {
			i.text = strings.ReplaceAll(i.text, "%d", strconv.Itoa(c.number))
			put = append(put, placed{i, c.put[0].at, c.put[len(c.put)-1].at, c.order})
		}
	}
	// At one place what ends comes first, the shorter before the longer; then operators; then
	// what begins, the longer before the shorter.
	rank := func(p placed) int {
		switch {
		case p.instead > 0:
			return 1
		case p.at == p.begin:
			return 2
		default:
			return 0
		}
	}
	slices.SortFunc(put, func(a, b placed) int {
		inner := cmp.Or(cmp.Compare(b.end-b.begin, a.end-a.begin), cmp.Compare(a.order, b.order))
		if rank(a) == 0 {
			inner = -inner
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rank(a), rank(b)), inner)
	})
	var out strings.Builder
	at := 0
	for _, p := range put {
		out.WriteString(string(text[at:p.at]))
		out.WriteString(p.text)
		at = p.at + p.instead
	}
	out.WriteString(string(text[at:]))
	return out.String(), nil
}
