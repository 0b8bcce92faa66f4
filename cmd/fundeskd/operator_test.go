package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/service/servicetest"
)

func TestSettingsOfTheService(t *testing.T) {
	t.Parallel()
	const text = "# FUNDESKD_DATABASE=sqlite:/no\n; A=b\nFUNDESK_DATA_DIR=/var/lib/fundeskd\n\n" +
		"FUNDESKD_DATABASE=\"postgres://db/fundesk?a=b\"\nQUOTED='x y'\nalone\n"
	want := map[string]string{
		"FUNDESK_DATA_DIR": "/var/lib/fundeskd", "FUNDESKD_DATABASE": "postgres://db/fundesk?a=b", "QUOTED": "x y",
	}
	if diff := cmp.Diff(want, parseEnvironment(text)); diff != "" {
		t.Error(diff)
	}
}

// TestRootIsTold runs commands as root on an installed service. A command without a database explains how to run it,
// and every other one works.
func TestRootIsTold(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("it is for root")
	}
	file := filepath.Join(t.TempDir(), "fundeskd.env")
	write(t, file, []byte("FUNDESK_DATA_DIR="+t.TempDir()))
	own := filepath.Join(t.TempDir(), "own.db")
	for _, test := range []struct {
		args, variable string
		want           int
	}{
		{"migrate", "HOME=/root", exitUsage},
		{"migrate", "FUNDESKD_DATABASE=sqlite:" + own, exitDone},
		{"migrate", "FUNDESK_DATA_DIR=" + t.TempDir(), exitDone},
		{"migrate", "XDG_DATA_HOME=" + t.TempDir(), exitDone},
		{"account list --database sqlite:" + own, "HOME=/root", exitDone},
		{"serve --help", "HOME=/root", exitDone},
	} {
		name, value, _ := strings.Cut(test.variable, "=")
		var errs strings.Builder
		p := program{
			Out:             io.Discard,
			Err:             &errs,
			Now:             time.Now,
			serviceSettings: file,
			Getenv: func(variable string) string {
				if variable == name {
					return value
				}
				return ""
			},
		}
		code := run(t.Context(), strings.Fields(test.args), p)
		told := strings.Contains(errs.String(), "sudo -u fundeskd fundeskd")
		if code != test.want || told != (code == exitUsage) {
			t.Errorf("%s with %s: got code %d, %s, want %d", test.args, name, code, errs.String(), test.want)
		}
	}
}

// TestRefusedLoginIsToldAsOne runs a command with a role that the server does not know, also on a server without TLS,
// and one with an unknown database. Root reads under which user to run the command.
func TestRefusedLoginIsToldAsOne(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(servicetest.PostgresDatabase(t))
	servicetest.Check(t, err)
	const refusesLogin = "the database refuses the login"
	withoutTLS := newProxyTo(t, server)
	for _, test := range []struct {
		what   string
		change func(*url.URL)
	}{
		{refusesLogin, func(u *url.URL) { u.RawQuery = strings.Replace(u.RawQuery, "user=fundesk", "user=nobody", 1) }},
		{refusesLogin, func(u *url.URL) {
			u.User, u.Host, u.RawQuery = url.User("nobody"), withoutTLS.Addr().String(), "sslmode=prefer"
		}},
		{"the server has no such database", func(u *url.URL) { u.Path = "/nothing" }},
	} {
		what, name := test.what, *server
		test.change(&name)
		e := environment{t: t, folder: t.TempDir(), database: name.String()}
		var errs strings.Builder
		p := e.program("", io.Discard, &errs)
		p.serviceSettings = filepath.Join(t.TempDir(), "fundeskd.env")
		code := run(t.Context(), []string{"account", "list"}, p)
		if code != exitFailure || !strings.Contains(errs.String(), what) {
			t.Errorf("got code %d, %s, want that %s", code, errs.String(), what)
		}
		for _, other := range []string{"does not answer", "TLS"} {
			if strings.Contains(errs.String(), other) {
				t.Errorf("got %s, want %q alone", errs.String(), what)
			}
		}
		toRoot := os.Geteuid() == 0 && strings.Contains(what, "login")
		if strings.Contains(errs.String(), "sudo -u fundeskd fundeskd") != toRoot {
			t.Errorf("got %s, want the way out for root where the login is refused", errs.String())
		}
	}
}

// TestDeployedMetrics looks for every metric that the dashboard and the alerting rules ask for.
func TestDeployedMetrics(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	running := e.serve()
	account := e.account("a --all-organizations")
	// Some exist only after a request and a transaction.
	get(t, http.DefaultClient, running.url+"/api/v1/persons", account.Token)
	_, page := get(t, http.DefaultClient, running.url+"/metrics", "")
	metric := regexp.MustCompile(`\b(fundeskd|process)_[a-z_]+`)
	for _, name := range []string{"deploy/dashboard.json", "deploy/alerts.yml"} {
		content, err := os.ReadFile(name)
		servicetest.Check(t, err)
		if strings.HasSuffix(name, ".json") && !json.Valid(content) {
			t.Errorf("%s is not JSON", name)
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
	} else if found := fmt.Sprintf("%d rules found", len(rules)); len(rules) == 0 ||
		!strings.Contains(string(text), found) {
		t.Errorf("got %s, want %s in the dashboard", text, found)
	}
}
