package profile

import (
	"embed"
	"strings"
)

//go:embed scripts/*.md
var demoScripts embed.FS

// Scripts are the conversation scripts of the sample data: a type of call each, in Dutch,
// German, and English for everybody else.
func Scripts() map[string]string {
	scripts := map[string]string{}
	files, _ := demoScripts.ReadDir("scripts")
	for _, file := range files {
		text, _ := demoScripts.ReadFile("scripts/" + file.Name())
		scripts[strings.TrimSuffix(file.Name(), ".md")] = string(text)
	}
	return scripts
}

func demoResults() map[string][]Result {
	return map[string][]Result{
		"verification": {
			{Code: "confirmed"},
			{Code: "corrected", Effect: "corrected"},
			{Code: "wrong_number"},
			{Code: "wants_to_stop", Effect: "opt-out"},
		},
		"happy_call": {
			{Code: "thanked"},
			{Code: "raised_amount", Label: "gives more"},
			{Code: "no_interest", Label: "not interested"},
			{Code: "wants_to_stop", Effect: "opt-out"},
		},
		"winback": {
			{Code: "resubscribed", Label: "gives again"},
			{Code: "declined"},
			{Code: "moved_abroad", AsksNotes: true},
			{Code: "wants_to_stop", Label: "no more calls", Effect: "opt-out"},
		},
	}
}

// Sample is the profile as the sample data needs it, where it says nothing else.
func (p Profile) Sample() Profile {
	if len(p.Results) == 0 && len(p.ResultCodes) == 0 {
		p.Results = demoResults()
	}
	return p
}
