// Package floor has what a supervisor sets for the agents: settings with results, hours and scripts, and messages.
package floor

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
	"fundesk/tui/desk/statefile"
)

// How often the settings of the floor are asked for: again when they are known, and after a failure, for which the
// time doubles.
const (
	settingsEvery    = time.Minute
	settingsRetry    = 2 * time.Second
	settingsMaxRetry = time.Minute
)

// Settings has the floor's settings for the call on the Desk. Set the exported fields once. Its methods that read the
// present settings are safe for concurrent use.
type Settings struct {
	say.Texts
	Events *event.Queue
	Client *apiclient.Client
	Now    func() time.Time
	Path   string // The file of the settings. They hold nothing of donors. Empty keeps none.
	// IsShown reports whether a call is on the Desk. Then other settings hold from the next call on.
	IsShown func() bool
	// OnChange is called when other settings hold.
	OnChange func()

	kept  atomic.Pointer[Kept]
	waits atomic.Bool // The service has settings that were not read yet: no result, hour or script is offered.

	isUnderWay bool
	asked      time.Time     // Zero if never.
	retry      time.Duration // The wait after the failure before. Zero without one.
	isRead     bool          // The service has answered, or has no settings.
	coming     *Kept         // The settings from the next call on. Nil without any.
}

// Kept are the settings on disk, with what asks whether they still hold.
type Kept struct {
	ETag     string           `json:"etag"`
	Settings apitype.Settings `json:"settings"`
}

// Put lets settings hold.
func (s *Settings) Put(kept Kept) { s.kept.Store(&kept) }

// Open begins with the settings of an earlier start.
func (s *Settings) Open() {
	var kept Kept
	if s.Path != "" && statefile.Read(s.Path, &kept) == nil && kept.ETag != "" {
		s.Put(kept)
	}
}

// Present returns the settings that hold.
func (s *Settings) Present() apitype.Settings {
	if s == nil || s.kept.Load() == nil {
		return apitype.Settings{}
	}
	return s.kept.Load().Settings
}

// Of returns the settings of the organization that owns a call.
func (s *Settings) Of(call *apitype.Call) apitype.OrganizationSettings {
	owner := call.Person.Value().OwningOrganization.Value().UUID
	if owner == (apitype.UUID{}) {
		owner = call.PledgeCase.Value().OwningOrganization.Value().UUID
	}
	all := s.Present().Organizations
	for _, of := range all {
		if of.UUID == owner || owner == (apitype.UUID{}) && len(all) == 1 {
			return of
		}
	}
	return apitype.OrganizationSettings{}
}

// Need reads the settings, unless they were asked for.
func (s *Settings) Need() {
	if s.asked.IsZero() {
		s.Read()
	}
}

// Read requests the settings if they differ from the known ones, which stay without an answer.
func (s *Settings) Read() {
	s.isUnderWay, s.asked = true, s.Now()
	known := ""
	if kept := cmp.Or(s.coming, s.kept.Load()); kept != nil {
		known = kept.ETag
	}
	event.Do(s.Events, "settings read", func(ctx context.Context) (*Kept, error) {
		has, err := s.Client.Has(ctx, apitype.ExtensionSettings)
		if err != nil || !has {
			return nil, err
		}
		read, isSame, err := s.Client.Settings(ctx, known)
		if err != nil || isSame {
			return nil, err
		}
		is := &Kept{ETag: read.ETag}
		is.Settings, err = read.Decode()
		if err == nil && s.Path != "" {
			_ = statefile.Write(s.Path, is) // It is asked for again at the next start.
		}
		return is, err
	}, s.onRead)
}

// onRead takes settings in. On a call that is shown nothing moves: they apply from the next call.
func (s *Settings) onRead(is *Kept, err error) {
	s.isUnderWay = false
	if err != nil {
		s.retry = min(max(2*s.retry, settingsRetry), settingsMaxRetry)
		return
	}
	s.retry, s.isRead = 0, true
	isFirst := s.waits.Swap(false)
	if is == nil {
		return
	}
	s.coming = is
	if !s.IsShown() || isFirst || s.kept.Load() == nil {
		s.Apply()
		return
	}
	text := s.Say("the settings of the floor were changed: they apply from the next call")
	s.Events.Notify(event.Notice{Level: event.Told, Text: text})
}

// Apply lets the settings that were read last hold.
func (s *Settings) Apply() {
	if s.coming == nil {
		return
	}
	s.kept.Store(s.coming)
	s.coming = nil
	s.OnChange()
}

// Tend asks for the settings again when it is time: each minute, and sooner after a failure.
func (s *Settings) Tend() {
	wait := settingsEvery
	if s.retry > 0 {
		wait = s.retry
	}
	isDue := !s.asked.IsZero() && !s.isUnderWay && s.Now().Sub(s.asked) >= wait
	if isDue {
		s.Read()
	}
}

// HasFailed reports whether the latest reading failed.
func (s *Settings) HasFailed() bool { return s.retry > 0 }

// IsRead reports whether the service has answered, or has no settings.
func (s *Settings) IsRead() bool { return s.isRead }

// Announce notes whether the service has settings, if it has announced its extensions.
func (s *Settings) Announce(isAnnounced bool) {
	s.waits.Store(isAnnounced && !s.isRead && s.kept.Load() == nil)
}

// IsWaiting reports whether the service has settings of the floor that were not read yet.
func (s *Settings) IsWaiting() bool { return s.waits.Load() }

// StoredEffect returns the effect of a result that the service stores when a call is completed, or an empty text.
func (s *Settings) StoredEffect(call *apitype.Call, result apitype.ResultChoice) apitype.ResultEffect {
	if s.Client == nil || !s.Client.Announces(apitype.ExtensionEffects) {
		return ""
	}
	for _, known := range s.Of(call).ResultsOf(call.Type) {
		if known.Code == result.Code && known.Effect != nil && known.Effect.IsOfPerson() {
			return *known.Effect
		}
	}
	return ""
}
