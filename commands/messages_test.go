package commands

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// speaking matches functions with a message among their arguments.
var speaking = regexp.MustCompile(`^(New|Errorf|UsageError|WithHint|SettingHint|Note|Warn|Error|[sS]ayf?|[rR]efused?|failOf|Fprintf|Fprintln)$`)

// messagesIn returns the messages of a package's files: texts of several words that are arguments of a speaking
// function.
func messagesIn(t *testing.T, dir string) []string {
	t.Helper()
	found := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	servicetest.Check(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		servicetest.Check(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if isCall && speaking.MatchString(nameOfCall(call)) {
				for _, argument := range call.Args {
					if text := textOf(argument); strings.Contains(text, " ") {
						found[strings.TrimSpace(text)] = true
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// nameOfCall returns the name of a called function, without its package or receiver.
func nameOfCall(call *ast.CallExpr) string {
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name
	case *ast.SelectorExpr:
		return called.Sel.Name
	default:
		return ""
	}
}

// textOf returns a text of the source, with … for its other parts.
func textOf(expression ast.Expr) string {
	switch part := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(part.Value)
		if part.Kind == token.STRING && err == nil {
			return strings.Join(strings.Split(text, "\n"), " ")
		}
	case *ast.BinaryExpr:
		left, right := textOf(part.X), textOf(part.Y)
		if left != "" || right != "" {
			return cmp.Or(left, "…") + cmp.Or(right, "…")
		}
	}
	return ""
}

// All messages of both programs stand in one file, so that they can be read in one go, and none has an odd word:
//
//	go test ./commands -run TestMessages -update
func TestMessages(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, root := range []string{"cmd", "commands", "completions", "render", "tui", "apiclient", "service"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir():
				return err
			case entry.Name() == "testdata" || strings.HasSuffix(entry.Name(), "test"):
				return fs.SkipDir
			}
			if messages := messagesIn(t, path); len(messages) > 0 {
				name := strings.TrimPrefix(filepath.ToSlash(path), "../")
				table.WriteString("# " + name + "\n" + strings.Join(messages, "\n") + "\n\n")
				for _, message := range messages {
					if odd := oddWords.FindString(message); odd != "" {
						t.Errorf("%s: %q in: %s", name, odd, message)
					}
				}
			}
			return nil
		})
		servicetest.Check(t, err)
	}
	const file = "testdata/messages.txt"
	if *update {
		servicetest.Check(t, os.WriteFile(file, []byte(table.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	servicetest.Check(t, err)
	if string(want) != table.String() {
		t.Errorf("%s is old: go test ./commands -run TestMessages -update", file)
	}
}
