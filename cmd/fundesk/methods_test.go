package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostMethods is how many methods a type has, with those that it takes over from what it embeds.
const mostMethods = 90

// typeFound is what the tree says of a type; names are those of packages and types, such as desk.Day.
type typeFound struct {
	methods map[string]bool
	embeds  []string
}

// No type of the client is more than a person keeps in mind.
func TestNoTypeHasTooManyMethods(t *testing.T) {
	t.Parallel()
	found := map[string]*typeFound{}
	of := func(name string) *typeFound {
		if found[name] == nil {
			found[name] = &typeFound{methods: map[string]bool{}}
		}
		return found[name]
	}
	client := []string{"apiclient", "commands", "completions", "render", "tui"}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		top := strings.Split(filepath.ToSlash(path)+"///", "/")[2]
		if err != nil || !slices.Contains(client, top) || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		in := filepath.Base(filepath.Dir(path))
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					of(typeName(in, d.Recv.List[0].Type)).methods[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ts, isType := spec.(*ast.TypeSpec)
					if !isType {
						continue
					}
					if st, isStruct := ts.Type.(*ast.StructType); isStruct {
						for _, field := range st.Fields.List {
							if len(field.Names) == 0 {
								of(typeName(in, ts.Name)).embeds = append(of(typeName(in, ts.Name)).embeds, typeName(in, field.Type))
							}
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil || len(found) < 150 {
		t.Fatalf("got %d types, %v, want those of the tree", len(found), err)
	}
	var all func(name string, into map[string]bool)
	all = func(name string, into map[string]bool) {
		for method := range of(name).methods {
			into[method] = true
		}
		for _, embedded := range of(name).embeds {
			all(embedded, into)
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	for _, name := range names {
		methods := map[string]bool{}
		if all(name, methods); len(methods) > mostMethods {
			t.Errorf("%s has %d methods, want at most %d: split it into types with their own state", name, len(methods), mostMethods)
		}
	}
}

// typeName is a type of a package by its name, without the pointer and the parameters.
func typeName(in string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(in, e.X)
	case *ast.IndexExpr:
		return typeName(in, e.X)
	case *ast.IndexListExpr:
		return typeName(in, e.X)
	case *ast.SelectorExpr:
		if x, isName := e.X.(*ast.Ident); isName {
			return x.Name + "." + e.Sel.Name
		}
	case *ast.Ident:
		return in + "." + e.Name
	}
	return ""
}

// mostLines is how many lines the product has at most, and wantedLines how many it is to have. A change that takes lines
// out lowers the first.
const mostLines, wantedLines = 67_548, 58_000

// The product does not grow: all Go without tests, and without what only they, documents and CI need.
func TestProductDoesNotGrow(t *testing.T) {
	t.Parallel()
	notOfIt := []string{".ci", ".git", "docs", "testdata", "servicetest", "powercut", "manual", "node_modules"}
	lines := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(notOfIt, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		lines += bytes.Count(text, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines > mostLines {
		t.Errorf("the product has %d lines, at most %d are allowed and %d are wanted: look for what can go", lines, mostLines, wantedLines)
	}
	t.Logf("%d lines; %d are wanted", lines, wantedLines)
}
