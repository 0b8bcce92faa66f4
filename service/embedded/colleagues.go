package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
)

const (
	agentPrefix  = "A-" // The beginning of the identifiers of sample users with calls.
	sampleAgents = 8

	colleagueCount = 4               // Of the sample agents, how many work by themselves.
	colleagueStep  = 5 * time.Second // How often they are moved on.
	leaveWaiting   = 30              // The colleagues leave this many calls to the user of the demo.
)

// colleagues are invented agents who work on the sample data while a user tries it. They are not safe for concurrent
// use.
type colleagues struct {
	rules  *service.Service
	queue  *queue.Queue
	caller service.Caller
	now    func() time.Time
	rand   *rand.Rand
	all    []colleague
	self   apitype.UUID // The sample agent of the user at the Desk.
}

// colleague is one of them: in a call until a time, or in a pause.
type colleague struct {
	user  apitype.UUID
	call  *apitype.Lease
	until time.Time
}

// newColleagues returns the colleagues of the sample data, or nil if the data has none.
func newColleagues(
	ctx context.Context,
	rules *service.Service,
	token string,
	now func() time.Time,
) (*colleagues, error) {
	account, err := rules.Authenticate(ctx, token)
	if err != nil {
		return nil, err
	}
	users, err := rules.Users(ctx)
	users = slices.DeleteFunc(users, func(u service.User) bool { return !strings.HasPrefix(u.Identifier, agentPrefix) })
	slices.SortFunc(users, func(a, b service.User) int { return cmp.Compare(a.Identifier, b.Identifier) })
	if err != nil || len(users) <= colleagueCount {
		return nil, err
	}
	c := &colleagues{
		rules:  rules,
		queue:  queue.New(rules, nil),
		caller: service.Caller{Account: account},
		now:    now,
		self:   users[colleagueCount].UUID,
	}
	c.rand = rand.New(rand.NewPCG(uint64(now().UnixNano()), 0))
	for _, u := range users[:colleagueCount] {
		c.all = append(c.all, colleague{user: u.UUID})
	}
	return c, nil
}

// Agent returns the sample agent of the user at the Desk, or zero without sample data.
func (s *Service) Agent() apitype.UUID {
	if s.colleagues == nil {
		return apitype.UUID{}
	}
	return s.colleagues.self
}

// Work has the invented colleagues of the sample data work until ctx ends. It returns when they hold nothing.
func (s *Service) Work(ctx context.Context) {
	if s.colleagues == nil {
		return
	}
	for ; ctx.Err() == nil; _ = service.Pause(ctx, colleagueStep) {
		s.colleagues.step(ctx)
	}
	s.colleagues.leave(context.WithoutCancel(ctx))
}

// step moves each colleague on that is ready. It retries a refused step later, without an error for the user.
func (c *colleagues) step(ctx context.Context) {
	now := c.now()
	for i := range c.all {
		one := &c.all[i]
		switch {
		case one.until.After(now):
		case one.call != nil:
			_ = c.finish(ctx, *one)
			one.call, one.until = nil, now.Add(c.between(5*time.Second, time.Minute))
		default:
			talk := c.between(time.Minute, 13*time.Minute)
			one.call, _ = c.take(ctx, one.user, talk)
			one.until = now.Add(talk)
			if one.call == nil {
				one.until = now.Add(time.Minute)
			}
		}
	}
}

// take returns the next call for a colleague, nil where few wait, or another process has the colleague work.
func (c *colleagues) take(ctx context.Context, user apitype.UUID, talk time.Duration) (*apitype.Lease, error) {
	var counts apitype.QueueState
	var held, taken apitype.Leases
	state, err := c.queue.State(ctx, c.caller, apitype.QueueOptions{})
	err = read(state, err, &counts)
	if err != nil || counts.Waiting <= leaveWaiting {
		return nil, err
	}
	leases, err := c.queue.Leases(ctx, c.caller, apitype.QueueLeaseListOptions{})
	err = read(leases, err, &held)
	if err != nil || slices.ContainsFunc(held.Leases, func(l apitype.Lease) bool { return l.UserUUID == user }) {
		return nil, err
	}
	answer, err := c.queue.Take(ctx, c.caller, apitype.TakeRequest{
		RequestUUID: apitype.NewUUID(), UserUUID: user, LeaseSeconds: new(int((talk + time.Minute) / time.Second)),
	})
	err = read(answer, err, &taken)
	if err != nil || len(taken.Leases) == 0 {
		return nil, err
	}
	return &taken.Leases[0], nil
}

func read(answer service.Answer, err error, into any) error {
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.JSON, into)
}

// finish records the result of a call: every third donor is reached.
func (c *colleagues) finish(ctx context.Context, one colleague) error {
	if c.rand.IntN(3) > 0 {
		_, err := c.rules.AddAttempt(
			ctx,
			c.caller,
			one.call.CallUUID,
			nil,
			apitype.AddAttemptRequest{UserUUID: &one.user},
		)
		return err
	}
	call := one.call.Call.Value()
	rows := slices.DeleteFunc(
		slices.Clone(words().Results[call.Type]),
		func(r apitype.ResultChoice) bool { return r.Effect != nil },
	)
	if len(rows) == 0 {
		return errors.New("the sample data has no result for " + string(call.Type))
	}
	result := apitype.CallResultRequest{
		ResultCode:           &rows[c.rand.IntN(len(rows))].Code,
		DonorRetentionRating: new(apitype.NumberFromInt(5 + c.rand.IntN(6))),
	}
	_, err := c.rules.CompleteCall(
		ctx,
		c.caller,
		call.UUID,
		nil,
		apitype.CompleteCallRequest{UserUUID: &one.user, Result: &result},
	)
	return err
}

func (c *colleagues) leave(ctx context.Context) {
	for i := range c.all {
		if held := c.all[i].call; held != nil {
			_ = c.queue.Release(ctx, c.caller, held.LeaseUUID, apitype.DeferRequest{})
			c.all[i].call = nil
		}
	}
}

func (c *colleagues) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.rand.Int64N(int64(most-least)))
}
