package desk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Every text that the Desk says in the agent's language is in the tables of both, with the same places for values, and
// no table has a text that nothing says.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	texts := saidTexts(t)
	verbs := regexp.MustCompile(`%[a-z%]`)
	for language, read := range languages {
		table := read()
		for _, text := range texts {
			said, known := table[text]
			if !known {
				t.Errorf("%s: no text for %q", language, text)
			} else if got, want := verbs.FindAllString(said, -1), verbs.FindAllString(text, -1); !slices.Equal(got, want) {
				t.Errorf("%s: %q has %q, want the values of %q", language, said, got, text)
			}
		}
		for text := range table {
			if !slices.Contains(texts, text) {
				t.Errorf("%s: nothing says %q", language, text)
			}
		}
	}
}

// saidTexts returns the literal texts of the calls of Say and its like, and those of the tables that are said.
func saidTexts(t *testing.T) (texts []string) {
	t.Helper()
	add := func(more ...string) {
		for _, text := range more {
			if strings.ContainsFunc(text, unicode.IsLetter) && strings.Trim(text, "% sdq") != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	for _, a := range Actions() {
		add(a.Word, a.Help)
	}
	for _, of := range factParts {
		add(of.label)
		for _, before := range of.before {
			add(strings.Trim(before, " ·€,"))
		}
	}
	for _, f := range recordedFixes(apitype.Call{Person: apitype.Embed(apitype.Person{})}) {
		add(f.Label)
		if f.IsYesNo() {
			add(strings.TrimSuffix(f.Label, " wanted"))
		}
	}
	for _, kind := range apitype.CallTypes {
		add(render.Words(string(kind)))
	}
	for _, interval := range apitype.DonationIntervals {
		add(render.Words(string(interval)))
	}
	for _, status := range []apitype.PledgeStatus{apitype.PledgeLead, apitype.PledgeActive, apitype.PledgeDropped, apitype.PledgeCancelled, apitype.PledgeFulfilled} {
		add(PledgeWords(status), GivesWord(status))
	}
	add(render.Language("nl"), render.Language("de"), render.Language("en"), reasonOptedOut)
	add("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "call back later")
	add("verify", "happy", "completed", "expired", "requested", "still open", "yours", "not yours", "not yours alone", "no")
	add("%dst try", "%dnd try", "%drd try", "%dth try", "Cancel the call", "Expire the call", "Cancel the call to %s, asked for %s?", "Expire the call to %s, asked for %s?")
	add("change is not sent yet", "changes are not sent yet", "change was refused by the service", "changes were refused by the service", "damaged file was set aside", "damaged files were set aside")
	add("no call on the desk: {next-call} takes the next one", "there is no draft", "the call has no pledge", "you have worked on no call yet", "nothing to undo: no change is held")
	add("just now", "%s seconds ago", "%s minute ago", "%s minutes ago", "%s hour ago", "%s hours ago", "%s day ago", "%s days ago")
	for _, pattern := range []string{"*.go", "../*.go", "../page/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				add(saidIn(n)...)
				return true
			})
		}
	}
	return texts
}

// ofEveryPage reports whether a scope of keys is one that the Desk has.
func ofEveryPage(scope ast.Expr) bool {
	s, is := scope.(*ast.SelectorExpr)
	return is && slices.Contains([]string{"ScopeDesk", "ScopeNotes", "ScopeEverywhere"}, s.Sel.Name)
}

// saidIn returns the literal texts that a call says, and the words of the keys in the footer.
func saidIn(n ast.Node) (texts []string) {
	literal := func(e ast.Expr) {
		if l, is := e.(*ast.BasicLit); is && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			texts = append(texts, text)
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		switch name, _ := n.Fun.(*ast.Ident); {
		case name == nil:
		case name.Name == "say":
			literal(n.Args[0])
		case name.Name == "row" && ofEveryPage(n.Args[1]):
			literal(n.Args[3])
			literal(n.Args[4])
		}
		selector, is := n.Fun.(*ast.SelectorExpr)
		if !is || n.Args == nil {
			return texts
		}
		switch selector.Sel.Name {
		case "sayf", "Say":
			literal(n.Args[0])
		case "sayOf":
			literal(n.Args[1])
		case "Count":
			for _, arg := range n.Args[1:] {
				literal(arg)
			}
		}
	case *ast.CompositeLit:
		if list, is := n.Type.(*ast.ArrayType); is {
			if kind, is := list.Elt.(*ast.Ident); is && kind.Name == "Hint" {
				for _, hint := range n.Elts {
					if words, is := hint.(*ast.CompositeLit); is && len(words.Elts) == 2 {
						literal(words.Elts[1])
					}
				}
			}
		}
		if kind, is := n.Type.(*ast.Ident); is && kind.Name == "Hint" && len(n.Elts) == 2 {
			literal(n.Elts[1])
		}
	}
	return texts
}
