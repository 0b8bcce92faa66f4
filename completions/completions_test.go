package completions_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient"
	"fundesk/completions"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// source completes from a service with sample data; down makes it unreachable.
func source(t *testing.T, token string, h *servicetest.Harness, dir string) completions.Source {
	t.Helper()
	return completions.Source{
		Dir: dir, Now: h.Clock.Now, Patience: time.Minute, // A busy machine is not what is tested.
		Connect: func(context.Context) (*apiclient.Client, error) {
			return apiclient.New(apiclient.Options{
				BaseURL: h.URL, Transport: h.Transport(), Token: func(context.Context) (string, error) { return token, nil },
			})
		},
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(30)
	s := source(t, h.Token(), h, t.TempDir())
	persons := s.Persons(t.Context(), "")
	if len(persons) == 0 || len(strings.Split(persons[0], "\t")) != 2 {
		t.Fatalf("got %q, want UUIDs with names", persons)
	}
	id, name, _ := strings.Cut(persons[0], "\t")
	if name == "" {
		t.Errorf("got %q, want a name behind the UUID", persons[0])
	}
	if got := s.Persons(t.Context(), strings.ToUpper(id[:8])); len(got) == 0 || got[0] != persons[0] {
		t.Errorf("got %q for a prefix, want %q", got, persons[0])
	}
	if got := s.Persons(t.Context(), "zzz"); len(got) != 0 {
		t.Errorf("got %q, want nothing", got)
	}
	if got := s.Calls(t.Context(), ""); len(got) == 0 || !strings.Contains(got[0], ", ") {
		t.Errorf("got %q, want calls with their state", got)
	}
	if got := s.Pledges(t.Context(), ""); len(got) == 0 || !strings.Contains(got[0], "€") {
		t.Errorf("got %q, want pledges with their amount", got)
	}
	noPersons := source(t, h.Token(servicetest.MayNot(service.PersonsRead)), h, "")
	if got := noPersons.Calls(t.Context(), ""); len(got) == 0 || strings.Contains(got[0], "\t ") {
		t.Errorf("got %q for an account that may not read persons, want the calls without them", got)
	}
	for _, found := range [][]string{s.ResultCodes(t.Context(), ""), s.Organizations(t.Context(), "")} {
		if len(found) == 0 {
			t.Error("got nothing, want codes and organizations")
		}
		for i := range found {
			if i > 0 && found[i-1] >= found[i] || strings.HasSuffix(found[i], "\t") {
				t.Errorf("got %q, want each once, sorted", found)
			}
		}
	}
	if got := s.Organizations(t.Context(), ""); !strings.Contains(got[0], "\t") {
		t.Errorf("got %q, want organizations with their names", got)
	}
}

// What is kept on disk belongs to one account, to its owner, and holds no more than
// names.
func TestCache(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(30)
	dir := filepath.Join(t.TempDir(), "fundesk")
	token := h.Token()
	before := source(t, token, h, dir).Persons(t.Context(), "")
	down := source(t, token, h, dir)
	down.Connect = func(context.Context) (*apiclient.Client, error) {
		return apiclient.New(apiclient.Options{BaseURL: h.URL, Transport: refuse{}, Token: func(context.Context) (string, error) { return token, nil }})
	}
	if got := down.Persons(t.Context(), ""); len(got) != len(before) {
		t.Errorf("got %d values without the service, want the %d that were kept", len(got), len(before))
	}
	h.Clock.Advance(30 * time.Second)
	if got := down.Persons(t.Context(), ""); len(got) != len(before) {
		t.Errorf("got %d values after half a minute, want the %d that were kept", len(got), len(before))
	}
	h.Clock.Advance(30 * time.Second)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := down.Persons(short, ""); len(got) != 0 {
		t.Errorf("got %d values after a minute, want none", len(got))
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 0 {
		t.Errorf("got %v, %v after a minute, want nothing on the disk", files, err)
	}
	source(t, token, h, dir).Persons(t.Context(), "")
	if got := source(t, h.Token(servicetest.MayNot(service.PersonsRead)), h, dir).Persons(t.Context(), ""); len(got) != 0 {
		t.Errorf("got %d values for an account that may not read persons, want none", len(got))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v, want a kept answer", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "@") || strings.Contains(string(data), "+31") || strings.Contains(string(data), "DEMO") {
			t.Errorf("got %s, want names only", data)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
		}
	}
	other := filepath.Join(dir, "other.json")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	completions.Forget(dir)
	if err := os.Remove(other); err != nil {
		t.Errorf("got %v, want a file of somebody else to stay", err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 0 {
		t.Errorf("got %v, %v, want nothing left", files, err)
	}
}

// A keyring that hangs must not hang the shell.
func TestHangingConnection(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s := completions.Source{Now: time.Now, Connect: func(context.Context) (*apiclient.Client, error) {
		<-release
		return nil, errors.New("released")
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := s.Persons(ctx, ""); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

// An answer may take as long as is said, and a second where nothing is.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ patience, want time.Duration }{{0, time.Second}, {-1, time.Second}, {1, 1}, {time.Minute, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			s := completions.Source{Now: time.Now, Patience: test.patience, Connect: func(ctx context.Context) (*apiclient.Client, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			started := time.Now()
			if got := s.Persons(t.Context(), ""); got != nil || time.Since(started) != test.want {
				t.Errorf("got %q after %s, want nothing after %s", got, time.Since(started), test.want)
			}
		})
	}
}

type refuse struct{}

func (refuse) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }
