package desk

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
)

// tellMessages shows the lines of the supervisors that were not shown yet.
func (d *Day) tellMessages(all []apitype.QueueMessage) {
	for _, m := range all {
		if m.Text == "" || d.shownMessages[m.OrganizationUUID] == m.At {
			continue
		}
		if d.shownMessages == nil {
			d.shownMessages = map[apitype.UUID]apitype.Time{}
		}
		d.shownMessages[m.OrganizationUUID] = m.At
		text := render.Clean(m.Text)
		if name := d.messageFrom(m); name != "" {
			text = d.Say("%s: %s", name, text)
		}
		d.Notify(event.Notice{Level: event.Told, Text: text})
	}
}

// messageFrom returns the name of the supervisor who sent a line, or an empty text.
func (d *Day) messageFrom(m apitype.QueueMessage) string {
	if m.UserUUID == nil {
		return ""
	}
	return render.Clean(d.AgentName(*m.UserUUID))
}

// SetMessage returns work that sends a line to all desks of the account's organizations. An empty text ends it.
func (d *Day) SetMessage(text string) func(ctx context.Context) (int, error) {
	client, agent := d.Client, d.Agent
	return func(ctx context.Context) (int, error) {
		read, _, err := client.Settings(ctx, "")
		settings, err := apiclient.Decoded(read, err)
		if err != nil {
			return 0, err
		}
		all := settings.Organizations
		for i, organization := range all {
			request := apitype.QueueMessageRequest{OrganizationUUID: organization.UUID, Text: text, UserUUID: agent}
			if _, err := client.Queue.SetMessage(ctx, request); err != nil {
				return i, err
			}
		}
		return len(all), nil
	}
}
