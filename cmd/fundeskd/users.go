package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

type userView struct {
	UUID         apitype.UUID  `json:"uuid"`
	Name         string        `json:"name"`
	Organization *apitype.UUID `json:"organization"`
	EndedAt      *apitype.Time `json:"endedAt"`
}

func viewUser(u service.User) userView {
	return userView{UUID: u.UUID, Name: u.Name, Organization: u.Organization, EndedAt: u.EndedAt}
}

func (u userView) cells() []string {
	if u.EndedAt != nil {
		return []string{u.UUID.String(), u.Name, "ended"}
	}
	return []string{u.UUID.String(), u.Name}
}

func (p *program) userAdd() *cobra.Command {
	var u service.User
	var id *apitype.UUID
	return operation[userView]{
		use:   "add NAME",
		short: "Add a user, such as an agent",
		long: "Add gives a person a name and prints the uuid. Agents find theirs by the name:\n" +
			"fundesk profile add work --base-url URL --agent-name NAME. Leases, callbacks and\n" +
			"the Floor show names.",
		example: "  fundeskd user add \"Anneke de Vries\"\n" +
			"  fundeskd user add Joost --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		args: []argument{textArgument("NAME", &u.Name)},
		flags: func(flags *pflag.FlagSet) {
			uuidFlag(flags, &id, "uuid", "`uuid` (default: a new one)")
			uuidFlag(flags, &u.Organization, "organization",
				"`uuid` of the organization whose accounts see the name (default: every account does)")
		},
		access:  access{create: true},
		failure: "add the user",
		run: func(ctx context.Context, s *service.Service) (userView, error) {
			if id != nil {
				u.UUID = *id
			}
			added, err := s.AddUser(ctx, u)
			return viewUser(added), err
		},
		text: func(w io.Writer, u userView) { fmt.Fprintln(w, u.UUID) },
	}.command(p)
}

func (p *program) userList() *cobra.Command {
	return recordList[service.User, userView]{
		use:     "list",
		short:   "List users",
		example: "  fundeskd user list -o json",
		all:     func(ctx context.Context, s *service.Service) ([]service.User, error) { return s.Users(ctx) },
		view:    viewUser,
		cells:   userView.cells,
	}.command(p)
}

func (p *program) userSet() *cobra.Command {
	var id apitype.UUID
	var name string
	var isEnded, setsEnded bool
	wanted := []argument{uuidArgument("UUID", "user", &id), textArgument("NAME", &name)}
	c := operation[userView]{
		use:   "set UUID [NAME]",
		short: "Give a user another name, or end their access",
		long: "Set changes the name everywhere, also in earlier records. With --ended the\n" +
			"user's requests are refused from the next one on, whatever the identity\n" +
			"provider says; --ended=false restores the access.",
		example: "  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c \"Anneke Bakker\"\n" +
			"  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --ended",
		args:  wanted,
		flags: func(flags *pflag.FlagSet) { flags.BoolVar(&isEnded, "ended", false, "refuse the user's requests") },
		check: func(flags *pflag.FlagSet) error {
			setsEnded = flags.Changed("ended")
			if name == "" && !setsEnded {
				return usage("name a NAME, or --ended; see: fundeskd user set --help")
			}
			return nil
		},
		failure: "change the user",
		run: func(ctx context.Context, s *service.Service) (u userView, err error) {
			var user service.User
			if name != "" {
				user, err = s.RenameUser(ctx, id, name)
			}
			if err == nil && setsEnded {
				user, err = s.SetUserEnded(ctx, id, isEnded)
			}
			return viewUser(user), err
		},
		text: func(w io.Writer, u userView) { fmt.Fprintln(w, "changed", u.UUID) },
	}.command(p)
	c.Args = func(c *cobra.Command, args []string) error {
		isUUIDAlone := len(args) == 1
		if isUUIDAlone {
			return exactly(wanted[:1])(c, args)
		}
		return exactly(wanted)(c, args)
	}
	return c
}
