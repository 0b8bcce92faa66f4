package desk

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/render"
	"fundesk/tui"
	"fundesk/tui/desk"
	"fundesk/tui/desk/card"
	"fundesk/tui/page"
)

func queueFilter(p profile.Profile) (apitype.QueueFilter, error) {
	f := apitype.QueueFilter{Languages: slices.Clone(p.Languages)}
	for _, kind := range p.CallTypes {
		f.Types = append(f.Types, apitype.CallType(kind))
	}
	problems := f.Validate()
	if len(problems) == 0 {
		return f, nil
	}
	name, index, _ := strings.Cut(strings.TrimPrefix(problems[0].Pointer, "/"), "/")
	key, values := "languages", p.Languages
	if name == "types" {
		key, values = "call_types", p.CallTypes
	}
	if i, err := strconv.Atoi(index); err == nil {
		key += ": " + cli.Quote(values[i])
	}
	return f, cli.UsageError(key + " " + problems[0].Message)
}

// OfFloor returns the results and hours of a profile in the form of the service's settings, checked.
func OfFloor(p profile.Profile) (apitype.OrganizationSettings, error) {
	var of apitype.OrganizationSettings
	of.Results, of.CallingHours = p.Results, card.CallingHours{}
	for country, set := range p.CallingHours {
		if _, known := hours.Zone(country); !known {
			return of, cli.UsageError(
				"calling_hours: " + cli.Quote(country) +
					" must be an ISO 3166-1 country code of two letters, such as NL",
			)
		}
		of.CallingHours[strings.ToUpper(country)] = set
	}
	if problems := of.Validate(); len(problems) > 0 {
		return of, cli.UsageError(
			strings.Replace(problems[0].Where(), "callingHours", "calling_hours", 1) + " " + problems[0].Message,
		)
	}
	return of, nil
}

func agentNames(p profile.Profile) (map[apitype.UUID]string, error) {
	names := map[apitype.UUID]string{}
	for _, text := range slices.Sorted(maps.Keys(p.Agents)) {
		id, err := apitype.ParseUUID(text)
		if err != nil {
			return nil, cli.UsageError("agents: " + cli.Quote(text) + " " + err.Error())
		}
		names[id] = p.Agents[text]
	}
	return names, nil
}

// screenSettings sets the options of the drawn screen from the profile, or from config.toml for all profiles.
func screenSettings(p profile.Profile, c profile.Config, o *tui.Options) error {
	o.Theme, o.Mouse, o.Hidden = cmp.Or(p.Theme, c.Theme, page.Themes[0]), p.Mouse || c.Mouse, p.HiddenActions
	if !slices.Contains(page.Themes, o.Theme) {
		return cli.NotOneOf("theme", o.Theme, page.Themes)
	}
	return nil
}

// CheckSettings refuses settings of the Desk and of the drawn screen that cannot work.
func CheckSettings(p profile.Profile) error {
	return errors.Join(deskSettings(p, &desk.Options{}), screenSettings(p, profile.Config{}, &tui.Options{}))
}

func deskSettings(p profile.Profile, o *desk.Options) error {
	var err error
	o.Filter, err = queueFilter(p)
	if err != nil {
		return err
	}
	of, err := OfFloor(p)
	if err != nil {
		return err
	}
	o.Hours, o.Results = of.CallingHours, of.Results
	o.Agents, err = agentNames(p)
	if err != nil {
		return err
	}
	for _, name := range p.HiddenActions {
		if !tui.IsOfDesk(name) {
			return cli.UsageError(
				"hidden_actions: the Desk has no action " + cli.Quote(name) + "; see: fundesk help keys",
			)
		}
	}
	if p.Language != "" {
		o.Language, o.Locale = p.Language, localeOf(p.Language, o.Locale)
	}
	languages := []string{"en", "nl", "de"}
	if p.Language != "" && !slices.Contains(languages, p.Language) {
		return cli.NotOneOf("language", p.Language, languages)
	}
	o.Dial, err = dialProgram(p.Dial, runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	o.Languages = o.Filter.Languages
	o.ResultCodes, o.MaxAttempts, o.ExternalSourceName = p.ResultCodes, p.MaxAttempts, p.ExternalSourceName
	return nil
}

// dialProgram returns the program that dials, with the place of the number in its arguments. It returns nil for none.
// Without a setting, the system opens tel: links if there is a graphical session.
func dialProgram(dial profile.Dial, system string, getenv func(string) string) ([]string, error) {
	setting := "tel"
	isGraphical := system == "darwin" || system == "windows" ||
		getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
	switch {
	case len(dial) == 1:
		setting = dial[0]
	case len(dial) > 1:
		setting = ""
	case !isGraphical:
		setting = "none"
	}
	switch setting {
	case "none":
		return nil, nil
	case "tel":
		opener := map[string][]string{"darwin": {"open"}, "windows": {
			"rundll32",
			"url.dll,FileProtocolHandler",
		}}[system]
		if opener == nil {
			opener = []string{"xdg-open"}
		}
		return append(opener, "tel:"+desk.NumberPlace), nil
	case "":
		if dial[0] != "" &&
			slices.ContainsFunc(dial[1:], func(arg string) bool { return strings.Contains(arg, desk.NumberPlace) }) {
			return dial, nil
		}
	}
	return nil, cli.UsageError(
		"dial must be tel, none, or a program with its arguments, one of them with " + desk.NumberPlace,
	)
}

// AgentFilter fills the empty fields of a filter of the queue with those of the profile's agent.
func AgentFilter(s *cli.Session, f *apitype.QueueFilter) error {
	t, err := s.Resolve()
	if err != nil {
		return err
	}
	of, err := queueFilter(t.Profile)
	if len(f.Types) == 0 {
		f.Types = of.Types
	}
	if len(f.Languages) == 0 {
		f.Languages = of.Languages
	}
	return inProfile(s, t, err)
}

// inProfile adds the profile and the file to the error of a wrong setting.
func inProfile(s *cli.Session, t *cli.Target, err error) error {
	if err == nil {
		return nil
	}
	if t.Name == "" {
		return cli.WithHint(cli.UsageError(fmt.Sprintf("%s: %s", s.Store().Path(), err)), "change it there")
	}
	return cli.WithHint(
		cli.UsageError(fmt.Sprintf("profile %s: %s", t.Name, err)),
		"change "+s.Store().Path()+", or: fundesk profile set "+t.Name+" --help",
	)
}

// HoursByCountry are the hours of countries as a flag has them: NL=09:00-21:00, or with
// Saturday and Sunday after commas.
type HoursByCountry map[string]apitype.HoursOfDays

// String implements pflag.Value.
func (h HoursByCountry) String() string {
	var all []string
	for _, country := range slices.Sorted(maps.Keys(h)) {
		of := h[country]
		all = append(all, country+"="+strings.TrimRight(of.Weekday+","+of.Saturday+","+of.Sunday, ","))
	}
	return strings.Join(all, " ")
}

// Type implements pflag.Value.
func (h HoursByCountry) Type() string { return "hours" }

// Set implements pflag.Value.
func (h *HoursByCountry) Set(text string) error {
	country, spans, found := strings.Cut(text, "=")
	days := strings.Split(spans, ",")
	if !found || len(days) > 3 {
		return errors.New("must be COUNTRY=WEEKDAY[,SATURDAY[,SUNDAY]]")
	}
	if *h == nil {
		*h = HoursByCountry{}
	}
	days = append(days, "", "")
	(*h)[strings.ToUpper(country)] = apitype.HoursOfDays{Weekday: days[0], Saturday: days[1], Sunday: days[2]}
	return nil
}

// ResultsByType are the results of types of call as a setting has them: happy_call=thanked,no-more-calls.
type ResultsByType map[apitype.CallType][]apitype.ResultChoice

// String returns the codes of each type.
func (r ResultsByType) String() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		codes := make([]string, 0, len(r[kind]))
		for _, choice := range r[kind] {
			codes = append(codes, choice.Code)
		}
		all = append(all, string(kind)+"="+strings.Join(codes, ","))
	}
	return strings.Join(all, " ")
}

// Set adds the results of one type.
func (r *ResultsByType) Set(text string) error {
	kind, codes, found := strings.Cut(text, "=")
	if !found {
		return errors.New("must be TYPE=CODE,CODE")
	}
	var choices []apitype.ResultChoice
	for code := range strings.SplitSeq(codes, ",") {
		choices = append(choices, apitype.ResultChoice{Code: strings.TrimSpace(code)})
	}
	if *r == nil {
		*r = ResultsByType{}
	}
	(*r)[apitype.CallType(kind)] = choices
	return nil
}

// localeOf returns the locale of the computer, or that of the agent's language if the computer has none. English has no
// one way to write amounts and dates.
func localeOf(language string, computer render.Locale) render.Locale {
	if computer != (render.Locale{}) || language == "en" {
		return computer
	}
	return render.LocaleFrom(func(string) string { return language })
}
