package desk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// The call on the desk changes in the gate alone, in both faces of the desk: elsewhere only where the
// agent's own key has asked for it, in what is handed to the gate to run, and where a call is read that
// the gate has let in.
func TestOnlyTheGateChangesTheCall(t *testing.T) {
	t.Parallel()
	passes := []string{"takeCall", "next", "present", "show", "restore"}
	byKey := map[string]bool{
		"leaveFor next": true, "Take takeCall": true, "finish next": true, // n and s, opening, what ends a call.
		"holdReturn takeCall": true, "restore present": true, // u, which the gate admits.
		"serve present": true, // After mayServe, of the gate.
		"onRead show":   true, // The same call, read anew.
	}
	assigns := map[string]bool{"show": true}
	var files []string
	for _, folder := range []string{".", "..", "../page", "../../commands"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.go"))
		servicetest.Check(t, err)
		files = append(files, found...)
	}
	calls := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "gate.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		servicetest.Check(t, err)
		for _, declared := range file.Decls {
			in, isFunc := declared.(*ast.FuncDecl)
			if !isFunc {
				continue
			}
			ast.Inspect(in, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit: // What the gate is handed to run.
					named, _ := n.Type.(*ast.Ident)
					return named == nil || named.Name != "arrival"
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						if field, is := to.(*ast.SelectorExpr); is && field.Sel.Name == "Call" && isDay(field.X) && !assigns[in.Name.Name] {
							t.Errorf("%s: %s sets the call on the desk, which the gate does", path, in.Name.Name)
						}
					}
				case *ast.CallExpr:
					called, is := n.Fun.(*ast.SelectorExpr)
					if is && isDay(called.X) && slices.Contains(passes, called.Sel.Name) {
						if calls++; !byKey[in.Name.Name+" "+called.Sel.Name] {
							t.Errorf("%s: %s calls %s, which the gate does", path, in.Name.Name, called.Sel.Name)
						}
					}
				}
				return true
			})
		}
	}
	if calls < len(byKey) {
		t.Errorf("got %d calls, want at least those that are named: %d", calls, len(byKey))
	}
}

// isDay reports whether an expression is the day as its methods and its parts name it.
func isDay(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "d"
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "day")
	default:
		return false
	}
}
