package embedded

import (
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// calls makes the calls about a pledge: the verification of a new donor, later one to
// keep them engaged, and one to win them back.
func (s *sampler) calls(person service.LoadedPerson, pledge service.LoadedPledge) {
	s.call(person, pledge, apitype.CallVerification, pledge.CreatedAt.Add(s.between(2*time.Hour, 2*day)))
	switch pledge.Status {
	case apitype.PledgeActive, apitype.PledgeFulfilled:
		if s.maybe(45) {
			s.call(person, pledge, apitype.CallHappy, pledge.CreatedAt.Add(s.between(60*day, 150*day)))
		}
	case apitype.PledgeCancelled:
		if s.maybe(70) {
			s.call(person, pledge, apitype.CallWinback, pledge.UpdatedAt.Add(s.between(2*day, 20*day)))
		}
	}
}

// call makes one call, unless the time to request it has not come yet.
func (s *sampler) call(
	person service.LoadedPerson,
	pledge service.LoadedPledge,
	purpose apitype.CallType,
	requested time.Time,
) {
	requested = s.shift(requested)
	if requested.After(s.now) {
		return
	}
	c := service.LoadedCall{}
	c.UUID = s.uuid()
	c.RequestedAt = apitype.NewTime(requested)
	c.LastUpdatedAt = c.RequestedAt
	c.PersonUUID, c.RelatedCaseUUID = person.UUID, &pledge.UUID
	c.CallingOrganizationUUID = &pledge.OwningOrganizationUUID
	c.Type = purpose
	if s.maybe(25) {
		c.Notes = new(pick(s, words().CallNotes))
	}
	if purpose == apitype.CallVerification && s.maybe(15) {
		s.external(&c)
	}
	s.progress(&c, s.now.Sub(requested))
	s.putOff(&c)
	s.send(service.LoadCall, c)
}

// external makes the call one of an outside dialler.
func (s *sampler) external(c *service.LoadedCall) {
	c.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{
		ApplicationName:      new("dialler"),
		ReferenceID:          new("D-" + s.digits(7)),
		AgentReferenceID:     new("agent-" + s.digits(2)),
		StatusCode:           new(pick(s, []string{"S1", "S2", "S4"})),
		StatusDescription:    new("Handed over"),
		AdditionalProperties: apitype.Object(`{"queue":"evening","priority":` + s.digits(1) + `}`),
	})
}

// progress adds the attempts and the result of a call since its request.
func (s *sampler) progress(c *service.LoadedCall, age time.Duration) {
	c.Status = stateOf(s, words().CallStates, age)
	attempts := 0
	switch c.Status {
	case apitype.CallRequested:
		attempts = weighted(s, []weight[int]{{0, 6}, {1, 3}, {2, 2}, {3, 1}})
	case apitype.CallCompleted:
		attempts = 1 + weighted(s, []weight[int]{{0, 5}, {1, 3}, {2, 2}})
	case apitype.CallExpired:
		attempts = 5
	}
	at := c.RequestedAt.Time
	tries := []apitype.CallAttempt{}
	for range attempts {
		at = at.Add(s.between(4*time.Hour, 30*time.Hour))
		if at.After(s.now) {
			break
		}
		tries = append(
			tries,
			apitype.CallAttempt{
				UserUUID:  new(pick(s, s.agents)),
				AttemptAt: apitype.NewTime(at),
				CreatedAt: apitype.NewTime(at),
			},
		)
		c.LastUpdatedAt = apitype.NewTime(at)
	}
	c.AttemptsCount = len(tries)
	c.Attempts = apitype.Embed(tries)
	end := apitype.NewTime(s.past(c.LastUpdatedAt.Add(s.between(time.Minute, 20*time.Minute))))
	switch c.Status {
	case apitype.CallCompleted:
		c.CompletedAt = &end
		if len(tries) > 0 {
			c.CompletedBy = tries[len(tries)-1].UserUUID
		}
		c.RecordingDuration = new(apitype.NumberFromInt(45 + s.rand.IntN(600)))
		s.result(c, end)
	case apitype.CallCancelled:
		c.CancelledAt = &end
	case apitype.CallExpired:
		c.ExpiredAt = &end
	default:
		return
	}
	c.LastUpdatedAt = end
}

// putOff defers some of the calls that wait, to one of the next days, half of them for an agent
// alone. The identifier chooses: drawing another number would make other records of a seed.
func (s *sampler) putOff(c *service.LoadedCall) {
	if c.Status != apitype.CallRequested || c.UUID[0]%8 != 0 {
		return
	}
	c.DeferredUntil = new(apitype.NewTime(s.today.Add(time.Duration(33+24*int(c.UUID[1]%3)) * time.Hour)))
	if c.UUID[2]%2 == 0 {
		c.DeferredFor = &s.agents[int(c.UUID[3])%len(s.agents)]
	}
}

// result makes what the agent recorded.
func (s *sampler) result(c *service.LoadedCall, end apitype.Time) {
	outcome := pick(s, words().Outcomes[c.Type])
	result := apitype.CallResult{ResultCode: &outcome.Code, CompletedAt: &end}
	if outcome.Notes != "" {
		result.Notes = &outcome.Notes
	}
	if s.maybe(85) {
		result.DonorRetentionRating = new(apitype.NumberFromInt(1 + s.rand.IntN(10)))
	}
	c.Result = apitype.Embed(result)
}
