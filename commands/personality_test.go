package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

// actedService is a service with a personality, and one user of it.
type actedService struct {
	*testing.T
	names *strings.Replacer
	env   map[string]string
}

// run runs a command line with $PERSON, $CALL, $PLEDGE and so on in it.
func (a *actedService) run(line string) (out, errs string, code int) {
	a.Helper()
	return a.runWith("", line)
}

func (a *actedService) runWith(stdin, line string) (out, errs string, code int) {
	a.Helper()
	var stdout, stderr bytes.Buffer
	args := strings.Fields(line)
	for i := range args {
		args[i] = a.names.Replace(args[i])
	}
	code = Run(a.Context(), args, cli.App{
		In:      strings.NewReader(a.names.Replace(stdin)),
		Out:     &stdout,
		Err:     &stderr,
		Now:     time.Now,
		Version: func() string { return "test" },
		Getenv:  func(name string) string { return a.env[name] },
		Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	return stdout.String(), stderr.String(), code
}

// The whole command line works the same, whatever the service decided.
func TestCommandsUnderPersonalities(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, p := range servicetest.Personalities() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			h := plain(t)
			h.Sample(12)
			address := serving(t, h.As(p).ServeHTTP)
			c := &faultCase{T: t, service: h, owner: h.Organization("AID")}
			c.load()
			action := func(ours string) string {
				if theirs := p.Actions[ours]; theirs != "" {
					return theirs
				}
				return ours
			}
			names := strings.NewReplacer("$CANCEL", action("cancel"), "$NONE", "22222222-2222-4222-8222-222222222222",
				"$PERSON", c.names.Replace("$PERSON"), "$CALL", c.names.Replace("$CALL"), "$PLEDGE", c.names.Replace("$PLEDGE"), "$OWNER", c.owner.String(), "$NEW", c.names.Replace("$NEW"))
			token := h.Token()
			a := &actedService{T: t, names: names, env: homeAt(t, address, token)}
			plain := &actedService{T: t, names: names, env: homeAt(t, h.URL, token)}
			a.lists(p, plain)
			a.changes()
			a.refusals()
		})
	}
}

// lists wants the same records in every way of asking as a service like ours gives.
func (a *actedService) lists(p servicetest.Personality, plain *actedService) {
	a.Helper()
	for _, line := range []string{
		"person list --all -o id", "call list --all -o id", "call list --all --include person,pledge -o id",
		"pledge list --all -o id",
		"person list --all --page-size 3 -o id", "call list --limit 7 -o id",
		"call list --status requested --limit 5 -o id", "pledge list --status lead --all -o id",
		"person list --owning-organization $OWNER -o id", "call list --all --columns uuid,status,type -o csv",
		"pledge list --all --columns uuid,donationAmount -o tsv",
		"person list --all -o json --jq length", "call list --all -o ndjson --jq .uuid", "call stats -o json",
		"pull person -q --jq .uuid", "pull call -q --jq .uuid", "pull pledge --updated -q --jq .uuid",
		"api GET /api/v1/calls --paginate --jq .uuid -o ndjson",
	} {
		if p.NoEmbeds && strings.HasPrefix(line, "call stats") {
			continue // Results are embedded.
		}
		want, _, _ := plain.run(line)
		if p.BareArray && (strings.HasPrefix(line, "pledge") || strings.HasPrefix(line, "pull pledge")) {
			if got, errs, code := a.run(line); code != 8 || got != want || !strings.Contains(errs, "--accept-unpaged") {
				a.Errorf("%s: got exit code %d, %d bytes and %q, want 8, all of the %d bytes, and the way out",
					line, code, len(got), errs, len(want))
			}
			line += " --accept-unpaged"
		}
		got, errs, code := a.run(line)
		if code != 0 || got != want {
			a.Errorf("%s: got exit code %d and %d bytes, want the %d bytes of another service\n%s",
				line, code, len(got), len(want), errs)
		}
	}
	for _, line := range []string{
		"person list --limit 3 -o table",
		"call list --all -o table",
		"call get $CALL -o table",
		"pledge get $PLEDGE -o table",
		"person get $PERSON -o table",
		"call list --limit 2 -o json",
		"call get $CALL $CALL -o json",
		"doctor",
		"auth status",
	} {
		if out, errs, code := a.run(line); code != 0 || out == "" {
			a.Errorf("%s: got exit code %d, %q and %q", line, code, out, errs)
		}
	}
}

// changes makes one change of each kind and looks at the answer.
func (a *actedService) changes() {
	a.Helper()
	for _, step := range []struct{ line, stdin, want string }{
		{
			line: "person create --uuid $NEW --owning-organization $OWNER --recruiting-organization $OWNER --first-name Anna --jq .firstName",
			want: `"Anna"`,
		},
		{"person update $PERSON --email a@example.org --jq .email", "", `"a@example.org"`},
		{"person update $PERSON --clear email --jq .email", "", "null"},
		{"call attempt $CALL --attempted-at 2026-01-02T03:04:05Z --jq .attemptsCount", "", "1"},
		{
			line:  "call complete $CALL --result-code reached --any-result --notes - --rating 8 --jq .status",
			stdin: "glad\n",
			want:  `"completed"`,
		},
		{"pledge update $PLEDGE --donation-amount 12.30 --jq .donationAmount", "", "12.3"},
		{"pledge action $CANCEL $PLEDGE --yes --jq .status", "", `"cancelled"`},
		{"call create --person $PERSON --type winback --jq .type", "", `"winback"`},
		{"processed mark call $CALL -o ndjson", "", `"ok":true`},
		{
			line:  "person import - --yes -q",
			stdin: `{"owningOrganizationUuid":"$OWNER","recruitingOrganizationUuid":"$OWNER"}` + "\n",
		},
		{"call attempt $CALL --outbox --dry-run", "", "PUT /api/v1/calls/"},
		{"person update $PERSON --last-name Queued --outbox --jq .lastName", "", `"Queued"`},
	} {
		if out, errs, code := a.runWith(step.stdin, step.line); code != 0 || !strings.Contains(out, step.want) {
			a.Errorf("%s: got exit code %d, %q and %q, want %s", step.line, code, out, errs, step.want)
		}
	}
}

// refusals wants the same exit codes and a reason, in whatever form the service gives it.
func (a *actedService) refusals() {
	a.Helper()
	for _, step := range []struct {
		line string
		code int
	}{
		{"call get $NONE", 3},
		{"call cancel $CALL --yes", 6},
		{"person create --uuid $PERSON --owning-organization $OWNER --recruiting-organization $OWNER", 6},
		{"call create --person $NONE --type winback", 7},
		{"processed mark call $NONE", 7},
		{"processed mark call $CALL $NONE --yes", 9},
		{"call attempt $CALL $NONE --yes", 9},
		{"pledge action unheard-of $PLEDGE --yes", 3},
		{"call list --after nonsense", 7},
	} {
		out, errs, code := a.run(step.line + " -o json")
		var line struct{ Error cli.Report }
		if code != step.code || json.Unmarshal([]byte(errs), &line) != nil || line.Error.Message == "" {
			a.Errorf("%s: got exit code %d, %q and %q, want %d", step.line, code, out, errs, step.code)
		}
	}
}
