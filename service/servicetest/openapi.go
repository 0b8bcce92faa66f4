package servicetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"fundesk/service/httpapi"
)

// described is the router of openapi.json, read once.
var described = sync.OnceValues(func() (routers.Router, error) {
	document, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI)
	if err != nil {
		return nil, err
	}
	document.Servers = nil // Only paths count: tests serve from many addresses.
	// Nothing in it is of JSON Schema 2020: with its own version each schema is compiled at each
	// comparison, and then, because it refers to others, compared as one of 3.0 anyway.
	document.OpenAPI = "3.0.3"
	for _, name := range []string{"TimestampInput", "DateInput"} {
		document.Components.Schemas[name].Value.Format = "" // The service reads more forms than the description has.
	}
	return gorillamux.NewRouter(document)
})

// varying matches the parts in which equal answers differ, as whole words: identifiers of version 4, and times and
// cursors in their exact form.
var varying = regexp.MustCompile(`^(?:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}` +
	`|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z|[A-Za-z0-9_-]{55})$`)

// blanked returns a text with * in place of what varies and of signatures of links. It looks at words:
// an expression over the whole text took a tenth of all tests' time.
func blanked(text []byte) []byte {
	blank := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := bytes.IndexFunc(text, func(r rune) bool {
			return (r < '0' || r > ':') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '-' &&
				r != '.'
		})
		if n < 0 {
			n = len(text)
		}
		word, rest := text[:n], text[n:]
		end := rest[:min(1, len(rest))]
		signed := bytes.HasSuffix(blank, []byte("?expires=")) || bytes.HasSuffix(blank, []byte("&signature="))
		if n > 0 && (signed || (n == 24 || n == 36 || n == 55) && varying.Match(word)) {
			word = []byte("*")
		}
		blank = append(append(blank, word...), end...)
		text = rest[len(end):]
	}
	return blank
}

// maxShape is the size in bytes beyond which finding what varies takes longer than the
// comparison that it saves: such answers are alike when they are the same.
const maxShape = 16 << 10

// shape returns the same text for requests and answers that differ only in varying parts. Comparing one with the
// description takes milliseconds, and tests make many alike.
func shape(r *http.Request, body []byte, answer Answer) [sha256.Size]byte {
	var all bytes.Buffer
	fmt.Fprintf(
		&all,
		"%s %s %s\n%q %d %q\n",
		r.Method,
		r.URL.Path,
		r.URL.RawQuery,
		r.Header["Content-Type"],
		answer.Status,
		answer.Header["Content-Type"],
	)
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		fmt.Fprintln(&all, name)
	}
	all.Write(body)
	all.WriteByte('\n')
	all.Write(answer.Body)
	if len(body) > maxShape || len(answer.Body) > maxShape {
		return sha256.Sum256(all.Bytes())
	}
	return sha256.Sum256(blanked(all.Bytes()))
}

// conforming are the shapes that conform, of all tests of a process: most of them read the
// same records.
var conforming sync.Map

// checked holds every request that inner answers, and its answer, against openapi.json.
func checked(t testing.TB, inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Clone(context.WithoutCancel(r.Context()))
		var sent bytes.Buffer
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, &sent), r.Body}
		}
		answered := &recorded{ResponseWriter: w, status: http.StatusOK}
		inner.ServeHTTP(answered, r)
		if answered.status == 499 && r.Context().Err() != nil {
			return // The caller has left.
		}
		answer := Answer{Status: answered.status, Header: answered.Header(), Body: unpacked(answered)}
		alike := shape(asked, sent.Bytes(), answer)
		if _, known := conforming.Load(alike); known {
			return
		}
		if err := Conforms(asked, sent.Bytes(), answer); err != nil {
			t.Errorf(
				"%s %s: answer %d is not as openapi.json says: %v",
				asked.Method,
				asked.URL.Path,
				answered.status,
				err,
			)
		} else {
			conforming.Store(alike, true)
		}
	})
}

// unpacked returns the body of an answer before its compression.
func unpacked(answered *recorded) []byte {
	if answered.Header().Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(bytes.NewReader(answered.body.Bytes())); err == nil {
			if body, err := io.ReadAll(z); err == nil {
				return body
			}
		}
	}
	return answered.body.Bytes()
}

// Conforms compares one request and its answer with openapi.json. A request may be what
// the description forbids when it was refused; a path or method that it does not have
// must be.
func Conforms(r *http.Request, body []byte, answer Answer) error {
	router, err := described()
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		return nil // GET without a body.
	}
	plain := r.Clone(r.Context())
	// Arrays come in two forms, of which a description can have one. Spec gap: L7.
	query := r.URL.Query()
	if lists := query["owningOrganizationUuids"]; len(lists) > 0 {
		query["owningOrganizationUuids"] = strings.Split(strings.Join(lists, ","), ",")
	}
	plain.URL = &url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	plain.Body = io.NopCloser(bytes.NewReader(body))
	route, parameters, err := router.FindRoute(plain)
	if err != nil {
		missing := answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed
		if missing || !strings.HasPrefix(r.URL.Path, "/api/") {
			return nil
		}
		return err
	}
	options := &openapi3filter.Options{
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus: true,
	}
	input := &openapi3filter.RequestValidationInput{
		Request:    plain,
		PathParams: parameters,
		Route:      route,
		Options:    options,
	}
	if answer.Status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 answer.Status,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(answer.Body)),
		Options:                options,
	})
}

// recorded keeps what was answered.
type recorded struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (c *recorded) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Write keeps the data.
func (c *recorded) Write(data []byte) (int, error) {
	c.body.Write(data)
	return c.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the writer below.
func (c *recorded) Unwrap() http.ResponseWriter { return c.ResponseWriter }
