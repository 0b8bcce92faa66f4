package desk

import (
	"slices"

	"fundesk/apiclient"
)

// operation returns what sends the correction of a detail.
func (f Fix) operation() string {
	if f.ofPledge {
		return apiclient.OpUpdatePledge
	}
	return apiclient.OpUpdatePerson
}

// RefusedCorrections returns the corrections that the account may not make, as an earlier refusal has shown. Another one
// would delay a result that is sent with them.
func (e *Form) RefusedCorrections() []Fix {
	return slices.DeleteFunc(e.Corrected(), func(f Fix) bool { return !e.refusedOps[f.operation()] })
}

// CompleteAlone completes the call without the corrections that the account may not make.
func (d *Day) CompleteAlone() []Event {
	for _, f := range d.Form.RefusedCorrections() {
		d.Form.leave(f.Key)
	}
	return d.CompleteCall()
}
