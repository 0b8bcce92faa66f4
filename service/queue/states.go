package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
	"fundesk/service"
)

// SetState sets whether a user takes calls. A pause gives the user's leases back, except pending ones. A repeat changes
// nothing. The pause is committed before the leases are read: a concurrent take either finds the pause after its own
// commit, or its leases are among those that are given back.
// PUT /fundesk/v1/queue/users/{uuid}/state
func (q *Queue) SetState(
	ctx context.Context,
	c service.Caller,
	user apitype.UUID,
	request apitype.UserStateRequest,
) (service.Answer, error) {
	if err := cmp.Or(maySetState(c, user), service.NotValid(request.Validate())); err != nil {
		return service.Answer{}, err
	}
	var state apitype.UserState
	err := q.rules.Write(ctx, service.WriteIsolated, "set the state of the user", func(tx service.Tx) error {
		now := q.rules.TimeOf(tx)
		state = apitype.UserState{
			UserUUID: user,
			State:    request.State,
			Reason:   request.Reason,
			Since:    now,
		}
		if err := visibleUser(tx, c, user); err != nil {
			return err
		}
		before, err := tx.UserStates(&user, apitype.Time{})
		if err != nil {
			return err
		}
		if len(before) == 1 {
			was := before[0].At(now)
			none := new(apitype.PauseReason)
			isSameReason := *cmp.Or(was.Reason, none) == *cmp.Or(request.Reason, none)
			if was.State == request.State && isSameReason {
				state.Since = was.Since
			}
		}
		if state.Since != now {
			return nil
		}
		line := c.Audited(service.AuditUserState, user, now).By(&user)
		line.Fields = "state,reason"
		row := service.UserStateRow{
			User:    user,
			Account: c.UUID,
			State:   request.State,
			Reason:  request.Reason,
			Since:   now,
		}
		if err := tx.SetUserState(row); err != nil {
			return err
		}
		return tx.Audit(line)
	})
	if err != nil || request.State != apitype.UserPaused {
		return service.Answered(state, err)
	}
	err = q.rules.Write(ctx, service.WriteIsolated, "release the paused user", func(tx service.Tx) error {
		state.Released = 0
		now := q.rules.TimeOf(tx)
		pause, err := keptPause(tx, user, now)
		if err != nil || pause == nil { // The pause has ended since, so the user keeps what they opened or took.
			return err
		}
		state.Released, err = releaseLeases(tx, c.Scope, user, false, true, now)
		return err
	})
	if err != nil {
		return service.Answer{}, err
	}
	q.counted(Released, state.Released)
	return service.Answered(state, nil)
}

// pauseOf returns the pause of a user, or nil.
func pauseOf(r service.Reader, user apitype.UUID, now apitype.Time) (*apitype.PauseReason, error) {
	rows, err := r.UserStates(&user, apitype.NewTime(now.Add(-apitype.MaxPause)))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].At(now).Reason, nil
}

// keptPause returns the pause of a user, or nil. The user is not ready before the transaction ends.
func keptPause(tx service.Tx, user apitype.UUID, now apitype.Time) (*apitype.PauseReason, error) {
	rows, err := tx.UserStatesForShare(user, apitype.NewTime(now.Add(-apitype.MaxPause)))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].At(now).Reason, nil
}

// errPaused refuses a take of a paused user.
func errPaused(reason apitype.PauseReason) error {
	return &service.Error{
		Kind:   service.Conflict,
		Detail: fmt.Sprintf("the user is paused (%s) and gets no calls; end the pause: fundesk queue ready", reason),
	}
}

// maySetState refuses an account without calls:attempt. A signed-in person needs settings:write for other users.
func maySetState(c service.Caller, user apitype.UUID) error {
	if err := c.Require(service.CallsAttempt); err != nil {
		return err
	}
	if c.Person != nil && c.Person.UUID != user {
		return c.Require(service.SettingsWrite)
	}
	return nil
}

// visibleUser refuses a user of an organization that the account may not see. A user need not be known.
func visibleUser(r service.Reader, c service.Caller, id apitype.UUID) error {
	user, err := r.User(id)
	if errors.Is(err, service.ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	if user.Organization != nil && !c.Scope.Contains(*user.Organization) {
		return service.OrNotFound(service.ErrNoRow, "user")
	}
	return nil
}

// states adds the states of users, also of those without any work since a time.
func (a agentCounts) states(r service.Reader, c service.Caller, user *apitype.UUID, since, now apitype.Time) error {
	oldest := apitype.NewTime(now.Add(-apitype.MaxPause))
	if since.Before(oldest.Time) {
		oldest = since
	}
	rows, err := r.UserStates(user, oldest)
	for _, row := range rows {
		is := row.At(now)
		isRecent := is.State == apitype.UserPaused || !row.Since.Before(since.Time)
		if a[row.User] == nil && (!isRecent || !row.IsVisible(c)) {
			continue
		}
		agent := a.of(row.User, row.Since)
		agent.State, agent.Reason, agent.Since = is.State, is.Reason, &is.Since
	}
	return err
}

// repeatedMessage is the time within which the same text counts as a repeat.
const repeatedMessage = time.Minute

// Messages returns the lines of the supervisors to all desks.
// GET /fundesk/v1/queue/message
func (q *Queue) Messages(ctx context.Context, c service.Caller) (service.Answer, error) {
	now, err := q.mayReadQueue(ctx, c)
	if err != nil {
		return service.Answer{}, err
	}
	var all apitype.QueueMessages
	err = q.rules.Read(ctx, service.ReadRecord, "read the messages", func(r service.Reader) (err error) {
		all.Messages, err = messages(r, c.Scope, now)
		return err
	})
	return service.Answered(all, err)
}

func messages(r service.Reader, scope service.Scope, now apitype.Time) ([]apitype.QueueMessage, error) {
	rows, err := r.QueueMessages(scope, now)
	sent := make([]apitype.QueueMessage, len(rows))
	for i, row := range rows {
		sent[i] = row.QueueMessage
	}
	return sent, err
}

// SetMessage replaces or ends the line of an organization to all desks.
// PUT /fundesk/v1/queue/message
func (q *Queue) SetMessage(
	ctx context.Context,
	c service.Caller,
	request apitype.QueueMessageRequest,
) (service.Answer, error) {
	if err := c.Require(service.SettingsWrite); err != nil {
		return service.Answer{}, err
	}
	user, err := c.ActingUser(request.UserUUID)
	if err != nil {
		return service.Answer{}, err
	}
	request.UserUUID = user
	if err := service.NotValid(request.Validate()); err != nil {
		return service.Answer{}, err
	}
	if !c.Scope.Contains(request.OrganizationUUID) {
		return service.Answer{}, noOrganization()
	}
	var all apitype.QueueMessages
	err = q.rules.Write(ctx, service.WriteIsolated, "set the message", func(tx service.Tx) error {
		now := q.rules.TimeOf(tx)
		err := q.setMessage(tx, c, request, now)
		if err != nil {
			return err
		}
		all.Messages, err = messages(tx, c.Scope, now)
		return err
	})
	return service.Answered(all, err)
}

func noOrganization() error {
	return service.NotValid(apitype.Violations{
		{Pointer: "/organizationUuid", Message: "names no organization that the account may see"},
	})
}

func (q *Queue) setMessage(
	tx service.Tx,
	c service.Caller,
	request apitype.QueueMessageRequest,
	now apitype.Time,
) error {
	id := request.OrganizationUUID
	settings, err := tx.OrganizationSettings(service.Scope{Organizations: []apitype.UUID{id}})
	if err != nil {
		return err
	}
	if len(settings) == 0 {
		return noOrganization()
	}
	line := c.Audited(service.AuditQueueMessage, id, now).By(request.UserUUID)
	line.Fields = "text"
	if request.Text == "" {
		err := tx.EndQueueMessage(id)
		if err != nil {
			return err
		}
		return tx.Audit(line)
	}
	before, err := tx.QueueMessages(service.Scope{Organizations: []apitype.UUID{id}}, now)
	if err != nil {
		return err
	}
	isRepeat := slices.ContainsFunc(before, func(m service.MessageRow) bool {
		return m.Text == request.Text && now.Sub(m.At.Time) < repeatedMessage
	})
	if isRepeat {
		return nil
	}
	row := service.MessageRow{EndsAt: endOfMessage(settings[0].Country, now)}
	row.QueueMessage = apitype.QueueMessage{
		OrganizationUUID: id,
		Text:             request.Text,
		At:               now,
		UserUUID:         request.UserUUID,
	}
	if err := tx.SetQueueMessage(row); err != nil {
		return err
	}
	return tx.Audit(line)
}

// endOfMessage returns the next midnight of a country, or 12 hours later without one.
func endOfMessage(country string, now apitype.Time) apitype.Time {
	const withoutCountry = 12 * time.Hour
	zone, ok := hours.Zone(country)
	if !ok {
		return apitype.NewTime(now.Add(withoutCountry))
	}
	year, month, day := now.In(zone).Date()
	return apitype.NewTime(time.Date(year, month, day+1, 0, 0, 0, 0, zone))
}
