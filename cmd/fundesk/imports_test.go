package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// forbidden lists what a package must not import, directly or through ours. A name ending in /... covers everything
// below.
var forbidden = map[string][]string{
	"fundesk/apiclient/apitype": {"fundesk/...", "net/http", "database/sql"},
	"fundesk/apiclient": {
		"fundesk/service/...", "fundesk/render", "fundesk/commands/...", "fundesk/tui/...",
		"database/sql",
	},
	"fundesk/apiclient/hours": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/commands/...", "fundesk/tui/...",
		"net/http",
	},
	"fundesk/apiclient/outbox": {
		"fundesk/service/...",
		"fundesk/render",
		"fundesk/commands/...",
		"fundesk/tui/...",
	},
	"fundesk/apiclient/signin": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/render", "fundesk/commands/...",
		"fundesk/tui/...",
	},
	"fundesk/apiclient/durable":            {"fundesk/..."},
	"fundesk/apiclient/durable/powercut":   {"fundesk/service/...", "fundesk/apiclient"},
	"fundesk/apiclient/durable/privileged": {"fundesk/..."},
	"fundesk/render": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/commands/...", "fundesk/tui/...",
		"github.com/spf13/...", "charm.land/...", "net/http",
	},
	"fundesk/tui": {"fundesk/commands/...", "fundesk/service/...", "fundesk/completions"},
	"fundesk/tui/page": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/completions", "fundesk/tui",
		"github.com/spf13/...",
	},
	"fundesk/tui/widget": {
		"fundesk/apiclient/outbox", "fundesk/commands/...", "fundesk/service/...", "fundesk/tui",
		"fundesk/tui/desk", "fundesk/tui/page",
	},
	"fundesk/render/counts": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/commands/...", "fundesk/tui/...",
		"net/http",
	},
	"fundesk/tui/find": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/commands/...", "fundesk/tui",
		"fundesk/tui/desk", "net/http",
	},
	"fundesk/tui/desk/say": {
		"fundesk/apiclient", "fundesk/service/...", "fundesk/commands/...", "fundesk/tui",
		"fundesk/tui/desk", "net/http",
	},
	"fundesk/tui/desk/entry": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/card", "charm.land/...",
	},
	"fundesk/tui/desk/card": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...",
	},
	"fundesk/tui/desk/changes": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/card", "fundesk/tui/desk/floor", "charm.land/...",
	},
	"fundesk/tui/desk/drafts": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/card", "charm.land/...",
	},
	"fundesk/tui/desk/pending": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/render", "fundesk/tui",
		"fundesk/tui/desk", "charm.land/...",
	},
	"fundesk/tui/desk/event": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/apiclient", "fundesk/tui/desk/card", "fundesk/tui/desk/entry",
	},
	"fundesk/tui/desk/connection": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/apiclient/outbox", "fundesk/tui/desk/card",
		"fundesk/tui/desk/entry",
	},
	"fundesk/tui/desk/pause": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/apiclient/outbox", "fundesk/tui/desk/card",
		"fundesk/tui/desk/entry", "fundesk/tui/desk/drafts",
	},
	"fundesk/tui/desk/callbacks": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/apiclient/outbox", "fundesk/tui/desk/card",
		"fundesk/tui/desk/entry", "fundesk/tui/desk/drafts",
	},
	"fundesk/tui/desk/donors": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/apiclient/outbox", "fundesk/tui/desk/card",
		"fundesk/tui/desk/entry", "fundesk/tui/desk/drafts",
	},
	"fundesk/tui/desk/floor": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"charm.land/...", "fundesk/tui/desk/card", "fundesk/tui/desk/drafts",
		"fundesk/tui/desk/pending",
	},
	"fundesk/tui/desk/queue": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/changes", "fundesk/tui/desk/drafts", "fundesk/tui/desk/pending",
		"charm.land/...",
	},
	"fundesk/tui/desk/disposition": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/lease", "fundesk/tui/desk/queue", "charm.land/...",
	},
	"fundesk/tui/desk/refused": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/tui", "fundesk/tui/desk",
		"fundesk/tui/desk/card", "fundesk/tui/desk/queue", "charm.land/...",
	},
	"fundesk/tui/desk/statefile": {
		"fundesk/apiclient", "fundesk/commands/...", "fundesk/service/...", "fundesk/tui",
		"fundesk/tui/desk",
	},
	"fundesk/tui/desk/ask": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/completions", "fundesk/tui",
		"fundesk/tui/widget", "github.com/spf13/...", "charm.land/...",
	},
	"fundesk/tui/desk": {
		"fundesk/commands/...", "fundesk/service/...", "fundesk/completions", "fundesk/tui",
		"fundesk/tui/desk/ask", "fundesk/tui/widget", "github.com/spf13/...", "charm.land/...",
	},
	"fundesk/completions":  {"fundesk/commands/...", "fundesk/service/...", "fundesk/tui/..."},
	"fundesk/commands":     {"fundesk/service/...", "database/sql"},
	"fundesk/commands/cli": {"fundesk/service/...", "fundesk/tui", "fundesk/tui/page", "database/sql"},
	"fundesk/commands/bulk": {
		"fundesk/service/...", "fundesk/render", "fundesk/tui/...", "fundesk/commands",
		"fundesk/commands/profile", "github.com/spf13/...", "net/http",
	},
	"fundesk/commands/profile": {
		"fundesk/apiclient", "fundesk/apiclient/outbox", "fundesk/service/...", "fundesk/render",
		"fundesk/tui/...", "github.com/spf13/...",
	},
	"fundesk/service": {
		"fundesk/apiclient", "fundesk/render", "fundesk/commands/...", "fundesk/service/...",
		"net/http", "database/sql",
	},
	"fundesk/service/privacy": {
		"fundesk/apiclient", "fundesk/service/httpapi", "fundesk/service/queue",
		"fundesk/service/sqlstore", "net/http", "database/sql",
	},
	"fundesk/service/queue": {
		"fundesk/apiclient", "fundesk/service/httpapi", "fundesk/service/privacy",
		"fundesk/service/sqlstore", "net/http", "database/sql",
	},
	"fundesk/service/httpapi": {"fundesk/apiclient", "fundesk/service/sqlstore", "database/sql"},
	"fundesk/service/sqlstore": {
		"fundesk/apiclient",
		"fundesk/service/httpapi",
		"fundesk/service/privacy",
		"fundesk/service/queue",
	},
	"fundesk/service/signin": {
		"fundesk/apiclient", "fundesk/service/httpapi", "fundesk/service/privacy",
		"fundesk/service/queue", "fundesk/service/sqlstore", "database/sql",
	},
	"fundesk/service/sqlstore/pgdriver": {"fundesk/..."},
	"fundesk/service/embedded": {
		"fundesk/apiclient",
		"fundesk/commands/...",
		"fundesk/tui/...",
		"fundesk/render",
	},
	"fundesk/service/sandbox": {
		"fundesk/apiclient", "fundesk/service/sqlstore", "fundesk/commands/...", "fundesk/tui/...",
		"fundesk/render",
	},
	"fundesk/cmd/fundeskd": {
		"fundesk/apiclient",
		"fundesk/commands/...",
		"fundesk/tui/...",
		"fundesk/render",
	},
	"fundesk/cmd/fundesk": {
		"fundesk/cmd/fundeskd",
		"fundesk/service/servicetest",
		"fundesk/service/signin",
		"github.com/prometheus/...",
		"github.com/getkin/...",
		"github.com/jackc/...",
		"github.com/coreos/...",
		"github.com/zitadel/...",
	},
}

// rooms are the packages below commands, and which of the others each may import, itself or through
// others of ours. What is not named here is imported by all of them, and imports none.
var rooms = map[string][]string{
	"cli":     {},
	"change":  {"cli"},
	"desk":    {"cli"},
	"doctor":  {"cli"},
	"account": {"desk", "cli"},
	"load":    {"change", "cli"},
	"read":    {"change", "cli"},
	"queue":   {"read", "change", "desk", "cli"},
	"bulk":    {},
	// The file of a copy and its SQL.
	"localcopy": {},
	"profile":   {},
}

// The packages below commands import in one order, and every one of them has its place in it.
func TestRoomsOfCommands(t *testing.T) {
	t.Parallel()
	for _, p := range listed(t, "fundesk/commands/...") {
		room := strings.TrimPrefix(p.ImportPath, "fundesk/commands/")
		below, known := rooms[room]
		if !known && room != "fundesk/commands" {
			t.Errorf("%s has no place in the order of packages", p.ImportPath)
		}
		for _, name := range p.Deps {
			other, isRoom := strings.CutPrefix(name, "fundesk/commands/")
			if isRoom &&
				room != "fundesk/commands" &&
				!slices.Contains(append(below, "bulk", "localcopy", "profile"), other) ||
				name == "fundesk/commands" {
				t.Errorf("%s imports %s, which stands above or beside it", p.ImportPath, name)
			}
		}
	}
}

// goPackage holds the output of go list for a package.
type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// listed returns the packages that go list finds.
func listed(t *testing.T, pattern string) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", pattern).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
}

// The arrows of the architecture: which package may import which.
func TestImports(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range listed(t, "fundesk/...") {
		found++
		for _, rule := range forbidden[p.ImportPath] {
			prefix, tree := strings.CutSuffix(rule, "/...")
			// Our packages count through others too, a library only if it is used.
			imports := p.Imports
			if strings.HasPrefix(rule, "fundesk/") || p.ImportPath == "fundesk/cmd/fundesk" {
				imports = p.Deps
			}
			for _, name := range imports {
				if name == prefix || tree && strings.HasPrefix(name, prefix+"/") {
					t.Errorf("%s imports %s, which it must not know", p.ImportPath, name)
				}
			}
		}
		if p.ImportPath == "fundesk/cmd/fundesk" && !slices.Contains(p.Deps, "time/tzdata") {
			t.Error("fundesk has no time zones of its own, and finds none on machines without them")
		}
		helpers := []string{
			"fundesk/service/servicetest",
			"fundesk/service/signin/signintest",
			"fundesk/apiclient/durable/powercut",
			"fundesk/apiclient/durable/privileged",
		}
		for _, helper := range helpers {
			if slices.Contains(p.Imports, helper) && !slices.Contains(helpers, p.ImportPath) {
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, helper)
			}
		}
	}
	if found < len(forbidden) {
		t.Errorf("got %d packages, want at least the %d with rules", found, len(forbidden))
	}
}
