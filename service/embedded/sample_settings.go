package embedded

import (
	"embed"
	"strings"

	"fundesk/apiclient/apitype"
)

//go:embed scripts/*.md
var scriptFiles embed.FS

// sampleSettings returns what agents of the sample data work by. The scripts are in Dutch, in German, and in
// English for everybody else.
func sampleSettings() apitype.OrganizationSettings {
	corrected, optOut := apitype.EffectCorrected, apitype.EffectOptOut
	settings := apitype.OrganizationSettings{
		Results: map[apitype.CallType][]apitype.ResultChoice{
			apitype.CallVerification: {
				{Code: "confirmed"},
				{Code: "corrected", Effect: &corrected},
				{Code: "wrong_number"},
				{Code: "wants_to_stop", Effect: &optOut},
			},
			apitype.CallHappy: {
				{Code: "thanked"},
				{Code: "raised_amount", Label: "gives more"},
				{Code: "no_interest", Label: "not interested"},
				{Code: "wants_to_stop", Effect: &optOut},
			},
			apitype.CallWinback: {
				{Code: "resubscribed", Label: "gives again"},
				{Code: "declined"},
				{Code: "moved_abroad", AsksNotes: true},
				{Code: "wants_to_stop", Label: "no more calls", Effect: &optOut},
			},
		},
		Scripts:      map[string]string{},
		CallingHours: map[string]apitype.HoursOfDays{"NL": apitype.DefaultHours, "DE": apitype.DefaultHours},
	}
	files, _ := scriptFiles.ReadDir("scripts")
	for _, file := range files {
		text, _ := scriptFiles.ReadFile("scripts/" + file.Name())
		settings.Scripts[strings.TrimSuffix(file.Name(), ".md")] = string(text)
	}
	return settings
}
