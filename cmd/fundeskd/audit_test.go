package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAuditList prints lines in every format, and none.
func TestAuditList(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account struct{ UUID string }
	e.must(&account, "", "account", "add", "call centre", "--all-organizations")
	var lines []map[string]any
	e.must(&lines, "", "audit", "list")
	if len(lines) != 2 || lines[0]["operation"] != "account.add" || lines[0]["record"] != account.UUID || lines[0]["account"] != nil ||
		lines[1]["operation"] != "token.issue" || strings.Contains(lines[0]["fields"].([]any)[0].(string), ",") {
		t.Errorf("got %v, want the account and its token", lines)
	}
	_, out, errs := e.run("", "audit", "list", "-o", "ndjson", "--since", "1h")
	for line := range strings.Lines(out) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["time"] == nil {
			t.Errorf("got %s%s, %v, want a line of JSON", line, errs, err)
		}
	}
	if strings.Count(out, "\n") != 2 {
		t.Errorf("got %s, want two lines", out)
	}
	if _, out, _ := e.run("", "audit", "list"); !strings.Contains(out, "  an operator  account.add  "+account.UUID) {
		t.Errorf("got %s, want a table", out)
	}
	for _, test := range []struct{ format, want string }{{"json", "[]\n"}, {"ndjson", ""}} {
		if code, out, errs := e.run("", "audit", "list", "--account", account.UUID, "-o", test.format); code != exitDone || out != test.want {
			t.Errorf("%s: got code %d, %q%s, want %q", test.format, code, out, errs, test.want)
		}
	}
	for _, args := range [][]string{{"--person", "x"}, {"--since", "soon"}, {"-o", "csv"}} {
		if code, out, errs := e.run("", append([]string{"audit", "list"}, args...)...); code != exitUsage || out != "" || !strings.Contains(errs, args[1]) {
			t.Errorf("%v: got code %d, %s%s, want a mistake that is named", args, code, out, errs)
		}
	}
}
