package floor

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// Messages are the lines of the supervisors. Set the exported fields once.
type Messages struct {
	say.Texts
	Events *event.Queue
	// AgentName returns the name of a user, or an empty text.
	AgentName func(apitype.UUID) string

	shown map[apitype.UUID]apitype.Time // The times of the lines that were shown, by organization.
}

// Show shows the lines that were not shown yet.
func (m *Messages) Show(all []apitype.QueueMessage) {
	for _, line := range all {
		if line.Text == "" || m.shown[line.OrganizationUUID] == line.At {
			continue
		}
		if m.shown == nil {
			m.shown = map[apitype.UUID]apitype.Time{}
		}
		m.shown[line.OrganizationUUID] = line.At
		text := render.Clean(line.Text)
		if name := m.from(line); name != "" {
			text = m.Say("%s: %s", name, text)
		}
		m.Events.Notify(event.Notice{Level: event.Told, Text: text})
	}
}

// from returns the name of the supervisor that sent a line, or an empty text.
func (m *Messages) from(line apitype.QueueMessage) string {
	if line.UserUUID == nil {
		return ""
	}
	return render.Clean(m.AgentName(*line.UserUUID))
}

// SetMessage returns work that sends a line of a user to all desks of the account's organizations. An empty text ends
// it.
func SetMessage(client *apiclient.Client, user *apitype.UUID, text string) func(ctx context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		read, _, err := client.Settings(ctx, "")
		settings, err := apiclient.Decoded(read, err)
		if err != nil {
			return 0, err
		}
		all := settings.Organizations
		for i, organization := range all {
			request := apitype.QueueMessageRequest{OrganizationUUID: organization.UUID, Text: text, UserUUID: user}
			if _, err := client.Queue.SetMessage(ctx, request); err != nil {
				return i, err
			}
		}
		return len(all), nil
	}
}
