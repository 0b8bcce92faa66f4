package main

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// An operator checks, blocks and unblocks a number.
func TestDoNotCallCommands(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	organization := e.organization("A")
	other := e.organization("B")
	const number = "+31612345678"
	steps := []struct {
		args    string
		blocked bool
	}{
		{"check " + number, false},
		{"add " + number + " --organization " + organization.UUID, true},
		{"check " + number, true},
		{"check " + number + " --organization " + other.UUID, false},
		{"add " + number + " --organization " + other.UUID, true},
		{"remove " + number + " --organization " + other.UUID, false},
		{"check " + number + " --organization " + organization.UUID, true},
		{"remove " + number + " --organization " + organization.UUID, false},
		{"check " + number, false},
	}
	for _, step := range steps {
		var state apitype.NumberState
		e.must(&state, "do-not-call", servicetest.Words(step.args)...)
		if state.Blocked != step.blocked || (state.Since != nil) != step.blocked {
			t.Errorf("%s: got %+v, want blocked %t", step.args, state, step.blocked)
		}
	}
	for _, wrong := range []string{
		"check 0612345678",
		"check " + number + " --organization x",
		"check " + number + " --organization 6f1c4d5e-2b3a-4c8d-9e0f-1a2b3c4d5e6f",
		"add " + number,
		"add " + number + " --organization x",
		"add " + number + " --organization 6f1c4d5e-2b3a-4c8d-9e0f-1a2b3c4d5e6f",
	} {
		code, _, errs := e.run("do-not-call", servicetest.Words(wrong)...)
		if code != exitUsage || !strings.Contains(errs, "number") && !strings.Contains(errs, "rganization") {
			t.Errorf("%s: got exit code %d and %s, want a usage error that names the value", wrong, code, errs)
		}
	}
}

// A dump brings its blocked numbers, or is refused: a database that has blocked numbers of its own cannot read those of
// another one.
func TestDumpMovesBlocks(t *testing.T) {
	t.Parallel()
	const number = "+31612345678"
	block := func(e environment, number string) {
		t.Helper()
		organization := e.organization("A")
		var state apitype.NumberState
		e.must(&state, "do-not-call add", number, "--organization", organization.UUID)
	}
	isBlocked := func(e environment, number string) bool {
		t.Helper()
		var state apitype.NumberState
		e.must(&state, "do-not-call check", number)
		return state.Blocked
	}
	from := newEnvironment(t)
	block(from, number)
	_, dump, _ := from.run("dump -")
	for _, more := range []string{"", "--skip-existing"} {
		empty := newEnvironment(t)
		code, _, errs := empty.reading(dump).run("load -", servicetest.Words(more)...)
		if code != 0 || !isBlocked(empty, number) {
			t.Errorf("%s into an empty database: got exit code %d, %s and the number not blocked", more, code, errs)
		}
		used := newEnvironment(t)
		block(used, "+31687654321")
		code, _, errs = used.reading(dump).run("load -", servicetest.Words(more)...)
		if code == 0 || !strings.Contains(errs, "blocked numbers of its own") {
			t.Errorf("%s into a database with blocks: got exit code %d and %s, want a refusal", more, code, errs)
		}
		if isBlocked(used, number) || !isBlocked(used, "+31687654321") {
			t.Error("the refused dump changed the blocks")
		}
	}
	code, _, errs := from.reading(dump).run("load - --skip-existing")
	if code != 0 || !isBlocked(from, number) {
		t.Errorf("the same dump again: got exit code %d and %s", code, errs)
	}
}
