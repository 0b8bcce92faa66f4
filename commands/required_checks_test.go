package commands

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A file sets the organization's requirements. A call without a required check is completed only if the command allows
// it, and call stats counts it. call checks prints the checks.
func TestRequiredChecks(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	owner := h.Organization("AID")
	token := h.Token(servicetest.May("calls:read", "calls:complete", "persons:read", "pledges:read", "settings:write"))
	c := &faultCase{T: t, service: h, token: h.Token(), owner: owner}
	l := lineAt(t, h.URL, token)
	run := func(want int, args ...string) (out, errs string) {
		t.Helper()
		out, errs, code := l.run(t, "", args...)
		if code != want {
			t.Errorf("%v: got exit code %d, %q and %q, want %d", args, code, out, errs, want)
		}
		return out, errs
	}
	calls := make([]string, 3)
	for i := range calls {
		c.load()
		calls[i] = c.names.Replace("$CALL")
	}
	kind := h.Do(token, http.MethodGet, "/api/v1/calls/"+calls[0], "").Object()["type"].(string)
	file := filepath.Join(t.TempDir(), "floor.toml")
	servicetest.Check(t, os.WriteFile(file, []byte("[required_checks]\n"+kind+" = [\"objection\", \"iban\"]\n"), 0o600))
	_, errs := run(0, "queue", "settings", "set", file, "--yes")
	if !strings.Contains(errs, "required_checks."+kind+" (new)") {
		t.Errorf("got %q", errs)
	}
	if out, _ := run(0, "queue", "settings", "get"); !strings.Contains(out, `["objection", "iban"]`) {
		t.Errorf("the settings are not as they were set: %s", out)
	}
	checks := `{"items":[{"name":"objection","at":"2026-11-20T09:00:00Z"}]}`
	h.Do(token, http.MethodPut, "/fundesk/v1/calls/"+calls[1]+"/checks", checks)
	complete := func(want int, call string, more ...string) string {
		_, errs := run(want, append([]string{"call", "complete", call, "--result-code", "reached", "-o", "id"}, more...)...)
		return errs
	}
	if errs := complete(2, calls[1]); !strings.Contains(errs, "lacks required checks: iban") || !strings.Contains(errs, "--without-checks") {
		t.Errorf("got %q", errs)
	}
	complete(2, calls[0], "--yes")
	complete(0, calls[0], "--dry-run", "-o", "json")
	complete(0, calls[0], "--without-checks")
	complete(0, calls[1], "--without-checks")
	whole := strings.ReplaceAll(checks, `[{`, `[{"name":"iban","at":"2026-11-20T09:00:00Z"},{`)
	h.Do(token, http.MethodPut, "/fundesk/v1/calls/"+calls[2]+"/checks", whole)
	complete(0, calls[2])
	want := "check\t(none)\t1\ncheck\tiban\t2\ncheck\tobjection\t1\n"
	out, _ := run(0, "call", "stats", "--by", "check", "-o", "tsv", "--columns", "group,value,count")
	servicetest.Same(t, "output", want, out)
	out, _ = run(0, "call", "stats", "--by", "status+check", "-o", "tsv", "--columns", "value,count")
	servicetest.Same(t, "output", "completed, (none)\t1\ncompleted, iban\t2\ncompleted, objection\t1\n", out)
	out, _ = run(0, "call", "checks", calls[0], calls[1], calls[2], "-o", "tsv", "--columns", "callUuid,name")
	servicetest.Same(t, "output", fmt.Sprintf("%s\tobjection\n%s\tiban\n%[2]s\tobjection\n", calls[1], calls[2]), out)
	if out, _ = run(0, "call", "checks", calls[0]); out != "" {
		t.Errorf("got %q of a call without checks", out)
	}
	run(3, "call", "checks", testID)
}

// A service without the extension checks is asked for none, and gets none.
func TestChecksNeedTheExtension(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	e.InterfaceOnly()
	call := *cell(e.list("call list --limit 1"), 1, "uuid")
	for _, args := range []string{"call checks " + call, "call stats --by check"} {
		e.try(t, args).fails("the service has no checks")
	}
}
