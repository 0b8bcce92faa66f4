package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// operator returns a caller with every permission. With an organization it sees only that one's records.
func operator(organization *apitype.UUID) service.Caller {
	scope := service.Scope{All: true}
	if organization != nil {
		scope = service.Scope{Organizations: []apitype.UUID{*organization}}
	}
	return service.Caller{Account: service.Account{
		Permissions: slices.Concat(service.Permissions, service.NamedPermissions),
		Scope:       scope,
	}}
}

func (p *program) numberCheck() *cobra.Command {
	var number string
	var organization *apitype.UUID
	return operation[apitype.NumberState]{
		use:   "check NUMBER",
		short: "Ask whether a number may not be called",
		long: "Check prints whether an organization must not call the number, and since when.\n" +
			"An objection to phone calls blocks the numbers of the donor. It asks about all\n" +
			"organizations, or about one.",
		example: "  fundeskd do-not-call check +31612345678\n" +
			"  fundeskd do-not-call check +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		args: []argument{textArgument("NUMBER", &number)},
		flags: func(flags *pflag.FlagSet) {
			uuidFlag(flags, &organization, "organization", "`uuid` of the organization")
		},
		access: access{retired: true},
		run: func(ctx context.Context, s *service.Service) (apitype.NumberState, error) {
			return checkNumber(ctx, s, organization, number)
		},
		text: func(w io.Writer, state apitype.NumberState) {
			if state.Since == nil {
				fmt.Fprintln(w, "not blocked")
				return
			}
			fmt.Fprintf(w, "blocked since %s\n", state.Since)
		},
	}.command(p)
}

// checkNumber returns whether one organization, or any, has blocked a number. An organization that does not exist has
// no blocks, so it is refused.
func checkNumber(
	ctx context.Context,
	s *service.Service,
	organization *apitype.UUID,
	number string,
) (apitype.NumberState, error) {
	var state apitype.NumberState
	if organization != nil {
		all, err := s.Organizations(ctx)
		if err != nil {
			return state, err
		}
		isThis := func(o service.Organization) bool { return o.UUID == *organization }
		if !slices.ContainsFunc(all, isThis) {
			return state, usage("there is no organization %s", organization)
		}
	}
	answer, err := s.CheckNumber(ctx, operator(organization), apitype.NumberRequest{Number: number})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(answer.JSON, &state)
}

func (p *program) numberAdd() *cobra.Command {
	return numberChange{
		use:     "add NUMBER",
		short:   "Block a number for an organization",
		long:    "Add blocks the number. The queue gives no call to a donor who has it.",
		example: "  fundeskd do-not-call add +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		change:  (*service.Service).BlockNumber,
	}.command(p)
}

func (p *program) numberRemove() *cobra.Command {
	return numberChange{
		use:   "remove NUMBER",
		short: "Lift all blocks of a number",
		long: "Remove lifts every block of the number for the organization, also those of\n" +
			"donors who objected. A donor who objected stays opted out.",
		example: "  fundeskd do-not-call remove +31612345678 --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		change:  (*service.Service).UnblockNumber,
	}.command(p)
}

// numberChange is a command that changes the blocks of a number. It prints the new state with -o json, else nothing.
type numberChange struct {
	use, short, long, example string

	change func(*service.Service, context.Context, service.Caller, apitype.BlockRequest) error
}

func (n numberChange) command(p *program) *cobra.Command {
	var number string
	var organization *apitype.UUID
	return operation[apitype.NumberState]{
		use:     n.use,
		short:   n.short,
		long:    n.long,
		example: n.example,
		args:    []argument{textArgument("NUMBER", &number)},
		flags: func(flags *pflag.FlagSet) {
			uuidFlag(flags, &organization, "organization", "`uuid` of the organization")
		},
		check: needOrganization,
		run: func(ctx context.Context, s *service.Service) (apitype.NumberState, error) {
			request := apitype.BlockRequest{Number: number, OrganizationUUID: *organization}
			err := n.change(s, ctx, operator(nil), request)
			if err != nil {
				return apitype.NumberState{}, err
			}
			return checkNumber(ctx, s, organization, number)
		},
		text: func(io.Writer, apitype.NumberState) {},
	}.command(p)
}
