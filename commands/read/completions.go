package read

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render/counts"
)

// completions has the users of completed calls. If the service does not show them in lists, the calls of each user are
// listed.
type completions struct {
	by  map[apitype.UUID]apitype.UUID // The user of a call. Nil if the service does not show it.
	now func() time.Time
}

// read lists the calls that each user completed, within options. The users come from a profile, and from the service's
// names and work.
func (c *completions) read(
	ctx context.Context,
	client *apiclient.Client,
	profile []string,
	o apitype.CallListOptions,
) error {
	o.Include = nil
	var err error
	o.Completers, err = client.Has(ctx, apitype.ExtensionCompleters)
	if err != nil {
		return err
	}
	if o.Completers {
		return c.list(ctx, client, o)
	}
	has, err := client.Has(ctx, apitype.ExtensionCompletedBy)
	if err != nil || !has {
		return err
	}
	users := []apitype.UUID{}
	if o.CompletedByUserUUID != nil {
		users = append(users, *o.CompletedByUserUUID)
	} else if users, err = c.users(ctx, client, profile); err != nil {
		return err
	}
	c.by = map[apitype.UUID]apitype.UUID{}
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize}
	for _, user := range users {
		o.CompletedByUserUUID = &user
		for record, err := range client.Calls.All(ctx, o, walk) {
			call, err := apiclient.Decoded(record, err)
			if err != nil {
				return err
			}
			c.by[call.UUID] = user
		}
	}
	return nil
}

// list reads the user of each completion in a list.
func (c *completions) list(ctx context.Context, client *apiclient.Client, o apitype.CallListOptions) error {
	c.by = map[apitype.UUID]apitype.UUID{}
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize}
	for record, err := range client.Calls.All(ctx, o, walk) {
		if err != nil {
			return err
		}
		if record.CompletedBy == nil {
			continue
		}
		id, err := apitype.RecordUUID(record.Raw)
		if err != nil {
			return err
		}
		c.by[id] = *record.CompletedBy
	}
	return nil
}

// users returns the users of a profile and of a service, each once.
func (c *completions) users(
	ctx context.Context,
	client *apiclient.Client,
	profile []string,
) ([]apitype.UUID, error) {
	var users []apitype.UUID
	for _, text := range profile {
		if id, err := apitype.ParseUUID(text); err == nil {
			users = append(users, id)
		}
	}
	hasSettings, err := client.Has(ctx, apitype.ExtensionSettings)
	if err != nil {
		return nil, err
	}
	if hasSettings {
		read, _, err := client.Settings(ctx, "")
		settings, err := apiclient.Decoded(read, err)
		if err != nil {
			return nil, err
		}
		for _, user := range settings.Users {
			users = append(users, user.UUID)
		}
	}
	hasQueue, err := client.Has(ctx, apitype.ExtensionQueue)
	if err != nil {
		return nil, err
	}
	if hasQueue {
		since := apitype.NewTime(c.now().Add(time.Hour - apitype.MaxAgents))
		work, err := apiclient.Decoded(client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: &since}))
		if apiclient.KindOf(err) == apiclient.KindRejected { // The service has another time, as a sandbox may.
			work, err = apiclient.Decoded(client.Queue.Agents(ctx, apitype.QueueAgentsOptions{}))
		}
		if err != nil {
			return nil, err
		}
		for _, agent := range work.Agents {
			users = append(users, agent.UserUUID)
		}
	}
	slices.SortFunc(users, apitype.UUID.Compare)
	return slices.Compact(users), nil
}

// groups counts a completed call for its user. Calls without a user are counted for no one.
func (c *completions) groups(groups []counts.Group[apitype.Call]) []counts.Group[apitype.Call] {
	i := slices.IndexFunc(groups, func(g counts.Group[apitype.Call]) bool { return g.Name == byAgent })
	lastAgent := groups[i].Of
	groups[i].Of = func(call apitype.Call) string {
		if c.by == nil || call.Status != apitype.CallCompleted {
			return lastAgent(call)
		}
		if user, ok := c.by[call.UUID]; ok {
			return user.String()
		}
		return ""
	}
	return groups
}
