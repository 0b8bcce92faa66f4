package commands

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

// nowhere is an address at which nothing listens.
const nowhere = "http://127.0.0.1:1"

// appOf returns the surroundings of a command in an environment.
func appOf(environment map[string]string, in io.Reader, out, errs io.Writer) cli.App {
	getenv := func(name string) string { return environment[name] }
	return cli.App{In: in, Out: out, Err: errs, Now: time.Now, Getenv: getenv}
}

// hasty has an app wait for nothing.
func hasty(app cli.App) cli.App {
	app.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return app
}

// homeAt returns the environment of an agent with a new home folder, who uses a service. More are names and values.
func homeAt(t *testing.T, url, token string, more ...string) map[string]string {
	t.Helper()
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": url, "FUNDESK_TOKEN": token}
	for pair := range slices.Chunk(more, 2) {
		environment[pair[0]] = pair[1]
	}
	return environment
}

// serving starts a server for a test, and returns its address.
func serving(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// writeFile writes a file that only its owner reads.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	servicetest.Check(t, os.WriteFile(path, []byte(text), 0o600))
}

// line is one command line in an environment of its own.
type line struct {
	environment map[string]string
	homeless    bool // The system knows no home folder either.
	stdin       string
	in          io.Reader                                  // Instead of stdin.
	now         func() time.Time                           // Nil for the time of the machine.
	sleep       func(context.Context, time.Duration) error // Nil for none.
}

// lineAt returns a command line of an agent with a new home folder, who uses a service.
func lineAt(t *testing.T, url, token string, more ...string) line {
	t.Helper()
	return line{environment: homeAt(t, url, token, more...)}
}

// run runs a command line, whose words are split at blanks but for those between quotes. More words are taken as they
// are.
func (l line) run(t *testing.T, words string, more ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	app := hasty(appOf(l.environment, strings.NewReader(l.stdin), &stdout, &stderr))
	if l.in != nil {
		app.In = l.in
	}
	if l.now != nil {
		app.Now = l.now
	}
	if l.sleep != nil {
		app.Sleep = l.sleep
	}
	if l.homeless {
		app.OpenEmbedded = func(context.Context, string, string) (cli.Embedded, error) {
			return nil, errors.New("opened")
		}
		app.HomeDir = func() (string, error) { return "", errors.New("unknown userid") }
	}
	code = Run(t.Context(), append(servicetest.Words(words), more...), app)
	return stdout.String(), stderr.String(), code
}

// must runs a command that succeeds, and returns its output.
func (l line) must(t *testing.T, words string, more ...string) string {
	t.Helper()
	return l.try(t, words, more...).MustEnd(0).Stdout
}

// try runs a command line. What it returns says what the test wants of it.
func (l line) try(t *testing.T, words string, more ...string) servicetest.Ran {
	t.Helper()
	out, errs, code := l.run(t, words, more...)
	return servicetest.Ran{
		T:      t,
		Words:  append(servicetest.Words(words), more...),
		Stdout: out,
		Stderr: errs,
		Code:   code,
	}
}

// tryAgainst runs a command line against a service of its own.
func tryAgainst(t *testing.T, handler http.HandlerFunc, words string, more ...string) servicetest.Ran {
	t.Helper()
	return lineAt(t, serving(t, handler), "secret-token").try(t, words, more...)
}

// tryWith runs the program in an environment, on the demo's day.
func tryWith(t *testing.T, environment map[string]string, in, words string, more ...string) servicetest.Ran {
	t.Helper()
	out, errs, code := runWith(t, environment, in, words, more...)
	return servicetest.Ran{
		T:      t,
		Words:  append(servicetest.Words(words), more...),
		Stdout: out,
		Stderr: errs,
		Code:   code,
	}
}
