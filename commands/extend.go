package commands

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/profile"
	"fundesk/render"
)

// pluginPrefix begins the names of programs on the PATH that are commands of fundesk, too.
const pluginPrefix = "fundesk-"

// isBuiltIn reports whether a name is a command of this program.
func isBuiltIn(name string) bool {
	return name == "help" || strings.HasPrefix(name, "__") || slices.ContainsFunc(entries(), func(e entry) bool {
		return e.name == name || slices.Contains(e.aliases, name)
	})
}

// extension is where the first word of a line is no command of this program: its place in the
// arguments, or -1.
func extension(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case takesValue(args[i]):
			i++
		case strings.HasPrefix(args[i], "-"):
		case isBuiltIn(args[i]):
			return -1
		default:
			return i
		}
	}
	return -1
}

// expand replaces an alias by what it stands for. $1 and so on are the words after it; those
// that it does not name come at its end.
func (s *session) expand(args []string, at int) ([]string, error) {
	config, err := s.store().Load()
	expansion, ok := config.Aliases[args[at]]
	if err != nil || !ok { // A broken configuration is told by whoever needs it.
		return args, nil
	}
	words, err := shellWords(expansion)
	if err != nil {
		return nil, usageError("the alias " + quote(args[at]) + " " + err.Error())
	}
	rest, used := args[at+1:], 0
	for i, word := range words {
		words[i] = argumentMark().ReplaceAllStringFunc(word, func(mark string) string {
			n, _ := strconv.Atoi(mark[1:]) // One digit.
			if used = max(used, n); n > len(rest) {
				return ""
			}
			return rest[n-1]
		})
	}
	if used > len(rest) {
		return nil, usageError("the alias " + quote(args[at]) + " wants " + count(used, "argument"))
	}
	return slices.Concat(args[:at], words, rest[used:]), nil
}

// argumentMark is a word after an alias, within what it stands for.
var argumentMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[1-9]`) })

var errQuote = errors.New("has a quote that does not end")

// shellWords splits a text into words, as a shell does with quotes.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case strings.ContainsRune(" \t\n", r):
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, nil
}

// runPlugin runs the program of a name on the PATH with the words after it. found is false
// where there is none. The flags before the name reach it as the environment.
func (s *session) runPlugin(ctx context.Context, args []string, at int) (code int, found bool) {
	path, err := exec.LookPath(pluginPrefix + args[at])
	if err != nil || strings.ContainsAny(args[at], `/\`) { // Nothing out of the current folder.
		return 0, false
	}
	cmd := exec.CommandContext(ctx, path, args[at+1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = s.app.In, s.app.Out, s.app.Err, os.Environ()
	for i := 0; i+1 < at; i++ {
		if args[i] == "--profile" {
			cmd.Env = append(cmd.Env, "FUNDESK_PROFILE="+args[i+1])
		}
	}
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), exitCodes[apiclient.KindFailure]), true
	}
	if err != nil {
		return s.finish(nil, failure(apiclient.KindFailure, "run %s: %s", path, err)), true
	}
	return 0, true
}

func aliasCommand(s *session) *cobra.Command {
	return group(s, "alias", "Names of your own for longer commands. A program fundesk-NAME on the PATH is a command NAME, too.",
		"  fundesk alias set open 'call list --status requested --all'\n  fundesk open -o id",
		verb{"set", aliasSet}, verb{"list", aliasList}, verb{"delete", aliasDelete})
}

func aliasSet(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "set NAME EXPANSION", Short: "Give a command a name", Args: needExactly(2),
		Long: "Give a command a name of your own. $1 to $9 in it are the words that follow the name; those that it does not\n" +
			"name are added at its end. The commands of this program keep their names.",
		Example: "  fundesk alias set open 'call list --status requested --all'\n" +
			"  fundesk alias set donor 'person list --all --phone \"$1\" -o table' && fundesk donor 06-12345678",
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			words, err := shellWords(args[1])
			switch {
			case profile.CheckName(name) != nil:
				return usageError(quote(name) + " cannot be the name of an alias: letters, digits, - and _")
			case isBuiltIn(name):
				return usageError(quote(name) + " is a command of this program")
			case err != nil:
				return usageError("EXPANSION " + err.Error())
			case len(words) == 0 || !isBuiltIn(words[0]):
				return withHint(usageError("EXPANSION begins with no command of fundesk"), "leave out the word fundesk: fundesk alias set open 'call list --all'")
			}
			return s.store().Change(func(config *profile.Config) error {
				if config.Aliases == nil {
					config.Aliases = map[string]string{}
				}
				config.Aliases[name] = args[1]
				return nil
			})
		},
	}
}

// shownAlias is an alias as it is listed.
type shownAlias struct {
	Name      string `json:"name"`
	Expansion string `json:"expansion"`
}

func aliasList(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the aliases", Args: noArgs,
		Long:    "List the names of your own, and what they stand for.",
		Example: "  fundesk alias list\n  fundesk alias list -o json",
		RunE: func(*cobra.Command, []string) error {
			config, err := s.config()
			if err != nil {
				return err
			}
			all := []shownAlias{}
			for _, name := range slices.Sorted(maps.Keys(config.Aliases)) {
				all = append(all, shownAlias{name, config.Aliases[name]})
			}
			return showList(s, "name", []render.Column[shownAlias]{
				{Name: "name", Default: true, Value: func(a shownAlias) string { return a.Name }},
				{Name: "expansion", Default: true, Flexible: true, Value: func(a shownAlias) string { return a.Expansion }},
			}, all)
		},
	}
}

func aliasDelete(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Remove an alias", Args: needExactly(1),
		Long:    "Remove a name of your own.",
		Example: "  fundesk alias delete open\n  fundesk alias delete donor && fundesk alias list",
		RunE: func(_ *cobra.Command, args []string) error {
			return s.store().Change(func(config *profile.Config) error {
				if _, there := config.Aliases[args[0]]; !there {
					return withHint(usageError("there is no alias "+quote(args[0])), "see: fundesk alias list")
				}
				delete(config.Aliases, args[0])
				return nil
			})
		},
	}
}
