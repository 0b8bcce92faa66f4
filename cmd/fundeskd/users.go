package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

type userView struct {
	UUID         apitype.UUID  `json:"uuid"`
	Name         string        `json:"name"`
	Organization *apitype.UUID `json:"organization"`
}

func viewUser(u service.User) userView { return userView{u.UUID, u.Name, u.Organization} }

func (p *program) userAdd() *cobra.Command {
	var id, organization string
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a user, such as an agent",
		Long: "Add gives a person a name and prints the uuid. Agents find theirs by the name:\n" +
			"fundesk profile add work --base-url URL --agent-name NAME. Leases, callbacks and\n" +
			"the Floor show names.",
		Example: "  fundeskd user add \"Anneke de Vries\"\n  fundeskd user add Joost --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			u := service.User{RecruiterUser: apitype.RecruiterUser{Name: args[0]}}
			if chosen, err := optionalUUID("--uuid", id); err != nil {
				return err
			} else if chosen != nil {
				u.UUID = *chosen
			}
			if u.Organization, err = optionalUUID("--organization", organization); err != nil {
				return err
			}
			return answer(c.Context(), p, "add the user", func(s *service.Service) (userView, error) {
				u, err := s.AddUser(c.Context(), u)
				return viewUser(u), err
			}, func(w io.Writer, u userView) { fmt.Fprintln(w, u.UUID) })
		},
	}
	c.Flags().StringVar(&id, "uuid", "", "`uuid` (default: a new one)")
	c.Flags().StringVar(&organization, "organization", "", "`uuid` of the organization whose accounts see the name (default: every account does)")
	return c
}

func (p *program) userList() *cobra.Command {
	return listCommand(p, "list", "List users", "  fundeskd user list -o json", (*service.Service).Users, viewUser,
		func(u userView) []string { return []string{u.UUID.String(), u.Name} })
}

func (p *program) userSet() *cobra.Command {
	return &cobra.Command{
		Use:     "set UUID NAME",
		Short:   "Give a user another name",
		Long:    "Set changes the name wherever it is shown, in earlier records too.",
		Example: "  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c \"Anneke Bakker\"",
		Args:    exactly("UUID", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("user", args[0])
			if err != nil {
				return err
			}
			return answer(c.Context(), p, "change the user", func(s *service.Service) (userView, error) {
				u, err := s.RenameUser(c.Context(), id, args[1])
				return viewUser(u), err
			}, func(w io.Writer, u userView) { fmt.Fprintln(w, "changed", u.UUID) })
		},
	}
}
