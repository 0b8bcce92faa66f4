package desk

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/say"
	"fundesk/tui/find"
)

// base has what the parts of a day share: the options, the events, the connection, and the settings of the floor.
type base struct {
	Options
	*event.Queue
	*connection.State
	floor *floor.Settings
}

// Ago returns a time in words, such as 29 days ago.
func (b *base) Ago(t time.Time) string { return b.Texts.Ago(t, b.Now()) }

func (b *base) now() time.Time { return b.Now() }

// The profile and the settings of the floor both have names and limits: the profile comes first.

// Beside returns the file beside the state whose name has an ending, or an empty text if nothing is saved.
func (b *base) Beside(ending string) string {
	return say.When(b.StateFile != "", strings.TrimSuffix(b.StateFile, ".json")+ending)
}

// NeedSettings reads the settings of the floor, unless they were asked for. Statistics name results by them.
func (b *base) NeedSettings() []event.Event {
	b.floor.Need()
	return b.Drain()
}

// WaitsForSettings reports whether the service has settings of the floor that were not read yet.
func (b *base) WaitsForSettings() bool { return b.floor.IsWaiting() }

// AgentName returns the name of a user in the profile, or else in the settings. The name of the signed-in person is
// known before the settings are. Without a name it returns an empty text.
func (b *base) AgentName(id apitype.UUID) string {
	name := b.Agents[id]
	for _, user := range b.floor.Present().Users {
		if user.UUID == id {
			name = cmp.Or(name, user.Name)
		}
	}
	if name == "" && b.Client != nil {
		if person := b.Client.KnownPerson(); person != nil && person.UUID == id {
			name = person.Name
		}
	}
	return name
}

// UsersNamed returns the users with a name, or otherwise the users whose name begins with it. The case does not
// matter, and _ matches a blank.
func (b *base) UsersNamed(text string) map[apitype.UUID]string {
	text = find.Fold(strings.ReplaceAll(text, "_", " "))
	known := map[apitype.UUID]string{}
	for _, user := range b.floor.Present().Users {
		known[user.UUID] = user.Name
	}
	maps.Copy(known, b.Agents)
	named := map[apitype.UUID]string{}
	for id, name := range known {
		if find.Fold(name) == text {
			return map[apitype.UUID]string{id: name}
		}
		if strings.HasPrefix(find.Fold(name), text) {
			named[id] = name
		}
	}
	return named
}

// Has reports whether the service has announced an extension.
func (b *base) Has(extension string) bool { return b.Client != nil && b.Client.Announces(extension) }

// maxAttempts returns the maximum of attempts of a call, or 0 if unknown.
func (b *base) maxAttempts(call *apitype.Call) int {
	if most := b.floor.Of(call).MaxCallAttempts; b.MaxAttempts == 0 && most != nil {
		return *most
	}
	return b.MaxAttempts
}
