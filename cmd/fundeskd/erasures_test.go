package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// TestErasuresAreCopied gives the file of a machine the erasures that another one has noted, once, so that a replay
// there repeats them after a restore.
func TestErasuresAreCopied(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	c := newCharity(t, e)
	var erased []string
	for range 3 {
		person := c.must("POST", "/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
		e.done("person erase", person, "--reason", "r", "--yes")
		erased = append(erased, person)
	}
	other := filepath.Join(t.TempDir(), "other.erasures")
	servicetest.Check(
		t,
		os.WriteFile(other, fmt.Appendf(nil, `{"uuid":%q,"erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n", erased[0]),
			0o600),
	)
	for range 2 {
		var out, errs bytes.Buffer
		p := e.program("", &out, &errs)
		p.database = "sqlite:" + filepath.Join(e.folder, "fundeskd.db")
		servicetest.Check(t, p.withService(t.Context(), access{}, func(s *service.Service) error {
			_, err := p.copyErasures(t.Context(), s, other)
			return err
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
	person := c.must("POST", "/api/v1/persons",
		fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	other := filepath.Join(t.TempDir(), "other.erasures")
	s := e.serve("--erasures-log", other)
	for _, err := os.Stat(other); err != nil; _, err = os.Stat(other) { // The first copy makes the file.
		s.get(t, "/healthz", "")
	}
	e.done("person erase", person, "--reason", "r", "--yes")
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
	person := c.must("POST", "/api/v1/persons",
		fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, c.organization))
	other := filepath.Join(t.TempDir(), "other.erasures")
	draining := e
	draining.sleep = func(time.Duration) {
		e.done("person erase", person, "--reason", "r", "--yes")
	}
	s := draining.serve("--erasures-log", other, "--drain", "5s")

	s.stop()

	if noted := readFile(t, other); strings.Count(string(noted), person) != 1 {
		t.Errorf("got %q, want the erasure of %s", noted, person)
	}
}

// TestLostErasuresAreTold puts a database back and serves it without a replay: the log, the metric and check say so
// until the replay.
func TestLostErasuresAreTold(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	person := e.donorWithCalls(1)
	backup := filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	e.done("person erase", person.String(), "--reason", "r", "--yes")
	e.done("check")
	e.done("restore", backup)
	s := e.serve()
	isTold := func(text string) bool { return strings.Contains(text, "the database lacks 1 erasure of ") }
	for !isTold(s.log.String()) { // After the start.
		s.get(t, "/healthz", "")
	}
	_, page := s.get(t, "/metrics", "")
	if !strings.Contains(page, "\nfundeskd_erasures_lost 1\n") {
		t.Errorf("got %s, want the metric of the lost erasure", page)
	}
	s.stop()
	e.try("check").Ends(exitFailure, "1 problem").Prints("run fundeskd erasures replay")
	e.done("erasures replay")
	e.done("check")
}

// TestReplayBesideAnErasure replays the erasures while one of many calls is not finished, as after a crash. The
// database was not restored: the replay ends no token, and the audit keeps the reason of the erasure.
func TestReplayBesideAnErasure(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		e.t = t
		account := e.account("a", "--all-organizations")
		person := e.donorWithCalls(60)
		p := e.program("", io.Discard, io.Discard)
		p.database = e.database
		err := p.withStore(t.Context(), access{}, func(store *sqlstore.Store) error {
			s, err := service.New(t.Context(), service.Options{Store: &crashingStore{Store: store, writes: 1}})
			servicetest.Check(t, err)
			_, err = privacy.New(s, p.recordErasures("")).Erase(t.Context(), person,
				apitype.EraseRequest{Reason: "request 17"})
			return err
		})
		if !errors.Is(err, errCrashed) {
			t.Fatalf("got %v, want an erasure that did not finish", err)
		}

		var done struct{ Noted, Ended int }
		e.must(&done, "erasures replay")

		if done.Noted != 1 || done.Ended != 0 {
			t.Errorf("got %+v, want an erasure, and no token that ended", done)
		}
		e.accepts(account.Token, true)
		var lines []struct{ Operation, Reason string }
		e.must(&lines, "audit list --person", person.String())
		if last := lines[len(lines)-1]; last.Operation != "person.erase" || last.Reason != "request 17" {
			t.Errorf("got the last line %+v, want the erasure with its reason", last)
		}
	})
}

// donorWithCalls loads a person with calls that have ended.
func (e environment) donorWithCalls(calls int) apitype.UUID {
	e.t.Helper()
	person, organization := apitype.NewUUID(), apitype.NewUUID()
	var lines strings.Builder
	fmt.Fprintf(&lines, `{"kind":"organization","data":{"uuid":%q,"name":"A","abbreviation":"A"}}`+"\n", organization)
	fmt.Fprintf(&lines, `{"kind":"person","data":{"uuid":%q,"createdAt":"2026-11-20","owningOrganizationUuid":%q,`+
		`"recruitingOrganizationUuid":%[2]q}}`+"\n", person, organization)
	for range calls {
		fmt.Fprintf(&lines, `{"kind":"call","data":{"uuid":%q,"personUuid":%q,"type":"winback","status":"cancelled",`+
			`"requestedAt":"2026-11-20","lastUpdatedAt":"2026-11-20","cancelledAt":"2026-11-20","attemptsCount":0,`+
			`"attempts":[],"notes":"a"}}`+"\n", apitype.NewUUID(), person)
	}
	e.reading(lines.String()).done("load -")
	return person
}

// crashingStore fails every change after some.
type crashingStore struct {
	service.Store

	writes int
}

var errCrashed = errors.New("crashed")

// Write runs a change, or fails.
func (s *crashingStore) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	if s.writes == 0 {
		return errCrashed
	}
	s.writes--
	return s.Store.Write(ctx, mode, change)
}

// TestRefusedErasureIsNotReplayed refuses the commit of an erasure, once together with what takes it back from the
// file. A replay repeats what was confirmed, and nothing else.
func TestRefusedErasureIsNotReplayed(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		e.t = t
		e.account("a", "--all-organizations")
		refused, erased := e.donorWithCalls(1), e.donorWithCalls(60)
		p := e.program("", io.Discard, io.Discard)
		p.database = e.database
		servicetest.Check(t, p.withStore(t.Context(), access{}, func(store *sqlstore.Store) error {
			refusing := &refusingStore{Store: store}
			s, err := service.New(t.Context(), service.Options{Store: refusing})
			servicetest.Check(t, err)
			erasing := privacy.New(s, p.recordErasures(""))
			for _, try := range []struct {
				person  apitype.UUID
				refuses int // So many changes.
			}{{refused, 2}, {erased, 1}, {erased, 0}} {
				refusing.changes = try.refuses
				_, err := erasing.Erase(t.Context(), try.person, apitype.EraseRequest{Reason: "r"})
				isRefused := errors.Is(err, errCrashed) && !strings.Contains(err.Error(), "still has it")
				if isRefused != (try.refuses > 0) {
					t.Errorf("got %v, with %d changes refused", err, try.refuses)
				}
			}
			return erasing.FinishErasures(t.Context())
		}))

		var done struct{ Noted, Replayed int }
		e.must(&done, "erasures replay")

		if done.Noted != 1 || done.Replayed != 0 {
			t.Errorf("got %+v, want the confirmed erasure alone, and nothing to repeat", done)
		}
	})
}

// refusingStore refuses the commit of some changes, and runs each of the others twice, as after a conflict.
type refusingStore struct {
	service.Store

	changes int
}

// Write runs a change, and does not keep it while changes are refused.
func (s *refusingStore) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	err := s.Store.Write(ctx, mode, func(tx service.Tx) error { return errors.Join(change(tx), errCrashed) })
	if s.changes == 0 {
		return s.Store.Write(ctx, mode, change)
	}
	s.changes--
	return err
}

// TestErasureAfterACutLine erases a person after a full disk, or a crash, cut the last line of the file short. The
// erasure of that line was refused. The next one is not joined to it, so a replay can read the file.
func TestErasureAfterACutLine(t *testing.T) {
	t.Parallel()
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	first := service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: at}
	second := service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: at}
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

			for range 2 {
				servicetest.Check(t, removeErasure(name, first))
			}
			left, err := readErasures(name)
			if diff := cmp.Diff([]service.ErasedPerson{second}, left); diff != "" || err != nil {
				t.Errorf("without the first: got %v, %s", err, diff)
			}
		})
	}
}
