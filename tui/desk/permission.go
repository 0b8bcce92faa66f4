package desk

import (
	"context"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// permissions has the corrections that the account may make, as far as it is known, by operation.
type permissions struct {
	asked, refused map[string]bool
}

// operation returns what sends the correction of a detail.
func (f Fix) operation() string {
	if f.ofPledge {
		return apiclient.OpUpdatePledge
	}
	return apiclient.OpUpdatePerson
}

// RefusedCorrections returns the corrections that the account may not make. Their refusal would delay a result that is
// sent with them.
func (e *Form) RefusedCorrections() []Fix {
	return slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return !e.permissions.refused[f.operation()] })
}

// LearnPermissions asks whether the account may make the corrections, each kind once, before
// the agent relies on it.
func (e *Form) LearnPermissions() []Event { return e.learnFor(e.Corrected()) }

// LearnFixes does the same as LearnPermissions for every detail that may be corrected.
func (e *Form) LearnFixes() []Event {
	return e.learnFor(slices.DeleteFunc(e.Fixes(), func(f Fix) bool { return f.Why != "" }))
}

func (e *Form) learnFor(fixes []Fix) []Event {
	for _, f := range fixes {
		if op := f.operation(); !e.permissions.asked[op] {
			e.permissions.asked[op] = true
			// If it cannot be known, the first refusal shows it.
			do(
				&e.events,
				func(ctx context.Context) (bool, error) { return isRefused(ctx, e.Client, op) },
				func(refused bool, _ error) {
					e.permissions.refused[op] = e.permissions.refused[op] || refused
				},
			)
		}
	}
	return e.drain()
}

// isRefused sends an empty update of an unknown record to a service with our extensions: it is forbidden without the
// right to update, and otherwise not found. Another service shows it only by the first refusal. Spec gap: R3.
func isRefused(ctx context.Context, client *apiclient.Client, op string) (bool, error) {
	if has, err := client.Has(ctx, apitype.ExtensionQueue); err != nil || !has {
		return false, err
	}
	change, err := apiclient.UpdatePersonChange(apitype.NewUUID(), apitype.UpdatePersonRequest{})
	if op == apiclient.OpUpdatePledge {
		change, err = apiclient.UpdatePledgeChange(apitype.NewUUID(), apitype.UpdatePledgeRequest{})
	}
	if err != nil {
		return false, err
	}
	answer, err := client.Do(ctx, change.Method, change.Path, nil, change.Body, nil)
	return err == nil && apiclient.KindOf(answer.Err()) == apiclient.KindForbidden, err
}

// CompleteAlone completes the call without the corrections that the account may not make.
func (d *Day) CompleteAlone() []Event {
	for _, f := range d.Form.RefusedCorrections() {
		d.Form.leave(f.Key)
	}
	return d.CompleteCall()
}
