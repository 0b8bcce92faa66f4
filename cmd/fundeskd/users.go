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
}

func viewUser(u service.User) userView {
	return userView{UUID: u.UUID, Name: u.Name, Organization: u.Organization}
}

func (u userView) cells() []string { return []string{u.UUID.String(), u.Name} }

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
	return operation[userView]{
		use:     "set UUID NAME",
		short:   "Give a user another name",
		long:    "Set changes the name everywhere, also in earlier records.",
		example: "  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c \"Anneke Bakker\"",
		args:    []argument{uuidArgument("UUID", "user", &id), textArgument("NAME", &name)},
		failure: "change the user",
		run: func(ctx context.Context, s *service.Service) (userView, error) {
			u, err := s.RenameUser(ctx, id, name)
			return viewUser(u), err
		},
		text: func(w io.Writer, u userView) { fmt.Fprintln(w, "changed", u.UUID) },
	}.command(p)
}
