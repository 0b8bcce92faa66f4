// Package completions gives shells the values that fit what is being typed: records of
// the service with names beside them, result codes that were seen, profiles.
//
// It must not know the command line's library nor how a client is made: it is handed a
// function that connects. It answers within a second or not at all, never asks anybody
// anything, and says nothing on failure: an empty completion is better than a message
// in the middle of a line.
//
//	source := completions.Source{Connect: connect}
//	values := source.Calls(ctx, "5c1d")
package completions

import (
	"context"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// patience limits the time for the service's answer.
const patience = time.Second

// recent is the number of offered records.
const recent = 100

// Value is one value with its description.
type Value struct{ Value, Description string }

// String returns the value in the form for shells: with its description after a tab.
func (v Value) String() string {
	if v.Description == "" {
		return v.Value
	}
	return v.Value + "\t" + render.Clean(v.Description)
}

// Source answers completions.
type Source struct {
	Connect func(context.Context) (*apiclient.Client, error)
	// Patience limits the time for an answer. Zero means a second.
	Patience time.Duration
}

// An asker retrieves values from the service.
type asker func(context.Context, *apiclient.Client) ([]Value, error)

// find answers within patience. It abandons work that cannot be interrupted, such as a keyring that hangs.
func (s Source) find(ctx context.Context, prefix string, ask asker) []string {
	if s.Patience <= 0 {
		s.Patience = patience
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	found := make(chan []Value, 1)
	go func() {
		client, err := s.Connect(ctx)
		if err != nil {
			found <- nil
			return
		}
		values, _ := ask(ctx, client) // Without an answer there are no values.
		found <- values
	}()
	select {
	case values := <-found:
		return matching(values, prefix)
	case <-ctx.Done():
		return nil
	}
}

// matching returns the values that begin with the typed text. It drops values that a terminal would show differently,
// because their cleaned form is another value.
func matching(values []Value, prefix string) []string {
	var lines []string
	for _, value := range values {
		if render.Clean(value.Value) != value.Value {
			continue
		}
		if strings.HasPrefix(value.Value, strings.ToLower(prefix)) || strings.HasPrefix(value.Value, prefix) {
			lines = append(lines, value.String())
		}
	}
	return lines
}

// Persons returns the newest persons with their names.
func (s Source) Persons(ctx context.Context, prefix string) []string {
	return s.find(ctx, prefix, each(persons, func(p apitype.Person) Value {
		return Value{p.UUID.String(), render.PersonName(p)}
	}))
}

// Calls returns the latest calls with the person's name and the state.
func (s Source) Calls(ctx context.Context, prefix string) []string {
	return s.find(ctx, prefix, each(calls, callValue))
}

// OpenCalls returns the latest calls that can be attempted or ended.
func (s Source) OpenCalls(ctx context.Context, prefix string) []string {
	return s.find(ctx, prefix, each(openCalls, func(call apitype.Call) Value {
		if call.Status != apitype.CallRequested {
			return Value{}
		}
		return callValue(call)
	}))
}

func callValue(call apitype.Call) Value {
	return Value{
		call.UUID.String(),
		strings.TrimSpace(
			render.PersonName(call.Person.Value()) + " " + string(call.Type) + ", " + string(call.Status),
		),
	}
}

// Pledges returns the newest pledges with amount and state.
func (s Source) Pledges(ctx context.Context, prefix string) []string {
	return s.find(ctx, prefix, each(pledges, func(p apitype.Pledge) Value {
		return Value{
			p.UUID.String(),
			"€ " + p.DonationAmount.Fixed() + " " + string(p.DonationInterval) + ", " + string(p.Status),
		}
	}))
}

// Organizations returns the owners of the newest persons.
func (s Source) Organizations(ctx context.Context, prefix string) []string {
	return once(s.find(ctx, prefix, each(persons, func(p apitype.Person) Value {
		organization := p.OwningOrganization.Value()
		if organization.Name == "" {
			return Value{}
		}
		return Value{organization.UUID.String(), organization.Name}
	})))
}

// ResultCodes returns the result codes of the latest calls.
func (s Source) ResultCodes(ctx context.Context, prefix string) []string {
	return once(s.find(ctx, prefix, each(calls, func(call apitype.Call) Value {
		if code := call.Result.Value().ResultCode; code != nil {
			return Value{Value: *code}
		}
		return Value{}
	})))
}

func newest() apitype.Paging { return apitype.Paging{First: new(recent)} }

func persons(ctx context.Context, c *apiclient.Client) (apiclient.Page[apitype.Person], error) {
	return c.Persons.List(ctx, apitype.PersonListOptions{Paging: newest()})
}

func pledges(ctx context.Context, c *apiclient.Client) (apiclient.Page[apitype.Pledge], error) {
	return c.Pledges.List(ctx, apitype.PledgeListOptions{Paging: newest()})
}

// calls returns the latest calls.
func calls(ctx context.Context, c *apiclient.Client) (apiclient.Page[apitype.Call], error) {
	return listCalls(ctx, c, nil)
}

// openCalls returns the waiting calls if the service can choose them, or else the latest calls.
func openCalls(ctx context.Context, c *apiclient.Client) (apiclient.Page[apitype.Call], error) {
	if has, err := c.Has(ctx, apitype.ExtensionStatus); err == nil && has {
		return listCalls(ctx, c, []apitype.CallStatus{apitype.CallRequested})
	}
	return calls(ctx, c)
}

// listCalls returns the latest calls in some states, with persons if the account may read them.
func listCalls(
	ctx context.Context,
	c *apiclient.Client,
	statuses []apitype.CallStatus,
) (apiclient.Page[apitype.Call], error) {
	o := apitype.CallListOptions{Paging: newest(), Include: []string{apitype.IncludePerson}, Statuses: statuses}
	page, err := c.Calls.List(ctx, o)
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		o.Include = nil
		return c.Calls.List(ctx, o)
	}
	return page, err
}

// each asks for a page, and turns its records into values; one without a value is left out.
func each[T any](list func(context.Context, *apiclient.Client) (apiclient.Page[T], error), value func(T) Value) asker {
	return func(ctx context.Context, c *apiclient.Client) (values []Value, _ error) {
		page, err := list(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, record := range page.Records {
			decoded, err := record.Decode()
			if err != nil {
				return nil, err
			}
			if v := value(decoded); v.Value != "" {
				values = append(values, v)
			}
		}
		return values, nil
	}
}

// once has each line once, in their order.
func once(lines []string) []string {
	slices.Sort(lines)
	return slices.Compact(lines)
}
