package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/service"
	"fundesk/service/servicetest"
)

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

// A short command gives a server that is silent 10 s, and one that may take any time none.
// Spec gap: S26.
func TestPatienceOfShortCommands(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{0: 10 * time.Second, forgoTimeout: 0, time.Second: time.Second} {
		p := newFileEnvironment(t).program("", io.Discard, io.Discard)
		p.store.AnswerTimeout = given
		servicetest.Check(t, p.with(t.Context(), func(*service.Service) error { return nil }))
		if p.store.AnswerTimeout != want {
			t.Errorf("%v: got %v, want %v", given, p.store.AnswerTimeout, want)
		}
	}
}
