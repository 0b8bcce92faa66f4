package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// A mistyped path is not taken for an empty database in which all is well.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	missing := filepath.Join(e.folder, "typo.db")
	const account = "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"
	for _, args := range [][]string{
		{"check"},
		{"backup", filepath.Join(e.folder, "copy.db")},
		{"account", "revoke", account},
		{"token", "issue", account},
		{"organization", "set", account, "--max-call-attempts", "3"},
		{"account", "set", account, "--name", "b"},
		{"user", "set", account, "Anneke"},
		{"user", "list"},
		{"account", "list"},
		{"organization", "list"},
		{"retention", "show"},
		{"audit", "list"},
	} {
		e.try("", append(args, "--database", "sqlite:"+missing)...).Ends(
			exitFailure, missing, "fundeskd migrate makes a database",
		).PrintsOnly("")
	}
	// The socket of a server is no database that migrate makes.
	e.try("check --database", "postgres:///fundesk?host="+missing).Ends(exitFailure, missing).Hides("fundeskd migrate")
	if files, err := os.ReadDir(e.folder); err != nil || len(files) != 0 {
		t.Errorf("got %v, %v, want no file that was made for it", files, err)
	}
}

// A name is printed on its own line, whatever it holds.
func TestListOfNames(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.done("organization add --name", "Sea\n\x1b[31mRes\u202ecue", "--abbreviation", "S\tR")
	if _, out, errs := e.run(
		"organization list",
	); strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "  S R  Sea \ufffd[31mRes\ufffdcue  any hour\n") {
		t.Errorf("got %q %s, want one line without control characters", out, errs)
	}
	for _, args := range []string{"load \x1b]0;x\a.ndjson", "\x1b[31m", "serve --listen \x1b]0;x\a", "--\u202e"} {
		if code, _, errs := e.run(args); code == exitDone || strings.ContainsAny(errs, "\x1b\a\u202e") {
			t.Errorf("%q: got exit code %d, %q, want an error without control characters", args, code, errs)
		}
	}
}

// An answer that cannot be written is not a success: a token may be in it.
func TestAnswerNotWritten(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	e.done("migrate")
	out, err := os.Open(filepath.Join(e.folder, "fundeskd.db")) // For reading.
	servicetest.Check(t, err)
	defer out.Close()
	for _, args := range [][]string{
		{"account", "add", "a", "--all-organizations"},
		{"account", "list"},
		{"check"},
		{"check", "-o", "json"},
	} {
		var errs bytes.Buffer
		if code := run(t.Context(), args, e.program("", out, &errs)); code != exitFailure || errs.Len() == 0 {
			t.Errorf("%v: got code %d, %s, want %d", args, code, &errs, exitFailure)
		}
	}
}

// The collector keeps to 128 MiB, unless GOMEMLIMIT says otherwise. Spec gap: S32.
func TestMemoryOfTheCollector(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{"": "1.34217728e+08", "200MiB": "2.097152e+08"} {
		running := newFileEnvironment(t).child("GOMEMLIMIT="+limit, "GOGC=")
		_, metrics := get(t, http.DefaultClient, running.url+"/metrics", "")
		for _, line := range []string{"\ngo_gc_gomemlimit_bytes " + want + "\n", "\ngo_gc_gogc_percent 400\n"} {
			if !strings.Contains(metrics, line) {
				t.Errorf("GOMEMLIMIT=%s: the metrics lack%s", limit, line)
			}
		}
		servicetest.Report(t, running.command.Process.Kill())
		_ = running.command.Wait()
	}
}

// A short command gives a silent server 10 s. A long one has no limit. Spec gap: S26.
func TestPatienceOfShortCommands(t *testing.T) {
	t.Parallel()
	for how, want := range map[access]time.Duration{{}: 10 * time.Second, {patient: true}: 0} {
		p := newFileEnvironment(t).program("", io.Discard, io.Discard)
		o, err := p.storeOptions(how)
		servicetest.Check(t, err)
		if o.AnswerTimeout != want {
			t.Errorf("%+v: got %v, want %v", how, o.AnswerTimeout, want)
		}
	}
}

// An organization without a country is added, and the operator learns what that means.
func TestOrganizationWithoutACountry(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	code, out, errs := e.run("organization add --name Sea --abbreviation S")
	want := "fundeskd: without a country, calls of this organization are given at any hour; set one with: fundeskd organization set " +
		strings.TrimSpace(out) + " --country NL\n"
	if code != exitDone || errs != want {
		t.Errorf("got %d %q, want %q", code, errs, want)
	}
	e.try("organization add --name Sea --abbreviation T --country LU").SaysOnly("")
	_, out, _ = e.run("audit list -o ndjson")
	servicetest.Same(t, "lines of the audit that name the country", 1, strings.Count(out, `"coolingOff","country"]`))
}
