package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// unreadable is a text of records that latin1 sends as a byte of Latin-1.
const unreadable = "QzQzQ"

// latin1 is a service whose answers hold a byte that is not UTF-8.
type latin1 struct{ http.Handler }

func (h latin1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	h.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(bytes.ReplaceAll(recorded.Body.Bytes(), []byte(unreadable), []byte{0xe9}))
}

// Every command that prints a record replaces a byte that is not UTF-8, and says so once, without the record's text.
func TestAnswersInLatin1(t *testing.T) {
	t.Parallel()
	h := plain(t)
	h.Sample(3)
	address := serving(t, latin1{h.Handler}.ServeHTTP)
	token := h.Token(servicetest.May(slices.Concat(service.Permissions, service.NamedPermissions)...))
	setup := lineAt(t, h.URL, token)
	id := strings.TrimSpace(setup.must(t, "person", "list", "--limit", "1", "-q", "-o", "id"))
	setup.must(t, "person", "update", id, "--last-name", "Ren"+unreadable)
	question := "SELECT lastName FROM persons"
	for _, words := range [][]string{
		{"person", "get", id, "-o", "json"},
		{"person", "get", id, "-o", "csv"},
		{"person", "get", id, "-o", "table"},
		{"person", "get", id, "--jq", ".lastName"},
		{"person", "list", "-o", "json"},
		{"person", "list", "-o", "ndjson", "-q"},
		{"person", "list", "-o", "csv"},
		{"person", "list", "-o", "csv", "--for-excel", "NL"},
		{"person", "list", "-o", "tsv"},
		{"person", "list", "-o", "table"},
		{"person", "list", "-o", "wide"},
		{"person", "list", "--jq", ".[].lastName"},
		{"person", "list", "--sort-by", "lastName", "-o", "json"},
		{"person", "export", id},
		{"api", "GET", "/api/v1/persons/" + id},
		{"api", "GET", "/api/v1/persons", "-o", "ndjson"},
		{"pledge", "list", "--include", "person", "-o", "json"},
		{"pull", "person"},
		{"pull", "person", "-o", "csv"},
		{"pull", "person", "--exec", "cat"},
		{"copy", "sync"},
		{"query", question, "-o", "json"},
		{"query", question, "-o", "csv"},
		{"query", question, "-o", "table"},
		{"person", "update", id, "--first-name", "Yara", "-o", "json"},
	} {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			l := lineAt(t, address, token)
			out, errs, code := l.run(t, "", words...)
			if code != 0 {
				t.Fatalf("got exit code %d and %s", code, errs)
			}
			printed := words[0] != "copy"
			if got := strings.Contains(out, "Ren\ufffd"); got != printed || !utf8.ValidString(out) {
				t.Errorf("got %q, want Ren and U+FFFD", out)
			}
			isJSON := words[len(words)-1] == "json" || words[0] == "api"
			if isJSON && !json.Valid([]byte(out)) {
				t.Errorf("got %q, want JSON", out)
			}
			if strings.Count(errs, "not UTF-8") != 1 || strings.Contains(errs, "Ren") {
				t.Errorf("got %q, want one sentence without the name", errs)
			}
		})
	}
}

// A refusal in Latin-1 is read too, and a file that is not JSON stays as it is.
func TestOtherAnswersInLatin1(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind, body string
		status, code     int
		want             string
	}{
		{
			name:   "a refusal",
			kind:   "application/problem+json",
			body:   `{"title":"refus` + "\xe9" + `"}`,
			status: http.StatusConflict,
			code:   6,
			want:   "refus\ufffd",
		},
		{"a file", "text/csv", "Ren\xe9", http.StatusOK, 0, "Ren\xe9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.status)
				_, err := w.Write([]byte(test.body))
				servicetest.Report(t, err)
			})
			l := lineAt(t, address, "token")
			l.try(t, "api GET /api/v1/files/1").Ends(test.code).Tells(test.want)
		})
	}
}

// endsAfter ends a command when it has written a text.
type endsAfter struct {
	text string
	end  context.CancelFunc
	all  bytes.Buffer
}

func (w *endsAfter) Write(text []byte) (int, error) {
	if n, err := w.all.Write(text); err != nil || bytes.Contains(w.all.Bytes(), []byte(w.text)) {
		w.end()
		return n, err
	}
	return len(text), nil
}

// A pull that follows says so after the round, and not when it ends weeks later.
func TestFollowingInLatin1(t *testing.T) {
	t.Parallel()
	h := plain(t)
	h.Sample(3)
	address := serving(t, latin1{h.Handler}.ServeHTTP)
	environment := homeAt(t, h.URL, h.Token())
	l := line{environment: environment}
	id := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o id"))
	l.must(t, "person update", id, "--last-name", "Ren"+unreadable)
	environment["FUNDESK_BASE_URL"] = address
	slow, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	ctx, end := context.WithCancel(slow)
	defer end()
	errs := &endsAfter{text: "not UTF-8", end: end}
	Run(ctx, []string{"pull", "person", "--follow"}, appOf(environment, strings.NewReader(""), io.Discard, errs))
	if slow.Err() != nil || strings.Count(errs.all.String(), errs.text) != 1 {
		t.Errorf("got %q, want one sentence after the first round", errs.all.String())
	}
}
