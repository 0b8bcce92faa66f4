// Package profile keeps the configuration of fundesk: the profiles of config.toml and
// where their tokens are.
//
// It must not know the commands, the service or how anything is shown. Files are
// written atomically and readable by their owner only; a token is looked for when it is
// needed and never before.
//
//	store := profile.Store{Dir: dir}
//	config, err := store.Load()
//	if err != nil {
//		return err
//	}
//	prod, ok := config.Profiles["prod"]
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// Demo is the profile that exists without being configured, and DemoURL its base URL.
const (
	Demo    = "demo"
	DemoURL = "embedded:demo"
)

// EmbeddedPrefix begins the base URL of a service inside the program.
const EmbeddedPrefix = "embedded:"

// Config is config.toml.
type Config struct {
	Current  string             `toml:"current,omitempty"`
	Theme    string             `toml:"theme,omitempty"` // For profiles without one.
	Mouse    bool               `toml:"mouse,omitempty"` // In every profile.
	Profiles map[string]Profile `toml:"profiles,omitempty"`
}

// Keep puts a profile in. The first one becomes the current one, except for the demo, which only has settings.
func (c *Config) Keep(name string, p Profile) {
	c.Profiles[name] = p
	if c.Current == "" && name != Demo {
		c.Current = name
	}
}

// Profile is one service and account, and how its user works with it.
type Profile struct {
	BaseURL                string   `toml:"base_url,omitempty" json:"base_url"`
	Agent                  string   `toml:"agent,omitempty" json:"agent,omitempty"` // userUuid of attempts and results.
	OwningOrganization     string   `toml:"owning_organization,omitempty" json:"owning_organization,omitempty"`
	RecruitingOrganization string   `toml:"recruiting_organization,omitempty" json:"recruiting_organization,omitempty"`
	ResultCodes            []string `toml:"result_codes,omitempty" json:"result_codes,omitempty"`
	PledgeActions          []string `toml:"pledge_actions,omitempty" json:"pledge_actions,omitempty"`
	MaxAttempts            int      `toml:"max_attempts,omitzero" json:"max_attempts,omitempty"`
	// That the agent speaks: ISO 639-1.
	Languages []string `toml:"languages,omitempty" json:"languages,omitempty"`
	// That the agent takes from a queue.
	CallTypes          []string `toml:"call_types,omitempty" json:"call_types,omitempty"`
	ExternalSourceName string   `toml:"external_source_name,omitempty" json:"external_source_name,omitempty"`
	PaymentQRParameter string   `toml:"payment_qr_parameter,omitempty" json:"payment_qr_parameter,omitempty"`
	// The nouns whose lists come whole.
	Unpaged []string `toml:"unpaged,omitempty" json:"unpaged,omitempty"`
	// File of certificates that are trusted, too.
	CACert string `toml:"ca_cert,omitempty" json:"ca_cert,omitempty"`
	// Files of the certificate that the service asks for.
	ClientCert string `toml:"client_cert,omitempty" json:"client_cert,omitempty"`
	ClientKey  string `toml:"client_key,omitempty" json:"client_key,omitempty"`
	Proxy      string `toml:"proxy,omitempty" json:"proxy,omitempty"`
	// keyring, file or command.
	TokenStorage string   `toml:"token_storage,omitempty" json:"token_storage,omitempty"`
	TokenCommand []string `toml:"token_command,omitempty" json:"token_command,omitempty"`
	// Of the Desk, by their names in keys.toml.
	HiddenActions []string `toml:"hidden_actions,omitempty" json:"hidden_actions,omitempty"`
	// Of the terminal interface.
	Theme string `toml:"theme,omitempty" json:"theme,omitempty"`
	// The terminal interface takes clicks.
	Mouse bool `toml:"mouse,omitempty" json:"mouse,omitempty"`
	// How the Desk dials.
	Dial Dial `toml:"dial,omitempty" json:"dial,omitempty"`
	// The language of the Desk's texts: en, nl or de. Empty means the locale's.
	Language string `toml:"language,omitempty" json:"language,omitempty"`
	// Names of agents, by userUuid, as they are shown.
	Agents map[string]string `toml:"agents,omitempty" json:"agents,omitempty"`
	// By type of call, in the order in which an agent sees them.
	Results map[apitype.CallType][]apitype.ResultChoice `toml:"results,omitempty" json:"results,omitempty"`
	// By country, two letters.
	CallingHours map[string]apitype.HoursOfDays `toml:"calling_hours,omitempty" json:"calling_hours,omitempty"`
}

// Dial is tel, none, or a program and its arguments. In the file tel and none may be written without brackets.
type Dial []string

// UnmarshalTOML reads a string, or a list of strings.
func (d *Dial) UnmarshalTOML(value any) error {
	all, isList := value.([]any)
	if !isList {
		all = []any{value}
	}
	*d = nil
	for _, one := range all {
		text, isText := one.(string)
		if !isText {
			return errors.New("dial must be tel, none, or a list of texts")
		}
		*d = append(*d, text)
	}
	return nil
}

// IsEmbedded reports whether the service runs inside the program.
func (p Profile) IsEmbedded() bool { return strings.HasPrefix(p.BaseURL, EmbeddedPrefix) }

// Elsewhere returns the settings of a profile that hold at another service: the habits of its user. It drops the ones
// that name records of its own service, or the way there.
func (p Profile) Elsewhere() Profile {
	p.Agent, p.OwningOrganization, p.RecruitingOrganization, p.ExternalSourceName, p.Agents = "", "", "", "", nil
	p.Proxy, p.CACert, p.ClientCert, p.ClientKey, p.Unpaged, p.PaymentQRParameter = "", "", "", "", nil, ""
	return p
}

// Storage returns where the token of the profile is stored, or "". A token command needs no other setting.
func (p Profile) Storage() string {
	if p.TokenStorage == "" && len(p.TokenCommand) > 0 {
		return StorageCommand
	}
	return p.TokenStorage
}

// Store is the configuration folder. Without one nothing is read or written.
type Store struct{ Dir string }

// ErrNoFolder is the error of a user without a home folder.
var ErrNoFolder = errors.New("no home folder: set HOME or FUNDESK_CONFIG_DIR")

// Path returns the path of the configuration.
func (s Store) Path() string { return filepath.Join(s.Dir, "config.toml") }

// CheckName refuses a name that does not fit into TOML, a file name and the keyring.
func CheckName(name string) error {
	valid := name != "" && len(name) <= 64
	for i, r := range name {
		isWord := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		valid = valid && (isWord || i > 0 && (r == '-' || r == '_'))
	}
	if !valid {
		return fmt.Errorf("%q is not a profile name: letters, digits, - and _, at most 64", name)
	}
	return nil
}

// Load reads the configuration; without one it is empty.
func (s Store) Load() (Config, error) {
	config, _, err := s.load()
	return config, err
}

// load returns what [Store.Load] returns, and the text of the file.
func (s Store) load() (Config, string, error) {
	config := Config{Profiles: map[string]Profile{}}
	if s.Dir == "" {
		return config, "", ErrNoFolder
	}
	err := durable.CheckTrust(s.Path()) // The file decides which program runs, and where tokens go.
	var data []byte
	if err == nil {
		data, err = os.ReadFile(s.Path())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return config, "", nil
	}
	if err != nil {
		return config, "", fmt.Errorf("read the configuration: %w", err)
	}
	decoded, err := decode(string(data))
	if err != nil {
		return config, "", fmt.Errorf("read %s: %w", s.Path(), err)
	}
	return decoded, string(data), nil
}

func decode(text string) (Config, error) {
	var config Config
	meta, err := toml.Decode(text, &config)
	if err != nil {
		return config, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return config, fmt.Errorf("there is no key %s", unknown[0])
	}
	if config.Profiles == nil {
		config.Profiles = map[string]Profile{}
	}
	for name, p := range config.Profiles {
		p.BaseURL = apitype.BaseURL(p.BaseURL) // The file may have been edited by hand.
		config.Profiles[name] = p
	}
	return config, nil
}

// encode returns the canonical text of a configuration. Equal texts are equal configurations.
func encode(config Config) (string, error) {
	var text strings.Builder
	if err := toml.NewEncoder(&text).Encode(config); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return text.String(), nil
}

// Change changes the configuration as it is now, one program after the other; when change
// fails it stays as it was. The rest of the file stays as its user wrote it, with its comments.
func (s Store) Change(change func(*Config) error) error {
	if s.Dir == "" {
		return ErrNoFolder
	}
	if err := durable.MakeFolders(s.Dir); err != nil {
		return fmt.Errorf("make the folder: %w; FUNDESK_CONFIG_DIR names another one", err)
	}
	// A file system without locks hides the others; nothing is worse than without.
	if unlock, err := durable.Lock(filepath.Join(s.Dir, "config.lock")); err == nil {
		defer unlock()
	}
	config, text, err := s.load()
	if err != nil {
		return err
	}
	before, err := encode(config)
	if err != nil {
		return err
	}
	if err := change(&config); err != nil {
		return err
	}
	wanted, err := encode(config)
	if err != nil || wanted == before {
		return err
	}
	text, err = s.rewritten(text, before, wanted)
	if err != nil {
		return err
	}
	return WriteFile(s.Path(), []byte(text))
}

// rewritten returns the text of the file with a change, once it has read it back as the wanted configuration.
func (s Store) rewritten(text, before, wanted string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return wanted, nil
	}
	var config Config
	text, err := edited(text, before, wanted)
	if err == nil {
		config, err = decode(text)
	}
	var got string
	if err == nil {
		got, err = encode(config)
	}
	if err == nil && got != wanted {
		err = errors.New("the changed file would mean something else")
	}
	if err != nil {
		return "", fmt.Errorf("%s is as it was; edit it by hand: %w", s.Path(), err)
	}
	return text, nil
}

// WriteFile writes a file of its owner's atomically: after a crash there is the old one
// or the new one. A link stays, and the file that it leads to is written.
func WriteFile(path string, data []byte) error {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	dir := filepath.Dir(path)
	if err := durable.MakeFolders(dir); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	if err := durable.WriteFile(path, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
