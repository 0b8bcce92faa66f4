package servicetest

import (
	"fmt"
	"strings"
	"testing"
)

// Ran is what a command line printed, and its exit code.
type Ran struct {
	T              testing.TB
	Words          []string // Of the command line.
	Stdout, Stderr string
	Code           int
}

// Words splits a command line at blanks, but not between single quotes.
func Words(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// All returns what the command printed, and its exit code.
func (r Ran) All() (out, errs string, code int) { return r.Stdout, r.Stderr, r.Code }

// String describes the run in the failure of a test.
func (r Ran) String() string {
	const format = "%.300q: got exit code %d, stdout %.2000q and stderr %.2000q"
	return fmt.Sprintf(format, r.Words, r.Code, r.Stdout, r.Stderr)
}

// Ends wants an exit code, and texts on stderr.
func (r Ran) Ends(code int, texts ...string) Ran {
	r.T.Helper()
	if r.Code != code {
		r.T.Errorf("%s, want exit code %d", r, code)
	}
	return r.has("stderr", r.Stderr, texts)
}

// MustEnd is Ends for a command without which the test cannot go on.
func (r Ran) MustEnd(code int, texts ...string) Ran {
	r.T.Helper()
	r.Ends(code, texts...)
	if r.Code != code {
		r.T.FailNow()
	}
	return r
}

// Fails wants an exit code that is not 0, and texts on stderr.
func (r Ran) Fails(texts ...string) Ran {
	r.T.Helper()
	if r.Code == 0 {
		r.T.Errorf("%s, want it to fail", r)
	}
	return r.has("stderr", r.Stderr, texts)
}

// Prints wants texts on stdout.
func (r Ran) Prints(texts ...string) Ran {
	r.T.Helper()
	return r.has("stdout", r.Stdout, texts)
}

// Tells wants texts on stdout or stderr.
func (r Ran) Tells(texts ...string) Ran {
	r.T.Helper()
	return r.has("stdout or stderr", r.Stdout+r.Stderr, texts)
}

// PrintsOnly wants a stdout that is the text.
func (r Ran) PrintsOnly(text string) Ran {
	r.T.Helper()
	return r.is("stdout", r.Stdout, text)
}

// PrintsLine wants a stdout that is the text but for blanks around it.
func (r Ran) PrintsLine(text string) Ran {
	r.T.Helper()
	return r.is("stdout", strings.TrimSpace(r.Stdout), text)
}

// SaysOnly wants a stderr that is the text.
func (r Ran) SaysOnly(text string) Ran {
	r.T.Helper()
	return r.is("stderr", r.Stderr, text)
}

// Hides wants a stderr without the texts.
func (r Ran) Hides(texts ...string) Ran {
	r.T.Helper()
	return r.hasNot("stderr", r.Stderr, texts)
}

// Omits wants a stdout without the texts.
func (r Ran) Omits(texts ...string) Ran {
	r.T.Helper()
	return r.hasNot("stdout", r.Stdout, texts)
}

// Lacks wants neither a stdout nor a stderr with the texts.
func (r Ran) Lacks(texts ...string) Ran {
	r.T.Helper()
	return r.hasNot("stdout or stderr", r.Stdout+r.Stderr, texts)
}

func (r Ran) is(where, text, want string) Ran {
	r.T.Helper()
	if text != want {
		r.T.Errorf("%s, want %q on %s", r, want, where)
	}
	return r
}

func (r Ran) has(where, text string, wanted []string) Ran {
	r.T.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			r.T.Errorf("%s, want %q on %s", r, want, where)
		}
	}
	return r
}

func (r Ran) hasNot(where, text string, unwanted []string) Ran {
	r.T.Helper()
	for _, one := range unwanted {
		if strings.Contains(text, one) {
			r.T.Errorf("%s, want no %q on %s", r, one, where)
		}
	}
	return r
}
