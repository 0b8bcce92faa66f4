package httpapi

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

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

// A body that is too large is read on, up to 16 MiB, so that a caller that sends first gets the refusal. A body with a
// larger announced length is not. Spec gap: R2.
func TestRefusedBodyIsReadOn(t *testing.T) {
	t.Parallel()
	const most = 16 << 20
	for _, test := range []struct {
		name                string
		length              int64 // From the caller.
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
		if sent.read < test.atLeast ||
			sent.read > test.atMost ||
			(answer.Header().Get("Connection") == "close") != test.endsTheirConnection {
			t.Errorf("a body %s: got %d bytes read and connection %q",
				test.name, sent.read, answer.Header().Get("Connection"))
		}
	}
	whole := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	whole.Body, whole.ContentLength = io.NopCloser(io.LimitReader(new(endless), most-1)), most-1
	answer := httptest.NewRecorder()
	if _, err := body(answer, whole); err == nil || answer.Header().Get("Connection") != "" {
		t.Errorf("a body of less than 16 MiB: got %v and connection %q, want a refusal on a connection that stays",
			err, answer.Header().Get("Connection"))
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
	}{{12<<20 + 1, 199, nil}, {12<<20 + 1, 200, service.ErrNoRoom}, {12 << 20, 200, nil}} {
		g, account := newGate(0, nil), apitype.NewUUID()
		g.pass(t.Context(), account, true).weigh(test.given, true)
		p := g.pass(service.WithRequest(t.Context(), service.Request{Account: account}), account, false)
		var err error
		if isLargePage(url.Values{"first": {strconv.Itoa(test.size)}}) {
			err = p.page()
		}
		if !errors.Is(err, test.want) {
			t.Errorf("a page of %d after %d bytes: got %v, want %v", test.size, test.given, err, test.want)
		}
		if got := g.pages.Held(); (got == 1) != (test.size == 200) {
			t.Errorf("a page of %d: got %d turns taken", test.size, got)
		}
		if p.leave(); g.pages.Held() != 0 {
			t.Errorf("a page of %d: got a turn that is kept", test.size)
		}
	}
}

// The bodies and answers of accounts weigh 64 MiB together and 16 MiB each; the first of an account may be larger. A
// request weighs its body, then its answer, and nothing when it has left. Spec gap: S32.
func TestWeightsOfAccounts(t *testing.T) {
	t.Parallel()
	g := newGate(0, nil)
	a, b, c, d, e := apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
	var passes []*pass
	for _, step := range []struct {
		what    string
		account apitype.UUID
		weight  int64
		must    bool
		want    bool
	}{
		{"nothing", a, 0, false, true},
		{"a byte", a, 1, false, true},
		{"the rest of the share", a, 16<<20 - 1, false, true},
		{"a byte beyond the share", a, 1, false, false},
		{"a byte beyond the share that must be", a, 1, true, true},
		{"a first one larger than the share", b, 20 << 20, false, true},
		{"another's share", c, 16 << 20, false, true},
		{"a byte more than is left for all", d, 12 << 20, false, false},
		{"all that is left", d, 12<<20 - 1, false, true},
		{"a byte when nothing is left", e, 1, false, false},
		{"nothing when nothing is left", e, 0, false, true},
	} {
		p := g.pass(t.Context(), step.account, false)
		if p.hasRoom(step.weight) != (step.want && !step.must) {
			t.Errorf("%s: got room %t", step.what, !step.want)
		}
		if got := p.weigh(step.weight, step.must); got != step.want {
			t.Errorf("%s: got %t, want %t", step.what, got, step.want)
		}
		passes = append(passes, p)
	}
	if p := passes[2]; !p.weigh(8<<20, false) || !g.pass(t.Context(), a, false).hasRoom(8<<20-2) {
		t.Error("got no room after an answer that is smaller than its body")
	}
	for _, p := range passes {
		p.leave()
	}
	if g.weight != 0 {
		t.Errorf("got %d bytes in the end, want none", g.weight)
	}
	for account, own := range g.accounts {
		if own.weight != 0 {
			t.Errorf("got %d bytes of account %s in the end, want none", own.weight, account)
		}
	}
}

// Answers from 1 KiB on are compressed for callers that accept it. Spec gap: S32.
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

// An account that takes nothing of what it was given gets no more: a large answer to a read gives way to a refusal, and
// what it asks for next is not begun. An answer to a change is given in any case. Spec gap: S32.
func TestAnswersThatAreNotTaken(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context()) // A refusal does not wait for these.
	cancel()
	for _, test := range []struct {
		given        int64
		isRead, gzip bool
		length       int
		want         int
	}{
		{16 << 20, true, true, 64 << 10, http.StatusServiceUnavailable},
		{16 << 20, true, false, 64 << 10, http.StatusServiceUnavailable},
		{16<<20 - 64<<10, true, false, 64 << 10, http.StatusOK},
		{16 << 20, true, false, 64<<10 - 1, http.StatusOK},
		{16 << 20, false, true, 64 << 10, http.StatusOK},
	} {
		g, account := newGate(0, nil), apitype.NewUUID()
		earlier := g.pass(t.Context(), account, true)
		earlier.weigh(test.given, true)
		sent := httptest.NewRecorder()
		w := &recorder{
			ResponseWriter: sent,
			status:         http.StatusOK,
			gzip:           test.gzip,
			pass:           g.pass(gone, account, !test.isRead),
		}
		w.Header().Set("Etag", `"7"`)
		write(w, http.StatusOK, jsonType, []byte(incompressible(test.length)))
		refused := test.want != http.StatusOK
		if sent.Code != test.want ||
			(sent.Header().Get("Etag") == "") != refused ||
			(sent.Header().Get("Content-Encoding") == "gzip") != (test.gzip && !refused) {
			t.Errorf("%+v: got %d with %v", test, sent.Code, sent.Header())
		}
		if refused &&
			(sent.Header().Get("Retry-After") != "1" ||
				sent.Header().Get("Content-Length") != strconv.Itoa(sent.Body.Len())) {
			t.Errorf("%+v: got %v, want when to come again", test, sent.Header())
		}
		w.pass.leave()
		next := g.pass(gone, account, false)
		err := next.admit(100)
		if full := test.given == 16<<20; errors.Is(err, service.ErrNoRoom) != full {
			t.Errorf("%+v: got %v of the next request, want it refused: %t", test, err, full)
		}
		next.leave()
		earlier.leave()
		if g.weight != 0 {
			t.Errorf("%+v: got %d bytes in the end, want none", test, g.weight)
		}
	}
}

// incompressible returns a text that gzip makes no shorter than it counts for.
func incompressible(length int) string {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return string(text)
}

// A request that would wait longer than 2 s is refused after a quarter of a second. Neither it nor a caller that went
// away delays the next one. The answer to a change is always sent.
func TestLongPauseIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, agents, greedy := newGate(0, nil), apitype.NewUUID(), apitype.NewUUID()
		pay := func(ctx context.Context, weight int64, must bool) (took time.Duration, err error) {
			begun := time.Now()
			err = g.pass(ctx, greedy, must).pay(weight, must)
			return time.Since(begun), err
		}
		g.atWork(agents)
		if took, err := pay(t.Context(), 72<<20, false); took != 0 || err != nil { // Two seconds and a quarter.
			t.Errorf("got %v after %v, want no pause", err, took)
		}
		took, err := pay(t.Context(), 1<<20, false)
		if took != 250*time.Millisecond || !errors.Is(err, service.ErrNoRoom) {
			t.Errorf("got %v after %v, want a refusal after 250ms", err, took)
		}
		left, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if took, err := pay(left, 32<<20, false); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v, want the end of the context after 1s", err, took)
		}
		if took, err := pay(t.Context(), 1<<20, false); took != time.Second || err != nil {
			t.Errorf("got %v after %v, want a pause of 1s: what is left of the first", err, took)
		}
		if took, err := pay(left, 128<<20, true); took != 0 || err != nil {
			t.Errorf("got %v after %v, want no refusal for a caller who left", err, took)
		}
		g.atWork(agents)
		if took, err := pay(t.Context(), 1<<20, true); took != 2*time.Second || err != nil {
			t.Errorf("got %v after %v, want what must be sent to be sent after 2s", err, took)
		}
	})
}
