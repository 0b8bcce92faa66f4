package commands

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"fundesk/commands/cli"
)

func versionCommand(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Args:    cli.NoArgs,
		Long:    "Print the version of fundesk and of the Go it was built with.",
		Example: "  fundesk version\n  fundesk version -o json",
		RunE: func(_ *cobra.Command, _ []string) error {
			version := s.Version()
			if s.Flags.Output == "" && s.Flags.JQ == "" {
				_, err := fmt.Fprintf(
					s.App.Out,
					"fundesk %s %s %s/%s\n",
					version,
					runtime.Version(),
					runtime.GOOS,
					runtime.GOARCH,
				)
				return err
			}
			value := map[string]string{
				"version": version,
				"go":      runtime.Version(),
				"os":      runtime.GOOS,
				"arch":    runtime.GOARCH,
			}
			return cli.ShowOne(
				s,
				value,
				[]cli.Pair{
					{"version", version},
					{"go", runtime.Version()},
					{"os", runtime.GOOS},
					{"arch", runtime.GOARCH},
				},
			)
		},
	}
}

// bashAlone lets the script work without the package bash-completion, whose functions it calls. Otherwise bash would
// print an error into the typed line. Bash splits words at colons and equals signs: the pieces are joined, and of a
// value only what comes after the last of these is given back.
const bashAlone = `
__fundesk_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i word rest line=${COMP_LINE:0:COMP_POINT}
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i > 0)) && [[ -n $rest && $rest == "$line" ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        line=${rest#"$word"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword - 1]}
}

__fundesk_alone()
{
    __start_fundesk "$@"
    declare -F _get_comp_words_by_ref >/dev/null && return
    local i cur prev words cword all=("${COMPREPLY[@]}")
    __fundesk_init_completion
    for ((i = 0; i < ${#all[@]}; i++)); do
        COMPREPLY[i]=${all[i]#"${cur%"${cur##*[:=]}"}"}
    done
}

complete -o default -F __fundesk_alone fundesk
[[ $(type -t compopt) == builtin ]] || complete -o default -o nospace -F __fundesk_alone fundesk
`

func completionCommand(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script",
		Args:  cli.NeedExactly(1),
		Long:  "Print a script that completes commands, flags and values in your shell.",
		Example: "  source <(fundesk completion bash)\n  fundesk completion zsh > \"${fpath[1]}/_fundesk\"\n" +
			"  fundesk completion fish > ~/.config/fish/completions/fundesk.fish",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				if err := root.GenBashCompletionV2(s.App.Out, true); err != nil {
					return err
				}
				_, err := io.WriteString(s.App.Out, bashAlone)
				return err
			case "zsh":
				return root.GenZshCompletion(s.App.Out)
			case "fish":
				return root.GenFishCompletion(s.App.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(s.App.Out)
			default:
				return cli.NotOneOf("the shell", args[0], []string{"bash", "zsh", "fish", "powershell"})
			}
		},
	}
}
