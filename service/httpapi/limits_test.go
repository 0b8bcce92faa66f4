package httpapi_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fundesk/service/servicetest"
)

// What has too many elements is refused in a few words, whatever they are.
func TestElementsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elements := func(n int, text string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(text+",", n), ",") + "]"
	}
	for _, test := range []struct {
		name, method, path, body, place string
	}{
		{
			name:   "a mebibyte of nothing",
			method: "POST",
			path:   "/api/v1/entity-access/actions/mark-processed",
			body:   `{"entries":` + elements(340_000, `{}`) + `}`,
			place:  "/entries",
		},
		{
			name:   "entries",
			method: "POST",
			path:   "/api/v1/entity-access/actions/mark-processed",
			body:   `{"entries":` + elements(1001, `{"entityName":"call"}`) + `}`,
			place:  "/entries",
		},
		{
			name:   "attempts",
			method: "POST",
			path:   "/api/v1/calls",
			body:   w.externalCallBody(w.a, `,"attempts":`+elements(300_000, `{}`)),
			place:  "/attempts",
		},
		{
			name:   "focus areas",
			method: "POST",
			path:   "/api/v1/pledges",
			body: strings.Replace(w.pledgeBody(w.a), `"focusAreaUuids":[`,
				`"focusAreaUuids":[`+strings.Repeat(`1,`, 300_000), 1),
			place: "/focusAreaUuids",
		},
		{
			name:   "one focus area too many",
			method: "POST",
			path:   "/api/v1/pledges",
			body: strings.Replace(w.pledgeBody(w.a), `"focusAreaUuids":[`,
				`"focusAreaUuids":[`+strings.Repeat(`"22222222-2222-4222-8222-222222222222",`, 100), 1),
			place: "/focusAreaUuids",
		},
		{
			name:   "after one that is counted",
			method: "POST",
			path:   "/api/v1/calls",
			body:   w.externalCallBody(w.a, `,"attempts":[],"attempts":`+elements(9_000, `{}`)),
			place:  "/attempts",
		},
		{
			name:   "after another array",
			method: "POST",
			path:   "/api/v1/calls",
			body:   w.externalCallBody(w.a, `,"notes":[1,2,3],"attempts":`+elements(9_000, `{}`)),
			place:  "/attempts",
		},
	} {
		problem, places := problemOf(t, w.Do(w.all, test.method, test.path, test.body))
		if problem.Status != http.StatusBadRequest || len(places) != 1 || places[0] != test.place {
			t.Errorf("%s: got %d at %v, want 400 at %s alone", test.name, problem.Status, places, test.place)
		}
	}
	full := `{"entries":` + elements(1000,
		fmt.Sprintf(`{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20T09:00:00Z"}`, w.a.call)) + `}`
	w.Want(http.StatusNoContent, w.all, "POST", "/api/v1/entity-access/actions/mark-processed", full)
}

// The largest of each is taken, and what is larger by one is refused.
func TestLargestOfEachIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	padded := func(body string, length int) string { return body + strings.Repeat(" ", length-len(body)) }
	pledge := func(focusAreas int, more string) string {
		return strings.Replace(w.pledgeBody(w.a, more), `"focusAreaUuids":[`,
			`"focusAreaUuids":[`+strings.Repeat(`"`+w.a.focusArea.String()+`",`, focusAreas-1), 1)
	}
	metadata := func(length int) string {
		return `,"externalMetadata":{"a":"` + strings.Repeat("x", length-len(`{"a":""}`)) + `"}`
	}
	for _, test := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"a mebibyte", "POST", "/api/v1/persons", padded(w.personBody(w.a), 1<<20), 201},
		{"a mebibyte and a byte", "POST", "/api/v1/persons", padded(w.personBody(w.a), 1<<20+1), 413},
		{"100 focus areas", "POST", "/api/v1/pledges", pledge(100, ""), 201},
		{"65,536 bytes of metadata", "POST", "/api/v1/pledges", pledge(1, metadata(65_536)), 201},
		{"65,537 bytes of metadata", "POST", "/api/v1/pledges", pledge(1, metadata(65_537)), 400},
		{"a page of 500", "GET", "/api/v1/calls?first=500", "", 200},
		{"a page of 501", "GET", "/api/v1/calls?first=501", "", 400},
	} {
		if got := w.Do(w.all, test.method, test.path, test.body); got.Status != test.want {
			t.Errorf("%s: got %d %.300s, want %d", test.name, got.Status, got.Body, test.want)
		}
	}
}

// A refusal lists a hundred of many problems, and the number of the others. Of failed marks it lists all.
// Promise S32: a refusal lists 100 problems.
func TestProblemsAreCapped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	problem, places := problemOf(
		t,
		w.Do(w.all, "POST", "/api/v1/calls",
			w.externalCallBody(w.a, `,"attempts":[`+strings.TrimSuffix(strings.Repeat(`{},`, 250), ",")+`]`)),
	)
	if len(places) != 100 || !strings.HasSuffix(problem.Detail, "; 150 more are not listed") {
		t.Errorf("got %d problems and %q, want 100 of 250", len(places), problem.Detail)
	}
	mark := w.Do(w.all, "POST", "/api/v1/entity-access/actions/mark-processed",
		`{"entries":[`+strings.Repeat(`{"entityUuid":"x"},`, 999)+`{}]}`)
	if failing, _ := mark.Object()["errors"].([]any); mark.Status != http.StatusBadRequest || len(failing) != 1000 {
		t.Errorf("got %d with %d failing entries, want all 1000: what is not listed would count as marked",
			mark.Status, len(failing))
	}
}

// An identifier of an entry that failed comes back in lower case. Spec gap: R4.
func TestFailingEntriesInLowerCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Do(w.all, "POST", "/api/v1/entity-access/actions/mark-processed",
		`{"entries":[{"entityName":"call","entityUuid":"5D0C1F7E-9F5B-4B5E-8A38-0F7A3A1D9B11","processedAt":"2026-11-20T09:00:00Z"},
			{"entityName":"call","entityUuid":"No-UUID","processedAt":"2026-11-20T09:00:00Z"}]}`)
	for _, want := range []string{`"5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b11"`, `"No-UUID"`} {
		if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), want) {
			t.Errorf("got %d %s, want %s in it", answer.Status, answer.Body, want)
		}
	}
}

// heldBody is a body of a mebibyte that ends on release. read is called when the first read begins.
type heldBody struct {
	begun sync.Once
	read  func()
	let   <-chan struct{}
}

func (b *heldBody) Read([]byte) (int, error) {
	b.begun.Do(b.read)
	<-b.let
	return 0, io.EOF
}

// hold sends a request with a body that is read until let is closed, and counts the accepted ones.
func hold(w *world, token string, reading, answered *sync.WaitGroup, let <-chan struct{}, in *atomic.Int64) {
	request := httptest.NewRequest(http.MethodPost, "/api/v1/persons", &heldBody{read: reading.Done, let: let})
	request.ContentLength = 1 << 20
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	go func() {
		defer answered.Done()
		answer := httptest.NewRecorder()
		if w.Handler.ServeHTTP(answer, request); answer.Code != http.StatusServiceUnavailable {
			in.Add(1)
		}
	}()
}

// The service works on sixteen mebibytes of one account at once, and on 64 of all. Others have to come again, and small
// requests of other accounts are answered.
func TestBodiesInFlight(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	w := newWorld(t).unchecked()
	body := w.personBody(w.a)
	large := w.personBody(w.a, `,"academicTitle":"`+strings.Repeat("x", 1<<20-400)+`"`)
	let := make(chan struct{})
	var reading, answered sync.WaitGroup
	var in atomic.Int64
	holdOf := func(token string) {
		reading.Add(16)
		answered.Add(16)
		for range 16 {
			hold(w, token, &reading, &answered, let, &in)
		}
		reading.Wait()
	}
	refused := func(name, token, body string) {
		t.Helper()
		got := w.Do(token, "POST", "/api/v1/persons", body)
		if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: got %d %s, want 503 and Retry-After: 1", name, got.Status, got.Body)
		}
	}
	greedy := w.Token()
	holdOf(greedy)
	refused("a seventeenth body", greedy, body)
	w.Want(http.StatusCreated, w.all, "POST", "/api/v1/persons", body)
	w.Want(http.StatusOK, greedy, "GET", "/api/v1/persons?first=1", "")
	for range 3 {
		holdOf(w.Token())
	}
	refused("after 64 mebibytes", w.all, large)
	close(let)
	answered.Wait()
	if in.Load() != 64 {
		t.Errorf("got %d bodies of a mebibyte let in, want 64", in.Load())
	}
	w.Want(http.StatusCreated, greedy, "POST", "/api/v1/persons", body)
}

// A call takes a thousand attempts, and the next is refused.
func TestAttemptsOfOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t).unchecked()
	attempts := strings.TrimSuffix(strings.Repeat(`{"createdAt":"2026-11-19T09:00:00Z"},`, 999), ",")
	call := w.create("/api/v1/calls", w.externalCallBody(w.a, `,"attempts":[`+attempts+`]`))
	path := callPath(call) + "/actions/add-attempt"
	w.Want(http.StatusOK, w.all, "PUT", path, "{}")
	w.Want(http.StatusConflict, w.all, "PUT", path, "{}")
}

// An answer from a kilobyte on is compressed only for callers that accept it.
func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		w.create("/api/v1/persons", w.personBody(w.a))
	}
	const page = "/api/v1/persons?first=5"
	plain := w.get(page)
	if plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("unasked: got encoding %q, vary %q", plain.Header.Get("Content-Encoding"), plain.Header.Get("Vary"))
	}
	ask := func(path, accepts string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Authorization", "Bearer "+w.all)
		request.Header.Set("Accept-Encoding", accepts)
		answer := httptest.NewRecorder()
		w.unchecked().Handler.ServeHTTP(answer, request)
		return answer
	}
	for accepts, want := range map[string]bool{
		"gzip": true, "gzip;q=0, *": false,
	} {
		answer := ask(page, accepts)
		if got := answer.Header().Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: got compressed %v, want %v", accepts, got, want)
		}
		body := answer.Body.Bytes()
		if want {
			unpacked, err := gzip.NewReader(answer.Body)
			servicetest.Check(t, err)
			length := answer.Header().Get("Content-Length")
			if length != strconv.Itoa(len(body)) || len(body)*2 > len(plain.Body) {
				t.Errorf("%q: got %s for %d bytes of %d", accepts, length, len(body), len(plain.Body))
			}
			body, err = io.ReadAll(unpacked)
			if err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != string(plain.Body) {
			t.Errorf("%q: got another page:\n%s\nwant\n%s", accepts, body, plain.Body)
		}
	}
	if short := ask("/healthz", "gzip"); short.Header().Get("Content-Encoding") != "" {
		t.Errorf("a short answer: got encoding %q", short.Header().Get("Content-Encoding"))
	}
}

// TestLargeBodyGetsItsAnswer sends bodies that are too large the way simple clients do,
// all of it before the answer is looked at. Spec gap: R2.
func TestLargeBodyGetsItsAnswer(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token := h.Token()
	address := strings.TrimPrefix(h.URL, "http://")
	body := `{"academicTitle":"` + strings.Repeat("x", 6<<20) + `"}`
	for name, rest := range map[string]string{
		"sized":   fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
		"chunked": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				connection, err := net.Dial("tcp", address)
				servicetest.Check(t, err)
				defer connection.Close()
				_, err = fmt.Fprintf(connection, "POST /api/v1/persons HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", token, rest)
				servicetest.Check(t, err)
				answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
				servicetest.Check(t, err)
				answer.Body.Close()
				if answer.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("got %d, want 413", answer.StatusCode)
				}
			}
		})
	}
}
