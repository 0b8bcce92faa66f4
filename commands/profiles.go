package commands

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/profile"
	"fundesk/completions"
	"fundesk/render"
	"fundesk/tui/desk"
)

func profileCommand(s *session) *cobra.Command {
	return group(s, "profile", "A profile is a service and an account there, with what you always send. They are in config.toml.",
		"  fundesk profile add prod --base-url https://api.example.org\n  fundesk profile use prod",
		verb{"list", profileList}, verb{"add", profileAdd}, verb{"use", profileUse}, verb{"show", profileShow}, verb{"remove", profileRemove})
}

// shownProfile is a profile with its name.
type shownProfile struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Service string `json:"service,omitempty"` // Of the one that is shown alone.
	profile.Profile
}

// newShownProfile is a profile as it may be shown: somebody may have written a password
// into the address by hand.
func newShownProfile(name, current string, p profile.Profile) shownProfile {
	p.BaseURL = shownURL(p.BaseURL)
	return shownProfile{Name: name, Current: name == current, Profile: p}
}

func profileList(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the profiles", Args: noArgs,
		Long:    "List the profiles with their services. demo is always there and needs no set-up.",
		Example: "  fundesk profile list\n  fundesk profile list -o json --jq '.[].name'",
		RunE: func(_ *cobra.Command, _ []string) error {
			config, err := s.config()
			if err != nil {
				return err
			}
			current := s.profileName(config)
			var all []shownProfile
			for _, name := range slices.Sorted(maps.Keys(config.Profiles)) {
				all = append(all, newShownProfile(name, current, config.Profiles[name]))
			}
			return showList(s, "name", profileColumns(), all)
		},
	}
}

func profileColumns() []render.Column[shownProfile] {
	return []render.Column[shownProfile]{
		{Name: "name", Default: true, Value: func(p shownProfile) string { return p.Name }},
		{Name: "current", Default: true, Value: currentMark},
		{Name: "base_url", Default: true, Value: func(p shownProfile) string { return p.BaseURL }},
		{Name: "token_storage", Default: true, Value: func(p shownProfile) string { return p.TokenStorage }},
	}
}

// currentMark marks the profile that is in use.
func currentMark(p shownProfile) string {
	if p.Current {
		return "*"
	}
	return ""
}

// setting is one key of a profile: its name in config.toml, of which its flag is made.
type setting struct {
	key, help string
	value     func(*profile.Profile) any // A *string, *[]string, *int or *hoursByCountry.
}

// settings are the keys of a profile but its address, in the order in which they are shown.
func settings() []setting {
	return []setting{
		{"agent", "userUuid sent with attempts and results", func(p *profile.Profile) any { return &p.Agent }},
		{"owning_organization", "owner of what you create", func(p *profile.Profile) any { return &p.OwningOrganization }},
		{"recruiting_organization", "recruiter of what you create", func(p *profile.Profile) any { return &p.RecruitingOrganization }},
		{"result_codes", "result codes to choose from", func(p *profile.Profile) any { return &p.ResultCodes }},
		{"pledge_actions", "status actions of the service", func(p *profile.Profile) any { return &p.PledgeActions }},
		{"languages", "languages that you speak: calls in others are not taken from a queue", func(p *profile.Profile) any { return &p.Languages }},
		{"call_types", "types of call that you take from a queue: verification, happy_call, winback", func(p *profile.Profile) any { return &p.CallTypes }},
		{"calling_hours", "when donors of a country are called (repeatable): NL=09:00-21:00,10:00-18:00,- is weekdays, Saturday, no Sunday", func(p *profile.Profile) any {
			return (*hoursByCountry)(&p.CallingHours)
		}},
		{"max_attempts", "attempts after which a call is given up", func(p *profile.Profile) any { return &p.MaxAttempts }},
		{"external_source_name", "external source of processed marks", func(p *profile.Profile) any { return &p.ExternalSourceName }},
		{"payment_qr_parameter", "the service's name of the payment QR filter", func(p *profile.Profile) any { return &p.PaymentQRParameter }},
		{"unpaged", "nouns whose lists the service sends whole: person, call, pledge", func(p *profile.Profile) any { return &p.Unpaged }},
		{"token_storage", "keyring, file or command", func(p *profile.Profile) any { return &p.TokenStorage }},
		{"token_command", "program that prints the token; repeat for its arguments", func(p *profile.Profile) any { return &p.TokenCommand }},
	}
}

func (t setting) flag() string { return strings.ReplaceAll(t.key, "_", "-") }

// text is the setting of a profile as it is shown, "" for none.
func (t setting) text(p profile.Profile) string {
	switch value := t.value(&p).(type) {
	case *[]string:
		separator := ","
		if t.key == "token_command" { // As it would be typed.
			separator = " "
		}
		return strings.Join(*value, separator)
	case *int:
		if *value != 0 {
			return strconv.Itoa(*value)
		}
		return ""
	case *hoursByCountry:
		return value.String()
	default:
		return *value.(*string)
	}
}

// profileFlags are a flag for each setting of a profile.
type profileFlags struct{ p profile.Profile }

func (f *profileFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	for _, t := range settings() {
		switch value := t.value(&f.p).(type) {
		case *[]string:
			if t.key == "token_command" { // Its arguments may hold commas.
				flags.StringArrayVar(value, t.flag(), nil, t.help)
			} else {
				flags.StringSliceVar(value, t.flag(), nil, t.help)
			}
		case *int:
			flags.IntVar(value, t.flag(), 0, t.help)
		case *string:
			flags.StringVar(value, t.flag(), "", t.help)
		case *hoursByCountry:
			flags.Var(value, t.flag(), t.help)
		}
	}
}

// apply writes the given settings over a profile.
func (f *profileFlags) apply(cmd *cobra.Command, p *profile.Profile) {
	for _, t := range settings() {
		if !cmd.Flags().Changed(t.flag()) {
			continue
		}
		switch value := t.value(p).(type) {
		case *[]string:
			*value = *t.value(&f.p).(*[]string)
		case *int:
			*value = *t.value(&f.p).(*int)
		case *string:
			*value = *t.value(&f.p).(*string)
		case *hoursByCountry:
			*value = *t.value(&f.p).(*hoursByCountry)
		}
	}
	if cmd.Flags().Changed("token-command") && !cmd.Flags().Changed("token-storage") {
		p.TokenStorage = profile.StorageCommand
	}
}

// check refuses settings that cannot work.
func (f *profileFlags) check(p profile.Profile) error {
	for name, id := range map[string]string{"agent": p.Agent, "owning-organization": p.OwningOrganization, "recruiting-organization": p.RecruitingOrganization} {
		if id == "" {
			continue
		}
		if _, err := parseID(id); err != nil {
			return usageError("--" + name + ": " + err.Error())
		}
	}
	if !slices.Contains([]string{"", profile.StorageKeyring, profile.StorageFile, profile.StorageCommand}, p.TokenStorage) {
		return usageError("--token-storage " + quote(p.TokenStorage) + " is not keyring, file or command")
	}
	if len(p.TokenCommand) > 0 && strings.TrimSpace(p.TokenCommand[0]) == "" {
		return usageError("--token-command names no program")
	}
	for _, name := range p.Unpaged {
		if !slices.Contains(listNouns, name) {
			return usageError("--unpaged " + quote(name) + " is not person, call or pledge")
		}
	}
	if p.MaxAttempts < 0 {
		return usageError("--max-attempts must not be negative")
	}
	if err := deskSettings(p, &desk.Options{}); err != nil {
		return err
	}
	if p.IsEmbedded() {
		return nil
	}
	_, err := apiclient.New(apiclient.Options{BaseURL: p.BaseURL})
	return err
}

func profileAdd(s *session) *cobra.Command {
	f := &profileFlags{}
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add a profile, or change one", Args: needExactly(1),
		Long: "Keep a service and how to work with it under a name. The token is not part of it: fundesk auth login asks\n" +
			"for that. On a profile that is there only the named settings change.",
		Example: "  fundesk profile add prod --base-url https://api.example.org --agent 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk profile add prod --token-command pass --token-command show --token-command fundesk",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := profile.CheckName(name); err != nil {
				return usageError(err.Error())
			}
			config, err := s.store().Load()
			if err != nil {
				return usageError(err.Error())
			}
			was := config.Profiles[name]
			p := was
			if s.flags.baseURL != "" {
				p.BaseURL = strings.TrimRight(s.flags.baseURL, "/")
			}
			if p.BaseURL != was.BaseURL && was.TokenStorage != profile.StorageCommand {
				p.TokenStorage = "" // The stored token belongs to the old address.
			}
			if p.BaseURL == "" && name == profile.Demo {
				p.BaseURL = profile.DemoURL
			}
			f.apply(cmd, &p)
			if err := f.check(p); err != nil {
				return err
			}
			if err := s.dropToken(name, was, p); err != nil {
				return err
			}
			err = s.store().Change(func(config *profile.Config) error {
				config.Keep(name, p)
				return nil
			})
			if err != nil {
				return err
			}
			s.note("profile %s is in %s", name, s.store().Path())
			return nil
		},
	}
	f.register(cmd)
	return cmd
}

// dropToken removes the token of a profile that changes its address or where its token is
// stored: what is left behind would be sent to the new address as soon as the profile
// names that place again.
func (s *session) dropToken(name string, was, is profile.Profile) error {
	moves := is.BaseURL != was.BaseURL
	if was.BaseURL == "" || !moves && is.TokenStorage == was.TokenStorage {
		return nil
	}
	err := s.tokens().Delete(name, was)
	switch {
	case err == nil:
		return nil
	case moves:
		return withHint(failure(apiclient.KindFailure, "the token for %s was not removed, and nothing was changed: %s", shownURL(was.BaseURL), err),
			"use another name for "+shownURL(is.BaseURL))
	default: // It still belongs to the address, and a keyring that is gone must not bind the profile.
		s.warn("the token of profile %s was not removed from the %s: %s", name, was.TokenStorage, err)
		return nil
	}
}

func profileUse(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", ValidArgsFunction: s.profileNames, Short: "Make a profile the current one", Args: needExactly(1),
		Long:    "Make a profile the one that commands use without --profile.",
		Example: "  fundesk profile use prod\n  fundesk profile use demo",
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := s.config()
			if err != nil {
				return err
			}
			if _, err := findProfile(config, args[0]); err != nil {
				return err
			}
			return s.store().Change(func(config *profile.Config) error {
				config.Current = args[0]
				return nil
			})
		},
	}
}

func profileShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", ValidArgsFunction: s.profileNames, Short: "Show the settings of a profile", Args: atMost(1),
		Long: "Show the settings of a profile, by default of the one that commands use here, and the service that they\n" +
			"reach. Tokens are never shown.",
		Example: "  fundesk profile show\n  fundesk profile show prod -o json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				s.flags.profile = args[0]
			}
			t, err := s.resolve()
			if err != nil {
				return err
			}
			config, err := s.config()
			if err != nil && t.name != profile.Demo {
				return err
			}
			shown := newShownProfile(t.name, config.Current, t.profile)
			shown.Service = t.service()
			return showOne(s, shown, profileFields(shown))
		},
	}
}

func profileFields(p shownProfile) []pair {
	all := []pair{{"name", p.Name}, {"service", p.Service}, {"base_url", p.BaseURL}}
	for _, t := range settings() {
		all = append(all, pair{t.key, t.text(p.Profile)})
	}
	return slices.DeleteFunc(all, func(f pair) bool { return f.value == "" })
}

func profileRemove(s *session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", ValidArgsFunction: s.profileNames, Short: "Remove a profile and its token", Args: needExactly(1),
		Long: "Remove a profile from the configuration, and its token from where it is stored.",
		Example: "  fundesk profile remove old --yes\n" +
			"  fundesk profile remove old --yes && fundesk profile list",
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := s.store().Load()
			if err != nil {
				return usageError(err.Error())
			}
			p, err := findProfile(config, args[0])
			if err != nil {
				return err
			}
			named := &target{name: args[0], profile: p, baseURL: p.BaseURL, fromProfile: true}
			if err := s.ask(cmd.Context(), yes, "remove the profile and its token for "+named.service()); err != nil {
				return err
			}
			completions.Forget(s.runtimeDir())
			if err := s.tokens().Delete(args[0], p); err != nil {
				return failure(apiclient.KindFailure, "the token was not removed: %s", err)
			}
			return s.store().Change(func(config *profile.Config) error {
				delete(config.Profiles, args[0])
				if config.Current == args[0] {
					config.Current = ""
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
