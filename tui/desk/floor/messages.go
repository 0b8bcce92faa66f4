package floor

import (
	"context"
	"errors"
	"slices"

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

// Message is a line of a user for all desks of the account's organizations. An empty text ends the present line.
type Message struct {
	User  *apitype.UUID
	Text  string
	Known []string // The lines that the user has seen or sent. Another one is not replaced.
}

// ErrOtherMessage means that another user has sent a line that the user has not seen. It was not replaced.
var ErrOtherMessage = errors.New("another message was sent meanwhile")

// checkKnown refuses to replace a line that the user has not seen.
func (m Message) checkKnown(ctx context.Context, client *apiclient.Client) error {
	present, err := apiclient.Decoded(client.Queue.Messages(ctx))
	if err != nil {
		return err
	}
	for _, line := range present.Messages {
		if !slices.Contains(m.Known, line.Text) {
			return ErrOtherMessage
		}
	}
	return nil
}

// SetMessage returns work that sends a line, and how many organizations have it.
func SetMessage(client *apiclient.Client, m Message) func(ctx context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		read, _, err := client.Settings(ctx, "")
		settings, err := apiclient.Decoded(read, err)
		if err != nil {
			return 0, err
		}
		if err := m.checkKnown(ctx, client); err != nil {
			return 0, err
		}
		all := settings.Organizations
		for i, organization := range all {
			request := apitype.QueueMessageRequest{OrganizationUUID: organization.UUID, Text: m.Text, UserUUID: m.User}
			if _, err := client.Queue.SetMessage(ctx, request); err != nil {
				return i, err
			}
		}
		return len(all), nil
	}
}
