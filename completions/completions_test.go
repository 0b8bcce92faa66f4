package completions_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient"
	"fundesk/completions"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// source completes from a service with sample data.
func source(t *testing.T, token string, h *servicetest.Harness) completions.Source {
	t.Helper()
	return completions.Source{
		Patience: time.Minute, // A busy machine is not what is tested.
		Connect: func(context.Context) (*apiclient.Client, error) {
			return apiclient.New(apiclient.Options{
				BaseURL:   h.URL,
				Transport: h.Transport(),
				Token:     func(context.Context) (string, error) { return token, nil },
			})
		},
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(30)
	s := source(t, h.Token(), h)
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
	noPersons := source(t, h.Token(servicetest.MayNot(service.PersonsRead)), h)
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

// A keyring that hangs must not hang the shell.
func TestHangingConnection(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s := completions.Source{Connect: func(context.Context) (*apiclient.Client, error) {
		<-release
		return nil, errors.New("released")
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := s.Persons(ctx, ""); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}

// An answer may take the given time, or a second by default.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ patience, want time.Duration }{
		{0, time.Second},
		{-1, time.Second},
		{1, 1},
		{time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := completions.Source{
				Patience: test.patience,
				Connect: func(ctx context.Context) (*apiclient.Client, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}
			started := time.Now()
			if got := s.Persons(t.Context(), ""); got != nil || time.Since(started) != test.want {
				t.Errorf("got %q after %s, want nothing after %s", got, time.Since(started), test.want)
			}
		})
	}
}
