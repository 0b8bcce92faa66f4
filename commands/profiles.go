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
		{Name: "current", Default: true, Value: func(p shownProfile) string { return map[bool]string{true: "*"}[p.Current] }},
		{Name: "base_url", Default: true, Value: func(p shownProfile) string { return p.BaseURL }},
		{Name: "token_storage", Default: true, Value: func(p shownProfile) string { return p.TokenStorage }},
	}
}

// profileFlags are a flag for each setting of a profile.
type profileFlags struct{ p profile.Profile }

func (f *profileFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.p.Agent, "agent", "", "userUuid sent with attempts and results")
	flags.StringVar(&f.p.OwningOrganization, "owning-organization", "", "owner of what you create")
	flags.StringVar(&f.p.RecruitingOrganization, "recruiting-organization", "", "recruiter of what you create")
	flags.StringSliceVar(&f.p.ResultCodes, "result-codes", nil, "result codes to choose from")
	flags.StringSliceVar(&f.p.PledgeActions, "pledge-actions", nil, "status actions of the service")
	flags.IntVar(&f.p.MaxAttempts, "max-attempts", 0, "attempts after which a call is given up")
	flags.StringVar(&f.p.ExternalSourceName, "external-source-name", "", "external source of processed marks")
	flags.StringVar(&f.p.PaymentQRParameter, "payment-qr-parameter", "", "the service's name of the payment QR filter")
	flags.StringVar(&f.p.TokenStorage, "token-storage", "", "keyring, file or command")
	flags.StringArrayVar(&f.p.TokenCommand, "token-command", nil, "program that prints the token; repeat for its arguments")
}

// apply writes the given settings over a profile.
func (f *profileFlags) apply(cmd *cobra.Command, p *profile.Profile) {
	text := map[string][2]*string{
		"agent":                   {&p.Agent, &f.p.Agent},
		"owning-organization":     {&p.OwningOrganization, &f.p.OwningOrganization},
		"recruiting-organization": {&p.RecruitingOrganization, &f.p.RecruitingOrganization},
		"external-source-name":    {&p.ExternalSourceName, &f.p.ExternalSourceName},
		"payment-qr-parameter":    {&p.PaymentQRParameter, &f.p.PaymentQRParameter},
		"token-storage":           {&p.TokenStorage, &f.p.TokenStorage},
	}
	for name, fields := range text {
		if cmd.Flags().Changed(name) {
			*fields[0] = *fields[1]
		}
	}
	lists := map[string][2]*[]string{
		"result-codes":   {&p.ResultCodes, &f.p.ResultCodes},
		"pledge-actions": {&p.PledgeActions, &f.p.PledgeActions},
		"token-command":  {&p.TokenCommand, &f.p.TokenCommand},
	}
	for name, fields := range lists {
		if cmd.Flags().Changed(name) {
			*fields[0] = *fields[1]
		}
	}
	if cmd.Flags().Changed("max-attempts") {
		p.MaxAttempts = f.p.MaxAttempts
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
	if p.MaxAttempts < 0 {
		return usageError("--max-attempts must not be negative")
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
		s.note("the token of profile %s was not removed from the %s: %s", name, was.TokenStorage, err)
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
	all := []pair{
		{"name", p.Name},
		{"service", p.Service},
		{"base_url", p.BaseURL},
		{"agent", p.Agent},
		{"owning_organization", p.OwningOrganization},
		{"recruiting_organization", p.RecruitingOrganization},
		{"result_codes", strings.Join(p.ResultCodes, ",")},
		{"pledge_actions", strings.Join(p.PledgeActions, ",")},
		{"max_attempts", strconv.Itoa(p.MaxAttempts)},
		{"external_source_name", p.ExternalSourceName},
		{"payment_qr_parameter", p.PaymentQRParameter},
		{"token_storage", p.TokenStorage},
		{"token_command", strings.Join(p.TokenCommand, " ")},
	}
	return slices.DeleteFunc(all, func(f pair) bool { return f.value == "" || f.value == "0" })
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
