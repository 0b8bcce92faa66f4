package commands

import (
	"fmt"
	"net/http"
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
	calls := make([]string, 3)
	for i := range calls {
		c.load()
		calls[i] = c.names.Replace("$CALL")
	}
	kind := h.Do(token, http.MethodGet, "/api/v1/calls/"+calls[0], "").Object()["type"].(string)
	file := filepath.Join(t.TempDir(), "floor.toml")
	writeFile(t, file, "[required_checks]\n"+kind+" = [\"objection\", \"iban\"]\n")
	l.try(t, "queue settings set --yes", file).Ends(0, "required_checks."+kind+" (new)")
	l.try(t, "queue settings get").Ends(0).Prints(`["objection", "iban"]`)
	checks := `{"items":[{"name":"objection","at":"2026-11-20T09:00:00Z"}]}`
	h.Do(token, http.MethodPut, "/fundesk/v1/calls/"+calls[1]+"/checks", checks)
	complete := func(call, more string) servicetest.Ran {
		t.Helper()
		return l.try(t, "call complete "+call+" --result-code reached -o id "+more)
	}
	complete(calls[1], "").Ends(2, "lacks required checks: iban", "--without-checks")
	complete(calls[0], "--yes").Ends(2)
	complete(calls[0], "--dry-run -o json").Ends(0)
	complete(calls[0], "--without-checks").Ends(0)
	complete(calls[1], "--without-checks").Ends(0)
	whole := strings.ReplaceAll(checks, `[{`, `[{"name":"iban","at":"2026-11-20T09:00:00Z"},{`)
	h.Do(token, http.MethodPut, "/fundesk/v1/calls/"+calls[2]+"/checks", whole)
	complete(calls[2], "").Ends(0)
	byCheck := "check\t(none)\t1\ncheck\tiban\t2\ncheck\tobjection\t1\n"
	byBoth := "completed, (none)\t1\ncompleted, iban\t2\ncompleted, objection\t1\n"
	ofCalls := fmt.Sprintf("%s\tobjection\n%s\tiban\n%[2]s\tobjection\n", calls[1], calls[2])
	for words, want := range map[string]string{
		"call stats --by check --columns group,value,count":                    byCheck,
		"call stats --by status+check --columns value,count":                   byBoth,
		"call checks " + strings.Join(calls, " ") + " --columns callUuid,name": ofCalls,
		"call checks " + calls[0]:                                              "",
	} {
		l.try(t, words+" -o tsv").Ends(0).PrintsOnly(want)
	}
	l.try(t, "call checks "+testID).Ends(3)
}

// A service without the extension checks is asked for none, and gets none.
func TestChecksNeedTheExtension(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	e.InterfaceOnly()
	call := *cell(e.list("call list --limit 1"), 1, "uuid")
	for _, args := range []string{"call checks " + call, "call stats --by check"} {
		e.try(t, args).Fails("the service has no checks")
	}
}
