package httpapi_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// TestFailuresTellNothing panics in the middle of requests. The caller gets a 500 without details, and the log has the
// place, without the contents.
// Promise P2: donors' records are in no log.
func TestFailuresTellNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const secret = "Kanarievogel"
	for name, thrown := range map[string]any{
		"text":   secret,
		"error":  errors.New("cannot read " + secret),
		"record": struct{ Name string }{secret},
	} {
		for format, handler := range map[string]func(*lockedBuffer) slog.Handler{
			"text": func(b *lockedBuffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"json": func(b *lockedBuffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var log lockedBuffer
			s := w.On(hooked{w.Store, at("after Read", func() { panic(thrown) })})
			h := *w.Harness
			h.Handler = httpapi.New(httpapi.Options{Service: s, Now: w.Clock.Now, Logger: slog.New(handler(&log))})
			answer := h.Do(w.all, "GET", "/api/v1/persons?iban="+secret, "")
			if answer.Status != http.StatusInternalServerError ||
				strings.Contains(string(answer.Body), secret) ||
				strings.Contains(string(answer.Body), ".go") {
				t.Errorf("%s: got %d %s, want 500 that tells nothing", name, answer.Status, answer.Body)
			}
			text := log.String()
			if strings.Contains(text, secret) ||
				strings.Contains(text, w.all) ||
				!strings.Contains(text, "failures_test.go") {
				t.Errorf("%s as %s: got the log %s, want the place and nothing that was said", name, format, text)
			}
		}
	}
}

// A list that cannot be read is not an empty one, on whatever way the database fails.
func TestListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for kind, want := range map[error]int{
		errors.New("the disk"): 500,
		&service.Error{Kind: service.Unavailable, Detail: "full"}: 503,
	} {
		w.Serve(w.On(hooked{w.Store, failAt("before Read", kind)})) // The account is read as a single record.
		for _, path := range []string{
			"/api/v1/persons", "/api/v1/calls?first=2", "/api/v1/pledges?last=2",
			"/fundesk/v1/queue/calls", "/fundesk/v1/queue/leases", "/fundesk/v1/queue/agents",
		} {
			w.Want(want, w.all, "GET", path, "")
		}
	}
}

// FuzzRequest sends anything to any operation: no input gives a 5xx or a panic.
func FuzzRequest(f *testing.F) {
	h := servicetest.New(f)
	h.Sample(5)
	token := h.Token()
	one := func(list string) string {
		return h.Do(token, "GET", "/api/v1/"+list+"?first=1",
			"").Object()["edges"].([]any)[0].(map[string]any)["node"].(map[string]any)["uuid"].(string)
	}
	call, person, pledge := one("calls"), one("persons"), one("pledges")
	paths := []string{
		"/api/v1/persons", "/api/v1/persons/" + person, "/api/v1/persons/" + person + "/actions/update",
		"/api/v1/calls", "/api/v1/calls/" + call, "/api/v1/calls/" + call + "/actions/add-attempt",
		"/api/v1/calls/" + call + "/actions/complete",
		"/api/v1/calls/" + call + "/actions/cancel", "/api/v1/calls/" + call + "/actions/expire",
		"/api/v1/pledges", "/api/v1/pledges/" + pledge, "/api/v1/pledges/" + pledge + "/actions/update",
		"/api/v1/pledges/" + pledge + "/actions/drop",
		"/api/v1/entity-access/actions/mark-processed", "/signatures/" + pledge, "/elsewhere",
	}
	methods := []string{"GET", "POST", "PUT", "HEAD", "DELETE"}
	seeds := []struct {
		path, method uint8
		query, body  string
	}{
		{0, 0, "first=1&iban=NL91ABNA0417164300&createdAfter=1900-01-01", ""},
		{3, 0, "include=person,pledge,transactions&externalApplicationName=null&externalReferenceId=null&last=3", ""},
		{9, 0, "withPaymentQr=true&releasedAfter=9999-12-31T23:59:59.999Z&status=lead", ""},
		{2, 2, "", `{"name":{"lastName":"x"},"address":{"country":"nl"},"mandate":{"id":"m"}}`},
		{
			path:   3,
			method: 1,
			body:   `{"personUuid":"` + person + `","requestedAt":"2026-11-20","externalMetadata":{"additionalProperties":"{}"},"status":"completed"}`,
		},
		{6, 2, "", `{"result":{"donorRetentionRating":1e1,"resultCode":"x","notes":"\ud83d\ude00"}}`},
		{11, 2, "", `{"donationAmount":0.01,"externalMetadata":{"a":[[]]}}`},
		{13, 1, "", `{"entries":[{"entityName":"call","entityUuid":"` + call + `","processedAt":"2026-11-20"}]}`},
		{14, 0, "expires=1&signature=x", ""},
	}
	for _, s := range seeds {
		f.Add(s.path, s.method, s.query, s.body)
	}
	f.Fuzz(func(t *testing.T, path, method uint8, query, body string) {
		request := httptest.NewRequestWithContext(t.Context(), methods[int(method)%len(methods)], "/",
			strings.NewReader(body))
		request.URL = &url.URL{Path: paths[int(path)%len(paths)], RawQuery: query}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.Handler.ServeHTTP(w, request)
		if w.Code >= 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}
