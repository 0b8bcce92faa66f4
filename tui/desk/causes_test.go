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
	"time"
)

// Each cause that the Desk may have to tell, of the client, of the service and of the disk, has a text in both languages,
// with the same places for values; and no table has a cause that nothing tells.
func TestEveryCauseIsTranslated(t *testing.T) {
	t.Parallel()
	causes := append(causesOf(t), causesOfSystem...)
	for language, read := range languages {
		table := read()
		for _, cause := range causes {
			said, known := table.causes[cause]
			if !known {
				t.Errorf("%s: no text for the cause %q", language, cause)
			} else if strings.Count(said, place) != strings.Count(cause, place) {
				t.Errorf("%s: %q has not the places of %q", language, said, cause)
			}
		}
		for cause := range table.causes {
			if !slices.Contains(causes, cause) {
				t.Errorf("%s: nothing tells the cause %q", language, cause)
			}
		}
	}
}

// causesOfSystem are what the system and Go's libraries say, causes of one word, and parts of what the command says of the token.
var causesOfSystem = []string{
	"interrupted", " of profile {}", "the token ends in {}, on {}: ask for another one", "the token ends {}, at {}: ask for another one", "in {}h", "in {}m", "1 day", "{} days",
	"connection refused", "connection reset by peer", "connection timed out", "network is unreachable", "no route to host", "broken pipe",
	"EOF", "unexpected EOF", "lookup {}: no such host", "lookup {} on {}: no such host", "lookup {}: {}", "dial tcp {}: {}",
	"connect: {}", "read tcp {}: {}", "write tcp {}: {}", "i/o timeout", "context deadline exceeded", "context canceled",
	"no space left on device", "disk quota exceeded", "permission denied", "read-only file system", "input/output error", "no such file or directory",
	"file exists", "too many open files", "is a directory", "bad request", "unauthorized", "forbidden",
	"not found", "request timeout", "conflict", "precondition failed", "too many requests", "internal server error",
	"bad gateway", "service unavailable", "gateway timeout",
}

// tellers are the packages whose errors the Desk tells, and the arguments that are texts, by the name of what is called.
var tellers = []string{"../../apiclient/*.go", "../../apiclient/apitype/*.go", "../../apiclient/outbox/*.go", "../../service/*.go", "../../service/queue/*.go", "../../service/privacy/*.go", "../../commands/cli/target.go"}

var causeArguments = map[string]int{"New": 0, "Errorf": 0, "Sprintf": 0, "broken": 1, "Add": 1, "addParameter": 1, "refuse": 1, "conflict": 0}

// notTold are causes that no request of the Desk has: of the profile, of a service's settings, accounts and tokens, and of
// calls and pledges that only a command creates.
var notTold = regexp.MustCompile(`[Pp]rox|certificate|cannot be written|^the path is|malformed id|externalMetadata$|service-managed|external call|null together|^entityName|JSON object|combined with first` +
	`|^processed marks|type of call: |name of a script|bytes$|two capital|there twice|span of a day|is revoked|no organization|account (needs|sees)|no {} {}|already (exists|taken)|^tokens are` +
	`|valid for a second|^names no|no such action|signing key|clock and the|such row|row exists|transaction again|^aa ab|bytes at most|^encode the|^decode the|entries$|erasure|another organization|^kind must|dump|a row of|must equal|only for a call|deferredUntil|several questions|was erased$|the clock says|this run would|^retention|, run \{\}|of the path|nested|given twice|valid JSON|known field|^is not valid$|must be a whole number$|an array|^AD AE|02d|2006|^the name|unknown permission|^signature file|asks to wait|profile {}\)|or let the profile|^fundesk auth|^log in: |^set another FUNDESK|^\(|^line `)

func causesOf(t *testing.T) (causes []string) {
	t.Helper()
	add := func(e ast.Expr) {
		text, isText := causeText(e)
		if isText && strings.Contains(strings.Trim(text, "{} "), " ") && !notTold.MatchString(text) && !slices.Contains(causes, text) {
			causes = append(causes, text)
		}
	}
	for _, pattern := range tellers {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
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
				for _, e := range toldIn(n) {
					add(e)
				}
				return true
			})
		}
	}
	return causes
}

// toldIn returns the texts of errors that a node makes.
func toldIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, is := n.Key.(*ast.Ident); is && (key.Name == "Message" || key.Name == "Detail") {
			return []ast.Expr{n.Value}
		}
	case *ast.ValueSpec:
		return n.Values
	case *ast.AssignStmt:
		if left, is := n.Lhs[0].(*ast.SelectorExpr); is && left.Sel.Name == "Message" {
			return n.Rhs[:1]
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if i, is := causeArguments[name]; is && i < len(n.Args) {
			return n.Args[i : i+1]
		}
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			return n.Results[len(n.Results)-1:]
		}
	}
	return nil
}

// causeText returns a literal text, or literal texts joined with values, with a place for each value.
func causeText(e ast.Expr) (text string, is bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, _ = strconv.Unquote(e.Value)
		return regexp.MustCompile(`%[a-z]`).ReplaceAllString(text, place), true
	case *ast.BinaryExpr:
		before, isBefore := causeText(e.X)
		after, isAfter := causeText(e.Y)
		if !isBefore {
			before = place
		}
		if !isAfter {
			after = place
		}
		return before + after, e.Op == token.ADD && (isBefore || isAfter)
	}
	return "", false
}

// A key that ends a call does nothing until the call was visible for 0.6 s, and until the same key
// has rested for a second: a key that is held down ends one call, also on a line that stalls.
func TestKeysMeantForTheCallBefore(t *testing.T) {
	t.Parallel()
	type press struct {
		after           time.Duration // Since the call came on screen.
		key             string
		isRepeat, isEnd bool
		ignored         bool
	}
	for _, test := range []struct {
		name    string
		presses []press
	}{
		{"too soon", []press{{599 * time.Millisecond, "1", false, true, true}}},
		{"soon enough", []press{{600 * time.Millisecond, "1", false, true, false}}},
		{"again, after it was ignored", []press{{100 * time.Millisecond, "1", false, true, true}, {1099 * time.Millisecond, "1", false, true, true}, {2099 * time.Millisecond, "1", false, true, false}}},
		{"after a key for this call", []press{{50 * time.Millisecond, "down", false, false, false}, {599 * time.Millisecond, "1", false, true, true}}},
		{"after the same key as text", []press{{600 * time.Millisecond, "1", false, false, false}, {1500 * time.Millisecond, "1", false, true, true}}},
		{"in one piece", []press{{time.Second, "1", false, true, false}, {time.Second, "1", false, true, true}, {time.Second, "1", false, true, true}}},
		{"held down, as the terminal tells", []press{{time.Second, "1", true, true, true}}},
		{"held down, as its speed tells", []press{{time.Second, "1", false, true, false}, {1999 * time.Millisecond, "1", false, true, true}, {2999 * time.Millisecond, "1", false, true, false}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var g Guard
			shown := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
			g.Show(shown)
			for _, p := range test.presses {
				if got := g.Press(p.key, p.isRepeat, p.isEnd, shown.Add(p.after)); got != p.ignored {
					t.Errorf("%s after %v: got ignored %v, want %v", p.key, p.after, got, p.ignored)
				}
			}
		})
	}
}
