package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// sample makes n random changes of the code, one at a time, and runs the tests of the package
// and of those that import it. It lists the changes that stayed green: some of them change
// nothing that anybody could see.
func sample(work string, n int, random *rand.Rand) error {
	files, err := sources()
	if err != nil {
		return err
	}
	survived, tried := 0, 0
	for tried < n {
		file := files[random.IntN(len(files))]
		place, text, err := mutate(file, random)
		if err != nil {
			return err
		}
		if text == nil {
			continue // Nothing in it can be changed.
		}
		red, err := turnsRed(work, file, text)
		if errors.Is(err, errNotGo) {
			continue
		}
		if err != nil {
			return err
		}
		tried++
		colour := "red"
		if !red {
			survived++
			colour = "green"
		}
		fmt.Printf("%d %s: %s\n", tried, colour, place) // A sample that is broken off counts, too.
	}
	fmt.Printf("%d of %d random changes were seen\n", n-survived, n)
	return nil
}

// sources are the files of the programs.
func sources() ([]string, error) {
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "servicetest"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// opposites are the operators that a change puts in each other's place.
var opposites = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutate changes one place of a file, and says which; text is nil where there is none.
func mutate(path string, random *rand.Rand) (place string, text []byte, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return "", nil, err
	}
	type change struct {
		at   token.Pos
		what string
		make func()
	}
	var changes []change
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			if other, ok := opposites[n.Op]; ok {
				changes = append(changes, change{n.OpPos, n.Op.String() + " to " + other.String(), func() { n.Op = other }})
			}
		case *ast.IfStmt:
			changes = append(changes, change{n.Pos(), "if not", func() { n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: n.Cond}} }})
		case *ast.BasicLit:
			if value, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				changes = append(changes, change{n.Pos(), n.Value + " plus 1", func() { n.Value = strconv.Itoa(value + 1) }})
			}
		case *ast.BlockStmt:
			for i, statement := range n.List {
				if _, isCall := statement.(*ast.ExprStmt); isCall {
					changes = append(changes, change{statement.Pos(), "a call left out", func() { n.List[i] = &ast.EmptyStmt{Semicolon: statement.Pos()} }})
				}
			}
		}
		return true
	})
	if len(changes) == 0 {
		return "", nil, nil
	}
	chosen := changes[random.IntN(len(changes))]
	chosen.make()
	var out bytes.Buffer
	err = format.Node(&out, set, file)
	return fmt.Sprintf("%s: %s", set.Position(chosen.at), chosen.what), out.Bytes(), err
}

// errNotGo is a change that does not compile.
var errNotGo = errors.New("the change does not compile")

// turnsRed is whether a test fails with another text in the place of a file.
func turnsRed(work, file string, text []byte) (bool, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return false, err
	}
	changed, overlay := filepath.Join(work, "changed.go"), filepath.Join(work, "random.json")
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{absolute: changed}})
	if err = errors.Join(err, os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, data, 0o600)); err != nil {
		return false, err
	}
	if exec.Command("go", "build", "-overlay", overlay, "./...").Run() != nil {
		return false, errNotGo
	}
	tests := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", "10m", "./"+filepath.ToSlash(filepath.Dir(file)))
	tests.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	if tests.Run() != nil {
		return true, nil
	}
	rest := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", "30m", "./...")
	rest.Env = tests.Env
	return rest.Run() != nil, nil
}
