package embedded

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Transport returns an http.RoundTripper that calls a handler in this process.
func Transport(handler http.Handler) http.RoundTripper { return transport{handler} }

type transport struct{ handler http.Handler }

// RoundTrip calls the handler. When the context ends first, the answer is lost, as it
// would be on a network: a change may still be made.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		closeBody(request)
		return nil, err
	}
	answered := make(chan *answer, 1)
	go func() {
		defer closeBody(request)
		a := &answer{header: http.Header{}}
		defer func() {
			a.aborted = recover() != nil // The handler has answered or logged what it could.
			answered <- a
		}()
		t.handler.ServeHTTP(a, asServed(request))
	}()
	select {
	case a := <-answered:
		if a.aborted {
			return nil, io.ErrUnexpectedEOF
		}
		return a.response(request), nil
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close() // Nothing can be done about it here.
	}
}

// asServed returns a client's request as a server gets it.
func asServed(request *http.Request) *http.Request {
	served := request.Clone(request.Context())
	if served.Host == "" {
		served.Host = request.URL.Host
	}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	if served.URL.Path == "" {
		served.URL.Path = "/"
	}
	served.RequestURI = served.URL.RequestURI()
	return served
}

type answer struct {
	header  http.Header
	sent    http.Header // As it was when the status was written.
	status  int
	body    bytes.Buffer
	aborted bool
}

func (a *answer) Header() http.Header { return a.header }

// WriteHeader sends the status; only the first counts.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *answer) Write(data []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(data)
}

// response returns the answer as a client gets it.
func (a *answer) response(request *http.Request) *http.Response {
	a.WriteHeader(http.StatusOK)
	length := int64(a.body.Len())
	body := io.NopCloser(bytes.NewReader(a.body.Bytes()))
	if request.Method == http.MethodHead {
		body = http.NoBody
	} else {
		a.sent.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	a.sent.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.sent,
		Body:          body,
		ContentLength: length,
		Request:       request,
	}
}
