package desk

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
)

// settingsEvery is how often the settings of the floor are asked for again.
const settingsEvery = 5 * time.Minute

// settings are those of the floor, as the service had them last. It is safe for concurrent use.
type settings struct{ kept atomic.Pointer[keptSettings] }

// keptSettings are the settings on disk, with what asks whether they still hold.
type keptSettings struct {
	ETag     string           `json:"etag"`
	Settings apitype.Settings `json:"settings"`
}

func (s *settings) read() apitype.Settings {
	if s == nil || s.kept.Load() == nil {
		return apitype.Settings{}
	}
	return s.kept.Load().Settings
}

// of returns the settings of the organization that owns a call.
func (s *settings) of(call *apitype.Call) apitype.OrganizationSettings {
	owner := call.Person.Value().OwningOrganization.Value().UUID
	if owner == (apitype.UUID{}) {
		owner = call.PledgeCase.Value().OwningOrganization.Value().UUID
	}
	all := s.read().Organizations
	for _, of := range all {
		if of.UUID == owner || owner == (apitype.UUID{}) && len(all) == 1 {
			return of
		}
	}
	return apitype.OrganizationSettings{}
}

// settingsEnding ends the name of the file of settings. They hold nothing of donors.
const settingsEnding = ".settings.json"

// open begins with the settings of an earlier start.
func (s *settings) open(path string) {
	var kept keptSettings
	if path != "" && ReadState(path, &kept) == nil && kept.ETag != "" {
		s.kept.Store(&kept)
	}
}

// readSettings asks for the settings where they are not those that are known. Without an answer the known
// ones hold.
func (d *Day) readSettings() {
	d.settingsAsked = d.Now()
	known, path := "", d.Beside(settingsEnding)
	if kept := d.floor.kept.Load(); kept != nil {
		known = kept.ETag
	}
	do(&d.events, func(ctx context.Context) (*keptSettings, error) {
		has, err := d.Client.Has(ctx, apitype.ExtensionSettings)
		if err != nil || !has {
			return nil, err
		}
		read, isSame, err := d.Client.Settings(ctx, known)
		if err != nil || isSame {
			return nil, err
		}
		is := &keptSettings{ETag: read.ETag}
		if is.Settings, err = read.Decode(); err == nil && path != "" {
			_ = WriteState(path, is) // It is asked for again at the next start.
		}
		return is, err
	}, func(is *keptSettings, err error) {
		if err == nil && is != nil {
			d.floor.kept.Store(is)
			d.Card.pickScript()
			if d.Form.ResultCode == "" { // No digit was pressed for the old ones.
				d.Form.results = nil
			}
		}
		d.settingsRead = d.settingsRead || err == nil
	})
}

// AgentName returns the name of a user: that of the profile, else that of the settings; "" where none is known.
func (b *base) AgentName(id apitype.UUID) string {
	name := b.Agents[id]
	for _, user := range b.floor.read().Users {
		if user.UUID == id {
			name = cmp.Or(name, user.Name)
		}
	}
	return name
}

// maxAttempts returns how often a call may be tried, 0 where that is not known.
func (b *base) maxAttempts(call *apitype.Call) int {
	if most := b.floor.of(call).MaxCallAttempts; b.MaxAttempts == 0 && most != nil {
		return *most
	}
	return b.MaxAttempts
}

// againstHours says why the donor of a call is not called at a time, "" where nothing speaks against it.
func (b *base) againstHours(call *apitype.Call, at time.Time) string {
	hours := CallingHours{}
	maps.Copy(hours, b.floor.of(call).CallingHours)
	maps.Copy(hours, b.Hours)
	return hours.Against(at, call.Person.Value().Address.Value().Country, b.Say)
}
