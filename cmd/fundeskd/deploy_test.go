package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestDeployedMetrics looks for every metric that the dashboard and the alerting rules ask for.
func TestDeployedMetrics(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	running := e.serve()
	var account struct{ Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	get(t, http.DefaultClient, running.url+"/api/v1/persons", account.Token) // Some are there after a request, and a transaction.
	_, page := get(t, http.DefaultClient, running.url+"/metrics", "")
	metric := regexp.MustCompile(`\b(fundeskd|process)_[a-z_]+`)
	for _, name := range []string{"deploy/dashboard.json", "deploy/alerts.yml"} {
		content, err := os.ReadFile(name)
		servicetest.Check(t, err)
		if strings.HasSuffix(name, ".json") && !json.Valid(content) {
			t.Errorf("%s is no JSON", name)
		}
		asked := metric.FindAllString(string(content), -1)
		if len(asked) < 5 {
			t.Errorf("%s: got %v, want some metrics", name, asked)
		}
		for _, one := range asked {
			if !strings.Contains(page, "\n"+one+"{") && !strings.Contains(page, "\n"+one+" ") {
				t.Errorf("%s asks for %s, which there is not", name, one)
			}
		}
	}
}

// TestDeployedRules lets Prometheus check the alerting rules, and what the dashboard asks as rules.
func TestDeployedRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("Debian's package prometheus has it: ", err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	servicetest.Check(t, json.Unmarshal(readFile(t, "deploy/dashboard.json"), &dashboard))
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel_%d", len(rules)), target.Expr})
		}
	}
	type group struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	}
	panels, err := json.Marshal(map[string][]group{"groups": {{"dashboard", rules}}}) // JSON is YAML.
	servicetest.Check(t, err)
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	write(t, file, panels)
	if text, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "deploy/alerts.yml", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	} else if found := fmt.Sprintf("%d rules found", len(rules)); len(rules) == 0 || !strings.Contains(string(text), found) {
		t.Errorf("got %s, want %s in the dashboard", text, found)
	}
}
