package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestErasuresAreCopied gives the file of a machine the erasures that another one has noted, once, so that a replay
// there repeats them after a restore.
func TestErasuresAreCopied(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	c := newCharity(t, e)
	var erased []string
	for range 3 {
		person := c.must("POST", "/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
		e.done("", "person", "erase", person, "--reason", "r", "--yes")
		erased = append(erased, person)
	}
	other := filepath.Join(t.TempDir(), "other.erasures")
	servicetest.Check(t, os.WriteFile(other, fmt.Appendf(nil, `{"uuid":%q,"erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n", erased[0]), 0o600))
	for range 2 {
		var out, errs bytes.Buffer
		p := e.program("", &out, &errs)
		p.database = "sqlite:" + filepath.Join(e.folder, "fundeskd.db")
		servicetest.Check(t, p.withService(t.Context(), access{}, func(s *service.Service) error {
			return p.copyErasures(t.Context(), s, other)
		}))
		noted, err := os.ReadFile(other)
		servicetest.Check(t, err)
		for _, person := range erased {
			if n := strings.Count(string(noted), person); n != 1 {
				t.Errorf("got %d lines of %s, want 1:\n%s", n, person, noted)
			}
		}
	}
}

// TestErasuresAreCopiedAtTheEnd stops a machine after another one erased a person: the file of the stopped machine has
// the erasure, though its next hourly copy is to come. A replay there repeats the erasure after a restore.
func TestErasuresAreCopiedAtTheEnd(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	c := newCharity(t, e)
	person := c.must("POST", "/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	other := filepath.Join(t.TempDir(), "other.erasures")
	s := e.serve("--erasures-log", other)
	for _, err := os.Stat(other); err != nil; _, err = os.Stat(other) { // The first copy makes the file.
		get(t, http.DefaultClient, s.url+"/healthz", "")
	}
	e.done("", "person", "erase", person, "--reason", "r", "--yes")
	if noted := readFile(t, other); len(noted) > 0 {
		t.Fatalf("got %s, want that only the other machine has noted it", noted)
	}
	s.stop()
	if noted := readFile(t, other); strings.Count(string(noted), person) != 1 {
		t.Errorf("got %q, want the erasure of %s", noted, person)
	}
}

// TestErasuresAreCopiedAfterTheDrain stops a machine, and another one erases a person while the first one still lets
// requests come. The file of the stopped machine has the erasure.
func TestErasuresAreCopiedAfterTheDrain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	c := newCharity(t, e)
	person := c.must("POST", "/api/v1/persons", fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	other := filepath.Join(t.TempDir(), "other.erasures")
	draining := e
	draining.sleep = func(time.Duration) {
		e.done("", "person", "erase", person, "--reason", "r", "--yes")
	}
	s := draining.serve("--erasures-log", other, "--drain", "5s")

	s.stop()

	if noted := readFile(t, other); strings.Count(string(noted), person) != 1 {
		t.Errorf("got %q, want the erasure of %s", noted, person)
	}
}

// TestErasureAfterACutLine erases a person after a full disk, or a crash, cut the last line of the file short. The
// erasure of that line was refused. The next one is not joined to it, so a replay can read the file.
func TestErasureAfterACutLine(t *testing.T) {
	t.Parallel()
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	first, second := service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: at}, service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: at}
	line := fmt.Sprintf(`{"uuid":%q,"erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n", first.UUID)
	for _, test := range []struct {
		name, file string
		before     []service.ErasedPerson // In the file as it is.
	}{
		{"cut", line + line[:50], []service.ErasedPerson{first}},
		{"cut, and the only one", line[:1], nil},
		{"without its end", line[:len(line)-1], []service.ErasedPerson{first}},
		{"whole", line, []service.ErasedPerson{first}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "a.erasures")
			write(t, name, []byte(test.file))

			before, err := readErasures(name)
			if diff := cmp.Diff(test.before, before); diff != "" || err != nil {
				t.Errorf("before: got %v, %s", err, diff)
			}
			servicetest.Check(t, appendErasures(name, second))

			after, err := readErasures(name)
			if diff := cmp.Diff(append(before, second), after); diff != "" || err != nil {
				t.Errorf("after: got %v, %s", err, diff)
			}
		})
	}
}
