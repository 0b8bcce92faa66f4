package commands

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/profile"
	"fundesk/render"
)

func profileCommand(s *session) *cobra.Command {
	return group(s, "profile", "A profile is a service and an account there, with what you always send. They are in config.toml.",
		"  fundesk profile add prod --base-url https://api.example.org\n  fundesk profile use prod",
		verb{"list", profileList}, verb{"add", profileAdd}, verb{"use", profileUse}, verb{"show", profileShow},
		verb{"set", profileSet}, verb{"unset", profileUnset}, verb{"remove", profileRemove})
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
	if p.Proxy != "" {
		p.Proxy = shownURL(p.Proxy)
	}
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
			was, known := config.Profiles[name]
			if name == profile.Demo {
				return withHint(usageError("the profile demo is always there: the sample data on this machine"), "choose another name; its settings: fundesk profile set demo KEY VALUE")
			}
			if err := s.changeProfile(cmd, f, name, was, s.flags.baseURL); err != nil {
				return err
			}
			s.note("profile %s is in %s", name, s.store().Path())
			if !known && config.Current == "" {
				s.note("it is the current one: commands use it without --profile")
			}
			return nil
		},
	}
	f.register(cmd)
	return cmd
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
