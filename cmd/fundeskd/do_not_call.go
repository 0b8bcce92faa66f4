package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// operator returns a caller that may do everything, as a command of the operator does.
func operator() service.Caller {
	return service.Caller{Account: service.Account{
		Permissions: slices.Concat(service.Permissions, service.NamedPermissions),
		Scope:       service.Scope{All: true},
	}}
}

// ofOrganization returns a caller that sees one organization.
func ofOrganization(id apitype.UUID) service.Caller {
	c := operator()
	c.Scope = service.Scope{Organizations: []apitype.UUID{id}}
	return c
}

func (p *program) numberCheck() *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:   "check NUMBER",
		Short: "Ask whether a number may not be called",
		Long: "Check prints whether an organization must not call the number, and since when.\n" +
			"An objection to phone calls blocks the numbers of the donor. It asks about all\n" +
			"organizations, or about one.",
		Example: "  fundeskd do-not-call check +31612345678\n" +
			"  fundeskd do-not-call check +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		Args: exactly("NUMBER"),
		RunE: func(c *cobra.Command, args []string) error {
			caller := operator()
			if c.Flags().Changed("organization") {
				id, err := parseUUID("--organization", organization)
				if err != nil {
					return err
				}
				caller = ofOrganization(id)
			}
			return answer(c.Context(), p, "", func(s *service.Service) (apitype.NumberState, error) {
				return checkNumber(c.Context(), s, caller, args[0])
			}, func(w io.Writer, state apitype.NumberState) {
				if state.Since == nil {
					fmt.Fprintln(w, "not blocked")
					return
				}
				fmt.Fprintf(w, "blocked since %s\n", state.Since)
			})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", "`uuid` of the organization")
	return c
}

func checkNumber(ctx context.Context, s *service.Service, caller service.Caller, number string) (state apitype.NumberState, err error) {
	if err := haveOrganizations(ctx, s, caller.Scope); err != nil {
		return state, err
	}
	got, err := s.CheckNumber(ctx, caller, apitype.NumberRequest{Number: number})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(got.JSON, &state)
}

// haveOrganizations refuses a scope with an organization that is not there: it has no blocks.
func haveOrganizations(ctx context.Context, s *service.Service, scope service.Scope) error {
	if scope.All {
		return nil
	}
	all, err := s.Organizations(ctx)
	if err != nil {
		return err
	}
	for _, id := range scope.Organizations {
		if !slices.ContainsFunc(all, func(o service.Organization) bool { return o.UUID == id }) {
			return usage("there is no organization %s", id)
		}
	}
	return nil
}

func (p *program) numberAdd() *cobra.Command {
	return p.numberChange(numberChange{
		use:     "add NUMBER",
		short:   "Block a number for an organization",
		long:    "Add blocks the number. The queue gives no call to a donor who has it.",
		change:  (*service.Service).BlockNumber,
		example: "  fundeskd do-not-call add +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
	})
}

func (p *program) numberRemove() *cobra.Command {
	return p.numberChange(numberChange{
		use:   "remove NUMBER",
		short: "Lift all blocks of a number",
		long: "Remove lifts every block of the number for the organization, those of donors who\n" +
			"objected too. A donor who objected stays opted out.",
		change:  (*service.Service).UnblockNumber,
		example: "  fundeskd do-not-call remove +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
	})
}

type numberChange struct {
	use, short, long, example string
	change                    func(*service.Service, context.Context, service.Caller, apitype.BlockRequest) error
}

func (p *program) numberChange(n numberChange) *cobra.Command {
	var organization string
	c := &cobra.Command{
		Use:     n.use,
		Short:   n.short,
		Long:    n.long,
		Example: n.example,
		Args:    exactly("NUMBER"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseUUID("--organization", organization)
			if err != nil {
				return err
			}
			request := apitype.BlockRequest{Number: args[0], OrganizationUUID: id}
			return answer(c.Context(), p, "", func(s *service.Service) (state apitype.NumberState, err error) {
				if err := n.change(s, c.Context(), operator(), request); err != nil {
					return state, err
				}
				return checkNumber(c.Context(), s, ofOrganization(id), args[0])
			}, func(io.Writer, apitype.NumberState) {})
		},
	}
	c.Flags().StringVar(&organization, "organization", "", "`uuid` of the organization")
	return c
}
