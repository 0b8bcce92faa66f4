package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

const anAttempt = `{"userUuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`

// attempts returns how many attempts a call has.
func (s sandboxed) attempts(call string) int {
	s.t.Helper()
	var node struct{ Attempts []struct{ UUID string } }
	s.must("GET", call, "", &node)
	return len(node.Attempts)
}

// A refusal on demand looks like the service's own: programs must not see a difference.
func TestSandboxRefusals(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t)
	call := s.aCall()
	for status, advice := range map[int]string{
		401: "Www-Authenticate",
		403: "",
		429: "Retry-After",
		500: "",
		503: "Retry-After",
	} {
		attempts := s.attempts(call)
		s.must("PUT", "/sandbox/fault", `{"fault":"`+strconv.Itoa(status)+`","times":2,"method":"PUT"}`, nil)
		for range 2 {
			response, text, err := s.send("PUT", call+"/actions/add-attempt", anAttempt,
				map[string]string{"X-Request-Id": "mine"})
			servicetest.Check(t, err)
			var problem apitype.Problem
			if err := json.Unmarshal(text, &problem); err != nil || response.StatusCode != status ||
				problem.Status != status || problem.Instance != "mine" ||
				!strings.HasPrefix(problem.Type, "urn:fundesk:problem:") || problem.Title == "" {
				t.Errorf("got status %d, %s, want a problem of status %d", response.StatusCode, text, status)
			}
			for name, want := range map[string]string{
				"Content-Type":  "application/problem+json",
				"X-Request-Id":  "mine",
				"Cache-Control": "no-store",
			} {
				if got := response.Header.Get(name); got != want {
					t.Errorf("%d: got %s %q, want %q", status, name, got, want)
				}
			}
			for _, name := range []string{"Www-Authenticate", "Retry-After"} {
				if got := response.Header.Get(name); (got != "") != (name == advice) {
					t.Errorf("%d: got %s %q", status, name, got)
				}
			}
		}
		if got := s.attempts(call); got != attempts {
			t.Errorf("%d: got %d attempts, want none added", status, got-attempts)
		}
	}
	s.must("PUT", "/sandbox/fault", `{"fault":"502"}`, nil)
	response, text, err := s.send("GET", call, "", nil)
	if err != nil ||
		response.StatusCode != http.StatusBadGateway ||
		response.Header.Get("Content-Type") != "text/html" ||
		response.Header.Get("X-Request-Id") != "" {
		t.Errorf("got %v, %s, %v, want a page of a proxy", response, text, err)
	}
}

// Whether a change was made does not hang on whether its answer came.
func TestSandboxBrokenAnswers(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t)
	call := s.aCall()
	tests := []struct {
		fault string
		added int
		check func(response *http.Response, text []byte, err error) bool
	}{
		{`"dropped-before-commit"`, 0, func(r *http.Response, _ []byte, err error) bool {
			return r == nil &&
				err != nil
		}},
		{`"dropped-after-commit"`, 1, func(r *http.Response, _ []byte, err error) bool {
			return r == nil &&
				err != nil
		}},
		{`"truncated"`, 1, func(r *http.Response, text []byte, err error) bool {
			return r != nil && r.StatusCode == http.StatusOK && errors.Is(err, io.ErrUnexpectedEOF) && len(text) > 0 &&
				!json.Valid(text)
		}},
		{`"not-json"`, 1, func(r *http.Response, text []byte, err error) bool {
			return err == nil && r.StatusCode == http.StatusOK && !json.Valid(text)
		}},
		{`"slow-body","delay":"1ms"`, 1, func(r *http.Response, text []byte, err error) bool {
			return err == nil && r.StatusCode == http.StatusOK && json.Valid(text)
		}},
		{`"slow","delay":"1ms"`, 1, func(r *http.Response, text []byte, err error) bool {
			return err == nil && json.Valid(text)
		}},
	}
	for _, test := range tests {
		attempts := s.attempts(call)
		s.must("PUT", "/sandbox/fault", `{"fault":`+test.fault+`,"method":"put","path":"/add-attempt"}`, nil)
		s.must("GET", call, "", nil) // Not a request that the fault fits.
		response, text, err := s.send("PUT", call+"/actions/add-attempt", anAttempt, nil)
		if !test.check(response, text, err) {
			t.Errorf("%s: got %v, %s, %v", test.fault, response, text, err)
		}
		servicetest.Same(t, test.fault, test.added, s.attempts(call)-attempts)
	}
}
