package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/service/servicetest"
)

// Each flag of an operator changes what is kept or printed.
func TestOperatorFlags(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	const organization, person = "22222222-2222-4222-8222-222222222222", "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	log := filepath.Join(t.TempDir(), "erased")
	records := fmt.Sprintf(`{"kind":"person","data":{"uuid":%[1]q,"owningOrganizationUuid":%[2]q,"recruitingOrganizationUuid":%[2]q,"createdAt":"2020-11-20"}}
{"kind":"call","data":{"uuid":"33333333-3333-4333-8333-333333333333","personUuid":%[1]q,"status":"completed","type":"winback","requestedAt":"2020-11-20","completedAt":"2020-11-21","lastUpdatedAt":"2020-11-21","notes":"N"}}`, person, organization)
	for _, step := range []struct{ in, line, want string }{
		{
			line: "organization add --uuid " + organization +
				" --name Sea --abbreviation SR --cooling-off 48h --max-call-attempts 3 --country nl",
			want: organization,
		},
		{
			line: "organization list -o json",
			want: `"name":"Sea","abbreviation":"SR","maxCallAttempts":3,"coolingOff":"48h0m0s","country":"NL"}`,
		},
		{"", "organization set " + organization + " --country BE", "changed"},
		{"max_attempts = 4\n", "organization set " + organization + " --settings -", "changed"}, // The country stays.
		{"", "organization list", organization + "  SR  Sea  BE\n"},
		{"", "organization set " + organization + " --any-hour", "changed"},
		{"", "organization list", organization + "  SR  Sea  any hour\n"},
		{"", "organization set " + organization + " --any-call-attempts", "changed"},
		{"", "organization list -o json", `"maxCallAttempts":null`},
		{"", "organization set " + organization + " --max-call-attempts 7", "changed"},
		{"", "organization list -o json", `"maxCallAttempts":7`},
		{
			line: "retention set --organization " + organization + " --calls 24mo --leads 3mo --persons 200mo",
			want: "calls 24mo  leads 3mo  persons 200mo",
		},
		{
			line: "retention set --organization " + organization + " --leads never",
			want: organization + "  calls 24mo  leads never  persons 200mo\n",
		},
		{"", "retention show", organization + "  calls 24mo  leads never  persons 200mo\n"},
		{records, "load -", ""},
		{"", "retention set --audit 24mo", "the whole database  audit 24mo\n"},
		{
			line: "retention run --dry-run",
			want: "the whole database                    0 lines of the audit\n" + organization +
				"  1 call  0 leads  0 persons\n",
		},
		{"", "retention set --audit never -o json", `{"calls":null,"leads":null,"persons":null}`},
		{"", "audit prune --before 400d", "0 lines of the audit deleted\n"},
		{"", "audit prune --before 1d", "0 lines of the audit deleted\n"}, // The last 31 days stay.
		{"", "retention run --dry-run -o json", `"calls":1,`},
		{"", "retention run --dry-run", organization + "  1 call  0 leads  0 persons\n"},
		{"", "retention run -o json", `"calls":1,`},
		{"", "person erase " + person + " --reason R --yes --erasures-log " + log, ""},
	} {
		e.reading(step.in).try(step.line).Ends(exitDone).Prints(step.want).SaysOnly("")
	}
	if noted, err := os.ReadFile(log); err != nil || !strings.Contains(string(noted), person) {
		t.Errorf("got %q, %v in the log of erasures, want the person", noted, err)
	}
}

// TestAuditReadsFlag shows a person to an account, which the audit of --audit-reads has.
func TestAuditReadsFlag(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name Sea --abbreviation SR")
	e.must(&account, "account add a --all-organizations")
	const person = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	s := e.serve("--audit-reads")
	body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%[2]q,"recruitingOrganizationUuid":%[2]q}`,
		person, organization.UUID)
	status, answer := send(t, http.MethodPost, s.url+"/api/v1/persons", account.Token, body)
	if status != http.StatusCreated {
		t.Fatalf("got %d %s, want a person", status, answer)
	}
	s.get(t, "/api/v1/persons/"+person, account.Token)
	s.get(t, "/api/v1/persons?first=2", account.Token)
	s.get(t, "/api/v1/persons?first=0", account.Token)
	s.stop()
	var lines []struct {
		Operation string
		Shown     []string
	}
	e.must(&lines, "audit list --person", person)
	got := []string{}
	for _, line := range lines {
		got = append(got, strings.Join(append([]string{line.Operation}, line.Shown...), " "))
	}
	servicetest.Same(t, "lines of the person", []string{"person.create", "person.get", "person.list " + person}, got)
	e.must(&lines, "audit list --person", person, "--user", person)
	servicetest.Same(t, "lines of a user who did nothing", 0, len(lines))
}

// Each flag of serve has a variable, which yields to the flag. A variable without a flag is named.
func TestFlagsHaveVariables(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"bool":     "true",
		"string":   "x",
		"duration": "7s",
		"int":      "7",
		"uint64":   "7",
		"float64":  "7",
	}
	getenv := func(string) string { return "" }
	serve := func() *cobra.Command {
		c, _, err := (&program{Getenv: getenv}).root().Find([]string{"serve"})
		servicetest.Check(t, err)
		return c
	}
	serve().LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		p, c := &program{Getenv: func(name string) string {
			if name == "FUNDESKD_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")) {
				return cmp.Or(values[f.Value.Type()], "x")
			}
			return ""
		}}, serve()
		if err := p.readVariables(c); err != nil || !c.Flags().Changed(f.Name) {
			t.Errorf("--%s: got %v, want the value of its variable", f.Name, err)
		}
	})
	e := newFileEnvironment(t)
	for _, test := range []struct{ value, flag, want string }{
		{"256.0.0.1:1", "", "listen: "},
		{"256.0.0.1:1", "--listen=256.0.0.2:1", "256.0.0.2"},
	} {
		var errs bytes.Buffer
		p := e.program("", io.Discard, &errs)
		p.Getenv = func(name string) string {
			if name == "FUNDESKD_LISTEN" {
				return test.value
			}
			return e.getenv(name)
		}
		code := run(t.Context(), strings.Fields("serve "+test.flag), p)
		if code != exitFailure || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s %s: got code %d, %s, want %s", test.value, test.flag, code, &errs, test.want)
		}
	}
	var errs bytes.Buffer
	p := e.program("", io.Discard, &errs)
	p.Getenv = func(name string) string {
		return map[string]string{"FUNDESKD_DRAIN": "soon", "FUNDESK_DATA_DIR": e.folder}[name]
	}
	code := run(t.Context(), []string{"serve"}, p)
	if code != exitUsage || !strings.Contains(errs.String(), "FUNDESKD_DRAIN: --drain must be a duration") {
		t.Errorf("got code %d, %s, want the variable and what it must be", code, &errs)
	}
}

// The error of a port that another program has says what to do, for both listeners.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	servicetest.Check(t, err)
	defer taken.Close() //nolint:errcheck // It accepted nothing.
	address := taken.Addr().String()
	for _, args := range []string{"--listen " + address, "--listen 127.0.0.1:0 --metrics-listen " + address} {
		code, _, errs := e.run("serve", servicetest.Words(args)...)
		want := address + ": bind: address already in use; stop the program that has the port, or choose another port\n"
		if code != exitFailure || !strings.HasSuffix(errs, want) {
			t.Errorf("%v: got code %d and %s, want %s", args, code, errs, want)
		}
	}
}

// On an address that others reach without TLS, the log warns, and only this machine sees the metrics.
func TestOpenListener(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	s := e.serve("--listen", "0.0.0.0:0")
	defer s.stop()
	if !strings.Contains(s.log.String(), "not encrypted") {
		t.Errorf("got %s, want a warning", s.log)
	}
	s.replies(t, "/metrics", "", http.StatusOK)
	addresses, err := net.InterfaceAddrs()
	servicetest.Check(t, err)
	for _, address := range addresses {
		other, ok := address.(*net.IPNet)
		if !ok || other.IP.IsLoopback() || other.IP.To4() == nil {
			continue
		}
		from := strings.Replace(s.url, "127.0.0.1", other.IP.String(), 1)
		for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/healthz": http.StatusOK} {
			replies(t, from+path, "", want)
		}
	}
	local := e.serve()
	defer local.stop()
	if strings.Contains(local.log.String(), "not encrypted") {
		t.Errorf("got %s, want no warning on loopback", local.log)
	}
}
