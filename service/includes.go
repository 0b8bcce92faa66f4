package service

import (
	"slices"

	"fundesk/apiclient/apitype"
)

// includes are the parts that a list was asked for. Spec gaps: L10, L11.
type includes struct {
	person, quality, pledge, transactions bool
}

func callParts(names []string) includes {
	quality := slices.Contains(names, apitype.IncludePersonQualityResult)
	return includes{
		person:       quality || slices.Contains(names, apitype.IncludePerson),
		quality:      quality,
		pledge:       slices.Contains(names, apitype.IncludePledge),
		transactions: slices.Contains(names, apitype.IncludeTransactions),
	}
}

func pledgeParts(names []string) includes {
	return includes{
		person:       slices.Contains(names, apitype.IncludePerson),
		transactions: slices.Contains(names, apitype.IncludeTransactions),
	}
}

// allowed refuses parts that the account may not read. Spec gap: A3.
func (i includes) allowed(c Caller) error {
	if i.person && !c.May(PersonsRead) {
		return c.Require(PersonsRead)
	}
	if i.pledge || i.transactions {
		return c.Require(PledgesRead)
	}
	return nil
}

// AllowCallIncludes refuses to list calls with parts that the account may not read. It runs before the values of a
// request are checked. Spec gap: R3.
func AllowCallIncludes(c Caller, o apitype.CallListOptions) error {
	return callParts(o.Include).allowed(c)
}

// AllowPledgeIncludes does the same for a list of pledges.
func AllowPledgeIncludes(c Caller, o apitype.PledgeListOptions) error {
	return pledgeParts(o.Include).allowed(c)
}
