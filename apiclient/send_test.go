package apiclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// What is sent again, and what is said in the end, when every answer is the same.
func TestChangesThatAreNeverAnswered(t *testing.T) {
	t.Parallel()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	made := func(change Change, err error) Change {
		servicetest.Check(t, err)
		return change
	}
	record := func(members string) string { return `{"uuid":"` + id.String() + `"` + members + `}` }
	creation := made(CreatePersonChange(apitype.CreatePersonRequest{UUID: &id}))
	update := made(UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")}))
	attempt := made(AddAttemptChange(id, apitype.AddAttemptRequest{AttemptAt: &at}))
	completion := made(CompleteCallChange(id, apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{ResultCode: new("ok")}}))
	marks := made(MarkProcessedChange([]apitype.ProcessedEntry{{EntityName: "call", EntityUUID: id, ProcessedAt: at}}))
	const unknown = "the change was sent, and its outcome is unknown: "
	const overtaken = "the answer was lost, and the record has another value now: it was changed elsewhere"
	generated := creation
	generated.Generated = true
	tests := []struct {
		name   string
		change Change
		status int    // Of each answer to the change; 0: the connection breaks; 502500: a 502 and then 500s.
		body   string // Of it.
		found  string // Of each reading; "": not found.
		sent   int    // How often the change is sent,
		reads  int    // and the record read.
		kind   Kind
		want   string
	}{
		{"an update whose answers fail", update, 500, "", record(`,"iban":"B"`), 4, 8, KindUnavailable, "500 internal server error"},
		{"an update whose answers are lost", update, 502, "", record(`,"iban":"B"`), 4, 8, KindUnknownOutcome, "502 " + unknown + "bad gateway"},
		{"an update that has landed", update, 502, "", record(`,"iban":"A"`), 1, 2, "", ""},
		{"an update of what is not found", update, 502, "", "", 1, 2, KindUnknownOutcome, "502 " + unknown + "bad gateway"},
		{"an update that is refused", update, 422, "", record(""), 1, 1, KindRejected, "422 unprocessable entity"},
		{"an update in conflict", update, 409, "", record(`,"iban":"A"`), 1, 1, KindConflict, "409 conflict"},
		{"an update that is not served now", update, 429, "", record(""), 4, 4, KindUnavailable, "429 too many requests"},
		{"a creation that may come yet", creation, 503, "", "", 4, 4, KindUnknownOutcome, "503 " + unknown + "service unavailable"},
		{"a creation that fails", creation, 500, "", "", 4, 4, KindUnavailable, "500 internal server error"},
		{"a creation that has landed", creation, 500, "", record(""), 1, 1, "", ""},
		{"a chosen uuid that is taken", creation, 409, "", record(""), 1, 0, KindConflict, "409 conflict"},
		{"an own uuid that is taken by itself", generated, 409, "", record(""), 1, 1, "", ""},
		{"an own uuid whose record was edited since", generated, 409, "", record(`,"owningOrganizationUuid":"x"`), 1, 1, "", ""},
		{"an own uuid that is taken, and not shown", generated, 409, "", "", 1, 1, KindUnknownOutcome, "404 " + unknown + "not found"},
		{"an attempt whose answer is lost", attempt, 504, "", record(`,"attempts":[]`), 1, 1, KindUnknownOutcome, "504 " + unknown + "gateway timeout"},
		{"an attempt that fails", attempt, 503, "", record(`,"attempts":[]`), 4, 4, KindUnavailable, "503 service unavailable"},
		{"a completion that comes twice", completion, 409, "", record(`,"status":"completed","result":{"resultCode":"ok"}`), 1, 1, "", ""},
		{"a completion of what has ended", completion, 409, "", record(`,"status":"expired"`), 1, 1, KindConflict, "409 conflict"},
		{"a completion that somebody overtakes", completion, 500, "", record(`,"status":"expired"`), 1, 1, KindConflict, overtaken},
		{"a record that is another one", completion, 200, `{"uuid":"6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"}`, record(`,"status":"requested"`), 4, 4, KindUnknownOutcome, "200 " + unknown + "the answer is not what the interface promises: it is not the record that was asked for"},
		{"an answer that is no JSON", completion, 200, `{`, record(`,"status":"requested"`), 4, 4, KindUnknownOutcome, "200 " + unknown + "the answer is not what the interface promises: it is not whole JSON"},
		{"an answer that is a list", completion, 200, `[]`, record(`,"status":"requested"`), 4, 4, KindUnknownOutcome, "200 " + unknown + "the answer is not what the interface promises: it is not one record"},
		{"an answer is lost, and the repeats fail", update, 502500, "", record(`,"iban":"B"`), 4, 8, KindUnknownOutcome, "500 " + unknown + "internal server error"},
		{"it is not served, and the repeats fail", update, 503500, "", record(`,"iban":"B"`), 4, 8, KindUnavailable, "500 internal server error"},
		{"it is too much, and the repeats fail", update, 429500, "", record(`,"iban":"B"`), 4, 7, KindUnavailable, "500 internal server error"},
		{"a creation whose answer is lost, and the repeats fail", creation, 504500, "", "", 4, 4, KindUnknownOutcome, "500 " + unknown + "internal server error"},
		{"a creation that may come yet, and the repeats fail", creation, 503500, "", "", 4, 4, KindUnknownOutcome, "500 " + unknown + "internal server error"},
		{"a move that times out, and the repeats fail", completion, 408500, "", record(`,"status":"requested"`), 4, 4, KindUnknownOutcome, "500 " + unknown + "internal server error"},
		{"marks", marks, 204, "", "", 1, 0, "", ""},
		{"marks that are answered otherwise, twice", marks, 200, "{}", "", 2, 0, "", ""},
		{"marks that are answered by something in between", marks, 200, "?", "", 4, 0, KindUnknownOutcome, "200 " + unknown + "the answer is not what the interface promises: it is not JSON"},
		{"marks whose answer is lost", marks, 0, "", "", 4, 0, KindUnknownOutcome, unknown + "the connection to a.example broke: unexpected EOF"},
		{"marks that fail", marks, 500, "", "", 4, 0, KindUnknownOutcome, "500 " + unknown + "internal server error"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent, reads := 0, 0
			transport := canned(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet {
					reads++
					if test.found == "" {
						return answered(404, "{}", true), nil
					}
					return answered(200, test.found, true), nil
				}
				sent++
				status := test.status % 1000
				if sent == 1 && test.status > 1000 {
					status = test.status / 1000
				}
				if status == 0 {
					return nil, io.ErrUnexpectedEOF
				}
				a := answered(status, test.body, true)
				if test.body == "?" {
					a.Header.Set("Content-Type", "text/plain")
				}
				return a, nil
			})
			c, err := New(Options{BaseURL: "https://a.example", Transport: transport, Sleep: func(context.Context, time.Duration) error { return nil }})
			servicetest.Check(t, err)
			_, err = c.Send(t.Context(), test.change)
			if KindOf(err) != test.kind || err != nil && err.Error() != test.want {
				t.Errorf("got %v of kind %s, want %q of kind %s", err, KindOf(err), test.want, test.kind)
			}
			if sent != test.sent || reads != test.reads {
				t.Errorf("got it sent %d times and read %d times, want %d and %d", sent, reads, test.sent, test.reads)
			}
		})
	}
}

// An update must find the revision that it was compared with, or settled by.
func TestUpdateNamesItsRevision(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	var revisions []string
	c, err := New(Options{BaseURL: "https://a.example", Sleep: func(context.Context, time.Duration) error { return nil }, Transport: canned(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			a := answered(200, `{"uuid":"`+id.String()+`","iban":"B"}`, true)
			a.Header.Set("ETag", `"7"`)
			return a, nil
		}
		if revisions = append(revisions, r.Header.Get("If-Match")); len(revisions) < 3 {
			return answered(500, "{}", true), nil
		}
		return answered(200, `{"uuid":"`+id.String()+`"}`, true), nil
	})})
	servicetest.Check(t, err)
	change, err := UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
	if err == nil {
		_, err = c.Send(t.Context(), change)
	}
	if got := strings.Join(revisions, ","); err != nil || got != `"7","7","7"` {
		t.Errorf("got revisions %s, %v, want that of the record each time", got, err)
	}
}

// What was changed elsewhere before an update is sent, or while it waits, is not overwritten, also where no revision
// keeps that from happening: the service has none, something in between has made it a weak one, or the service does
// not heed the one that the update names.
func TestUpdatesAreComparedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	for _, test := range []struct {
		name     string
		status   int    // Of the first answer to the update; 0: it waited before it was sent.
		revision string // Of the record when it was shown.
		etag     string // Of the readings, with the value for %s; "" for none.
		sent     int    // How often the update is sent.
	}{
		{"too many requests", 429, "", "", 1},
		{"a service that is not there", 503, "", "", 1},
		{"a service that is not there, with weak revisions", 503, "", `W/"%s"`, 1},
		{"an answer of something in between", 502, "", "", 1},
		{"a service that is not there, and does not heed revisions", 503, "", `"%s"`, 1},
		{"shown long ago, with a weak revision", 0, `W/"B"`, `W/"%s"`, 0},
		{"shown long ago, by a service that does not heed revisions", 0, `"B"`, `"%s"`, 0},
	} {
		change, err := UpdatePersonChange(id, apitype.UpdatePersonRequest{IBAN: apitype.Set("A")})
		servicetest.Check(t, err)
		change.Seen, change.Revision = SeenOf(change, map[string]any{"iban": "B"}), test.revision
		sent, now := 0, "B"
		if test.status == 0 {
			now = "C"
		}
		c, err := New(Options{BaseURL: "https://a.example", Sleep: func(context.Context, time.Duration) error { now = "C"; return nil }, Transport: canned(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut {
				if sent++; sent == 1 && test.status != 0 {
					return answered(test.status, "", true), nil
				}
				now = "A"
			}
			a := answered(200, `{"uuid":"`+id.String()+`","iban":"`+now+`"}`, true)
			a.Header.Set("ETag", strings.Replace(test.etag, "%s", now, 1))
			return a, nil
		})})
		servicetest.Check(t, err)
		_, err = c.Send(t.Context(), change)
		if _, isOvertaken := errors.AsType[*Overtaken](err); !isOvertaken || now != "C" || sent != test.sent {
			t.Errorf("%s: got %v, the value %s after %d requests, want that C was set elsewhere, after %d", test.name, err, now, sent, test.sent)
		}
	}
}

// Who interrupts a change is told whether it may have reached the service.
func TestInterruptedChanges(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	change := Change{Op: OpAddAttempt, UUID: id, Method: http.MethodPut, Path: "/api/v1/calls/x", Body: []byte(`{"attemptAt":"2026-11-20T09:15:00Z"}`)}
	for _, test := range []struct {
		name   string
		during string // What is interrupted.
		want   string
		sent   bool
	}{
		{"before", "before", "interrupted", false},
		{"while it is sent", http.MethodPut, "interrupted; the change may have reached the service", true},
		{"while it is looked for", http.MethodGet, "interrupted; the change may have reached the service", true},
		{"between two tries", "sleep", "interrupted", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if test.during == "before" {
			cancel()
		}
		c, err := New(Options{
			BaseURL: "https://a.example",
			Sleep:   func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() },
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				if r.Method == test.during {
					cancel()
					return nil, io.EOF
				}
				if r.Method == http.MethodGet {
					return answered(200, `{"uuid":"`+id.String()+`","attempts":[]}`, true), nil
				}
				return answered(503, "", true), nil
			}),
		})
		servicetest.Check(t, err)
		_, err = c.Send(ctx, change)
		if known := asError(err); known == nil || known.Kind != KindInterrupted || known.Message != test.want || known.Sent != test.sent {
			t.Errorf("%s: got %+v, want %q, sent %t", test.name, known, test.want, test.sent)
		}
		cancel()
	}
}

// A connection that is not made after an answer was lost leaves it unknown what became of the change.
func TestLostAndThenUnreachable(t *testing.T) {
	t.Parallel()
	c, err := New(Options{BaseURL: "https://a.example", Tries: 2})
	servicetest.Check(t, err)
	c.options.Sleep = func(context.Context, time.Duration) error { return nil }
	change := Change{Op: OpCancelCall, UUID: apitype.NewUUID(), Method: http.MethodPut, Path: "/x"}
	for _, test := range []struct {
		first int // Status of the first answer; 0: there is none.
		want  Kind
	}{{502, KindUnknownOutcome}, {500, KindUnavailable}, {0, KindUnavailable}} {
		tries := 0
		c.options.Transport = canned(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return answered(200, `{"uuid":"`+change.UUID.String()+`","status":"requested"}`, true), nil
			}
			if tries++; tries == 1 && test.first != 0 {
				return answered(test.first, "", true), nil
			}
			return nil, &net.OpError{Op: "dial", Err: errors.New("no way")}
		})
		if _, err = c.Send(t.Context(), change); KindOf(err) != test.want || tries != 2 {
			t.Errorf("%d and no connection: got %v after %d tries, want %s after 2", test.first, err, tries, test.want)
		}
	}
}

// A service that asks to wait for long is told of; one that is asked again in the end is unavailable.
func TestPause(t *testing.T) {
	t.Parallel()
	var slept []time.Duration
	c, err := New(Options{
		BaseURL: "https://a.example", Now: func() time.Time { return time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC) },
		Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil },
	})
	servicetest.Check(t, err)
	for _, test := range []struct {
		e    Error
		try  int
		want string
		kind Kind
	}{
		{Error{Kind: KindRejected, Message: "no"}, 1, "no", KindRejected},
		{Error{Kind: KindUnavailable, Retryable: true, Message: "down"}, 4, "down", KindUnavailable},
		{Error{Kind: KindRejected, Status: 429, Retryable: true, Message: "m"}, 4, "429 m", KindRejected},
		{Error{Kind: KindUnavailable, Retryable: true, RetryAfter: 61 * time.Second, Message: "down"}, 1, "down; the service asks to wait until 2026-11-20T09:16:01Z", KindUnavailable},
		{Error{Kind: KindUnavailable, Retryable: true, RetryAfter: time.Minute, Message: "down"}, 1, "<nil>", ""},
		{Error{Kind: KindUnavailable, Retryable: true, Message: "down"}, 3, "<nil>", ""},
	} {
		if err := c.pause(t.Context(), &test.e, test.try); fmt.Sprint(err) != test.want || KindOf(err) != test.kind {
			t.Errorf("%+v: got %v of kind %s, want %q of kind %s", test.e, err, KindOf(err), test.want, test.kind)
		}
	}
	if len(slept) != 2 || slept[0] != time.Minute || slept[1] < 500*time.Millisecond || slept[1] >= 1500*time.Millisecond {
		t.Errorf("got sleeps %v, want a minute and about a second", slept)
	}
}

// How far the service's clock is behind is what its last answer with a time says.
func TestBehind(t *testing.T) {
	t.Parallel()
	c := new(Client)
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for _, test := range []struct {
		date string
		want time.Duration
	}{
		{"Fri, 20 Nov 2026 09:14:30 GMT", 30 * time.Second},
		{"", 30 * time.Second},
		{"then", 30 * time.Second},
		{"Fri, 20 Nov 2026 09:15:30 GMT", 0},
	} {
		if c.noteClock(http.Header{"Date": {test.date}}, now); c.Behind() != test.want {
			t.Errorf("%q: got %v behind, want %v", test.date, c.Behind(), test.want)
		}
	}
}

// What stands in for the system's way to a service is checked before anything is sent.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		n      Network
		scheme string
		want   string // Beginning of the error; "" for none.
		proxy  string // "": that of the environment.
	}{
		{"nothing", Network{}, "https", "", ""},
		{"no file of certificates", Network{CACert: "/nowhere/ca.pem"}, "https", "the CA certificate cannot be read: open /nowhere/ca.pem: ", ""},
		{"a file without certificates", Network{CACert: "send_test.go"}, "https", "the file send_test.go holds no certificate (PEM)", ""},
		{"a certificate without a key", Network{ClientCert: "a"}, "https", "a client certificate and its key go together (client_cert, client_key)", ""},
		{"a key without a certificate", Network{ClientKey: "a"}, "https", "a client certificate and its key go together (client_cert, client_key)", ""},
		{"a certificate that is none", Network{ClientCert: "send_test.go", ClientKey: "send_test.go"}, "https", "the client certificate cannot be used: ", ""},
		{"no proxy", Network{Proxy: "direct"}, "https", "", "none"},
		{"a proxy", Network{Proxy: "http://proxy.example:3128"}, "https", "", "http://proxy.example:3128"},
		{"a proxy with TLS", Network{Proxy: "https://proxy.example"}, "https", "", "https://proxy.example"},
		{"a proxy of another kind", Network{Proxy: "socks5://proxy.example"}, "https", "", "socks5://proxy.example"},
		{"a proxy that is none", Network{Proxy: "ftp://proxy.example"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy without a host", Network{Proxy: "http://"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy that is no URL", Network{Proxy: "http://%zz"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy to this machine", Network{Proxy: "ftp://proxy.example"}, "http", "", ""},
	} {
		environment := func(*http.Request) (proxy *url.URL, err error) { return nil, errors.New("of the environment") }
		transport := &http.Transport{Proxy: environment}
		err := test.n.apply(transport, test.scheme)
		if test.want != "" {
			if KindOf(err) != KindUsage || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.name, err, test.want)
			}
			continue
		}
		got := "none"
		if transport.Proxy != nil {
			proxy, failed := transport.Proxy(&http.Request{})
			if got = fmt.Sprint(proxy); failed != nil {
				got = ""
			}
		}
		if err != nil || got != test.proxy || transport.TLSClientConfig != nil {
			t.Errorf("%s: got proxy %q, %v, want %q", test.name, got, err, test.proxy)
		}
	}
}

// A page of one-kilobyte records whose bound is smaller is asked for with half as many, until it fits.
func TestListOfLargeRecords(t *testing.T) {
	t.Parallel()
	const page = `{"pageInfo":{"endCursor":"e"},"edges":[{"node":{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","notes":"`
	for _, test := range []struct {
		query string
		fits  int // Records that do.
		bare  bool
		want  string // Sizes that are asked for.
		fewer int
		fails string
	}{
		{"", 100, false, "first=", 0, ""},
		{"", 12, false, "first=,first=50,first=25,first=12", 12, ""},
		{"before=b", 50, false, "last=,last=50", 50, ""},
		{"before=b&after=a", 50, false, "first=,first=50", 50, ""},
		{"before=b&first=4", 2, false, "first=4,first=2", 2, ""},
		{"last=4", 1, false, "last=4,last=2,last=1", 1, ""},
		{"first=4", 0, false, "first=4,first=2,first=1", 1, `a record was not read: 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 is larger than 64 MiB`},
		{"first=1", 0, true, "first=1", 0, "the answer is larger than 0 MiB"},
		{"first=0", -1, false, "first=0", 0, "the answer is larger than 0 MiB"},
	} {
		var asked []string
		c, err := New(Options{BaseURL: "https://a.example", Transport: canned(func(r *http.Request) (*http.Response, error) {
			name, size := "first", r.URL.Query().Get("first")
			if strings.Contains(test.want, "last") {
				name, size = "last", r.URL.Query().Get("last")
			}
			asked = append(asked, name+"="+size)
			n, failed := strconv.Atoi(size)
			if failed != nil {
				n = 100
			}
			switch {
			case n <= test.fits:
				return answered(200, `{"pageInfo":{"hasNextPage":false},"edges":[]}`, true), nil
			case test.bare:
				return answered(200, `[{"notes":"`+strings.Repeat("x", 9000)+`"}]`, false), nil
			default:
				return answered(200, page+strings.Repeat("x", 9000)+`"}}]}`, false), nil
			}
		})})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		query, _ := url.ParseQuery(test.query)
		options, wrong := apitype.ParseCallListOptions(query)
		if len(wrong) > 0 {
			t.Error(wrong)
		}
		got, err := c.Calls.List(t.Context(), options)
		if err == nil {
			err = got.Err()
		}
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		if strings.Join(asked, ",") != test.want || got.Fewer != test.fewer || failed != test.fails {
			t.Errorf("%q: got %v, fewer %d, %v, want %s, fewer %d, %q", test.query, asked, got.Fewer, err, test.want, test.fewer, test.fails)
		}
	}
}

// A page that is too large and is not JSON is asked for once: fewer records would not make it any.
func TestLargePageThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]int{"x": 1, "": 1, `{"edges":[{"node":{"notes":"`: 4} {
		asked := 0
		c, err := New(Options{BaseURL: "https://a.example", Transport: canned(func(*http.Request) (*http.Response, error) {
			asked++
			return answered(200, start+strings.Repeat("x", 9000), false), nil
		})})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		_, err = c.Calls.List(t.Context(), apitype.CallListOptions{Paging: apitype.Paging{First: new(8)}})
		if asked != want || err == nil || (want == 1) != strings.Contains(err.Error(), "it is not JSON") {
			t.Errorf("%q: got %d requests and %v, want %d", start, asked, err, want)
		}
	}
}

// A body that does not end and is not JSON is not read on, whatever was asked for.
func TestEndlessBodyThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"record", "page of one", "change"} {
		var body endless
		c, err := New(Options{BaseURL: "https://a.example", Tries: 1, Transport: canned(func(*http.Request) (*http.Response, error) {
			answer := answered(200, "", false)
			answer.Body = &body
			return answer, nil
		})})
		servicetest.Check(t, err)
		id, most := apitype.NewUUID(), endless(2<<20)
		switch asked {
		case "record":
			_, err = c.Persons.Get(t.Context(), id)
		case "page of one":
			_, err = c.Persons.List(t.Context(), apitype.PersonListOptions{Paging: apitype.Paging{First: new(1)}})
		default:
			change, wrong := CancelCallChange(id, apitype.CancelCallRequest{})
			servicetest.Check(t, wrong)
			_, err = c.Send(t.Context(), change)
			most *= 2 // It is looked up what became of it.
		}
		if err == nil || !strings.Contains(err.Error(), "it is not JSON") || body > most {
			t.Errorf("%s: got %v after %d bytes, want that it is not JSON, within %d", asked, err, body, most)
		}
	}
}

// endless is a body without an end, and how much of it was read.
type endless int

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func (*endless) Close() error { return nil }

// What a walk tells its caller, page by page.
func TestWalkTells(t *testing.T) {
	t.Parallel()
	var told []string
	c, err := New(Options{BaseURL: "https://a.example", Transport: canned(func(r *http.Request) (*http.Response, error) {
		after := r.URL.Query().Get("after")
		next := map[string]string{"s": "a", "a": "b", "b": "c"}[after]
		a := answered(200, `{"pageInfo":{"endCursor":"`+next+`","hasNextPage":`+strconv.FormatBool(next != "c")+`},"edges":[{"node":{"uuid":"`+apitype.NewUUID().String()+`"},"cursor":"`+next+`"}]}`, true)
		a.Header.Set("X-Page", next)
		return a, nil
	})})
	servicetest.Check(t, err)
	query := url.Values{"after": {"s"}}
	for record, err := range c.Walk(t.Context(), "/api/v1/calls", query, AllOptions{
		Answered: func(h http.Header) { told = append(told, "page "+h.Get("X-Page")) }, Yielded: func() { told = append(told, "flush") },
	}) {
		servicetest.Check(t, err)
		told = append(told, record.Cursor)
	}
	if got := strings.Join(told, " "); got != "page a a flush page b b flush page c c flush" {
		t.Errorf("got %s", got)
	}
	if len(query) != 1 {
		t.Errorf("got %v, want the caller's query as it was", query)
	}
}

// The requests of the queue, and the error of marks.
func TestQueueRequests(t *testing.T) {
	t.Parallel()
	id := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	var asked []string
	status := 204
	c, err := New(Options{BaseURL: "https://a.example", Tries: 1, Transport: canned(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/fundesk/v1" {
			asked = append(asked, "extensions")
			return answered(status, "[]", true), nil
		}
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		return answered(status, `{}`, true), nil
	})})
	servicetest.Check(t, err)
	for _, status = range []int{503, 401} {
		if err := c.Queue.Release(t.Context(), id, apitype.DeferRequest{}); asError(err) == nil || asError(err).Status != status {
			t.Errorf("got %v, want that it is not known whether there is a queue: %d", err, status)
		}
	}
	status = 200
	if has, err := c.Has(t.Context(), apitype.ExtensionQueue); has || err != nil {
		t.Errorf("a list: got a queue %t, %v", has, err)
	}
	c.noteExtensions(http.Header{})
	if has, _ := c.Has(t.Context(), apitype.ExtensionQueue); has {
		t.Error("an answer that says nothing: got a queue")
	}
	c.noteExtensions(http.Header{"Fundesk-Extensions": {"status, queue"}})
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	_, err = c.Queue.Extend(t.Context(), id, apitype.ExtendRequest{LeaseSeconds: new(900)})
	_, err2 := c.Queue.Agents(t.Context(), apitype.QueueAgentsOptions{Since: &at})
	_, err3 := c.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{})
	status = 204
	err = errors.Join(err, err2, err3, c.Queue.Release(t.Context(), id, apitype.DeferRequest{}), c.Queue.Later(t.Context(), id, apitype.DeferRequest{NotBefore: &at}))
	want := []string{
		"extensions", "extensions", "extensions",
		"POST /fundesk/v1/queue/leases/" + id.String() + `/extend {"leaseSeconds":900}`,
		"GET /fundesk/v1/queue/agents?since=2026-11-20T09%3A15%3A00.000Z ",
		"GET /fundesk/v1/queue/leases ",
		"POST /fundesk/v1/queue/leases/" + id.String() + `/release {"notBefore":null,"userUuid":null}`,
		"PUT /fundesk/v1/queue/calls/" + id.String() + `/later {"notBefore":"2026-11-20T09:15:00.000Z","userUuid":null}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" || err != nil {
		t.Errorf("got %v, requests (-want +got):\n%s", err, diff)
	}
}

// The entries that could not be marked are named, and those of which nobody knows.
func TestMarkErrors(t *testing.T) {
	t.Parallel()
	failed := []apitype.ProcessedError{{ErrorMessage: "not  found\nat all"}, {ErrorMessage: "b"}}
	cause := &Error{Status: 502, Message: "bad gateway"}
	for want, e := range map[string]MarkError{
		"one entry could not be marked: not found":                                                             {Failed: failed[:1]},
		"2 entries could not be marked: not found":                                                             {Failed: failed},
		"the last entry is perhaps not marked: 502 bad gateway":                                                {Unconfirmed: make([]apitype.ProcessedEntry, 1), Cause: cause},
		"one entry could not be marked: not found; the last 2 entries are perhaps not marked: 502 bad gateway": {Failed: failed[:1], Unconfirmed: make([]apitype.ProcessedEntry, 2), Cause: cause},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	id, own := apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"), apitype.MustParseUUID("6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10")
	entry := apitype.ProcessedEntry{EntityName: "call", EntityUUID: id, ConsumerIdentifier: &own}
	for _, test := range []struct {
		failed apitype.ProcessedError
		want   bool
	}{
		{apitype.ProcessedError{EntityUUID: "5C1D0F0E-8F2F-4E0E-B3A5-2B8F0D9C7A10"}, true},
		{apitype.ProcessedError{EntityUUID: own.String()}, false},
		{apitype.ProcessedError{EntityUUID: id.String(), EntityName: "call", ConsumerIdentifier: new("6F1D4C2E-8A55-4B0E-9C39-0D2F3B6A7E10")}, true},
		{apitype.ProcessedError{EntityUUID: id.String(), EntityName: "person"}, false},
		{apitype.ProcessedError{EntityUUID: id.String(), ConsumerIdentifier: new("x")}, false},
	} {
		if got := test.failed.Names(entry); got != test.want {
			t.Errorf("%+v: got %t, want %t", test.failed, got, test.want)
		}
	}
	if refusal := (apitype.ProcessedError{EntityUUID: id.String(), ConsumerIdentifier: new("x")}); refusal.Names(apitype.ProcessedEntry{EntityUUID: id}) {
		t.Error("an entry without an identifier of its own was taken for one with it")
	}
	for _, test := range []struct {
		name                string
		entries             int
		answers             []string // Status and body of each request, the last again and again.
		failed, unconfirmed int
		want                string
	}{
		{"none", 0, nil, 0, 0, "<nil>"},
		{"one request that fails", 500, []string{"403 {}"}, 0, 0, "403 forbidden"},
		{"the second one fails", 501, []string{"204 ", "403 {}"}, 0, 1, "the last entry is perhaps not marked: 403 forbidden"},
		{"a refusal that names nothing of it", 2, []string{`400 {"errors":[{"entityUuid":"x","errorMessage":"m"}]}`}, 0, 0, "400 x: m"},
		{"a refusal that is none", 2, []string{`400 {"errors":7}`}, 0, 0, "400 bad request"},
		{"a refusal without an entity", 2, []string{`400 {"errors":[{"errorMessage":"m"}]}`}, 0, 0, "400 m"},
		{"one is refused, and then all", 2, []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`, "403 {}"}, 1, 2, "one entry could not be marked: m; the last 2 entries are perhaps not marked: 403 forbidden"},
		{"one is refused", 2, []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`, "204 "}, 1, 0, "one entry could not be marked: m"},
		{"all are refused", 1, []string{`400 {"errors":[{"entityUuid":"` + id.String() + `","errorMessage":"m"}]}`}, 1, 0, "one entry could not be marked: m"},
	} {
		c, err := New(Options{BaseURL: "https://a.example", Tries: 1, Transport: canned(func(*http.Request) (*http.Response, error) {
			status, body, _ := strings.Cut(test.answers[0], " ")
			test.answers = test.answers[min(1, len(test.answers)-1):]
			n, _ := strconv.Atoi(status)
			return answered(n, body, true), nil
		})})
		servicetest.Check(t, err)
		entries := make([]apitype.ProcessedEntry, test.entries)
		for i := range entries {
			entries[i] = apitype.ProcessedEntry{EntityName: "call", EntityUUID: apitype.NewUUID()}
			if i == 0 {
				entries[i].EntityUUID = id
			}
		}
		err = c.EntityAccess.MarkProcessed(t.Context(), entries)
		marks, _ := errors.AsType[*MarkError](err)
		if marks == nil {
			marks = &MarkError{}
		}
		if fmt.Sprint(err) != test.want || len(marks.Failed) != test.failed || len(marks.Unconfirmed) != test.unconfirmed {
			t.Errorf("%s: got %v, %d failed, %d unconfirmed, want %q, %d, %d", test.name, err, len(marks.Failed), len(marks.Unconfirmed), test.want, test.failed, test.unconfirmed)
		}
	}
}

// Records that are too large by themselves are passed over as long as the pages lead on, and named.
func TestTooLargeRecordsArePassedOver(t *testing.T) {
	t.Parallel()
	const nameless = `one after the cursor ""`
	for _, test := range []struct {
		name string
		info func(n int) string // Of the page after n others.
		id   string
		want string
	}{
		{"the last", func(int) string { return `{"endCursor":"1","hasNextPage":false}` }, "", "a record was not read: " + nameless + " is larger than 64 MiB"},
		{"without a way on", func(int) string { return `{"hasNextPage":true}` }, "", "a record was not read: " + nameless + " is larger than 64 MiB"},
		{"a way back", func(int) string { return `{"endCursor":"1","hasNextPage":true}` }, "", "2 records were not read; the first of them, " + nameless + ", is larger than 64 MiB"},
		{"the same again", func(n int) string { return `{"endCursor":"` + strconv.Itoa(n+1) + `","hasNextPage":true}` }, "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10", "2 records were not read; the first of them, 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10, is larger than 64 MiB\nthe pages of the list repeat"},
		{"those without a name", func(n int) string {
			return `{"endCursor":"` + strconv.Itoa(n+1) + `","hasNextPage":` + strconv.FormatBool(n < 2) + `}`
		}, "", "3 records were not read; the first of them, " + nameless + ", is larger than 64 MiB"},
	} {
		c, err := New(Options{BaseURL: "https://a.example", Transport: canned(func(r *http.Request) (*http.Response, error) {
			n, _ := strconv.Atoi(r.URL.Query().Get("after"))
			return answered(200, `{"pageInfo":`+test.info(n)+`,"edges":[{"node":{"uuid":"`+test.id+`","notes":"`+strings.Repeat("x", 9000)+`"}}]}`, false), nil
		})})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		var failed error
		for _, err := range c.Walk(t.Context(), "/api/v1/calls", nil, AllOptions{PageSize: 1}) {
			failed = err
		}
		if fmt.Sprint(failed) != test.want {
			t.Errorf("%s: got %v, want %q", test.name, failed, test.want)
		}
	}
}
