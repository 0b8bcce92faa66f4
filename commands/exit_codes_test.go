package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/service/servicetest"
)

const testID = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"

// against runs one command line against a service of its own.
func against(t *testing.T, handler http.HandlerFunc, words string, more ...string) (out, errs string, code int) {
	t.Helper()
	return lineAt(t, serving(t, handler), "secret-token").run(t, words, more...)
}

func status(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func reset(w http.ResponseWriter, _ *http.Request) {
	if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
		connection.Close()
	}
}

// readsThen answers reads with a requested call, and changes as another handler does.
func readsThen(change http.HandlerFunc) http.HandlerFunc {
	read := status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[]}`)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			read(w, r)
			return
		}
		change(w, r)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	problem := func(code int) http.HandlerFunc {
		return status(code, "application/problem+json", `{"title":"no","detail":"that is refused"}`)
	}
	const get, attempt, cancel = "call get " + testID, "call attempt " + testID, "call cancel " + testID + " --yes"
	const outbox, other = " --outbox --retry 0 --yes", " 00000409-2222-4222-8222-222222222222"
	refusesOther := func(w http.ResponseWriter, r *http.Request) {
		problem(map[bool]int{true: 409, false: 503}[strings.Contains(r.URL.Path, "00000409")])(w, r)
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		line    string
		code    int
		kind    string
	}{
		{"found", status(200, "application/json", `{"uuid":"`+testID+`"}`), get, 0, ""},
		{"not found", problem(404), get, 3, "not_found"},
		{"not authenticated", problem(401), get, 4, "unauthenticated"},
		{"forbidden", problem(403), get, 5, "forbidden"},
		{"conflict", problem(409), get, 6, "conflict"},
		{"bad request", problem(400), get, 7, "rejected"},
		{"method not allowed", problem(405), get, 7, "rejected"},
		{"gone", problem(410), get, 7, "rejected"},
		{"a server error", problem(500), get, 8, "unavailable"},
		{"a redirect", status(302, "text/html", ""), get, 8, "unavailable"},
		{"HTML", status(200, "text/html", "<h1>Log in</h1>"), get, 8, "unavailable"},
		{"half a record", status(200, "application/json", `{"uuid":`), get, 8, "unavailable"},
		{"a reset", reset, get, 8, "unavailable"},
		{"one of two is missing", problem(404), get + " " + testID, 9, "partial"},
		{"a change that is refused", readsThen(problem(400)), attempt, 7, "rejected"},
		{"a change that conflicts", readsThen(problem(409)), attempt, 6, "conflict"},
		{"a change under a limit", readsThen(problem(429)), attempt, 8, "unavailable"},
		{"a change that is redirected", readsThen(status(307, "", "")), attempt, 8, "unavailable"},
		{"an attempt whose answer is lost", readsThen(reset), attempt, 10, "unknown_outcome"},
		{"a move whose answer is always lost", readsThen(reset), cancel, 10, "unknown_outcome"},
		{"a move while the service is down", readsThen(problem(503)), cancel, 8, "unavailable"},
		{"a move that nobody can look up", reset, cancel, 10, "unknown_outcome"},
		{"a bulk change of which all fail", problem(403), attempt + " " + testID + " --yes", 9, "partial"},
		{"a change that waits in the outbox", problem(503), attempt + outbox, 10, "unknown_outcome"},
		{"several changes that wait in the outbox", problem(503), attempt + other + outbox, 10, "unknown_outcome"},
		{"several, one waits and one is refused", refusesOther, attempt + other + outbox, 9, "partial"},
		{"a list that is not there", problem(404), "call list", 8, "unavailable"},
		{"a list that fails", problem(500), "person list --all", 8, "unavailable"},
		{"plain http elsewhere", problem(500), "call list --base-url http://api.example.org", 2, "usage"},
		{"a malformed UUID", problem(500), "call get nonsense", 2, "usage"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := tryAgainst(t, test.handler, test.line+" -o json").Ends(test.code)
			if test.kind == "" {
				return
			}
			got.Lacks("secret-token")
			var report struct{ Error cli.Report }
			servicetest.Check(t, json.Unmarshal([]byte(got.Stderr), &report))
			servicetest.Same(t, "kind", test.kind, string(report.Error.Kind))
			servicetest.Same(t, "lines on stderr", 1, strings.Count(got.Stderr, "\n"))
			if got.Stdout != "" && !json.Valid([]byte(got.Stdout)) {
				t.Errorf("%s, want nothing on stdout, or JSON", got)
			}
		})
	}
}

// brokenPipe is a service that breaks connections while a request is written.
type brokenPipe struct{ cli.Embedded }

func (brokenPipe) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
}

func (brokenPipe) Token() string { return "token" }

func (brokenPipe) Close() error { return nil }

// A closed pipe of the output ends a command quietly, a connection that breaks with the
// same error does not.
func TestBrokenConnectionIsNoClosedPipe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		code int
	}{
		{"call get " + testID, 8},
		{"call get " + testID + " " + testID, 9},
		{"call list --all", 8},
		{"call stats", 8},
		{"pull call", 8},
		{"api POST /api/v1/calls", 10},
		{"call attempt " + testID, 10},
		{"processed mark call " + testID, 10},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			home := t.TempDir()
			code := Run(t.Context(), append(strings.Fields(test.line), "--profile", "demo"), cli.App{
				In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now,
				Getenv:       func(name string) string { return map[string]string{"HOME": home}[name] },
				Sleep:        func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
				OpenEmbedded: func(context.Context, string, string) (cli.Embedded, error) { return brokenPipe{}, nil },
			})
			if code != test.code || stderr.Len() == 0 {
				t.Errorf("got exit code %d and %q, want %d and why", code, &stderr, test.code)
			}
		})
	}
}

// A list that fails later keeps its output, and ends with an error.
func TestListThatFailsLater(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") != "" {
			status(500, "application/json", `{}`)(w, r)
			return
		}
		status(
			200,
			"application/json",
			`{"pageInfo":{"endCursor":"c","hasNextPage":true},"edges":[{"cursor":"c","node":{"uuid":"`+testID+`"}}]}`,
		)(w, r)
	}
	for _, format := range []string{"json", "ndjson", "id"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			out, errs, code := against(t, handler, "call list --all -o", format)
			if code != 8 || !strings.Contains(out, testID) || errs == "" {
				t.Errorf("got exit code %d, %q and %q, want 8 with what was printed", code, out, errs)
			}
		})
	}
}

// Text of the service reaches a terminal only in a visible form, errors included.
func TestErrorsAreClean(t *testing.T) {
	t.Parallel()
	body := fmt.Sprintf(`{"detail":%q,"errors":[{"pointer":"/a","message":%q}]}`, "x\u001b[31my\u202e", "z\u009b")
	_, errs, _ := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Request-Id"] = []string{"id\u202e"}
		status(400, "application/json", strings.ReplaceAll(body, `\x1b`, `\u001b`))(w, r)
	}, "call get", testID)
	if strings.ContainsAny(errs, "\u001b\u202e\u009b") || !strings.Contains(errs, `\u202e`) {
		t.Errorf("got %q, want nothing that moves a terminal", errs)
	}
}

// Other commands read identifiers, one a line. A value that is not an identifier is not printed as one.
func TestNoIdentifier(t *testing.T) {
	t.Parallel()
	for _, uuid := range []string{`null`, `7`, `""`, `"` + testID + `\n` + testID + `"`} {
		tryAgainst(
			t, status(200, "application/json", `[{"uuid":`+uuid+`}]`), "person list -o id",
		).Ends(8).PrintsOnly("")
	}
}

// A message names the record, or the flag, that is wrong.
func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	odd := status(200, "application/json", `[{"uuid":"`+testID+`","attemptsCount":"7"}]`)
	for _, test := range []struct {
		want string
		code int
		args []string
	}{
		{
			want: "the record " + testID + " is not what the interface promises: the field /attemptsCount",
			code: 8,
			args: []string{"call", "list", "-o", "csv"},
		},
		{"--rating must be a number from 0 to 10", 2, []string{"call", "complete", testID, "--rating", "11"}},
		{
			want: "--notes must have at most 20000 characters",
			code: 2,
			args: []string{"call", "complete", testID, "--notes", strings.Repeat("a", 20_001)},
		},
		{"call attempt for 1 call at http://127.0.0.1:", 2, []string{"call", "attempt", testID, testID}},
	} {
		tryAgainst(t, odd, "", test.args...).Ends(test.code, test.want)
	}
}

// marksOnce takes the first request that marks entries and answers later ones otherwise.
func marksOnce(later http.HandlerFunc) http.HandlerFunc {
	var requests atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		later(w, r)
	}
}

// Many entries are reported apart: those that were marked before a request failed, and those that perhaps were not.
func TestMarksThatBreakOff(t *testing.T) {
	t.Parallel()
	const entries = 502
	args := []string{"processed", "mark", "call"}
	for range entries {
		args = append(args, apitype.NewUUID().String())
	}
	args = append(args, "--yes", "-o", "ndjson")
	out, errs, code := against(t, marksOnce(status(503, "text/plain", "down")), "", args...)
	marked, open := strings.Count(out, `"ok":true`), strings.Count(out, `"error":"perhaps not marked: `)
	if code != 9 || marked != 500 || open != 2 {
		t.Errorf("got exit code %d, %d marked and %d open, want 9, 500 and 2", code, marked, open)
	}
	if !strings.Contains(errs, "the last 2 entries are perhaps not marked") || !strings.Contains(errs, "run it again") {
		t.Errorf("got %s, want what was done and what to do", errs)
	}
	bad := `{"errors":[{"entityName":"call","entityUuid":"` + args[3] + `","errorMessage":"unknown"}]}`
	out, _, code = against(t, status(400, "application/json", bad), "", args...)
	if strings.Count(out, `"error":"unknown"`) != 1 ||
		strings.Count(out, `"error":"perhaps not marked: `) != entries-1 ||
		code != 9 {
		t.Errorf("got exit code %d and %.300s…, want one refused and all others open", code, out)
	}
}

// The results had no reader, and a failure still counts.
func TestRefusedMarksIntoClosedPipe(t *testing.T) {
	t.Parallel()
	bad := `{"errors":[{"entityName":"call","entityUuid":"` + testID + `","errorMessage":"unknown"}]}`
	address := serving(t, status(400, "application/json", bad))
	environment := homeAt(t, address, "secret-token")
	code := Run(t.Context(), []string{"processed", "mark", "call", testID},
		appOf(environment, strings.NewReader(""), closedPipe{}, io.Discard))
	if code != 7 {
		t.Errorf("got exit code %d, want 7", code)
	}
}

// closedPipe is an output with a reader that went away.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// What is piped on must be only what was done.
func TestIdentifiersOfABulkChangeAreOfWhatWasChanged(t *testing.T) {
	t.Parallel()
	const refused = "11111111-1111-4111-8111-111111111111"
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "mark-processed"):
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), refused) {
				status(400, "application/json",
					`{"errors":[{"entityName":"call","entityUuid":"`+refused+`","errorMessage":"unknown"}]}`)(w, r)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		case strings.Contains(r.URL.Path, refused):
			status(400, "application/problem+json", `{"detail":"no"}`)(w, r)
		default:
			status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[]}`)(w, r)
		}
	}
	for _, args := range []string{
		"call attempt " + refused + " " + testID + " --yes -o id",
		"processed mark call " + refused + " " + testID + " --yes -o id",
	} {
		tryAgainst(t, handler, args).Ends(9).PrintsOnly(testID + "\n")
	}
}

// A service may give two reasons for one entry, and an argument may be there twice: the entry is counted once.
func TestRefusedMarkIsCountedOnce(t *testing.T) {
	t.Parallel()
	const refused = "11111111-1111-4111-8111-111111111111"
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), refused) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		one := `{"entityName":"call","entityUuid":"` + refused + `","errorMessage":"`
		status(400, "application/json", `{"errors":[`+one+`unknown"},`+one+`too old"}]}`)(w, r)
	}
	ran := tryAgainst(t, handler, "processed mark call "+refused+" "+testID+" "+refused+" --yes").MustEnd(9)
	ran.PrintsOnly(refused + "\tfailed\t400\tunknown; too old\n" + testID + "\tok\t204\t\n")
	for _, text := range []string{"1 record named more than once", "one entry could not be marked: unknown; too old"} {
		if !strings.Contains(ran.Stderr, text) {
			t.Errorf("%s, want %q", ran, text)
		}
	}
}

// One record may be two of the consumer's. The refusal of one means nothing for the other.
func TestRefusedMarkOfOneIdentifier(t *testing.T) {
	t.Parallel()
	const refused, marked = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	handler := func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), refused) {
			status(
				400,
				"application/json",
				`{"errors":[{"entityName":"call","entityUuid":"`+testID+`","consumerIdentifier":"`+refused+
					`","errorMessage":"unknown"}]}`,
			)(w, r)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	file := filepath.Join(t.TempDir(), "marks")
	var lines string
	for _, consumer := range []string{refused, marked} {
		lines += `{"entityName":"call","entityUuid":"` + testID +
			`","processedAt":"2026-11-01T10:00:00Z","consumerIdentifier":"` + consumer + "\"}\n"
	}
	writeFile(t, file, lines)
	out, errs, code := against(t, handler, "processed mark --file", file, "--yes", "-o", "ndjson")
	if strings.Count(out, `"error":"unknown"`) != 1 || strings.Count(out, `"ok":true`) != 1 || code != 9 {
		t.Errorf("got %s, exit code %d: %s; want one refused, one marked and 9", out, code, errs)
	}
}
