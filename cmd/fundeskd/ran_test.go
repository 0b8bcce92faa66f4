package main

import (
	"net/http"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// try runs a command line. What it returns says what the test wants of it.
func (e environment) try(words string, more ...string) servicetest.Ran {
	e.t.Helper()
	code, out, errs := e.run(words, more...)
	return servicetest.Ran{
		T:      e.t,
		Words:  append(servicetest.Words(words), more...),
		Stdout: out,
		Stderr: errs,
		Code:   code,
	}
}

// get asks for a path with a token, or without one if it is empty.
func (s serving) get(t testing.TB, path, token string) (int, string) {
	t.Helper()
	return get(t, http.DefaultClient, s.url+path, token)
}

// replies asks for a path, and wants a status, and texts in the answer.
func (s serving) replies(t testing.TB, path, token string, want int, texts ...string) {
	t.Helper()
	replies(t, s.url+path, token, want, texts...)
}

// replies asks for an address, and wants a status, and texts in the answer.
func replies(t testing.TB, url, token string, want int, texts ...string) {
	t.Helper()
	status, body := get(t, http.DefaultClient, url, token)
	if status != want {
		t.Errorf("%s: got %d %s, want %d", url, status, body, want)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s: got %s, want %s", url, body, text)
		}
	}
}
