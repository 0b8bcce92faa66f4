package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/tui"
)

// topics are the pages of fundesk help that are no commands.
func topics() map[string]func() string {
	return map[string]func() string{
		"exit-codes":  func() string { return exitCodesTopic },
		"environment": func() string { return environmentTopic },
		"output":      func() string { return outputTopic },
		"filters":     filtersTopic,
		"scripting":   func() string { return scriptingTopic },
		"keys":        keysTopic,
	}
}

func helpCommand(s *session) *cobra.Command {
	names := append([]string{"options"}, slices.Sorted(maps.Keys(topics()))...)
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "Help on a command or a topic", Args: cobra.ArbitraryArgs,
		Long:      "Help on a command, or on one of the topics " + strings.Join(names, ", ") + ".",
		Example:   "  fundesk help call list\n  fundesk help exit-codes",
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			if len(args) == 1 && args[0] == "options" {
				_, err := fmt.Fprint(s.app.Out, optionsTopic(cmd.Root()))
				return err
			}
			if topic, ok := topics()[args[0]]; ok && len(args) == 1 {
				_, err := fmt.Fprint(s.app.Out, topic())
				return err
			}
			target, unread, err := cmd.Root().Find(args)
			if err != nil || len(unread) > 0 || target == cmd.Root() {
				return withHint(usageError("there is no help on "+quote(strings.Join(args, " "))), "topics: "+strings.Join(names, ", "))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

const exitCodesTopic = `Exit codes

  0    done; an empty list is 0
  1    unexpected failure
  2    usage: flags, arguments, or input refused before any request
  3    not found (404)
  4    not authenticated: no token, or 401
  5    forbidden (403)
  6    conflict (409)
  7    refused by the service (400, 422)
  8    unreachable, timed out, 429 or 5xx after retries, or an answer that is not
       what the interface promises
  9    part of a bulk operation failed
  10   a change was sent and its outcome is not known, or it waits in the outbox
  130  interrupted

With -o json or ndjson an error is one line of JSON on stderr:
  {"error":{"kind","status","message","detail","requestId","hint","retryable"}}
`

const environmentTopic = `Environment

  FUNDESK_PROFILE     profile to use, unless --profile says otherwise
  FUNDESK_BASE_URL    address of the service, unless --base-url says otherwise
  FUNDESK_TOKEN       token, in place of the stored one
  FUNDESK_CONFIG_DIR  config.toml (else $XDG_CONFIG_HOME/fundesk)
  FUNDESK_STATE_DIR   outbox, drafts, pull times (else $XDG_STATE_HOME/fundesk)
  FUNDESK_DATA_DIR    demo data (else $XDG_DATA_HOME/fundesk)
  NO_COLOR            no colours
  CLICOLOR_FORCE      colours in a pipe, too (not 0; NO_COLOR wins)
  TERM                dumb: no colours
  HTTPS_PROXY, NO_PROXY
                      proxy on the way to the service, unless the profile has one
  LC_ALL, LC_TIME, LC_MONETARY, LC_TELEPHONE, LANG
                      how tables, details and the tui write dates, amounts and
                      phone numbers; C or unset: 2026-11-20, 1234.50, +31…
  ACCESSIBLE          1: tui and demo ask line by line, and no line is written over

FUNDESK_BASE_URL with FUNDESK_TOKEN is enough without a profile. --profile NAME
names the service whole: FUNDESK_BASE_URL is then not used. FUNDESK_TOKEN goes to the
service of FUNDESK_BASE_URL where that is set, and to no other.
`

// filesText is what is kept where.
const filesText = `~/.config/fundesk/config.toml    profiles; mode 0600
~/.config/fundesk/keys.toml      keys of the tui, where they were changed
~/.local/state/fundesk/outbox    changes that are not sent yet, drafts
~/.local/state/fundesk/pull      where each pull ended
~/.local/share/fundesk           data of the demo
`

const outputTopic = `Output

  table   aligned, coloured, relative times, cut to the width (on a terminal);
          dates, amounts and phone numbers as your locale writes them; what did
          not fit is said on stderr
  wide    a table of all columns, uncut
  tsv     without a header, times in RFC 3339 UTC (in a pipe)
  csv     with a header; --spreadsheet-safe guards cells that begin with = + - @
  json    one array, or one object, as the service sent it
  ndjson  one object a line, as the service sent it
  id      one UUID a line

A format that a command does not have is a usage error, never another format.
--columns takes the names of the csv header, dotted for nested values; columns of
an embedded object ask for it (person.lastName implies --include person).
--sort-by COLUMN sorts what is printed, -COLUMN from its end; the list is gathered
first, and --limit counts before it is sorted.
--jq runs over the whole answer, or over each record with -o ndjson; numbers keep
every digit, names are sorted.
Texts are printed bare with -r, -o tsv and -o id. --arg NAME VALUE is $NAME. It is
gojq, not jq: names are sorted, whole numbers have any size, and the
environment, modules and input_line_number are not there.
stdout carries data only. A list that was cut short says so on stderr.
`

// filtersTopic names every filter there is.
func filtersTopic() string {
	var b strings.Builder
	b.WriteString(filtersText)
	writeFilters(&b, "person list", apitype.PersonFilters())
	writeFilters(&b, "call list", apitype.CallFilters())
	fmt.Fprintf(&b, "  --%-32s %s\n", "no-external-reference", "only calls without an external reference")
	writeFilters(&b, "call list, of what was retrieved", apitype.CallSelections())
	writeFilters(&b, "pledge list", apitype.PledgeFilters())
	writeFilters(&b, "queue", apitype.QueueFilters())
	return b.String()
}

func writeFilters[O any](b *strings.Builder, of string, filters []apitype.Filter[O]) {
	fmt.Fprintf(b, "\n%s\n", of)
	for _, f := range filters {
		fmt.Fprintf(b, "  --%-32s %s\n", f.FlagName()+" "+strings.ToUpper(f.Kind()), f.Help)
	}
}

const filtersText = `Filters

Times are RFC 3339 (2026-11-20T09:15:00Z), a local day (2026-11-20, today,
yesterday), now, or an age (90s, 90m, 36h, 7d, 2w): that long ago. What databases,
mails and date print is read, too (2026-11-20 09:15:00+01), and so are the words of
English, Dutch and German (monday 14:00, gisteren, 24. Dezember). A text with two
meanings is refused with both. For queue later --at, a length of time is ahead.

The interface has no filter for a call's status, type or person: call list --status,
--type and --person filter what was retrieved, and --limit counts what passes. A
service that offers a filter on the status is asked for that.
`

const scriptingTopic = `Scripting

Each line after a $ runs as it stands; try them with FUNDESK_PROFILE=demo.

  # Three attempts, one result line each.
  $ fundesk call list --status requested -o id --limit 3 | fundesk call attempt - --yes

  # Everything, one JSON object a line, in little memory.
  $ fundesk call list --all -o ndjson > calls.ndjson

  # Exactly one field of each record, bare.
  $ fundesk call list --include person --limit 5 --jq '.[].person.email' -o tsv

  # Every night: what changed since the last time, never a gap.
  $ fundesk pull call --updated -q >> changed-calls.ndjson

  # A table for a spreadsheet, safe to open.
  $ fundesk pledge list --released-after 30d --all -o csv --spreadsheet-safe > released.csv

  # The same into SQLite: jq makes rows of what came, and a row that comes again
  # replaces the one that is there.
  $ fundesk pull person -q > new-persons.ndjson
  $ jq -r '[.uuid, .lastName, .createdAt] | @csv' new-persons.ndjson > new-persons.csv
  $ sqlite3 desk.db 'create table if not exists person (uuid text primary key, name text, created text)'
  $ sqlite3 desk.db 'create temp table new (uuid, name, created)' '.import --csv new-persons.csv new' 'insert or replace into person select * from new'

  # Cancel all winback calls of a campaign that still wait. Nothing on stdin is an error (exit 2):
  # it is more often a command that failed than a wish to change nothing.
  $ fundesk call list --all --status requested --type winback --include pledge -o ndjson > winback.ndjson
  $ jq -r 'select(.pledgeCase.campaignCode == "COAST-1") | .uuid' winback.ndjson > winback.txt
  $ test ! -s winback.txt || fundesk call cancel - --yes < winback.txt > cancelled.tsv

  # Mark what was handled; one line for each says whether the service took it.
  # Marking again changes nothing, so that what failed can be marked once more.
  $ fundesk person list --created-after 90d --all -o id > handled.txt
  $ test ! -s handled.txt || fundesk processed mark person - --yes < handled.txt > marked.tsv
  $ awk -F '\t' '$2 != "ok" {print $1}' marked.tsv > again.txt
  $ test ! -s again.txt || fundesk processed mark person - --yes < again.txt > marked-again.tsv

  # Import a list, and go on after an interruption with the same command.
  $ fundesk person list --limit 1 -q --jq '.[0].owningOrganization.uuid' -o tsv > organization.txt
  $ (echo owningOrganizationUuid,recruitingOrganizationUuid,name.lastName; sed 's/.*/&,&,Jansen/' organization.txt) > new.csv
  $ fundesk person import new.csv --results new.results --yes

Check the exit code (fundesk help exit-codes). A create always carries a UUID of
its own, so that a lost answer never makes two records; a status move or an
attempt is looked up before it is sent again; what cannot be told ends with 10.
Off a terminal cancel, expire, pledge action and every bulk change need --yes.
`

// keysTopic is the registry of keys of the terminal interface.
func keysTopic() string {
	var b strings.Builder
	b.WriteString("Keys of fundesk tui\n")
	scope := ""
	for _, key := range tui.Keys() {
		if key.Scope != scope {
			scope = key.Scope
			fmt.Fprintf(&b, "\n%s\n", scope)
		}
		fmt.Fprintf(&b, "  %-14s %s\n", strings.Join(key.Keys, " "), key.Help)
	}
	return b.String()
}
