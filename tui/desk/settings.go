package desk

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
	"fundesk/tui/find"
)

// How often the settings of the floor are asked for: again when they are known, and after a failure, for which the
// time doubles.
const (
	settingsEvery    = time.Minute
	settingsRetry    = 2 * time.Second
	settingsMaxRetry = time.Minute
)

// settings has the floor's settings for the call on the Desk. It is safe for concurrent use.
type settings struct {
	kept  atomic.Pointer[keptSettings]
	waits atomic.Bool // The service has settings that were not read yet: no result, hour or script is offered.
}

// settingsReading is the state of reading the settings.
type settingsReading struct {
	isUnderWay bool
	asked      time.Time     // Zero if never.
	retry      time.Duration // The wait after the failure before. Zero without one.
	isRead     bool          // The service has answered, or has no settings.
	coming     *keptSettings // The settings from the next call on. Nil without any.
}

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

// NeedSettings reads the settings of the floor, unless they were asked for. Statistics name results by them.
func (d *Day) NeedSettings() []event.Event {
	d.needSettings()
	return d.Drain()
}

func (d *Day) needSettings() {
	if d.settings.asked.IsZero() {
		d.readSettings()
	}
}

// readSettings requests the settings if they differ from the known ones, which stay without an answer.
func (d *Day) readSettings() {
	r := &d.settings
	r.isUnderWay, r.asked = true, d.Now()
	known, path := "", d.Beside(settingsEnding)
	if kept := cmp.Or(r.coming, d.floor.kept.Load()); kept != nil {
		known = kept.ETag
	}
	event.Do(d.Queue, "settings read", func(ctx context.Context) (*keptSettings, error) {
		has, err := d.Client.Has(ctx, apitype.ExtensionSettings)
		if err != nil || !has {
			return nil, err
		}
		read, isSame, err := d.Client.Settings(ctx, known)
		if err != nil || isSame {
			return nil, err
		}
		is := &keptSettings{ETag: read.ETag}
		is.Settings, err = read.Decode()
		if err == nil && path != "" {
			_ = WriteState(path, is) // It is asked for again at the next start.
		}
		return is, err
	}, d.onSettings)
}

// onSettings takes settings in. On a call that is shown nothing moves: they hold from the next call on.
func (d *Day) onSettings(is *keptSettings, err error) {
	r := &d.settings
	r.isUnderWay = false
	if err != nil {
		r.retry = min(max(2*r.retry, settingsRetry), settingsMaxRetry)
		return
	}
	r.retry, r.isRead = 0, true
	isFirst := d.floor.waits.Swap(false)
	if is == nil {
		return
	}
	r.coming = is
	if d.Call == nil || isFirst || d.floor.kept.Load() == nil {
		d.applySettings()
		return
	}
	d.Notify(event.Notice{Level: event.Told, Text: d.Say("the settings of the floor were changed: they hold from the next call on")})
}

// applySettings lets the settings that were read last hold.
func (d *Day) applySettings() {
	if d.settings.coming == nil {
		return
	}
	d.floor.kept.Store(d.settings.coming)
	d.settings.coming = nil
	d.results = nil
	d.pickScript()
}

// tendSettings asks for the settings again when it is time: each minute, and sooner after a failure.
func (d *Day) tendSettings() {
	r := &d.settings
	wait := settingsEvery
	if r.retry > 0 {
		wait = r.retry
	}
	isDue := !r.asked.IsZero() && !r.isUnderWay && d.Now().Sub(r.asked) >= wait
	if isDue {
		d.readSettings()
	}
}

// WaitsForSettings reports whether the service has settings of the floor that were not read yet.
func (d *Day) WaitsForSettings() bool { return d.floor.waits.Load() }

// WhyNoResults returns why the results of the call on the Desk are not offered. Results of the profile always are.
func (d *Day) WhyNoResults() string {
	isWaiting := d.WaitsForSettings() && d.Call != nil && !d.Codes.isKnown(d.Call.Type)
	return say.When(isWaiting, "the results of the floor are being read: try again in a moment")
}

// AgentName returns the name of a user in the profile, or else in the settings, or an empty text.
func (b *base) AgentName(id apitype.UUID) string {
	name := b.Agents[id]
	for _, user := range b.floor.read().Users {
		if user.UUID == id {
			name = cmp.Or(name, user.Name)
		}
	}
	return name
}

// UsersNamed returns the users with a name, or otherwise the users whose name begins with it. The case does not
// matter, and _ matches a blank.
func (b *base) UsersNamed(text string) (named map[apitype.UUID]string) {
	text = find.Fold(strings.ReplaceAll(text, "_", " "))
	known := map[apitype.UUID]string{}
	for _, user := range b.floor.read().Users {
		known[user.UUID] = user.Name
	}
	maps.Copy(known, b.Agents)
	named = map[apitype.UUID]string{}
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

// maxAttempts returns the maximum of attempts of a call, or 0 if unknown.
func (b *base) maxAttempts(call *apitype.Call) int {
	if most := b.floor.of(call).MaxCallAttempts; b.MaxAttempts == 0 && most != nil {
		return *most
	}
	return b.MaxAttempts
}

// storesEffect returns the effect of a result that the service stores when the call on the Desk is completed, or an
// empty text.
func (d *Day) storesEffect(result apitype.ResultChoice) apitype.ResultEffect {
	if !d.Has(apitype.ExtensionEffects) {
		return ""
	}
	for _, known := range d.floor.of(d.Call).ResultsOf(d.Call.Type) {
		if known.Code == result.Code && known.Effect != nil && known.Effect.IsOfPerson() {
			return *known.Effect
		}
	}
	return ""
}
