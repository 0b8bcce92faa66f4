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
