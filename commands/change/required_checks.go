package change

import (
	"context"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// requiredChecks asks before calls are completed without the checks that their organization requires.
type requiredChecks struct {
	client *apiclient.Client // Nil if nothing is required, or it is unknown.
	of     []apitype.OrganizationSettings
	asked  bool
}

// read reads the required checks. If it fails they are unknown; the service marks such calls in any case.
func (r *requiredChecks) read(ctx context.Context, s *cli.Session) {
	client, err := s.Connect(ctx)
	if err != nil {
		return
	}
	has, err := client.Has(ctx, apitype.ExtensionChecks)
	if err != nil || !has {
		return
	}
	read, _, err := client.Settings(ctx, "")
	settings, err := apiclient.Decoded(read, err)
	if err != nil {
		return
	}
	for _, of := range settings.Organizations {
		if len(of.RequiredChecks) > 0 {
			r.client = client
			r.of = append(r.of, of)
		}
	}
}

// ask refuses a call that lacks required checks, unless a user at a terminal agrees. It asks once for all calls.
func (r *requiredChecks) ask(ctx context.Context, s *cli.Session, yes bool, id apitype.UUID) error {
	if r.client == nil || r.asked {
		return nil
	}
	missing, err := r.missing(ctx, id)
	if err != nil || len(missing) == 0 {
		return err
	}
	what := "call " + id.String() + " lacks required checks: " + strings.Join(missing, ", ")
	if !s.CanAsk() {
		return cli.WithHint(
			cli.UsageError(what),
			"--without-checks completes it anyway; the service marks such calls",
		)
	}
	r.asked = true
	s.Warn("%s", what)
	return s.AskChange(ctx, yes, "complete without required checks", nil, 1)
}

// missing returns the required checks that a call lacks. For a call that cannot be read it returns none: the completion
// reports the problem.
func (r *requiredChecks) missing(ctx context.Context, id apitype.UUID) ([]string, error) {
	read, err := r.client.Calls.Get(ctx, id)
	call, err := apiclient.Decoded(read, err)
	if err != nil {
		return nil, nil
	}
	required := r.requiredOf(call)
	if len(required) == 0 {
		return nil, nil
	}
	record, err := r.client.Checks(ctx, id)
	checks, err := apiclient.Decoded(record, err)
	if err != nil {
		return nil, err
	}
	return checks.Missing(required), nil
}

// requiredOf returns the checks that the organization of a call requires of its type.
func (r *requiredChecks) requiredOf(call apitype.Call) []string {
	owner := call.Person.Value().OwningOrganization.Value().UUID
	i := slices.IndexFunc(r.of, func(of apitype.OrganizationSettings) bool { return of.UUID == owner })
	if i < 0 {
		return nil
	}
	return r.of[i].RequiredChecks[call.Type]
}
