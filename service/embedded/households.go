package embedded

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
)

// households are the words of the sample data: what its organizations, donors and agents are called, say and write.
type households struct {
	Organizations []struct {
		Name, Abbreviation, CoolingOff string
		Attempts                       int
		FocusAreas                     []string
	}
	Results  map[apitype.CallType][]apitype.ResultChoice
	Outcomes map[apitype.CallType][]struct{ Code, Notes string } // As likely as they are often there.
	Gates    []struct {                                          // The checks of a quality result.
		Identifier, Category, Passed, Failed string
		Maximum                              int
	}
	CallNotes, Locations, Campaigns []string
	Countries                       [2]country // The Netherlands and Germany.
}

// country is where donors live, and how their numbers begin.
type country struct {
	Code, Language  string
	Women, Men      []string
	LastNames       []string
	Prefixes        []string // Of the last name; most have none.
	Streets         []string
	Cities          []struct{ Name, Zip string } // Zip is the beginning of their postal codes.
	Bank            string                       // Of no bank that exists.
	AccountDigits   int
	Mobile, Landing string // Number prefixes in international format.
	MobileDigits    int
	LandingDigits   int
}

//go:embed households.json scripts/*.md
var files embed.FS

// words returns what households.json says.
var words = sync.OnceValue(func() *households {
	text, _ := files.ReadFile("households.json")
	all := new(households)
	if err := json.Unmarshal(text, all); err != nil {
		panic(err) // It is embedded.
	}
	return all
})

func dutch() *country  { return &words().Countries[0] }
func german() *country { return &words().Countries[1] }

// sampleSettings returns what agents of the sample data work by. The scripts are in Dutch, in German, and in
// English for everybody else.
func sampleSettings() apitype.OrganizationSettings {
	settings := apitype.OrganizationSettings{
		Results:      words().Results,
		Scripts:      map[string]string{},
		CallingHours: map[string]apitype.HoursOfDays{"NL": apitype.DefaultHours, "DE": apitype.DefaultHours},
	}
	scripts, _ := files.ReadDir("scripts")
	for _, script := range scripts {
		text, _ := files.ReadFile("scripts/" + script.Name())
		settings.Scripts[strings.TrimSuffix(script.Name(), ".md")] = string(text)
	}
	return settings
}
