package account

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/render"
)

// Profiles returns the command profile.
func Profiles(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"profile",
		"A profile names a service and an account, and has your settings for it. Profiles are in config.toml.",
		"  fundesk profile add prod --base-url https://api.example.org\n  fundesk profile use prod",
		cli.Verbs{
			"list": profileList, "add": profileAdd, "use": profileUse, "show": profileShow,
			"set": profileSet, "remove": profileRemove,
		},
	)
}

// shownProfile is a profile with its name.
type shownProfile struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Service string `json:"service,omitempty"` // Of a single profile.
	profile.Profile
}

// newShownProfile returns a profile without secrets: an address in the file may contain a password.
func newShownProfile(name, current string, p profile.Profile) shownProfile {
	p.BaseURL = cli.ShownURL(p.BaseURL)
	if p.Proxy != "" {
		p.Proxy = cli.ShownURL(p.Proxy)
	}
	return shownProfile{Name: name, Current: name == current, Profile: p}
}

func profileList(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the profiles",
		Args:    cli.NoArgs,
		Long:    "List the profiles with their services. demo is always there and needs no set-up.",
		Example: "  fundesk profile list\n  fundesk profile list -o json --jq '.[].name'",
		RunE: func(_ *cobra.Command, _ []string) error {
			config, err := s.Config()
			if err != nil {
				return err
			}
			current := s.ProfileName(config)
			var all []shownProfile
			for _, name := range slices.Sorted(maps.Keys(config.Profiles)) {
				all = append(all, newShownProfile(name, current, config.Profiles[name]))
			}
			return cli.ShowList(s, "name", []render.Column[shownProfile]{
				{Name: "name", Default: true, Value: func(p shownProfile) string { return p.Name }},
				{
					Name:    "current",
					Default: true,
					Value:   func(p shownProfile) string { return map[bool]string{true: "*"}[p.Current] },
				},
				{Name: "base_url", Default: true, Value: func(p shownProfile) string { return p.BaseURL }},
				{Name: "token_storage", Default: true, Value: func(p shownProfile) string { return p.TokenStorage }},
			}, all)
		},
	}
}

func profileAdd(s *cli.Session) *cobra.Command {
	var agent string
	var texts []string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a profile, or change one",
		Args:  cli.NeedExactly(1),
		Long: "Save a service and its settings under a name, or change settings of a profile. fundesk auth\n" +
			"login stores the token. --agent-name finds the agent among the service's users, and needs the\n" +
			"token. fundesk help settings lists the settings.",
		Example: "  fundesk profile add prod --base-url https://api.example.org --agent-name Anneke\n" +
			"  fundesk profile add prod --set token_command='pass show fundesk' --set languages=nl,fy",
		RunE: func(cmd *cobra.Command, args []string) error {
			return addProfile(s, cmd, args[0], agent, texts)
		},
	}
	cmd.Flags().StringVar(&agent, "agent-name", "", "name of the agent at the service, instead of --set agent=UUID")
	cmd.Flags().StringArrayVar(&texts, "set", nil, "a setting: KEY=VALUE (repeatable)")
	cli.YesFlag(cmd)
	cli.RegisterFlag(cmd, "set", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return settingNames()
	})
	return cmd
}

func addProfile(s *cli.Session, cmd *cobra.Command, name, agent string, texts []string) error {
	if err := profile.CheckName(name); err != nil {
		return cli.UsageError(err.Error())
	}
	all := keptFlags(cmd)
	for _, text := range texts {
		g, err := parseGiven(text)
		if err != nil {
			return err
		}
		if g.key == "base_url" {
			return cli.UsageError("--set base_url: --base-url names the service")
		}
		if g.key == "agent" && agent != "" {
			return cli.UsageError("--agent-name and --set agent cannot be combined")
		}
		all = append(all, g)
	}
	config, err := s.Store().Load()
	if err != nil {
		return cli.UsageError(err.Error())
	}
	was, isKnown := config.Profiles[name]
	if name == profile.Demo {
		return cli.WithHint(
			cli.UsageError("the profile demo is always there: the sample data on this machine"),
			"choose another name; its settings: fundesk profile set demo KEY=VALUE",
		)
	}
	address := apitype.BaseURL(s.Flags.BaseURL)
	if isKnown && address != "" && address != was.BaseURL {
		return isForAnother(name, was, address)
	}
	if agent != "" {
		id, err := agentNamed(s, cmd, name, was, agent, all)
		if err != nil {
			return err
		}
		all = append(all, given{"agent", id})
	}
	if err := changeProfile(cmd.Context(), s, name, was, s.Flags.BaseURL, all); err != nil {
		return err
	}
	s.Note("profile %s is in %s", name, s.Store().Path())
	if !isKnown && config.Current == "" {
		s.Note("it is the current one: commands use it without --profile")
	}
	return nil
}

// keptFlags returns the settings among the flags of every command, which a profile keeps.
func keptFlags(cmd *cobra.Command) []given {
	file := cmd.Flags().Lookup("ca-cert")
	if !file.Changed {
		return nil
	}
	return []given{{"ca_cert", file.Value.String()}}
}

// isForAnother refuses to make a profile one of another service by the way.
func isForAnother(name string, p profile.Profile, address string) error {
	return cli.WithHint(
		notFor(name, p, address),
		"choose another name: fundesk auth login --profile NAME --base-url "+cli.ShownURL(address),
	)
}

// notFor returns the error of a profile that is for another service.
func notFor(name string, p profile.Profile, address string) error {
	return cli.UsageError(
		"profile " + cli.Quote(name) + " is for " + cli.ShownURL(p.BaseURL) + ", not for " + cli.ShownURL(address),
	)
}

// agentNamed returns the uuid of the agent of a name among the users of the profile's service.
func agentNamed(
	s *cli.Session,
	cmd *cobra.Command,
	name string,
	was profile.Profile,
	agent string,
	all []given,
) (string, error) {
	p := was
	if err := applyGiven(&p, all); err != nil {
		return "", err
	}
	if s.Flags.BaseURL != "" {
		p.BaseURL = apitype.BaseURL(s.Flags.BaseURL)
	}
	t := &cli.Target{
		Name:        name,
		Profile:     p,
		BaseURL:     p.BaseURL,
		FromProfile: true,
	}
	if from := s.App.Getenv("FUNDESK_BASE_URL"); from == "" || apitype.BaseURL(from) == p.BaseURL {
		t.EnvToken = s.App.Getenv("FUNDESK_TOKEN")
	}
	s.Target = t
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return "", err
	}
	read, _, err := client.Settings(cmd.Context(), "")
	settings, err := apiclient.Decoded(read, err)
	switch apiclient.KindOf(err) {
	case apiclient.KindUnauthenticated:
		return "", cli.WithHint(
			cli.Failure(apiclient.KindUnauthenticated, "%s", err),
			"log in first: fundesk auth login --profile "+name+" --base-url "+cli.ShownURL(p.BaseURL),
		)
	case apiclient.KindRejected:
		return "", cli.WithHint(err, "add --set agent=UUID instead of --agent-name")
	}
	if err != nil {
		return "", err
	}
	user, err := cli.UserNamed(settings.Users, "agent-name", agent)
	if err != nil {
		return "", err
	}
	s.Note("the agent is %s, user %s", render.Clean(user.Name), user.UUID)
	return user.UUID.String(), nil
}

func profileUse(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "use NAME",
		ValidArgsFunction: s.ProfileNames,
		Short:             "Make a profile the current one",
		Args:              cli.NeedExactly(1),
		Long:              "Make a profile the one that commands use without --profile.",
		Example:           "  fundesk profile use prod\n  fundesk profile use demo",
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := profileNamed(s, args[0]); err != nil {
				return err
			}
			return s.Store().Change(func(config *profile.Config) error {
				config.Current = args[0]
				return nil
			})
		},
	}
	cli.YesFlag(cmd)
	return cmd
}

func profileShow(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:               "show [NAME]",
		ValidArgsFunction: s.ProfileNames,
		Short:             "Show the settings of a profile",
		Args:              cli.AtMost(1),
		Long: "Show the settings of a profile, by default of the one that commands use here, and the address of its\n" +
			"service. Tokens are never shown.",
		Example: "  fundesk profile show\n  fundesk profile show prod -o json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				s.Flags.Profile = args[0]
			}
			t, err := s.Resolve()
			if err != nil {
				return err
			}
			config, err := s.Config()
			if err != nil && t.Name != profile.Demo {
				return err
			}
			shown := newShownProfile(t.Name, config.Current, t.Profile)
			shown.Service = t.Service()
			fields := []cli.Pair{{"name", shown.Name}, {"service", shown.Service}, {"base_url", shown.BaseURL}}
			for _, t := range settings() {
				fields = append(fields, cli.Pair{t.key, t.text(shown.Profile)})
			}
			return cli.ShowOne(s, shown, slices.DeleteFunc(fields, func(f cli.Pair) bool { return f[1] == "" }))
		},
	}
}

func profileRemove(s *cli.Session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove NAME",
		ValidArgsFunction: s.ProfileNames,
		Short:             "Remove a profile and its token",
		Args:              cli.NeedExactly(1),
		Long: "Remove a profile from the configuration, and its token from where it is stored. The session of a\n" +
			"person ends at the identity provider too.",
		Example: "  fundesk profile remove old --yes\n" +
			"  fundesk profile remove old --yes && fundesk profile list",
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := s.Store().Load()
			if err != nil {
				return cli.UsageError(err.Error())
			}
			p, err := cli.FindProfile(config, args[0])
			if err != nil {
				return err
			}
			named := &cli.Target{
				Name:        args[0],
				Profile:     p,
				BaseURL:     p.BaseURL,
				FromProfile: true,
			}
			warnUnsent(s, named)
			if err := s.Ask(cmd.Context(), yes, "remove the profile and its token for "+named.Service()); err != nil {
				return err
			}
			if err := removeToken(cmd.Context(), s, named); err != nil {
				return err
			}
			if err := forgetCopies(cmd.Context(), s, named, true); err != nil {
				return err
			}
			return s.Store().Change(func(config *profile.Config) error {
				kept, ok := config.Profiles[args[0]]
				if ok && (kept.BaseURL != p.BaseURL || s.Tokens().IsStored(args[0], kept)) {
					return cli.WithHint(
						cli.Failure(
							apiclient.KindFailure,
							"another program logged in to profile %s meanwhile; it was not removed",
							args[0],
						),
						"to remove it with the new token, try again",
					)
				}
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
