package httpapi

import (
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// maxDrain limits the bytes of a refused body that are still read.
const maxDrain = 16 << 20

// decode reads a body strictly. No body is {}. Spec gap: R13.
func decode[T any](w *recorder, r *http.Request) (T, error) {
	var request T
	data, err := body(w, r)
	if err != nil || len(data) == 0 {
		return request, err
	}
	if len(data) >= heavyFrom {
		if err := w.pass.take(w.pass.gate.bodies); err != nil {
			return request, err
		}
		defer w.pass.end()
	}
	if err := service.NotValid(service.CountItems(data)); err != nil {
		return request, err
	}
	return request, service.NotValid(service.DecodeStrict(data, &request))
}

// body returns the whole body. Its type must be JSON, if it has one.
func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > apitype.MaxBody {
		return nil, tooLarge(w, r)
	}
	data, err := readAll(io.LimitReader(r.Body, apitype.MaxBody+1), r.ContentLength)
	if len(data) > apitype.MaxBody {
		return nil, tooLarge(w, r)
	}
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, "the body could not be read whole"}
	}
	if len(data) > 0 && !isJSON(r.Header) {
		return nil, &statusError{
			http.StatusUnsupportedMediaType,
			"the body must be of Content-Type application/json, in UTF-8 and not encoded",
		}
	}
	return data, nil
}

func tooLarge(w http.ResponseWriter, r *http.Request) error {
	drain(w, r)
	return &statusError{http.StatusRequestEntityTooLarge, "the body is larger than this operation takes"}
}

// drain reads and drops the rest of a refused body, within bounds. Otherwise a caller that sends everything before it
// reads would get a broken connection.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" || r.ContentLength > maxDrain {
		w.Header().Set("Connection", "close") // Nothing more is read.
	} else if _, err := io.CopyN(io.Discard, r.Body, maxDrain); err == nil {
		w.Header().Set("Connection", "close")
	}
}

// readAll reads a body. Its size is usually known.
func readAll(from io.Reader, size int64) ([]byte, error) {
	if size <= 0 {
		return io.ReadAll(from)
	}
	data := make([]byte, size)
	n, err := io.ReadFull(from, data)
	return data[:n], err
}

// isJSON reports whether the type of a body is JSON in UTF-8.
func isJSON(h http.Header) bool {
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, named := parameters["charset"]
	encoding := h.Get("Content-Encoding")
	return err == nil && kind == "application/json" && len(h.Values("Content-Type")) == 1 &&
		(!named || strings.EqualFold(charset, "utf-8")) && (encoding == "" || strings.EqualFold(encoding, "identity"))
}

func query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, "the query is not well formed"}
	}
	return values, nil
}

// pathUUID returns the identifier in the path of an operation without parameters.
func pathUUID(r *http.Request) (apitype.UUID, error) {
	v := noParameters(r)
	id, err := apitype.ParseUUID(r.PathValue("uuid"))
	if err != nil {
		v = append(v, apitype.Violation{Parameter: "uuid", Message: err.Error()})
	}
	return id, service.NotValid(v)
}

// noParameters returns the violations of a query for an operation without parameters.
func noParameters(r *http.Request) apitype.Violations {
	if r.URL.RawQuery == "" {
		return nil
	}
	values, err := query(r)
	if err != nil {
		return apitype.Violations{{Message: "the query is not well formed"}}
	}
	var v apitype.Violations
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v = append(v, apitype.Violation{Parameter: name, Message: "is not a parameter of this operation"})
	}
	return v
}
