package change

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/completions"
	"fundesk/render"
)

// move is a change of calls that carries its own time.
type move struct {
	Moves[apitype.Call]
	at          **apitype.Time
	flag, usage string // Of the time.
}

// command makes a command change the calls that its arguments name.
func (m move) command(s *cli.Session, cmd *cobra.Command) *cobra.Command {
	flags := &Flags{}
	m.Columns = render.CallColumns()
	cmd.Args = cli.NeedArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.SetNow(m.at)
		return m.Run(s, cmd, flags, args)
	}
	flags.Register(cmd, true)
	cmd.Flags().Var(cli.BodyTimeValue(s.App.Now, m.at), m.flag, m.usage+" (default: now)")
	return cmd
}

// Attempt returns the verb attempt of calls.
func Attempt(s *cli.Session) *cobra.Command {
	r := apitype.AddAttemptRequest{}
	cmd := move{
		Moves: Moves[apitype.Call]{Change: func(id apitype.UUID) (apiclient.Change, error) {
			if err := s.Agent(&r.UserUUID); err != nil {
				return apiclient.Change{}, err
			}
			return apiclient.AddAttemptChange(id, r)
		}},
		at:    &r.AttemptAt,
		flag:  "attempted-at",
		usage: "time of the attempt",
	}.command(s, &cobra.Command{
		Use:   "attempt UUID… | -",
		Short: "Record an attempt to call the person",
		Long: "Record an attempt. The attempt carries its own time. If the answer is lost, fundesk finds it by that\n" +
			"time, so an attempt is never recorded twice.",
		Example: "  fundesk call attempt 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n" +
			"  fundesk call list --status requested -o id --limit 3 | fundesk call attempt - --yes",
	})
	cmd.Flags().Var(cli.UUIDValue(&r.UserUUID), "user", "user who called (default: the profile's agent)")
	return cmd
}

// completion is the flags of call complete.
type completion struct {
	user        *apitype.UUID
	completedAt *apitype.Time
	resultCode  string
	notes       string
	rating      string
	anyResult   bool
	noChecks    bool // Complete calls without required checks, too.
}

// results returns the result codes of each type of call: the profile's or, without any there, the service's. Settings
// that cannot be read give none.
func (c *completion) results(s *cli.Session, cmd *cobra.Command, flags *Flags) map[apitype.CallType][]string {
	known := map[apitype.CallType][]string{}
	if c.resultCode == "" || c.anyResult || s.OnTerminal() {
		return known
	}
	p := s.Defaults()
	for _, kind := range apitype.CallTypes {
		for _, row := range p.Results[kind] {
			known[kind] = append(known[kind], row.Code)
		}
		if len(known[kind]) == 0 && len(p.ResultCodes) > 0 {
			known[kind] = p.ResultCodes
		}
	}
	if len(known) == 0 && !flags.dryRun {
		if client, err := s.Connect(cmd.Context()); err == nil {
			read, _, err := client.Settings(cmd.Context(), "")
			settings, _ := apiclient.Decoded(read, err)
			for _, of := range settings.Organizations {
				for _, kind := range apitype.CallTypes {
					for _, row := range of.ResultsOf(kind) {
						if !slices.Contains(known[kind], row.Code) {
							known[kind] = append(known[kind], row.Code)
						}
					}
				}
			}
		}
	}
	return known
}

// checkCode refuses a result code that the type of the call does not have. It reads the call only if its type matters.
func (c *completion) checkCode(
	s *cli.Session,
	cmd *cobra.Command,
	flags *Flags,
	known map[apitype.CallType][]string,
	id apitype.UUID,
) error {
	types := slices.Sorted(maps.Keys(known))
	of := slices.DeleteFunc(
		slices.Clone(types),
		func(kind apitype.CallType) bool { return !slices.Contains(known[kind], c.resultCode) },
	)
	if len(of) == len(types) {
		return nil
	}
	where, codes := "", slices.Concat(slices.Collect(maps.Values(known))...)
	if len(of) > 0 {
		if flags.dryRun {
			return nil
		}
		client, err := s.Connect(cmd.Context())
		if err != nil {
			return err
		}
		read, err := client.Calls.Get(cmd.Context(), id)
		call, err := apiclient.Decoded(read, err)
		if err != nil || len(known[call.Type]) == 0 || slices.Contains(of, call.Type) {
			return nil // The change itself reports the problem of the call.
		}
		where, codes = " for a "+render.Words(string(call.Type)), known[call.Type]
	}
	hint := "add --any-result to send it anyway"
	if near := cli.Nearest(c.resultCode, slices.Compact(slices.Sorted(slices.Values(codes)))); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	} else if where != "" {
		hint = "there are " + strings.Join(codes, ", ") + "; " + hint
	}
	return cli.WithHint(
		cli.UsageError(
			"--result-code "+cli.Quote(c.resultCode)+" is not a result of the profile or of the service"+where,
		),
		hint,
	)
}

// Complete returns the verb complete of calls.
func Complete(s *cli.Session) *cobra.Command {
	flags, c := &Flags{}, &completion{}
	cmd := &cobra.Command{
		Use:   "complete UUID… | -",
		Short: "Complete calls with their result",
		Args:  cli.NeedArgs(1),
		Long: "Complete a call with its result. The completion carries its own time, so repeating it changes\n" +
			"nothing. Without a result code, rating or notes, complete asks first; off a terminal it then\n" +
			"needs --yes. Several calls get the same result. Off a terminal, a result code must be in the\n" +
			"profile or in the service's settings for the call's type, if they have any. --any-result sends\n" +
			"any other code. If the organization requires checks that the call lacks, complete asks once; off\n" +
			"a terminal it then needs --without-checks.",
		Example: "  fundesk call complete 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --result-code reached --rating 8\n" +
			"  fundesk call complete 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 " +
			"--result-code reached --notes - < notes.txt\n" +
			"  fundesk call list --all --status requested --type verification -o id |" +
			" fundesk call complete - --result-code by_letter --yes",
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(s, cmd, flags, args) },
	}
	flags.Register(cmd, true)
	f := cmd.Flags()
	f.StringVar(&c.resultCode, "result-code", "", "result code")
	f.BoolVar(&c.anyResult, "any-result", false, "accept a result code that the settings do not have")
	f.BoolVar(&c.noChecks, "without-checks", false, "complete calls that lack required checks, too")
	f.StringVar(&c.notes, "notes", "", "notes of the result, - for stdin; typed ones go through the outbox")
	f.StringVar(&c.rating, "rating", "", "how likely the donor is to stay, 0 to 10")
	f.Var(cli.BodyTimeValue(s.App.Now, &c.completedAt), "completed-at", "time of the completion (default: now)")
	f.Var(cli.UUIDValue(&c.user), "user", "user who called (default: the profile's agent)")
	return cmd
}

func (c *completion) run(s *cli.Session, cmd *cobra.Command, flags *Flags, args []string) error {
	r, err := c.request(s, cmd)
	if err != nil {
		return err
	}
	if c.notes == "-" {
		if args[0] == "-" {
			return cli.UsageError("stdin cannot hold both the UUIDs and the notes")
		}
		if _, err := s.Targets(cmd.Context(), args, false); err != nil {
			return err
		}
	}
	if err := refuseCompletion(r); err != nil {
		return err
	}
	known := c.results(s, cmd, flags)
	checks := &requiredChecks{}
	if !c.noChecks && !flags.dryRun {
		checks.read(cmd.Context(), s)
	}
	moves := Moves[apitype.Call]{
		Columns: render.CallColumns(),
		Change: func(id apitype.UUID) (apiclient.Change, error) {
			if err := c.checkCode(s, cmd, flags, known, id); err != nil {
				return apiclient.Change{}, err
			}
			if err := checks.ask(cmd.Context(), s, flags.yes, id); err != nil {
				return apiclient.Change{}, err
			}
			return apiclient.CompleteCallChange(id, r)
		},
	}
	if c.notes == "-" {
		err := c.readNotes(s, cmd, r, flags, moves, args)
		if err == nil {
			err = refuseCompletion(r)
		}
		if err != nil {
			return err
		}
	}
	isEmpty := r.Result.ResultCode == nil && r.Result.Notes == nil && r.Result.DonorRetentionRating == nil
	if isEmpty { // The result is the purpose of the call: it is more often forgotten than left out.
		moves.Question = "without any result, complete"
	}
	return moves.Run(s, cmd, flags, args)
}

// request returns the completion as it is sent. It always has its time, by which it is recognised after a lost answer.
func (c *completion) request(s *cli.Session, cmd *cobra.Command) (apitype.CompleteCallRequest, error) {
	result := &apitype.CallResultRequest{CompletedAt: c.completedAt}
	s.SetNow(&result.CompletedAt)
	r := apitype.CompleteCallRequest{UserUUID: c.user, Result: result}
	if err := s.Agent(&r.UserUUID); err != nil {
		return r, err
	}
	given := cmd.Flags().Changed
	if given("result-code") {
		result.ResultCode = &c.resultCode
	}
	if given("rating") {
		rating, err := apitype.ParseNumber(c.rating)
		if err != nil {
			return r, cli.UsageError("--rating " + errNumber.Error() + ", not " + cli.Quote(c.rating))
		}
		result.DonorRetentionRating = &rating
	}
	if given("notes") && c.notes != "-" {
		result.Notes = &c.notes
	}
	return r, nil
}

// refuseCompletion names the flag of a value that cannot be sent.
func refuseCompletion(r apitype.CompleteCallRequest) error {
	flags := map[string]string{
		"result.resultCode":           "--result-code",
		"result.donorRetentionRating": "--rating",
		"result.notes":                "--notes",
	}
	for _, v := range r.Validate() {
		if flag, ok := flags[v.Where()]; ok {
			return cli.UsageError(flag+" "+ofFlag(v.Message), v.Where()+": "+ofFlag(v.Message))
		}
	}
	return Refuse(r.Validate())
}

// readNotes reads notes from stdin. Typed notes must not be lost: everything else is checked before, and they go
// through the outbox.
func (c *completion) readNotes(
	s *cli.Session,
	cmd *cobra.Command,
	r apitype.CompleteCallRequest,
	flags *Flags,
	moves Moves[apitype.Call],
	args []string,
) error {
	if cli.IsTerminal(s.App.In) {
		if err := moves.check(s, cmd, flags, args); err != nil {
			return err
		}
		if !flags.dryRun {
			if _, err := s.Outbox(cmd.Context()); err != nil {
				return err
			}
		}
		s.Note("type the notes; ctrl+d on a line of its own ends them")
		flags.outbox = true
	}
	data, err := s.ReadAll(cmd.Context(), s.App.In)
	if err != nil {
		return err
	}
	r.Result.Notes = new(strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")) // A file ends with one.
	return nil
}

// Cancel returns the verb cancel of calls.
func Cancel(s *cli.Session) *cobra.Command {
	r := apitype.CancelCallRequest{}
	return move{
		Moves: Moves[apitype.Call]{Question: "cancel", Change: func(id apitype.UUID) (apiclient.Change, error) {
			return apiclient.CancelCallChange(id, r)
		}},
		at:    &r.CancelledAt,
		flag:  "cancelled-at",
		usage: "time of the cancellation",
	}.command(s, &cobra.Command{
		Use:   "cancel UUID… | -",
		Short: "Cancel calls",
		Long: "Cancel calls that are no longer needed. cancel asks first; off a terminal it needs --yes. One call\n" +
			"is printed as the service answers it, several with one result line each.",
		Example: "  fundesk call cancel 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n" +
			"  fundesk call list --all --status requested --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 -o id | " +
			"fundesk call cancel - --yes",
	})
}

// Expire returns the verb expire of calls.
func Expire(s *cli.Session) *cobra.Command {
	r := apitype.ExpireCallRequest{}
	return move{
		Moves: Moves[apitype.Call]{Question: "expire", Change: func(id apitype.UUID) (apiclient.Change, error) {
			return apiclient.ExpireCallChange(id, r)
		}},
		at:    &r.ExpiredAt,
		flag:  "expired-at",
		usage: "time of the expiry",
	}.command(s, &cobra.Command{
		Use:   "expire UUID… | -",
		Short: "Mark calls as expired (the donor was never reached)",
		Long: "Mark calls as expired, because the donor was not reached in time. expire asks first; off a terminal\n" +
			"it needs --yes.",
		Example: "  fundesk call expire 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --yes\n" +
			"  fundesk call list --all --status requested --attempts 3+ -o id | fundesk call expire - --yes",
	})
}

// inActions are the characters of an action's name, which is part of the path.
const inActions = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// Action returns the verb action of pledges.
func Action(s *cli.Session) *cobra.Command {
	flags := &Flags{}
	cmd := &cobra.Command{
		Use:   "action ACTION UUID… | -",
		Short: "Change the status of pledges",
		Args:  cli.NeedArgs(2),
		Long: "Execute a status action on pledges: activate, drop, cancel or fulfill. Another service may have\n" +
			"other actions, so any name is sent.",
		Example: "  fundesk pledge action cancel 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90\n" +
			"  fundesk pledge list --all --status lead --released-after 1d -o id |" +
			" fundesk pledge action activate - --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			action := apitype.PledgeAction(args[0])
			if args[0] == "update" || args[0] == "" || strings.Trim(args[0], inActions) != "" {
				return cli.UsageError(cli.Quote(args[0]) + " is not a status action")
			}
			return Moves[apitype.Pledge]{
				Columns: render.PledgeColumns(), Question: args[0],
				Change: func(id apitype.UUID) (apiclient.Change, error) {
					return apiclient.PledgeActionChange(id, action, ""), nil
				},
			}.Run(s, cmd, flags, args[1:])
		},
	}
	flags.Register(cmd, true)
	cmd.ValidArgsFunction = func(
		cmd *cobra.Command, args []string, toComplete string,
	) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return s.Records(completions.Source.Pledges)(cmd, args[1:], toComplete)
		}
		actions := s.Defaults().PledgeActions
		if len(actions) == 0 {
			return cli.Values(apitype.PledgeActions)(cmd, args, toComplete)
		}
		return actions, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
