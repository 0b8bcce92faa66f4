package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// splitWords splits a command line at blanks, but not between quotes.
func splitWords(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// try runs a command line. What it returns says what the test wants of it.
func (e environment) try(words string, more ...string) ran {
	e.t.Helper()
	code, out, errs := e.run(words, more...)
	return ran{t: e.t, words: append(splitWords(words), more...), stdout: out, stderr: errs, code: code}
}

// ran is what a command line printed, and its exit code.
type ran struct {
	t              testing.TB
	words          []string
	stdout, stderr string
	code           int
}

func (r ran) String() string {
	const format = "%.300q: got code %d, stdout %.2000q and stderr %.2000q"
	return fmt.Sprintf(format, r.words, r.code, r.stdout, r.stderr)
}

// ends wants an exit code, and texts on stderr.
func (r ran) ends(code int, texts ...string) ran {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("%s, want code %d", r, code)
	}
	return r.has("stderr", r.stderr, texts)
}

// fails wants a code that is not 0, and texts on stderr.
func (r ran) fails(texts ...string) ran {
	r.t.Helper()
	if r.code == exitDone {
		r.t.Errorf("%s, want it to fail", r)
	}
	return r.has("stderr", r.stderr, texts)
}

// mustEnd is ends for a command without which the test cannot go on.
func (r ran) mustEnd(code int, texts ...string) ran {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("%s, want code %d", r, code)
	}
	return r.has("stderr", r.stderr, texts)
}

// prints wants texts on stdout.
func (r ran) prints(texts ...string) ran {
	r.t.Helper()
	return r.has("stdout", r.stdout, texts)
}

// tells wants texts on stdout or stderr.
func (r ran) tells(texts ...string) ran {
	r.t.Helper()
	return r.has("stdout or stderr", r.stdout+r.stderr, texts)
}

// printsOnly wants a stdout that is the text.
func (r ran) printsOnly(text string) ran {
	r.t.Helper()
	if r.stdout != text {
		r.t.Errorf("%s, want the stdout %q", r, text)
	}
	return r
}

// saysOnly wants a stderr that is the text.
func (r ran) saysOnly(text string) ran {
	r.t.Helper()
	if r.stderr != text {
		r.t.Errorf("%s, want the stderr %q", r, text)
	}
	return r
}

// hides wants a stderr without the texts.
func (r ran) hides(texts ...string) ran {
	r.t.Helper()
	return r.hasNot("stderr", r.stderr, texts)
}

func (r ran) has(where, text string, wanted []string) ran {
	r.t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			r.t.Errorf("%s, want %q on %s", r, want, where)
		}
	}
	return r
}

func (r ran) hasNot(where, text string, unwanted []string) ran {
	r.t.Helper()
	for _, one := range unwanted {
		if strings.Contains(text, one) {
			r.t.Errorf("%s, want no %q on %s", r, one, where)
		}
	}
	return r
}

// get asks for a path with a token, or without one if it is empty.
func (s serving) get(t testing.TB, path, token string) (status int, body string) {
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
