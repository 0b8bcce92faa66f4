package profile_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
)

const handWritten = `# The profiles of our team.
theme = 'light'   # easier on the eyes

# Production: be careful.
[profiles.prod]
base_url = "https://a.example" # the new address
# Frisian since May.
languages = [
  "nl", # Dutch
  "fy",
]

  [profiles.prod.agents]   # names
  "7d444840-9dc0-11d1-b245-5ffdce74fad2" = "Anneke # 2"

# The sandbox.
[profiles.test]
base_url = "https://b.example"
token_storage = 'keyring'

# That was all.
`

// A command changes its own settings in a file that a user has written, and leaves every other line as it is.
func TestChangeKeepsTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	set := func(name string, change func(*profile.Profile)) func(*profile.Config) {
		return func(c *profile.Config) {
			p := c.Profiles[name]
			change(&p)
			c.Profiles[name] = p
		}
	}
	toDutch := set("a", func(p *profile.Profile) { p.Languages = []string{"nl"} })
	choices := map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "thanked"}, {Code: "busy"}}}
	for _, test := range []struct {
		name   string
		text   string
		change func(*profile.Config)
		want   string   // The whole file, or:
		swaps  []string // Pairs of old and new parts of the text.
	}{
		{
			name: "one value", text: handWritten,
			change: set("prod", func(p *profile.Profile) { p.BaseURL = "https://c.example" }),
			swaps:  []string{`"https://a.example"`, `"https://c.example"`},
		},
		{
			name: "a list of several lines leaves its comments", text: handWritten,
			change: set("prod", func(p *profile.Profile) { p.Languages = []string{"de"} }),
			swaps: []string{
				"languages = [\n  \"nl\", # Dutch\n  \"fy\",\n]", "# Dutch\nlanguages = [\"de\"]",
			},
		},
		{
			name: "a new setting", text: handWritten,
			change: set("test", func(p *profile.Profile) { p.MaxAttempts = 5 }),
			swaps:  []string{"'keyring'\n", "'keyring'\nmax_attempts = 5\n"},
		},
		{
			name: "a new name in a table of its own", text: handWritten,
			change: set("prod", func(p *profile.Profile) { p.Agents["b.c"] = "Bo" }),
			swaps:  []string{"# 2\"\n", "# 2\"\n  \"b.c\" = \"Bo\"\n"},
		},
		{
			name: "a setting that is gone", text: handWritten,
			change: set("prod", func(p *profile.Profile) { p.Agents = nil }),
			swaps: []string{
				"\n  [profiles.prod.agents]   # names\n  \"7d444840-9dc0-11d1-b245-5ffdce74fad2\" = \"Anneke # 2\"\n",
				"",
			},
		},
		{
			name: "a setting of the file", text: handWritten,
			change: func(c *profile.Config) { c.Current, c.Theme = "test", "calm" },
			swaps: []string{
				"'light'   # easier on the eyes\n",
				"\"calm\"   # easier on the eyes\ncurrent = \"test\"\n",
			},
		},
		{
			name: "a profile that is gone", text: handWritten,
			change: func(c *profile.Config) { delete(c.Profiles, "test") },
			swaps:  []string{"[profiles.test]\nbase_url = \"https://b.example\"\ntoken_storage = 'keyring'\n", ""},
		},
		{
			name: "a new profile", text: handWritten,
			change: set("new", func(p *profile.Profile) { p.BaseURL = "https://n.example" }),
			swaps: []string{
				"# That was all.\n",
				"# That was all.\n\n  [profiles.new]\n    base_url = \"https://n.example\"\n",
			},
		},
		{
			name: "no setting of the file yet", text: "# Ours.\n\n# Of a.\n[profiles.a]\nbase_url = \"x\"\n",
			change: func(c *profile.Config) { c.Current = "a" },
			want:   "# Ours.\n\ncurrent = \"a\"\n\n# Of a.\n[profiles.a]\nbase_url = \"x\"\n",
		},
		{
			name: "quoted keys and a literal text", text: "[\"profiles\".'a'] # a\n\"base_url\" = 'x' # b\n",
			change: set("a", func(p *profile.Profile) { p.BaseURL, p.Agent = "y", "g" }),
			want:   "[\"profiles\".'a'] # a\n\"base_url\" = \"y\" # b\nagent = \"g\"\n",
		},
		{
			name: "dotted keys",
			text: "profiles.a.base_url = \"x\" # a\nprofiles.b.base_url = \"z\"\ncurrent = \"a\"\n",
			change: set("a", func(p *profile.Profile) {
				p.Languages, p.Agents = []string{"nl"}, map[string]string{"g": "Bo"}
			}),
			want: "profiles.a.base_url = \"x\" # a\nprofiles.a.languages = [\"nl\"]\nprofiles.a.agents.g = \"Bo\"\n" +
				"profiles.b.base_url = \"z\"\ncurrent = \"a\"\n",
		},
		{
			name: "dotted keys under a header",
			text: "current = \"a\"\n[profiles]\na.base_url = \"x\"\na.agents.g = \"Bo\"\n# End.\n",
			change: set("a", func(p *profile.Profile) {
				p.Agents, p.MaxAttempts = map[string]string{"g": "Bo", "h": "Cy"}, 2
			}),
			want: "current = \"a\"\n[profiles]\na.base_url = \"x\"\na.agents.g = \"Bo\"\na.max_attempts = 2\na.agents.h = \"Cy\"\n" +
				"# End.\n",
		},
		{
			name:   "an inline table becomes lines",
			text:   "current = \"a\" # Ours.\n[profiles]\na = { base_url = \"x\" } # A.\nb = { base_url = \"z\" } # B.\n",
			change: toDutch,
			want: "current = \"a\" # Ours.\n[profiles]\n# A.\nb = { base_url = \"z\" } # B.\n\n[profiles.a]\nbase_url = \"x\"\n" +
				"languages = [\"nl\"]\n",
		},
		{
			name:   "a text of several lines",
			text:   "current = \"a\"\n[profiles.a]\nbase_url = \"\"\"\\\n  x # no comment\\\n  \"\"\" # why\n",
			change: set("a", func(p *profile.Profile) { p.BaseURL = "y" }),
			want:   "current = \"a\"\n[profiles.a]\nbase_url = \"y\" # why\n",
		},
		{
			name:   "an equals sign, quotes and brackets in texts",
			text:   "current = \"a\"\n[profiles.a]\ntoken_command = [\"a=\\\"[\", '#]']\nbase_url = \"x\" # [\n",
			change: toDutch,
			want: "current = \"a\"\n[profiles.a]\ntoken_command = [\"a=\\\"[\", '#]']\nbase_url = \"x\" # [\n" +
				"languages = [\"nl\"]\n",
		},
		{
			name:   "Windows",
			text:   "\ufeff# Ours.\r\ncurrent = \"a\"\r\n[profiles.a]\r\nbase_url = \"x\" # a\r\nlanguages = [\r\n\"fy\", # Frisian\r\n]\r\n",
			change: toDutch,
			want: "\ufeff# Ours.\r\ncurrent = \"a\"\r\n[profiles.a]\r\nbase_url = \"x\" # a\r\n# Frisian\r\n" +
				"languages = [\"nl\"]\r\n",
		},
		{
			name: "no end of the last line", text: "current = \"a\"\n[profiles.a]\nbase_url = \"x\" # a",
			change: toDutch,
			want:   "current = \"a\"\n[profiles.a]\nbase_url = \"x\" # a\nlanguages = [\"nl\"]\n",
		},
		{
			name: "a comment and nothing else", text: "# Ours.",
			change: set("a", func(p *profile.Profile) { p.BaseURL = "x" }),
			want:   "# Ours.\n\n[profiles.a]\nbase_url = \"x\"\n",
		},
		{
			name: "names in capitals", text: "current = \"a\"\n[Profiles.a]\nBase_URL = \"x\" # a\n",
			change: set("a", func(p *profile.Profile) { p.BaseURL = "y" }),
			want:   "current = \"a\"\n[Profiles.a]\nBase_URL = \"y\" # a\n",
		},
		{
			name: "results of several tables",
			text: "current = \"a\"\n[profiles.a]\nbase_url = \"x\"\n# Of happy calls.\n[[profiles.a.results.happy_call]]\n" +
				"code = \"thanked\"\n# The second.\n[[profiles.a.results.happy_call]]\ncode = \"busy\"\n",
			change: set("a", func(p *profile.Profile) {
				p.Results[apitype.CallWinback] = p.Results[apitype.CallHappy][:1]
			}),
			swaps: []string{"\"busy\"\n", "\"busy\"\n\n[[profiles.a.results.winback]]\ncode = \"thanked\"\n"},
		},
		{
			name:   "a new profile with results",
			text:   "current = \"a\" # Ours.\n[profiles.a]\nbase_url = \"x\"\n",
			change: set("b", func(p *profile.Profile) { p.BaseURL, p.Results = "y", choices }),
			want: "current = \"a\" # Ours.\n[profiles.a]\nbase_url = \"x\"\n\n[profiles.b]\nbase_url = \"y\"\n\n" +
				"[[profiles.b.results.happy_call]]\ncode = \"thanked\"\n[[profiles.b.results.happy_call]]\ncode = \"busy\"\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := profile.Store{Dir: t.TempDir()}
			if err := os.WriteFile(store.Path(), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var wanted profile.Config
			err := store.Change(func(c *profile.Config) error {
				test.change(c)
				wanted = *c
				return nil
			})
			if err != nil {
				t.Fatalf("Change: %v", err)
			}
			want := test.want
			if len(test.swaps) > 0 {
				want = test.text
			}
			for i := 0; i < len(test.swaps); i += 2 {
				want = strings.Replace(want, test.swaps[i], test.swaps[i+1], 1)
			}
			got, err := os.ReadFile(store.Path())
			if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
				t.Errorf("%v, file (-want +got):\n%s", err, diff)
			}
			again, err := store.Load()
			if diff := cmp.Diff(wanted, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%v, configuration (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Any change of any file in any of TOML's spellings ends as the wanted configuration, and keeps the comments that are
// not inside a profile which is gone.
func TestChangeOfAnySpelling(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"a", "b-c", "d_e", "F"})
	texts := rapid.SampledFrom([]string{"x", `q"#`, "it's [", "a = b", "line\nline", "", "\\"})
	some := rapid.SliceOfN(texts, 0, 3)
	choices := rapid.MapOfN(rapid.SampledFrom(apitype.CallTypes), rapid.Just([]apitype.ResultChoice{
		{Code: "thanked", Label: "#"}, {Code: "busy", AsksNotes: true},
	}), 0, 2)
	profiles := rapid.Custom(func(t *rapid.T) profile.Profile {
		return profile.Profile{
			BaseURL:      texts.Draw(t, "base_url"),
			Languages:    some.Draw(t, "languages"),
			MaxAttempts:  rapid.IntRange(0, 2).Draw(t, "max_attempts"),
			Mouse:        rapid.Bool().Draw(t, "mouse"),
			Agents:       rapid.MapOfN(texts, texts, 0, 2).Draw(t, "agents"),
			Results:      choices.Draw(t, "results"),
			TokenCommand: some.Draw(t, "token_command"),
		}
	})
	configs := rapid.Custom(func(t *rapid.T) profile.Config {
		return profile.Config{
			Current:  texts.Draw(t, "current"),
			Mouse:    rapid.Bool().Draw(t, "mouse"),
			Profiles: rapid.MapOfN(names, profiles, 0, 4).Draw(t, "profiles"),
		}
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		store := profile.Store{Dir: dir}
		before, wanted := configs.Draw(t, "before"), configs.Draw(t, "wanted")
		text := spelled(t, before)
		if err := os.WriteFile(store.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := store.Load()
		if diff := cmp.Diff(before, read, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%v, the test spells another configuration (-want +got):\n%s%s", err, diff, text)
		}
		if err := store.Change(to(wanted)); err != nil {
			t.Fatalf("Change: %v\n%s", err, text)
		}
		changed, _ := os.ReadFile(store.Path())
		got, err := store.Load()
		if diff := cmp.Diff(wanted, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v, configuration (-want +got):\n%s%s\nbecame\n%s", err, diff, text, changed)
		}
		for line := range strings.Lines(text) {
			_, comment, _ := strings.Cut(strings.TrimSpace(line), "# profile ")
			if _, stays := wanted.Profiles[comment]; stays && !strings.Contains(string(changed), line) {
				t.Errorf("got no %q any more in\n%s\nfrom\n%s", line, changed, text)
			}
		}
	})
}

// spelled writes a configuration as a user could have: headers, dotted keys, inline tables, comments and line ends.
func spelled(t *rapid.T, config profile.Config) string {
	var top, tables strings.Builder
	one := func(w io.Writer, key, value string) {
		comment := rapid.SampledFrom([]string{"", " # = [ \"\"\""}).Draw(t, "comment")
		fmt.Fprintf(w, "%s = %s%s\n", key, value, comment)
	}
	if config.Current != "" {
		one(&top, "current", literal(t, config.Current))
	}
	if config.Mouse {
		one(&top, "'mouse'", "true")
	}
	for name, p := range config.Profiles {
		leaves := leavesOf(t, p)
		key := "profiles." + toml.Key{name}.String()
		style := rapid.SampledFrom([]string{"header", "dotted", "inline"}).Draw(t, "style")
		switch {
		case style == "inline":
			inline := slices.DeleteFunc(leaves, func(l string) bool { return strings.Contains(l, "\n") })
			one(&top, key, "{"+strings.Join(inline, ", ")+"}")
		case style == "dotted" && len(leaves) > 0:
			for _, leaf := range leaves {
				left, value, _ := strings.Cut(leaf, " = ")
				one(&top, key+"."+left, value)
			}
		default:
			fmt.Fprintf(&tables, "\n# profile %s\n [%s] # x\n", name, key)
			for _, leaf := range leaves {
				left, value, _ := strings.Cut(leaf, " = ")
				one(&tables, "  "+left, value)
			}
			if len(p.Agents) > 0 && rapid.Bool().Draw(t, "hours") {
				fmt.Fprintf(&tables, "[%s.calling_hours] # none\n", key)
			}
		}
	}
	text := "# Ours.\n" + top.String() + tables.String() + "# End."
	if rapid.Bool().Draw(t, "Windows") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// leavesOf returns the settings of a profile, each as a key and its value.
func leavesOf(t *rapid.T, p profile.Profile) []string {
	var all []string
	add := func(isSet bool, key, value string) {
		if isSet {
			all = append(all, key+" = "+value)
		}
	}
	list := func(texts []string) string {
		var items []string
		for _, text := range texts {
			items = append(items, literal(t, text))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	add(p.BaseURL != "", "base_url", literal(t, p.BaseURL))
	add(len(p.Languages) > 0, `"languages"`, list(p.Languages))
	add(p.MaxAttempts > 0, "max_attempts", strconv.Itoa(p.MaxAttempts))
	add(p.Mouse, "mouse", "true")
	add(len(p.TokenCommand) > 0, "token_command", list(p.TokenCommand))
	var agents []string
	isInline := rapid.Bool().Draw(t, "inline agents")
	for id, name := range p.Agents {
		agents = append(agents, toml.Key{id}.String()+" = "+literal(t, name))
		add(!isInline, "agents."+toml.Key{id}.String(), literal(t, name))
	}
	add(isInline && len(agents) > 0, "agents", "{ "+strings.Join(agents, ", ")+" }")
	for kind := range p.Results {
		add(true, "results."+string(kind), `[{code = "thanked", label = "#"}, {code = 'busy', asks_notes = true}]`)
	}
	return all
}

func literal(t *rapid.T, text string) string {
	if !strings.ContainsAny(text, "'\n") && rapid.Bool().Draw(t, "literal") {
		return "'" + text + "'"
	}
	written, err := toml.Marshal(map[string]string{"k": text})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(written), "k = "))
}
