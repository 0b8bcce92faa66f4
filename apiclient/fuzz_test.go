package apiclient

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Each refusal is a sentence of bounded length.
func FuzzRefusal(f *testing.F) {
	for _, seed := range []string{
		`{"title":"no","detail":"that is refused","errors":[{"pointer":"/a","message":"b"}]}`, `{"message":["a","b"]}`,
		`{"error":{"message":"x"}}`,
		"<html><h1>no", "<h1", "plain", "", "\xff\xfe", `"text"`, `[["a"]]`, `{"errors":{"a":["b"]}}`, "<İ>a</İ>",
		"</", "<h1>&#0;",
	} {
		f.Add("application/json", seed, "3")
		f.Add("text/html", seed, "Fri, 20 Nov 2026 09:15:00 GMT")
	}
	f.Fuzz(func(t *testing.T, contentType, body, wait string) {
		r := &Response{
			Status: 400,
			Body:   []byte(body),
			Header: http.Header{"Content-Type": {contentType}, "Retry-After": {wait}},
		}
		e := r.failure(time.Now())
		if e.Message == "" ||
			utf8.RuneCountInString(e.Message) > 301 ||
			strings.ContainsRune(e.Message, '\n') ||
			!utf8.ValidString(e.Message) {
			t.Errorf("%q: got %q, want one sentence", body, e.Message)
		}
		if len(e.Detail) > 100 || e.RetryAfter < 0 {
			t.Errorf("%q: got %d details and a wait of %s", body, len(e.Detail), e.RetryAfter)
		}
	})
}

// A token is read without being trusted.
func FuzzTokenClaims(f *testing.F) {
	for _, seed := range []string{"a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.", "..", "", "a.e30.c", "a.bnVsbA.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if subject := ClaimsOf(token).Subject; subject != "" && strings.Count(token, ".") != 2 {
			t.Errorf("%q: got the subject %q of what is not a token", token, subject)
		}
	})
}

// Numbers and texts are the same before they are compared, in whatever form.
func FuzzSameValue(f *testing.F) {
	f.Add("completedAt", "2026-11-20T09:15:00Z", "2026-11-20T10:15:00+01:00")
	f.Add("iban", "NL91", "nl91")
	f.Add("donationAmount", "12.50", "12.5")
	f.Fuzz(func(t *testing.T, field, a, b string) {
		if IsSame(field, a, b) != IsSame(field, b, a) {
			t.Errorf("%s: %q and %q are the same in one order only", field, a, b)
		}
		if !IsSame(field, a, a) {
			t.Errorf("%s: %q is not the same as itself", field, a)
		}
	})
}
