// Package completions gives shells the values that fit what is being typed: records of
// the service with names beside them, result codes that were seen, profiles.
//
// It must not know the command line's library nor how a client is made: it is handed a
// function that connects. It answers within a second or not at all, never asks anybody
// anything, and says nothing on failure: an empty completion is better than a message
// in the middle of a line.
//
//	source := completions.Source{Connect: connect, Dir: cacheDir}
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

// patience is how long the service may take to answer.
const patience = time.Second

// recent is how many records are offered.
const recent = 100

// Value is one value with what it means.
type Value struct {
	Value       string `json:"value"`
	Description string `json:"description"`
}

// String is the value as shells take it: with its description after a tab.
func (v Value) String() string {
	if v.Description == "" {
		return v.Value
	}
	return v.Value + "\t" + render.Clean(v.Description)
}

// Source answers completions.
type Source struct {
	Connect func(context.Context) (*apiclient.Client, error)
	// Dir is where answers are kept: names are, so it must be in memory that ends with the
	// login; "": nothing is kept.
	Dir string
	Now func() time.Time
	// Patience is how long an answer may take; zero: a second.
	Patience time.Duration
}

// An asker retrieves values from the service.
type asker func(context.Context, *apiclient.Client) ([]Value, error)

// find answers within patience: what cannot be interrupted, such as a keyring that
// hangs, is left behind.
func (s Source) find(ctx context.Context, kind, prefix string, ask asker) []string {
	if s.Patience <= 0 {
		s.Patience = patience
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	found := make(chan []Value, 1)
	go func() { found <- s.values(ctx, kind, ask) }()
	select {
	case values := <-found:
		return matching(values, prefix)
	case <-ctx.Done():
		return nil
	}
}

// values are from the cache, or the service is asked and the answer kept.
func (s Source) values(ctx context.Context, kind string, ask asker) []Value {
	s.forgetStale()
	client, err := s.Connect(ctx)
	if err != nil {
		return nil
	}
	path := s.path(ctx, client, kind)
	values, ok := s.load(path)
	if ok {
		return values
	}
	if values, err = ask(ctx, client); err != nil {
		return nil
	}
	s.save(path, values)
	return values
}

// matching are the values that begin with what was typed. One that a terminal would not
// show as it is cannot be offered: its cleaned form is another value.
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

// Persons are the newest persons with their names.
func (s Source) Persons(ctx context.Context, prefix string) []string {
	return s.find(ctx, "persons", prefix, func(ctx context.Context, c *apiclient.Client) ([]Value, error) {
		page, err := c.Persons.List(ctx, apitype.PersonListOptions{Paging: apitype.Paging{First: new(recent)}})
		return describe(page, err, func(p apitype.Person) Value {
			return Value{p.UUID.String(), render.PersonName(p)}
		})
	})
}

// Calls are the latest calls with the person's name and the state.
func (s Source) Calls(ctx context.Context, prefix string) []string {
	return s.find(ctx, "calls", prefix, func(ctx context.Context, c *apiclient.Client) ([]Value, error) {
		page, err := s.calls(ctx, c)
		return describe(page, err, func(call apitype.Call) Value {
			return Value{call.UUID.String(), strings.TrimSpace(render.PersonName(call.Person.Value()) + " " + string(call.Type) + ", " + string(call.Status))}
		})
	})
}

// calls are the latest calls, with persons where the account may read them.
func (s Source) calls(ctx context.Context, c *apiclient.Client) (apiclient.Page[apitype.Call], error) {
	o := apitype.CallListOptions{Paging: apitype.Paging{First: new(recent)}, Include: []string{apitype.IncludePerson}}
	page, err := c.Calls.List(ctx, o)
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		o.Include = nil
		return c.Calls.List(ctx, o)
	}
	return page, err
}

// Pledges are the newest pledges with amount and state.
func (s Source) Pledges(ctx context.Context, prefix string) []string {
	return s.find(ctx, "pledges", prefix, func(ctx context.Context, c *apiclient.Client) ([]Value, error) {
		page, err := c.Pledges.List(ctx, apitype.PledgeListOptions{Paging: apitype.Paging{First: new(recent)}})
		return describe(page, err, func(p apitype.Pledge) Value {
			return Value{p.UUID.String(), "€ " + p.DonationAmount.Fixed() + " " + string(p.DonationInterval) + ", " + string(p.Status)}
		})
	})
}

// Organizations are those that own the newest persons.
func (s Source) Organizations(ctx context.Context, prefix string) []string {
	return s.find(ctx, "organizations", prefix, func(ctx context.Context, c *apiclient.Client) ([]Value, error) {
		page, err := c.Persons.List(ctx, apitype.PersonListOptions{Paging: apitype.Paging{First: new(recent)}})
		organizations, err := describe(page, err, func(p apitype.Person) Value {
			organization := p.OwningOrganization.Value()
			if organization.Name == "" {
				return Value{}
			}
			return Value{organization.UUID.String(), organization.Name}
		})
		slices.SortFunc(organizations, func(a, b Value) int { return strings.Compare(a.Value, b.Value) })
		return slices.Compact(organizations), err
	})
}

// ResultCodes are the result codes of the latest calls.
func (s Source) ResultCodes(ctx context.Context, prefix string) []string {
	return s.find(ctx, "result-codes", prefix, func(ctx context.Context, c *apiclient.Client) ([]Value, error) {
		page, err := s.calls(ctx, c)
		codes, err := describe(page, err, func(call apitype.Call) Value {
			if code := call.Result.Value().ResultCode; code != nil {
				return Value{Value: *code}
			}
			return Value{}
		})
		slices.SortFunc(codes, func(a, b Value) int { return strings.Compare(a.Value, b.Value) })
		return slices.Compact(codes), err
	})
}

// describe turns the records of a page into values; one without a value is left out.
func describe[T any](page apiclient.Page[T], err error, value func(T) Value) ([]Value, error) {
	if err != nil {
		return nil, err
	}
	var values []Value
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
