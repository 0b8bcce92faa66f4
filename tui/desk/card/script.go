package card

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/render"
)

// maxScript limits the bytes of a script that are read.
const maxScript = 256 << 10

// ReadScripts reads the conversation scripts of the configuration folder. They are markdown files with the name of a
// call type and a language, scripts/verification.nl.md, or the type alone. An unreadable one does not stop the others.
func ReadScripts(configDir string) (Scripts, error) {
	texts := map[string]string{}
	var errs []error
	if configDir != "" {
		errs = append(errs, readScriptFiles(filepath.Join(configDir, "scripts"), texts))
	}
	scripts := make(Scripts, len(texts))
	for name, text := range texts {
		scripts[name] = strings.Split(strings.TrimSpace(text), "\n")
		errs = append(errs, scriptProblems(name, scripts[name])...)
	}
	return scripts, errors.Join(errs...)
}

// scriptProblems returns the mistakes of a script: unknown fields, and answers that lead nowhere.
func scriptProblems(name string, script []string) []error {
	var errs []error
	for i, line := range script {
		if _, unknown := fillScript(line, scriptFacts{call: new(apitype.Call)}); unknown != "" {
			const problem = "scripts/%s.md, line %d: there is no {{.%s}}; there are %s"
			errs = append(errs, fmt.Errorf(problem, name, i+1, unknown, scriptFieldNames()))
		}
	}
	steps := stepsOf(script)
	for _, step := range steps {
		for _, answer := range step.Answers {
			if _, found := stepWith(steps, answer.LeadsTo); !found && answer.LeadsTo != "" {
				errs = append(errs, fmt.Errorf("scripts/%s.md: there is no heading %q", name, answer.LeadsTo))
			}
		}
	}
	return errs
}

func readScriptFiles(folder string, texts map[string]string) error {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	if err := durable.CheckTrust(folder); err != nil { // Agents read it to donors.
		return err
	}
	for _, file := range files {
		name, isScript := strings.CutSuffix(file.Name(), ".md")
		if !isScript {
			continue
		}
		path := filepath.Join(folder, file.Name())
		err := durable.CheckTrust(path)
		var content []byte
		if err == nil {
			content, err = os.ReadFile(path)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		texts[name] = string(content[:min(len(content), maxScript)])
	}
	return errors.Join(errs...)
}

// Script is the script of a call, with the donor's values.
type Script struct {
	Remark string // For the agent alone. Empty without one.
	Lines  []string
	Steps  []Step
}

// Scripts are the scripts of the configuration folder, by their names.
type Scripts map[string][]string

// Pick returns the script for the call, or an empty one.
func (k Card) Pick(scripts Scripts) Script {
	if k.Call == nil || !k.Place.IsKnown { // A script of the floor may be meant.
		return Script{}
	}
	language := strings.ToLower(apitype.TextOf(k.Call.Person.Value().Language))
	for _, suffix := range []string{"." + language, ""} {
		name := string(k.Call.Type) + suffix
		script, found := scripts[name]
		if text, set := k.Floor.Scripts[name]; set && !found {
			script, found = strings.Split(strings.TrimSpace(text), "\n"), true
		}
		if found {
			lines := k.filled(script, strings.TrimPrefix(suffix, "."))
			return Script{Remark: k.scriptRemark(), Lines: lines, Steps: stepsOf(lines)}
		}
	}
	return Script{}
}

// scriptRemark returns what the agent must know before reading the script: that the pledge has ended. It is not read
// aloud.
func (k Card) scriptRemark() string {
	pledge := k.Call.PledgeCase.Pointer()
	if pledge == nil || !hasEnded(pledge.Status) || k.Call.Type == apitype.CallWinback {
		return ""
	}
	status := k.Say(PledgeWords(pledge.Status))
	return k.Say("The pledge is %s: nothing is collected, whatever the script says.", status)
}

// filled returns a script with the donor's values.
func (k Card) filled(script []string, language string) []string {
	facts := scriptFacts{call: k.Call, language: language, now: k.ShownAt}
	if facts.now.IsZero() {
		facts.now = k.Now()
	}
	if k.Agent != nil {
		facts.agent = k.AgentName(*k.Agent)
	}
	var lines []string
	for _, line := range script {
		text, _ := fillScript(line, facts)
		lines = append(lines, text)
	}
	return lines
}

// scriptFacts are the values for a script.
type scriptFacts struct {
	call     *apitype.Call
	language string    // Of the script. "" is English.
	agent    string    // The agent's name. "" if it is not known.
	now      time.Time // When the call came on the desk: the greeting stays while it is there.
}

// scriptField is a field of a script: {{.Person.FirstName}}.
type scriptField struct {
	name  string
	value func(scriptFacts) string
}

// scriptFields returns the fields of a script. Amounts, intervals and dates are in the script's language.
func scriptFields() []scriptField {
	person := func(of func(apitype.Person) string) func(scriptFacts) string {
		return func(f scriptFacts) string { return of(f.call.Person.Value()) }
	}
	pledge := func(of func(p apitype.Pledge, language string) string) func(scriptFacts) string {
		return func(f scriptFacts) string {
			if f.call.PledgeCase.Pointer() == nil {
				return ""
			}
			return of(f.call.PledgeCase.Value(), f.language)
		}
	}
	return []scriptField{
		{"Person.Name", person(render.PersonName)},
		{"Person.FirstName", person(func(p apitype.Person) string { return apitype.TextOf(p.FirstName) })},
		{"Person.LastName", person(func(p apitype.Person) string {
			return strings.TrimSpace(apitype.TextOf(p.LastNamePrefix) + " " + apitype.TextOf(p.LastName))
		})},
		{"Person.City", person(func(p apitype.Person) string { return p.Address.Value().City })},
		{"Pledge.Amount", pledge(func(p apitype.Pledge, language string) string {
			return scriptLocale(language).Euros(p.DonationAmount)
		})},
		{
			"Pledge.Interval",
			pledge(
				func(p apitype.Pledge, language string) string { return intervalWords(p.DonationInterval, language) },
			),
		},
		{
			"Pledge.Charity",
			pledge(func(p apitype.Pledge, _ string) string { return p.OwningOrganization.Value().Name }),
		},
		{"Pledge.Since", pledge(func(p apitype.Pledge, language string) string {
			return scriptLocale(language).Date(p.CreatedAt.Local(), "2 January 2006")
		})},
		{"Call.Notes", func(f scriptFacts) string { return apitype.TextOf(f.call.Notes) }},
		{"Call.Requested", func(f scriptFacts) string {
			return scriptLocale(f.language).Date(f.call.RequestedAt.In(time.Local), "2 January 2006")
		}},
		{"Call.Greeting", func(f scriptFacts) string { return greeting(f.now, f.language) }},
		{"Agent.Name", func(f scriptFacts) string { return f.agent }},
	}
}

func scriptFieldNames() string {
	var names []string
	for _, f := range scriptFields() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// scriptLocale writes as a script's language does; one without a language is in English.
func scriptLocale(language string) render.Locale {
	return render.LocaleFrom(func(string) string { return language })
}

// fillScript fills in the fields of a line of a script. An unknown value becomes an ellipsis. A field that does not
// exist stays, and is reported.
func fillScript(line string, facts scriptFacts) (filled, unknown string) {
	var b strings.Builder
	for {
		before, rest, opens := strings.Cut(line, "{{")
		name, after, closes := strings.Cut(rest, "}}")
		if !opens || !closes {
			b.WriteString(line)
			return b.String(), unknown
		}
		b.WriteString(before)
		name = strings.TrimPrefix(strings.TrimSpace(name), ".")
		text, known := "", false
		for _, f := range scriptFields() {
			known = f.name == name
			if known {
				text = cmp.Or(f.value(facts), "…")
				break
			}
		}
		if !known {
			text, unknown = "{{."+name+"}}", name
		}
		b.WriteString(text)
		line = after
	}
}

// greetings are the greetings in the morning, the afternoon and the evening, by the language of the script.
var greetings = map[string][3]string{
	"":   {"Good morning", "Good afternoon", "Good evening"},
	"nl": {"Goedemorgen", "Goedemiddag", "Goedenavond"},
	"de": {"Guten Morgen", "Guten Tag", "Guten Abend"},
}

// When the afternoon and the evening begin, in hours of the agent's clock.
const (
	noon    = 12
	evening = 18
)

// greeting returns how one greets at a time of day.
func greeting(now time.Time, language string) string {
	words, isKnown := greetings[language]
	if !isKnown {
		words = greetings[""]
	}
	hour := now.Hour()
	if hour < noon {
		return words[0]
	}
	if hour < evening {
		return words[1]
	}
	return words[2]
}

// intervalWords returns an interval of donations in the language of a script.
func intervalWords(interval apitype.DonationInterval, language string) string {
	words := map[string][]string{
		"nl": {"eenmalig", "per maand", "per kwartaal", "per halfjaar", "per jaar"},
		"de": {"einmalig", "im Monat", "im Quartal", "im Halbjahr", "im Jahr"},
		"":   {"once", "a month", "a quarter", "every half year", "a year"},
	}
	for i, known := range apitype.DonationIntervals {
		in := words[language]
		if in == nil {
			in = words[""]
		}
		if interval == known && i < len(in) {
			return in[i]
		}
	}
	return render.Words(string(interval))
}
