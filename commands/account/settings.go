package account

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/commands/profile"
)

var errQuote = errors.New("has an unclosed quote")

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

// setting is one key of a profile: its name in config.toml.
type setting struct {
	key, help string
	value     func(*profile.Profile) any // A *string, *[]string, *int, *bool or one with Set.
}

// settings returns the keys of a profile, except its address, in the order of the output.
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
		{
			"results",
			"results by type of call (repeatable): happy_call=thanked,no-more-calls; labels and effects are in " +
				"config.toml",
			func(p *profile.Profile) any { return (*desk.ResultsByType)(&p.Results) },
		},
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
			"when donors of a country are called (repeatable): NL=09:00-21:00,10:00-18:00,- is weekdays, Saturday, " +
				"no Sunday",
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
			"colours of the terminal interface: default, light, high-contrast or calm",
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
		{
			"mouse",
			"accept clicks and the wheel in the terminal interface",
			func(p *profile.Profile) any { return &p.Mouse },
		},
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

// text returns the setting of a profile as text, or "".
func (t setting) text(p profile.Profile) string {
	value := reflect.ValueOf(t.value(&p)).Elem()
	list, isList := reflect.TypeAssert[[]string](value)
	if value.IsZero() {
		return ""
	}
	if t.isCommand() {
		return typedWords(value)
	}
	if isList {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value.Interface())
}

// typedWords returns the words of a program as they would be typed.
func typedWords(command reflect.Value) string {
	words := make([]string, command.Len())
	for i := range words {
		words[i] = command.Index(i).String()
		isSplit := words[i] == "" || strings.ContainsAny(words[i], " \t")
		if isSplit && strings.Contains(words[i], "'") {
			words[i] = `"` + words[i] + `"`
		} else if isSplit {
			words[i] = "'" + words[i] + "'"
		}
	}
	return strings.Join(words, " ")
}

// given is a setting as it was typed: KEY=VALUE.
type given struct{ key, value string }

// parseGiven reads KEY=VALUE.
func parseGiven(text string) (given, error) {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return given{}, cli.WithHint(
			cli.UsageError(cli.Quote(text)+" is not KEY=VALUE"),
			"such as agent=UUID; an empty value removes a setting: agent=",
		)
	}
	return given{strings.ReplaceAll(key, "-", "_"), value}, nil
}

// applyGiven changes the settings of a profile. Values of one key are added up; an empty value removes the setting.
func applyGiven(p *profile.Profile, all []given) error {
	seen := map[string]bool{}
	for _, g := range all {
		i := slices.IndexFunc(settings(), func(t setting) bool { return t.key == g.key })
		if i < 0 {
			return unknownSetting(g.key)
		}
		t := settings()[i]
		if !seen[g.key] || g.value == "" {
			reflect.ValueOf(t.value(p)).Elem().SetZero()
		}
		seen[g.key] = true
		if g.value == "" {
			continue
		}
		if err := t.set(p, g.value); err != nil {
			return err
		}
	}
	isStorageOpen := seen["token_command"] && !seen["token_storage"]
	if isStorageOpen && len(p.TokenCommand) > 0 {
		p.TokenStorage = profile.StorageCommand
	} else if isStorageOpen && p.TokenStorage == profile.StorageCommand {
		p.TokenStorage = "" // The command is gone.
	}
	return nil
}

// set sets the setting of a profile, or adds to a list.
func (t setting) set(p *profile.Profile, text string) error {
	wrong := func(want string) error {
		return cli.UsageError("the setting " + t.key + " must be " + want + ", not " + cli.Quote(text))
	}
	switch value := t.value(p).(type) {
	case *[]string:
		if t.isCommand() {
			if len(*value) > 0 { // An argument of a command that was given word by word.
				*value = append(*value, text)
				return nil
			}
			words, err := commandWords(t.key, text)
			*value = words
			return err
		}
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				return wrong("values with a comma between two")
			}
			*value = append(*value, part)
		}
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return wrong("a whole number")
		}
		*value = n
	case *bool:
		isOn, err := strconv.ParseBool(text)
		if err != nil {
			return wrong("true or false")
		}
		*value = isOn
	case *string:
		if *value != "" {
			return cli.UsageError("the setting " + t.key + " has one value")
		}
		*value = text
		if t.isFile() {
			whole, err := filepath.Abs(text) // Commands run in any folder.
			if err != nil {
				return err
			}
			*value = whole
		}
	case interface{ Set(text string) error }: // Results and hours.
		if err := value.Set(text); err != nil {
			return cli.UsageError(t.key + " " + err.Error() + ", not " + cli.Quote(text))
		}
	}
	return nil
}

// isCommand reports whether the setting is a program with its arguments.
func (t setting) isCommand() bool { return t.key == "token_command" || t.key == "dial" }

// isFile reports whether the setting names a file.
func (t setting) isFile() bool {
	return slices.Contains([]string{"ca_cert", "client_cert", "client_key"}, t.key)
}

// checkProfile checks the settings of a profile together.
func checkProfile(p profile.Profile) error {
	for name, id := range map[string]string{
		"agent":                   p.Agent,
		"owning_organization":     p.OwningOrganization,
		"recruiting_organization": p.RecruitingOrganization,
	} {
		if id == "" {
			continue
		}
		if _, err := cli.ParseID(id); err != nil {
			return cli.UsageError(name + ": " + err.Error())
		}
	}
	storages := []string{profile.StorageKeyring, profile.StorageFile, profile.StorageCommand}
	if p.TokenStorage != "" && !slices.Contains(storages, p.TokenStorage) {
		return cli.NotOneOf("token_storage", p.TokenStorage, storages)
	}
	if len(p.TokenCommand) > 0 && strings.TrimSpace(p.TokenCommand[0]) == "" {
		return cli.UsageError("token_command names no program")
	}
	for _, name := range p.Unpaged {
		if !slices.Contains(cli.ListNouns, name) {
			return cli.NotOneOf("unpaged", name, cli.ListNouns)
		}
	}
	if p.MaxAttempts < 0 {
		return cli.UsageError("max_attempts must not be negative")
	}
	if err := desk.CheckSettings(p); err != nil {
		return err
	}
	network := apiclient.Network{
		CACert:     p.CACert,
		ClientCert: p.ClientCert,
		ClientKey:  p.ClientKey,
		Proxy:      p.Proxy,
	}
	if err := network.CheckProxy(); err != nil {
		return err
	}
	if p.IsEmbedded() {
		return nil
	}
	_, err := apiclient.New(apiclient.Options{BaseURL: p.BaseURL, Network: network})
	return err
}

// commandWords splits a command into words as a shell does, unless the whole text names a program.
func commandWords(key, text string) ([]string, error) {
	if !strings.ContainsAny(text, " \t") {
		return []string{text}, nil
	}
	if _, err := exec.LookPath(text); err == nil {
		return []string{text}, nil
	}
	words, err := shellWords(text)
	if err != nil {
		return nil, cli.UsageError(key + " " + err.Error())
	}
	isBareLine := strings.ContainsAny(text, "$|;&<>`") && !strings.ContainsAny(text, "'\"")
	if isBareLine {
		return nil, cli.WithHint(cli.UsageError(key+" is a program with its arguments, not a command line of a shell"),
			"a shell runs one: "+key+"=\"sh -c 'LINE'\"")
	}
	return words, nil
}

// changeProfile stores the given settings in a profile. An empty address keeps the present one. Another program may
// have changed other settings since the profile was read.
func changeProfile(
	ctx context.Context,
	s *cli.Session,
	name string,
	was profile.Profile,
	address string,
	all []given,
) error {
	is, err := changed(was, was, address, all)
	if err != nil {
		return err
	}
	if config, err := s.Config(); err == nil {
		if err := checkStill(name, was, is, config.Profiles[name]); err != nil {
			return err // Before the token is removed.
		}
	}
	if err := dropToken(ctx, s, name, was, is); err != nil {
		return err
	}
	return s.Store().Change(func(config *profile.Config) error {
		kept := config.Profiles[name]
		if name == profile.Demo {
			kept.BaseURL = was.BaseURL // The file need not have it.
		}
		if err := checkStill(name, was, is, kept); err != nil {
			return err
		}
		kept, err := changed(kept, was, address, all)
		config.Keep(name, kept)
		return err
	})
}

// changed returns a profile with an address and the given settings. was is the profile as the command has read it.
func changed(p, was profile.Profile, address string, all []given) (profile.Profile, error) {
	if address != "" {
		p.BaseURL = apitype.BaseURL(address)
	}
	if p.BaseURL != was.BaseURL && was.TokenStorage != profile.StorageCommand {
		p.TokenStorage = "" // The stored token belongs to the old address.
	}
	if err := applyGiven(&p, all); err != nil {
		return p, err
	}
	return p, checkProfile(p)
}

// checkStill refuses to change a profile that another program has removed, or pointed to another service, since this
// one has read it.
func checkStill(name string, was, is, now profile.Profile) error {
	if now.BaseURL == was.BaseURL || now.BaseURL == is.BaseURL {
		return nil
	}
	text := "profile " + cli.Quote(name)
	switch {
	case now.BaseURL == "":
		text += " was removed meanwhile"
	case was.BaseURL == "":
		text += " is for " + cli.ShownURL(now.BaseURL) + " now"
	default:
		text += " was for " + cli.ShownURL(was.BaseURL) + " and is for " + cli.ShownURL(now.BaseURL) + " now"
	}
	return cli.WithHint(
		cli.Failure(apiclient.KindConflict, "%s: another program changed it, and this one nothing", text),
		"see: fundesk profile list",
	)
}

// dropToken removes the token of a profile that changes its address or its token storage. A token left behind would be
// sent to the new address if the profile names that storage again.
func dropToken(ctx context.Context, s *cli.Session, name string, was, is profile.Profile) error {
	moves := is.BaseURL != was.BaseURL
	if was.BaseURL == "" || !moves && is.TokenStorage == was.TokenStorage {
		return nil
	}
	t := &cli.Target{
		Name:        name,
		Profile:     was,
		BaseURL:     was.BaseURL,
		FromProfile: true,
	}
	err := replaceToken(ctx, s, t, func() error { return s.Tokens().Delete(name, was) })
	if err == nil {
		return nil
	}
	if moves {
		return cli.WithHint(
			cli.Failure(
				apiclient.KindFailure,
				"the token for %s was not removed, and nothing was changed: %s",
				cli.ShownURL(was.BaseURL),
				err,
			),
			"use another name for "+cli.ShownURL(is.BaseURL),
		)
	}
	// It still belongs to the address, and a keyring that is gone must not bind the profile.
	s.Warn("the token of profile %s was not removed from the %s: %s", name, was.TokenStorage, err)
	return nil
}

func profileNamed(s *cli.Session, name string) (profile.Profile, error) {
	config, err := s.Config()
	if err != nil {
		return profile.Profile{}, err
	}
	return cli.FindProfile(config, name)
}

// unknownSetting returns the error of a key that profiles do not have.
func unknownSetting(key string) error {
	keys := []string{"base_url"}
	for _, t := range settings() {
		keys = append(keys, t.key)
	}
	return cli.WithHint(
		cli.UsageError("a profile has no setting "+cli.Quote(key)),
		"settings: "+strings.Join(keys, ", "),
	)
}

// settingNames completes with the settings of a profile.
func settingNames() ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, setting := range settings() {
		names = append(names, setting.key+"=\t"+setting.help)
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// SettingsTopic returns the page of help about the settings of a profile.
func SettingsTopic() string {
	const left, width = 26, 80
	var page strings.Builder
	page.WriteString("Settings of a profile: fundesk profile set NAME KEY=VALUE…\n\n")
	for _, t := range settings() {
		column := left
		fmt.Fprintf(&page, "  %-*s", left-2, t.key)
		for i, word := range strings.Fields(t.help) {
			length := utf8.RuneCountInString(word)
			if column+length >= width {
				page.WriteString("\n" + strings.Repeat(" ", left))
				column = left
			} else if i > 0 {
				page.WriteString(" ")
				column++
			}
			page.WriteString(word)
			column += length
		}
		page.WriteString("\n")
	}
	return page.String()
}

func profileSet(s *cli.Session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "set NAME KEY=VALUE…",
		Short: "Change settings of a profile",
		Args:  cli.NeedArgs(2),
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, toComplete string,
		) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return s.ProfileNames(cmd, args, toComplete)
			}
			return settingNames()
		},
		Long: "Change settings of a profile, by their names in config.toml. Lists take values with commas, and\n" +
			"a key may come several times. An empty value removes a setting. Another base_url points the\n" +
			"profile to another service: it asks first, and you must log in again. fundesk help settings\n" +
			"lists the settings.",
		Example: "  fundesk profile set prod agent=0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b languages=nl,fy\n" +
			"  fundesk profile set prod token_command='pass show fundesk'\n  fundesk profile set prod agent=",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			was, err := profileNamed(s, name)
			if err != nil {
				return err
			}
			address := ""
			var all []given
			for _, text := range args[1:] {
				g, err := parseGiven(text)
				if err != nil {
					return err
				}
				if g.key == "base_url" {
					address = g.value
					if address == "" {
						return cli.WithHint(
							cli.UsageError("a profile always has a base_url"),
							"another service is another profile: fundesk profile add NAME --base-url https://…",
						)
					}
					continue
				}
				all = append(all, g)
			}
			if err := askToMove(cmd, s, name, was, address, yes); err != nil {
				return err
			}
			return changeProfile(cmd.Context(), s, name, was, address, all)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// askToMove asks before a profile becomes one of another service.
func askToMove(cmd *cobra.Command, s *cli.Session, name string, was profile.Profile, address string, yes bool) error {
	if address == "" {
		return nil
	}
	if name == profile.Demo {
		return isForAnother(name, was, address)
	}
	question := "point profile " + name + " to " + cli.ShownURL(address) + " instead of " + cli.ShownURL(was.BaseURL)
	return s.Ask(cmd.Context(), yes, question)
}
