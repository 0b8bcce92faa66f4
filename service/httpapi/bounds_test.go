package httpapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// endless is a body that counts what is read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func (*endless) Close() error { return nil }

// A body that is too large is read on, up to 16 MiB, so that a caller that sends first gets the
// refusal. One that says that it is larger is not. Spec gap: R2.
func TestRefusedBodyIsReadOn(t *testing.T) {
	t.Parallel()
	const most = 16 << 20
	for _, test := range []struct {
		name                string
		length              int64 // As the caller says.
		atLeast, atMost     int64
		endsTheirConnection bool
	}{
		{"that does not end", -1, most, most + 1<<20 + 1<<10, true},
		{"of 16 MiB and a byte", most + 1, 0, 0, true},
	} {
		sent := new(endless)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		request.Body, request.ContentLength = sent, test.length
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		_, err := body(answer, request)
		if refused, ok := errors.AsType[*statusError](err); !ok || refused.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a body %s: got %v, want 413", test.name, err)
		}
		if sent.read < test.atLeast || sent.read > test.atMost || (answer.Header().Get("Connection") == "close") != test.endsTheirConnection {
			t.Errorf("a body %s: got %d bytes read and connection %q", test.name, sent.read, answer.Header().Get("Connection"))
		}
	}
	whole := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	whole.Body, whole.ContentLength = io.NopCloser(io.LimitReader(new(endless), most-1)), most-1
	answer := httptest.NewRecorder()
	if _, err := body(answer, whole); err == nil || answer.Header().Get("Connection") != "" {
		t.Errorf("a body of less than 16 MiB: got %v and connection %q, want a refusal on a connection that stays", err, answer.Header().Get("Connection"))
	}
}

// Pages of 200 records and more are made in turn, and not for an account that has less than the
// 4 MiB of a page left of the 16 that it may be given. Smaller ones are. Spec gap: S32.
func TestLargePagesAreMadeInTurn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		given int64
		size  int
		want  error
	}{{12<<20 + 1, 199, nil}, {12<<20 + 1, 200, errFlight}, {12 << 20, 200, nil}} {
		a := &api{pacer: newPacer(), answers: newFlight(), pages: service.NewTurns(1)}
		account := apitype.NewUUID()
		if _, err := a.answers.enter(account, test.given, true); err != nil {
			t.Fatal(err)
		}
		w := &recorder{ResponseWriter: httptest.NewRecorder(), api: a, account: account, route: "GET /x"}
		request := httptest.NewRequestWithContext(service.WithRequest(t.Context(), service.Request{Account: account}), http.MethodGet, "/x", nil)
		if err := pageTurn(w, request, url.Values{"first": {strconv.Itoa(test.size)}}); !errors.Is(err, test.want) {
			t.Errorf("a page of %d after %d bytes: got %v, want %v", test.size, test.given, err, test.want)
		}
		if got := a.pages.Held(); (got == 1) != (test.size == 200) {
			t.Errorf("a page of %d: got %d turns taken", test.size, got)
		}
	}
}

// Answers from 1 KiB on are compressed for whoever takes them so. Spec gap: S32.
func TestFromWhichLengthAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]string{1<<10 - 1: "", 1 << 10: "gzip"} {
		answer := httptest.NewRecorder()
		write(&recorder{ResponseWriter: answer, gzip: true}, http.StatusOK, jsonType, make([]byte, length))
		if got := answer.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%d bytes: got encoding %q, want %q", length, got, want)
		}
	}
}
