package commands

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/service/servicetest"
)

// monthEnd answers the questions of the script in docs about a sample.
func monthEnd(t *testing.T, h *servicetest.Harness) (map[string][][]string, line) {
	t.Helper()
	l := lineAt(t, h.URL, h.Token())
	script, err := os.ReadFile("../docs/month-end.sh")
	servicetest.Check(t, err)
	persons := strings.Fields(l.must(t, "person list --all -q -o id"))
	l.must(t, "person update", slices.Min(persons), "--clear", "address")
	l.must(t, "copy sync -q")
	answers := map[string][][]string{}
	dates := strings.NewReplacer("$FROM", "2026-11-01", "$UNTIL", "2026-12-01")
	for _, found := range regexp.MustCompile(`(?m)^ask ([a-z-]+) "([^"]+)"$`).FindAllStringSubmatch(string(script), -1) {
		out := l.must(t, "query", dates.Replace(found[2]), "--offline", "-o", "csv")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		servicetest.Check(t, err)
		answers[found[1]] = rows
	}
	return answers, l
}

// listed reads columns of a list as CSV, without the header.
func (l line) listed(t *testing.T, columns string, args ...string) [][]string {
	t.Helper()
	out := l.must(t, "", append(args, "--all", "-q", "-o", "csv", "--columns", columns)...)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	servicetest.Check(t, err)
	return rows[1:]
}

// Each question of a month's end has the same answer on both engines, and the one that the lists give.
func TestMonthEnd(t *testing.T) {
	t.Parallel()
	var onSQLite map[string][][]string
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			database := servicetest.NewFile
			if engine == "postgres" {
				servicetest.NeedPostgres(t)
				database = servicetest.PostgresDatabase
			}
			h := servicetest.NewOn(t, database(t))
			h.Sample(120)
			answers, l := monthEnd(t, h)
			if len(answers) != 10 {
				t.Fatalf("got %d questions, want 10", len(answers))
			}
			for question, rows := range answers {
				if len(rows) < 2 {
					t.Errorf("%s: no answer", question)
				}
				checkEuros(t, question, rows)
			}
			checkMonthEnd(t, l, answers)
			if onSQLite == nil {
				onSQLite = answers
			}
			if diff := cmp.Diff(onSQLite, answers); diff != "" {
				t.Errorf("the answers (-sqlite +%s):\n%s", engine, diff)
			}
		})
	}
}

// checkEuros checks that amounts have two decimals.
func checkEuros(t *testing.T, question string, rows [][]string) {
	t.Helper()
	for i, name := range rows[0] {
		if !strings.HasPrefix(name, "euro") {
			continue
		}
		for _, row := range rows[1:] {
			if !regexp.MustCompile(`^\d+\.\d\d$`).MatchString(row[i]) {
				t.Errorf("%s: got %q in %s, want two decimals", question, row[i], name)
			}
		}
	}
}

// checkMonthEnd compares answers with what the lists of the service say.
func checkMonthEnd(t *testing.T, l line, answers map[string][][]string) {
	t.Helper()
	same := func(question string, want []string) {
		t.Helper()
		var got []string
		for _, row := range answers[question][1:] {
			got = append(got, strings.Join(row, "|"))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-lists +query):\n%s", question, diff)
		}
	}
	var without []string
	for _, row := range l.listed(t, "uuid,lastName,address.street,address.zipCode", "person", "list") {
		if row[2] == "" || row[3] == "" {
			without = append(without, row[0]+"|"+row[1])
		}
	}
	same("donors-without-address", without)

	all, dropped := map[string]int{}, map[string]int{}
	for _, row := range l.listed(t, "recruiterUser.name,status", "pledge", "list") {
		all[row[0]]++
		if row[1] == "dropped" {
			dropped[row[0]]++
		}
	}
	var recruiters []string
	for name, n := range dropped {
		recruiters = append(recruiters, fmt.Sprintf("%s|%d|%d", name, all[name], n))
	}
	same("dropped-pledges-by-recruiter", recruiters)

	results := map[string]int{}
	for _, row := range l.listed(t, "result.resultCode,result.completedAt", "call", "list", "--status", "completed") {
		if strings.HasPrefix(row[1], "2026-11") {
			results[row[0]]++
		}
	}
	for _, row := range answers["results-by-agent-and-day"][1:] {
		var n int
		_, err := fmt.Sscan(row[3], &n)
		servicetest.Check(t, err)
		results[row[2]] -= n
	}
	for code, left := range results {
		if left != 0 {
			t.Errorf("results-by-agent-and-day: %d results %s too few", left, code)
		}
	}
}

// The script of docs runs as it stands.
func TestMonthEndScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	folder := t.TempDir()
	stub := filepath.Join(folder, "fundesk")
	servicetest.Check(t, os.WriteFile(stub, []byte("#!/bin/sh\necho \"$2\"\n"), 0o755)) //nolint:gosec // It is run.
	script, err := filepath.Abs("../docs/month-end.sh")
	servicetest.Check(t, err)
	command := exec.CommandContext(t.Context(), "sh", script, "2026-11-01", "2026-12-01")
	command.Dir, command.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	servicetest.Check(t, err)
	if len(files) != 10 {
		t.Errorf("got the files %v, want ten", files)
	}
}
