package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
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
		if err != nil {
			t.Fatal(err)
		}
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
