package commands

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/commands/cli"
)

// A database of an embedded service that cannot be opened is named. That of the demo may be deleted.
func TestEmbeddedServiceThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, file, want string }{
		{"embedded:demo", "demo.db", "to begin again, delete "},
		{"embedded:mine", "mine.db", "its data is in "},
		{"embedded:/srv/mine.db", "/srv/mine.db", "its data is in "},
	} {
		data := t.TempDir()
		var out, stderr bytes.Buffer
		environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_DATA_DIR": data}
		app := hasty(appOf(environment, strings.NewReader(""), &out, &stderr))
		app.OpenEmbedded = func(context.Context, string, string) (cli.Embedded, error) {
			return nil, errors.New("it is a database of another version")
		}
		code := Run(t.Context(), []string{"call", "list", "--base-url", test.url}, app)
		file := test.file
		if !filepath.IsAbs(file) {
			file = filepath.Join(data, file)
		}
		if got := stderr.String(); code != 1 || !strings.Contains(got, test.want) || !strings.Contains(got, file) {
			t.Errorf("%s: got exit code %d and %s, want 1, %q and %s", test.url, code, got, test.want, file)
		}
	}
}

// A setting of the demo does not make it the current profile: the next one that is added would not become it.
func TestSettingsOfTheDemo(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{"HOME": t.TempDir()}}
	l.must(t, "profile set demo language=nl")
	l.try(t, "call list").Ends(4, "no service is chosen")
	l.must(t, "profile add work --base-url http://127.0.0.1:1")
	if out := l.must(t, "profile list -o json --jq '.[] | select(.current) | .name'"); out != "\"work\"\n" {
		t.Errorf("got the current profile %q, want work", out)
	}
}
