package apitype

import (
	"net/url"
	"slices"
	"strings"
)

// ExtensionChecks announces that the details which an agent checked with the donor are kept with the call.
const ExtensionChecks = "checks"

// MaxChecks limits the checks of a call.
const MaxChecks = 50

// CheckNames are the details that can be checked. "objection" means that the right to object was offered. A step of a
// script is "script:" and a word.
var CheckNames = []string{
	"mobile", "home", "email", "firstName", "language", "address", "born", "iban", "contact", "amount", "objection",
	"recording",
}

// scriptCheck begins the name of a step of a script.
const scriptCheck = "script:"

// Check is one detail that was checked with the donor.
type Check struct {
	Name string `json:"name"`
	At   Time   `json:"at"`
}

// CallChecks are the checks of a call, and the agent who made them.
// PUT /fundesk/v1/calls/{uuid}/checks
// GET /fundesk/v1/calls/{uuid}/checks
type CallChecks struct {
	UserUUID *UUID   `json:"userUuid"` // Nil if it is not known.
	Items    []Check `json:"items"`
}

// Missing returns the required checks that were not made.
func (c CallChecks) Missing(required []string) []string {
	isMade := func(name string) bool {
		return slices.ContainsFunc(c.Items, func(item Check) bool { return item.Name == name })
	}
	return slices.DeleteFunc(slices.Clone(required), isMade)
}

// MissingChecks is a call that was completed without checks which its organization requires.
// GET /fundesk/v1/calls/missing-checks
type MissingChecks struct {
	CallUUID    UUID     `json:"callUuid"`
	CompletedAt Time     `json:"completedAt"`
	UserUUID    *UUID    `json:"userUuid"` // The user of the completion. Nil if unknown.
	Missing     []string `json:"missing"`
}

// MissingChecksOptions are the parameters of the list of calls without required checks.
// GET /fundesk/v1/calls/missing-checks
type MissingChecksOptions struct{ Paging }

// Query returns the options as query parameters.
func (o MissingChecksOptions) Query() url.Values {
	return queryOf(within(func(o *MissingChecksOptions) *Paging { return &o.Paging }, pageFilters()), o)
}

// ParseMissingChecksOptions reads query parameters.
func ParseMissingChecksOptions(values url.Values) (MissingChecksOptions, Violations) {
	return parseQuery(within(func(o *MissingChecksOptions) *Paging { return &o.Paging }, pageFilters()), values, nil)
}

// Validate checks the names and times.
func (c *CallChecks) Validate() Violations {
	var v Violations
	if c.Items == nil {
		v.Add("/items", "is missing")
	}
	if len(c.Items) > MaxChecks {
		v.Add("/items", "must have %d items at most", MaxChecks)
		return v
	}
	for i, item := range c.Items {
		if !isCheckName(item.Name) {
			v.Add(pointerAt("/items", i, "name"), "%s", wrongCheckName())
		}
		requireTime(&v, pointerAt("/items", i, "at"), item.At)
	}
	return v
}

func wrongCheckName() string {
	return "must be one of " + strings.Join(CheckNames, ", ") + ", or " + scriptCheck + " and a word"
}

func isCheckName(name string) bool {
	word, isStep := strings.CutPrefix(name, scriptCheck)
	if !isStep {
		return slices.Contains(CheckNames, name)
	}
	return checkText(word, maxCheckWord) == "" && !strings.ContainsAny(word, " \t")
}

// maxCheckWord is the longest word of a step, in characters.
const maxCheckWord = 100
