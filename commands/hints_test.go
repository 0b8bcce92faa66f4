package commands

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"

	"fundesk/commands/profile"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// hintedCommand is a command of fundesk in a hint, and its words without arguments.
var (
	hintedCommand = regexp.MustCompile(`fundesk (?:-|[a-z])[^;,…()"]*`)
	commandWords  = regexp.MustCompile(`^fundesk((?: [a-z]+){0,2})`)
)

// situation is a command line that ends with a hint.
type hintSituation struct {
	name  string
	env   map[string]string // "A" and "B" in it are the addresses of the services.
	setUp []string          // Command lines before.
	line  string
	codes map[string]int // Commands that may end otherwise, by their words.
}

var hintSituations = []hintSituation{
	{name: "no service is chosen", env: map[string]string{"FUNDESK_CONFIG_DIR": "none"}, line: "call list"},
	{name: "a profile that is none", line: "call list --profile nothing"},
	{
		name: "an environment for another service than the profile",
		env:  map[string]string{"FUNDESK_BASE_URL": "B"},
		line: "call list",
	},
	{
		name: "a refused token there",
		env:  map[string]string{"FUNDESK_BASE_URL": "B", "FUNDESK_TOKEN": "wrong"},
		line: "call list",
	},
	{name: "a refused token of the environment", env: map[string]string{"FUNDESK_TOKEN": "wrong"}, line: "call list"},
	{
		name: "a refused token without a profile",
		env:  map[string]string{"FUNDESK_CONFIG_DIR": "none", "FUNDESK_BASE_URL": "B", "FUNDESK_TOKEN": "wrong"},
		line: "call list",
	},
	{
		name: "a token for another service",
		env:  map[string]string{"FUNDESK_BASE_URL": "A", "FUNDESK_TOKEN": "wrong"},
		line: "call list --base-url B",
	},
	{name: "no token any more", setUp: []string{"auth logout"}, line: "call list"},
	{
		name:  "a token that cannot be read",
		setUp: []string{"profile set prod token_storage=command", "profile set prod token_command=false"},
		line:  "call list",
	},
	{
		name:  "a service that is away",
		env:   map[string]string{"FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "x"},
		line:  "call list",
		codes: map[string]int{"doctor": 8},
	},
	{
		name:  "a profile that is away",
		setUp: []string{"profile set prod base_url=http://127.0.0.1:1 --yes"},
		env:   map[string]string{"FUNDESK_TOKEN": "x"},
		line:  "call list",
		codes: map[string]int{"doctor": 8},
	},
	{
		name: "an address with something else behind it",
		env:  map[string]string{"FUNDESK_BASE_URL": "A/other", "FUNDESK_TOKEN": "x"},
		line: "doctor",
	},
	{name: "a login elsewhere under a known name", line: "auth login --profile test --base-url A --with-token"},
	{
		name: "a login elsewhere by the environment",
		env:  map[string]string{"FUNDESK_BASE_URL": "B"},
		line: "auth login --with-token",
	},
	{name: "a login to nothing", line: "auth login --profile fresh --with-token"},
	{name: "a login without a terminal", line: "auth login"},
	{name: "a keyring that does not answer", line: "auth login --profile fresh --base-url B --with-token"},
	{
		name:  "a profile with a keyring that does not answer",
		setUp: []string{"profile set prod token_storage=keyring"},
		line:  "auth login --profile prod --with-token",
	},
	{name: "a known profile is added elsewhere", line: "profile add test --base-url A"},
	{name: "the demo is added", line: "profile add demo --base-url A"},
	{name: "the demo is pointed elsewhere", line: "profile set demo base_url=A"},
	{name: "a login to the demo elsewhere", line: "auth login --profile demo --base-url A --with-token"},
	{name: "no base URL any more", line: "profile set prod base_url="},
	{name: "an agent's name without a token", line: "profile add fresh --base-url A --agent-name Anneke"},
	{name: "a take of nobody", line: "queue take"},
	{
		name: "a take of nobody elsewhere",
		env:  map[string]string{"FUNDESK_BASE_URL": "B", "FUNDESK_TOKEN": "wrong"},
		line: "queue take",
	},
	{name: "a person without an owner", line: "person create --first-name Anna"},
	{name: "an entry that is none", line: "outbox show nothing"},
	{
		name:  "a change that waits",
		env:   map[string]string{"FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "x"},
		line:  "call attempt " + testID + " --outbox",
		codes: map[string]int{"outbox send": 8},
	},
	{name: "a change that is refused", line: "call attempt " + testID + " --outbox"},
	{name: "changed persons of a service that has no such list", line: "pull erased --profile test"},
	{name: "marks of nothing", line: "processed mark", codes: map[string]int{"processed mark": 7}},
	{name: "a Desk without a terminal", line: "tui"},
}

// Each hint is followed in the situation that printed it: it works, and no profile is for another service
// afterwards.
func TestHintsAreFollowed(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	a, b := servicetest.New(t), servicetest.New(t)
	b.InterfaceOnly()
	tokens := map[string]string{
		a.URL: a.Token(servicetest.May(service.Permissions...)),
		b.URL: b.Token(servicetest.May(service.Permissions...)),
	}
	var mu sync.Mutex
	followed := map[string]bool{}
	t.Run("situations", func(t *testing.T) {
		for _, s := range hintSituations {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				for _, command := range s.follow(t, a.URL, b.URL, tokens) {
					mu.Lock()
					followed[command] = true
					mu.Unlock()
				}
			})
		}
	})
	for _, command := range []string{"auth login", "doctor", "outbox send", "profile add", "demo"} {
		if !followed[command] {
			t.Errorf("no situation prints the hint of fundesk %s", command)
		}
	}
}

// follow creates the situation, follows its hints, and returns their words.
func (s hintSituation) follow(t *testing.T, a, b string, tokens map[string]string) []string {
	home := t.TempDir()
	environment := map[string]string{"HOME": home}
	at := func(text string) string {
		return strings.NewReplacer("https://…", a, "A/", a+"/").Replace(
			regexp.MustCompile(`\bA$`).ReplaceAllString(regexp.MustCompile(`\bB$`).ReplaceAllString(text, b), a),
		)
	}
	run := func(line string) (string, int) {
		words := strings.Fields(line)
		for i := range words {
			words[i] = at(words[i])
		}
		token := tokens[a]
		if slices.Contains(words, b) ||
			!slices.Contains(words, a) && (environment["FUNDESK_BASE_URL"] == b || slices.Contains(words, "test")) {
			token = tokens[b]
		}
		_, errs, code := runWith(t, environment, token, "", words...)
		return errs, code
	}
	for _, login := range []string{
		"auth login --profile prod --base-url A --with-token --insecure-storage",
		"auth login --profile test --base-url B --with-token --insecure-storage",
	} {
		if errs, code := run(login); code != 0 {
			t.Fatalf("%s: %d %s", login, code, errs)
		}
	}
	for _, line := range s.setUp {
		run(line)
	}
	for key, value := range s.env {
		environment[key] = at(value)
		if value == "none" {
			environment[key] = filepath.Join(home, "none")
		}
	}
	before := servicesOf(t, environment)
	errs, code := run(s.line)
	_, hint, found := strings.Cut(errs, "hint: ")
	hint = at(hint)
	if code == 0 || !found {
		t.Fatalf("%s: got %d and %q, want a hint", s.line, code, errs)
	}
	commands := hintedCommand.FindAllString(hint, -1)
	kept := maps.Clone(environment)
	var followed []string
	for _, command := range commands {
		environment = maps.Clone(kept)
		if strings.Contains(hint, "unset it") || strings.Contains(hint, "set FUNDESK_BASE_URL") {
			delete(environment, "FUNDESK_TOKEN")
		}
		words := strings.TrimSpace(commandWords.FindStringSubmatch(command)[1])
		line := strings.NewReplacer(" < token.txt", "", "token_command=…", "token_command=true",
			"KEY=VALUE", "theme=calm", "ENTITY", "person", " NAME unpaged", " prod unpaged", "NAME", "fresh", "UUID", testID, " supplies it", "").Replace(strings.TrimPrefix(strings.TrimSpace(command), "fundesk "))
		switch words {
		case "auth login": // As on a terminal without a keyring.
			line += " --insecure-storage"
			if !strings.Contains(line, "--with-token") {
				line += " --with-token"
			}
			if !strings.Contains(line, "--base-url") && strings.Contains(s.line, "login") {
				line += " --base-url A --profile fresh"
			}
		case "demo", "tui": // They need a terminal.
			line += " --help"
		}
		if told, code := run(line); code != s.codes[words] {
			t.Errorf("%q in the hint %q: got %d %s", line, hint, code, told)
		}
		followed = append(followed, words)
		after := servicesOf(t, environment)
		for name, address := range before {
			if after[name] != address {
				t.Errorf("%q made profile %s one of %s, want %s", line, name, after[name], address)
			}
		}
	}
	return followed
}

// servicesOf returns the services of the profiles in an environment.
func servicesOf(t *testing.T, environment map[string]string) map[string]string {
	dir := environment["FUNDESK_CONFIG_DIR"]
	if dir == "" {
		dir = filepath.Join(environment["HOME"], ".config", "fundesk")
	}
	var config profile.Config
	if _, err := toml.DecodeFile(filepath.Join(dir, "config.toml"), &config); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	services := map[string]string{}
	for name, p := range config.Profiles {
		services[name] = p.BaseURL
	}
	return services
}
