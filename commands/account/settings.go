package account

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient"
	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/commands/profile"
)

var errQuote = errors.New("has a quote that does not end")

// shellWords splits a text into words, as a shell does with quotes.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case strings.ContainsRune(" \t\n", r):
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, nil
}

// setting is one key of a profile: its name in config.toml, of which its flag is made.
type setting struct {
	key, help string
	value     func(*profile.Profile) any // A *string, *[]string, *int, *bool or *hoursByCountry.
}

// settings are the keys of a profile but its address, in the order in which they are shown.
func settings() []setting {
	return []setting{
		{"agent", "userUuid sent with attempts and results", func(p *profile.Profile) any { return &p.Agent }},
		{
			"owning_organization",
			"owning organization of the records you create",
			func(p *profile.Profile) any { return &p.OwningOrganization },
		},
		{
			"recruiting_organization",
			"recruiting organization of the records you create",
			func(p *profile.Profile) any { return &p.RecruitingOrganization },
		},
		{"result_codes", "result codes to choose from", func(p *profile.Profile) any { return &p.ResultCodes }},
		{"pledge_actions", "status actions of the service", func(p *profile.Profile) any { return &p.PledgeActions }},
		{
			"languages",
			"languages that you speak; you get no other calls from a queue",
			func(p *profile.Profile) any { return &p.Languages },
		},
		{
			"call_types",
			"call types that you get from a queue: verification, happy_call, winback",
			func(p *profile.Profile) any { return &p.CallTypes },
		},
		{
			"calling_hours",
			"when donors of a country are called (repeatable): NL=09:00-21:00,10:00-18:00,- is weekdays, Saturday, no Sunday",
			func(p *profile.Profile) any {
				return (*desk.HoursByCountry)(&p.CallingHours)
			},
		},
		{
			"max_attempts",
			"number of attempts after which the Desk warns",
			func(p *profile.Profile) any { return &p.MaxAttempts },
		},
		{
			"external_source_name",
			"external source of processed marks",
			func(p *profile.Profile) any { return &p.ExternalSourceName },
		},
		{
			"payment_qr_parameter",
			"the service's name for the payment QR filter",
			func(p *profile.Profile) any { return &p.PaymentQRParameter },
		},
		{
			"unpaged",
			"lists that the service sends without pages: person, call, pledge",
			func(p *profile.Profile) any { return &p.Unpaged },
		},
		{
			"hidden_actions",
			"actions that the Desk does not offer, by their names in: fundesk help keys",
			func(p *profile.Profile) any { return &p.HiddenActions },
		},
		{
			"theme",
			"colours of the terminal interface: default, high-contrast or calm",
			func(p *profile.Profile) any { return &p.Theme },
		},
		{
			"dial",
			"how the Desk dials: tel, none, or a program with its arguments, one of them with {number}",
			func(p *profile.Profile) any { return (*[]string)(&p.Dial) },
		},
		{
			"language",
			"language of the Desk's texts: en, nl or de (default: from the locale)",
			func(p *profile.Profile) any { return &p.Language },
		},
		{"mouse", "accept clicks and the wheel in the terminal interface", func(p *profile.Profile) any { return &p.Mouse }},
		{
			"ca_cert",
			"file of certificates (PEM) to trust in addition to the system's",
			func(p *profile.Profile) any { return &p.CACert },
		},
		{
			"client_cert",
			"file of the certificate (PEM) that the service asks for",
			func(p *profile.Profile) any { return &p.ClientCert },
		},
		{"client_key", "file of its key (PEM)", func(p *profile.Profile) any { return &p.ClientKey }},
		{
			"proxy",
			"proxy to the service: http://host:port, or direct for none (default: of HTTPS_PROXY)",
			func(p *profile.Profile) any { return &p.Proxy },
		},
		{"token_storage", "keyring, file or command", func(p *profile.Profile) any { return &p.TokenStorage }},
		{
			"token_command",
			"program that prints the token, with its arguments: 'pass show fundesk'",
			func(p *profile.Profile) any { return &p.TokenCommand },
		},
	}
}

func (t setting) flag() string { return strings.ReplaceAll(t.key, "_", "-") }

// text is the setting of a profile as it is shown, "" for none.
func (t setting) text(p profile.Profile) string {
	value := reflect.ValueOf(t.value(&p)).Elem()
	list, isList := reflect.TypeAssert[[]string](value)
	switch {
	case value.IsZero():
		return ""
	case isList && t.key == "token_command": // As it would be typed.
		return strings.Join(list, " ")
	case isList:
		return strings.Join(list, ",")
	default:
		return fmt.Sprint(value.Interface())
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
		case *bool:
			flags.BoolVar(value, t.flag(), false, t.help)
		case *string:
			flags.StringVar(value, t.flag(), "", t.help)
		case *desk.HoursByCountry:
			flags.Var(value, t.flag(), t.help)
		}
	}
}

func (f *profileFlags) apply(cmd *cobra.Command, p *profile.Profile) {
	for _, t := range settings() {
		if !cmd.Flags().Changed(t.flag()) {
			continue
		}
		reflect.ValueOf(t.value(p)).Elem().Set(reflect.ValueOf(t.value(&f.p)).Elem())
		if file, isText := t.value(p).(*string); isText &&
			slices.Contains([]string{"ca_cert", "client_cert", "client_key"}, t.key) &&
			*file != "" {
			if whole, err := filepath.Abs(*file); err == nil { // Commands run in any folder.
				*file = whole
			}
		}
	}
	if cmd.Flags().Changed("token-command") && !cmd.Flags().Changed("token-storage") {
		p.TokenStorage = profile.StorageCommand
	}
}

func (f *profileFlags) check(p profile.Profile) error {
	for name, id := range map[string]string{"agent": p.Agent, "owning-organization": p.OwningOrganization, "recruiting-organization": p.RecruitingOrganization} {
		if id == "" {
			continue
		}
		if _, err := cli.ParseID(id); err != nil {
			return cli.UsageError("--" + name + ": " + err.Error())
		}
	}
	if !slices.Contains(
		[]string{"", profile.StorageKeyring, profile.StorageFile, profile.StorageCommand},
		p.TokenStorage,
	) {
		return cli.UsageError("--token-storage " + cli.Quote(p.TokenStorage) + " is not keyring, file or command")
	}
	if len(p.TokenCommand) > 0 && strings.TrimSpace(p.TokenCommand[0]) == "" {
		return cli.UsageError("--token-command names no program")
	}
	for _, name := range p.Unpaged {
		if !slices.Contains(cli.ListNouns, name) {
			return cli.UsageError("--unpaged " + cli.Quote(name) + " is not person, call or pledge")
		}
	}
	if p.MaxAttempts < 0 {
		return cli.UsageError("--max-attempts must not be negative")
	}
	if err := desk.CheckSettings(p); err != nil {
		return err
	}
	if p.IsEmbedded() {
		return nil
	}
	_, err := apiclient.New(apiclient.Options{
		BaseURL: p.BaseURL,
		Network: apiclient.Network{CACert: p.CACert, ClientCert: p.ClientCert, ClientKey: p.ClientKey, Proxy: p.Proxy},
	})
	return err
}

// commandWords are a command and its arguments: one text with spaces, which is no program, is
// split as a shell would.
func commandWords(command []string) ([]string, error) {
	if len(command) != 1 || !strings.ContainsAny(command[0], " \t") {
		return command, nil
	}
	if _, err := exec.LookPath(command[0]); err == nil {
		return command, nil
	}
	words, err := shellWords(command[0])
	switch {
	case err != nil:
		return nil, cli.UsageError("--token-command " + err.Error())
	case len(words) > 0 && strings.ContainsAny(command[0], "$|;&<>`"):
		return nil, cli.WithHint(cli.UsageError("--token-command is a program with its arguments, and no line of a shell"),
			"a shell runs one: --token-command sh --token-command -c --token-command 'LINE'")
	default:
		return words, nil
	}
}

// changeProfile keeps a profile with the settings of the flags that were given; address is
// its new one, "" for the one that it has.
func changeProfile(
	s *cli.Session,
	cmd *cobra.Command,
	f *profileFlags,
	name string,
	was profile.Profile,
	address string,
) error {
	p := was
	if address != "" {
		p.BaseURL = strings.TrimRight(address, "/")
	}
	if p.BaseURL != was.BaseURL && was.TokenStorage != profile.StorageCommand {
		p.TokenStorage = "" // The stored token belongs to the old address.
	}
	f.apply(cmd, &p)
	var err error
	if p.TokenCommand, err = commandWords(p.TokenCommand); err != nil {
		return err
	}
	if err := f.check(p); err != nil {
		return err
	}
	if err := dropToken(s, name, was, p); err != nil {
		return err
	}
	return s.Store().Change(func(config *profile.Config) error {
		config.Keep(name, p)
		return nil
	})
}

// dropToken removes the token of a profile that changes its address or where its token is
// stored: what is left behind would be sent to the new address as soon as the profile
// names that place again.
func dropToken(s *cli.Session, name string, was, is profile.Profile) error {
	moves := is.BaseURL != was.BaseURL
	if was.BaseURL == "" || !moves && is.TokenStorage == was.TokenStorage {
		return nil
	}
	err := s.Tokens().Delete(name, was)
	switch {
	case err == nil:
		return nil
	case moves:
		return cli.WithHint(
			cli.Failure(
				apiclient.KindFailure,
				"the token for %s was not removed, and nothing was changed: %s",
				cli.ShownURL(was.BaseURL),
				err,
			),
			"use another name for "+cli.ShownURL(is.BaseURL),
		)
	default: // It still belongs to the address, and a keyring that is gone must not bind the profile.
		s.Warn("the token of profile %s was not removed from the %s: %s", name, was.TokenStorage, err)
		return nil
	}
}

func profileNamed(s *cli.Session, name string) (profile.Profile, error) {
	config, err := s.Config()
	if err != nil {
		return profile.Profile{}, err
	}
	return cli.FindProfile(config, name)
}

func settingFlags() (*cobra.Command, *profileFlags) {
	cmd, f := &cobra.Command{}, &profileFlags{}
	f.register(cmd)
	return cmd, f
}

func settingFlag(cmd *cobra.Command, key string) (*pflag.Flag, error) {
	if flag := cmd.Flags().Lookup(strings.ReplaceAll(key, "_", "-")); flag != nil {
		return flag, nil
	}
	keys := []string{"base_url"}
	for _, t := range settings() {
		keys = append(keys, t.key)
	}
	return nil, cli.WithHint(
		cli.UsageError("a profile has no setting "+cli.Quote(key)),
		"settings: "+strings.Join(keys, ", "),
	)
}

// settingNames completes with the profiles, and then with the settings that one may have.
func settingNames(s *cli.Session) cli.Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return s.ProfileNames(cmd, args, toComplete)
		}
		var names []string
		for _, setting := range settings() {
			names = append(names, setting.key+"\t"+setting.help)
		}
		if len(args) > 1 && cmd.Name() == "set" {
			names = nil
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func profileSet(s *cli.Session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "set NAME KEY VALUE…",
		Short:             "Change a setting of a profile",
		Args:              cli.NeedArgs(3),
		ValidArgsFunction: settingNames(s),
		Long: "Change one setting of a profile, by its name in config.toml. Lists take several values, or one with commas.\n" +
			"Another base_url makes the profile one of another service, and leaves the stored token behind: it asks first,\n" +
			"and you log in again.",
		Example: "  fundesk profile set prod agent 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk profile set prod unpaged pledge\n  fundesk profile set prod token_command pass show fundesk",
		RunE: func(run *cobra.Command, args []string) error {
			name, key, values := args[0], args[1], args[2:]
			was, err := profileNamed(s, name)
			if err != nil {
				return err
			}
			cmd, f := settingFlags()
			if key == "base_url" && len(values) == 1 {
				if name == profile.Demo {
					return isForAnother(name, was, values[0])
				}
				if err := s.Ask(
					run.Context(),
					yes,
					"make profile "+name+", which is for "+cli.ShownURL(was.BaseURL)+", one for "+cli.ShownURL(values[0]),
				); err != nil {
					return err
				}
				return changeProfile(s, cmd, f, name, was, values[0])
			}
			flag, err := settingFlag(cmd, key)
			if err != nil {
				return err
			}
			if typ := flag.Value.Type(); (typ == "string" || typ == "int") && len(values) > 1 {
				return cli.WithHint(cli.UsageError("the setting "+key+" has one value"), "quote it when it holds spaces")
			}
			for _, value := range values {
				if err := cmd.Flags().Set(flag.Name, value); err != nil {
					return cli.FlagError(err)
				}
			}
			return changeProfile(s, cmd, f, name, was, "")
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func profileUnset(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:               "unset NAME KEY…",
		Short:             "Remove settings of a profile",
		Args:              cli.NeedArgs(2),
		ValidArgsFunction: settingNames(s),
		Long:              "Remove settings of a profile, by their names in config.toml: it is as if they had never been set.",
		Example:           "  fundesk profile unset prod agent\n  fundesk profile unset prod result_codes pledge_actions",
		RunE: func(_ *cobra.Command, args []string) error {
			was, err := profileNamed(s, args[0])
			if err != nil {
				return err
			}
			cmd, f := settingFlags()
			for _, key := range args[1:] {
				if key == "base_url" {
					return cli.WithHint(
						cli.UsageError("a profile always has a base_url"),
						"another service is another profile: fundesk profile add NAME --base-url https://…",
					)
				}
				flag, err := settingFlag(cmd, key)
				if err != nil {
					return err
				}
				flag.Changed = true // To what it is when nothing is said.
			}
			return changeProfile(s, cmd, f, args[0], was, "")
		},
	}
}
