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
		Use: "version", Short: "Print the version", Args: cli.NoArgs,
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

// bashAlone lets the script work without the package bash-completion, whose function it calls. Otherwise bash would
// print an error into the typed line.
const bashAlone = `
__fundesk_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    words=("${COMP_WORDS[@]}")
    cword=$COMP_CWORD
    cur=${words[cword]}
    prev=${words[cword-1]}
}
`

func completionCommand(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print a completion script", Args: cli.NeedExactly(1),
		Long: "Print a script that completes commands, flags and values in your shell.",
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
