package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Verbs build the commands below a noun by their names. Only the chosen one is built, as for nouns.
type Verbs map[string]func(*Session) *cobra.Command

// Group returns a noun, which only holds verbs.
func Group(s *Session, use, long, example string, below Verbs) *cobra.Command {
	command := &cobra.Command{
		Use:     use,
		Long:    long,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.InitDefaultHelpFlag() // The verb after it is no value of it.
	chosen := chosenVerb(s.Args, use, below)
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if chosen == "" || name == chosen {
			command.AddCommand(below[name](s))
		}
	}
	return command
}

// chosenVerb returns the second argument if it names a verb of the noun in the first. "" builds all verbs. It ignores
// lines that begin with flags, because they may belong to the verb. For completion it looks before the word that is
// being typed.
func chosenVerb(args []string, noun string, below Verbs) string {
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = args[1 : len(args)-1]
	}
	if len(args) < 2 || below[args[1]] == nil {
		return ""
	}
	if args[0] == noun || args[0] == noun+"s" {
		return args[1]
	}
	return ""
}

// UnknownVerb returns the usage error of a command that does not exist.
func UnknownVerb(cmd *cobra.Command, name string) error {
	text := "unknown command " + Quote(name) + " for " + Quote(cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = typosIn(name)
	similar := slices.Sorted(slices.Values(cmd.SuggestionsFor(name))) // The verbs are not sorted.
	if !cmd.HasParent() && CommandsFor[name] != "" {
		similar = []string{"fundesk " + CommandsFor[name]}
	}
	for verb := range strings.FieldsSeq(verbsFor[name]) {
		if slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == verb }) {
			similar = []string{verb}
			break
		}
	}
	if len(similar) == 0 {
		return WithHint(UsageError(text), "see: "+cmd.CommandPath()+" --help")
	}
	return WithHint(UsageError(text), "did you mean "+strings.Join(similar, " or ")+"?")
}

// verbsFor are the verbs of other tools and those here that do the same, the best one first.
var verbsFor = map[string]string{
	"get":      "show token",
	"ls":       "list",
	"all":      "list",
	"search":   "list",
	"find":     "list",
	"query":    "list",
	"watch":    "list",
	"count":    "stats",
	"show":     "get list status",
	"view":     "get show list",
	"describe": "get show",
	"cat":      "get show",
	"read":     "get show",
	"whoami":   "status",
	"new":      "create add",
	"add":      "create",
	"insert":   "create",
	"upload":   "import",
	"edit":     "update set",
	"set":      "update",
	"change":   "update",
	"patch":    "update",
	"delete":   "erase remove drop cancel",
	"rm":       "erase remove drop cancel",
	"remove":   "erase drop cancel",
	"done":     "complete",
	"finish":   "complete",
	"close":    "complete",
	"log":      "attempt",
	"dial":     "attempt",
	"cancel":   "action drop",
	"stop":     "action",
	"activate": "action",
	"fulfill":  "action",
	"drop":     "action",
	"pause":    "action",
	"next":     "take",
	"return":   "release",
	"defer":    "later",
	"retry":    "send",
	"flush":    "send",
	"signin":   "login",
	"signout":  "logout",
	"clear":    "drop",
	"erasures": "erased",
	"reset":    "status",
}

// CommandsFor maps words that are typed instead of a noun to commands.
var CommandsFor = map[string]string{
	"get":       "call get UUID",
	"list":      "call list",
	"ls":        "call list",
	"search":    "person list",
	"find":      "person list",
	"create":    "person create",
	"login":     "auth login",
	"logout":    "auth logout",
	"whoami":    "auth status",
	"token":     "auth token",
	"config":    "profile set",
	"settings":  "profile show",
	"status":    "doctor",
	"stats":     "call stats",
	"watch":     "pull call --follow",
	"export":    "person list --all -o csv",
	"import":    "person import FILE",
	"apply":     "person apply FILE",
	"sync":      "copy sync",
	"sql":       "query",
	"sqlite":    "query",
	"take":      "queue take",
	"leases":    "queue leases",
	"callbacks": "queue callbacks",
	"erase":     "person erase UUID",
	"erasures":  "pull erased",
	"donor":     "person list",
	"donors":    "person list",
	"desk":      "tui",
	"ui":        "tui",

	"use-context": "profile use NAME",
}

// flagsFor are flags of other tools, and those here.
var flagsFor = map[string]string{
	"json":             "output json",
	"format":           "output",
	"yaml":             "output json",
	"n":                "limit",
	"L":                "limit",
	"max":              "limit",
	"y":                "yes",
	"force":            "yes",
	"f":                "file",
	"w":                "watch",
	"a":                "all",
	"v":                "debug",
	"verbose":          "debug",
	"fields":           "columns",
	"p":                "profile",
	"u":                "base-url",
	"url":              "base-url",
	"since":            "requested-after,created-after,released-after",
	"before":           "requested-until",
	"first":            "limit",
	"raw":              "output tsv",
	"r":                "output tsv",
	"no-header":        "output tsv",
	"spreadsheet-safe": "for-excel",
	"requested-before": "requested-until",
	"from":             "requested-from",
	"filter":           "jq",
	"query":            "jq",
	"template":         "jq",
}

// typosIn returns how many letters a typed name may differ by. One or two letters are near to every short name.
func typosIn(typed string) int { return min(2, (len(typed)+1)/2) }

// Nearest returns the names that may have been meant.
func Nearest(typed string, names []string) []string {
	known := &cobra.Command{SuggestionsMinimumDistance: typosIn(typed)}
	for _, name := range names {
		known.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return known.SuggestionsFor(typed)
}
