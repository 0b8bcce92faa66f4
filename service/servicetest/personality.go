package servicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/httpapi"
)

// Personality has the choices of another implementation of the interface. The zero value is our service. A client must
// work with each.
type Personality struct {
	Name         string
	PageSize     int  // The most records of a page, whatever the request. Zero is our limit.
	NoFlags      bool // hasNextPage and hasPreviousPage are absent.
	AlwaysNext   bool // hasNextPage is true on every page that is not empty.
	BareArray    bool // The pledge list is an array of pledges.
	Status422    bool // Refusals of values are 422.
	AllOrNothing bool // mark-processed keeps nothing when an entry fails.
	NoEmbeds     bool // Objects of the examples are absent.
	Circular     bool // A call of a pledge carries the text "[Circular]" as its pledge.
	PlainErrors  bool // Refusals are plain text.
	// Actions are other names of the status actions, by our names.
	Actions map[string]string
}

// Personalities returns all personalities for tests.
func Personalities() []Personality {
	return []Personality{
		{Name: "ours"},
		{Name: "pages of one", PageSize: 1},
		{Name: "pages of 1000", PageSize: 1000},
		{Name: "no page flags", NoFlags: true, PageSize: 7},
		{Name: "always a next page", AlwaysNext: true},
		{Name: "bare array", BareArray: true},
		{Name: "422", Status422: true},
		{Name: "all or nothing", AllOrNothing: true},
		{Name: "no embedded objects", NoEmbeds: true},
		{Name: "circular references", Circular: true},
		{Name: "errors as text", PlainErrors: true},
		{
			Name:    "other actions",
			Actions: map[string]string{"activate": "start", "drop": "discard", "cancel": "stop", "fulfill": "finish"},
		},
	}
}

// As returns the handler of the harness with a personality.
func (h *Harness) As(p Personality) http.Handler {
	h.t.Helper()
	rules, err := service.New(h.t.Context(), service.Options{Store: dryStore{h.Store}, Now: h.Clock.Now})
	if err != nil {
		h.t.Fatal(err)
	}
	return &actor{
		Personality: p,
		inner:       h.Handler,
		dry:         httpapi.New(httpapi.Options{Service: rules}),
		t:           h.t,
	}
}

// actor answers in the way of a personality.
type actor struct {
	Personality
	inner http.Handler
	dry   http.Handler // Keeps nothing.
	t     testing.TB
}

// ServeHTTP bends the request, lets our service answer, and bends the answer.
func (a *actor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	send := func(to http.Handler) *httptest.ResponseRecorder {
		recorded := httptest.NewRecorder()
		bent := r.Clone(r.Context())
		bent.Body = io.NopCloser(bytes.NewReader(body))
		a.bendRequest(bent)
		to.ServeHTTP(recorded, bent)
		return recorded
	}
	if a.AllOrNothing && strings.HasSuffix(r.URL.Path, "/mark-processed") {
		if tried := send(a.dry); tried.Code >= http.StatusBadRequest {
			a.answer(w, r, tried)
			return
		}
	}
	a.answer(w, r, send(a.inner))
}

// bendRequest turns what this personality understands into what ours does.
func (a *actor) bendRequest(r *http.Request) {
	for ours, theirs := range a.Actions {
		prefix, name := path.Split(r.URL.Path)
		if !strings.HasPrefix(r.URL.Path, "/api/v1/pledges/") || name == "update" {
			continue
		}
		if name == ours {
			r.URL.Path = prefix + "unknown"
		} else if name == theirs {
			r.URL.Path = prefix + ours
			return
		}
	}
	if a.PageSize == 0 || r.Method != http.MethodGet || strings.Count(r.URL.Path, "/") != 3 {
		return
	}
	query := r.URL.Query()
	name := "first"
	if query.Has("last") {
		name = "last"
	}
	asked, err := strconv.Atoi(query.Get(name))
	if err != nil || asked > a.PageSize || asked > 500 {
		query.Set(name, strconv.Itoa(min(a.PageSize, 500)))
	}
	r.URL = &url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
}

// answer bends what our service answered.
func (a *actor) answer(w http.ResponseWriter, r *http.Request, recorded *httptest.ResponseRecorder) {
	header, status, body := recorded.Header(), recorded.Code, recorded.Body.Bytes()
	switch {
	case status >= http.StatusBadRequest && a.PlainErrors && header.Get("Content-Type") == "application/problem+json":
		header.Set("Content-Type", "text/plain")
		body = []byte("this was refused")
	case status == http.StatusBadRequest && a.Status422:
		status = http.StatusUnprocessableEntity
	case status < http.StatusBadRequest && len(body) > 0:
		body = a.bendBody(r, body)
	}
	maps.Copy(w.Header(), header)
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		a.t.Log(err) // The client went away.
	}
}

// bendBody changes a record or a page; numbers keep their text.
func (a *actor) bendBody(r *http.Request, body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return body
	}
	if info, ok := value["pageInfo"].(map[string]any); ok {
		edges, _ := value["edges"].([]any)
		if a.NoFlags {
			delete(info, "hasNextPage")
			delete(info, "hasPreviousPage")
		}
		if a.AlwaysNext && len(edges) > 0 {
			info["hasNextPage"] = true
		}
	}
	if a.NoEmbeds {
		walk(value, strip)
	}
	if a.Circular {
		walk(value, encircle)
	}
	var bent any = value
	if edges, ok := value["edges"].([]any); ok && a.BareArray && strings.HasSuffix(r.URL.Path, "/pledges") {
		nodes := make([]any, len(edges))
		for i, edge := range edges {
			nodes[i] = edge.(map[string]any)["node"]
		}
		bent = nodes
	}
	encoded, err := json.Marshal(bent)
	if err != nil {
		a.t.Error(err)
	}
	return encoded
}

// walk visits every object in a value, the outer ones first.
func walk(value any, visit func(object map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(v)
		for _, member := range v {
			walk(member, visit)
		}
	case []any:
		for _, element := range v {
			walk(element, visit)
		}
	}
}

// strip takes away every object that an answer need not carry.
func strip(object map[string]any) {
	for _, name := range []string{
		"externalMetadata", "attempts", "result", "pledgeCase", "person", "transactions", "calls", "focusAreas",
		"externalSource",
		"owningOrganization", "recruitingOrganization", "recruiterUser", "qualityResult", "address", "mandate",
		"releasedAt", "socialSecurityNumber",
	} {
		if _, isPledge := object["signatureSignedUrl"]; name != "externalMetadata" || !isPledge {
			delete(object, name)
		}
	}
}

// encircle puts a text at the place of a pledge's call that would embed the pledge again.
func encircle(object map[string]any) {
	calls, _ := object["calls"].([]any)
	for _, call := range calls {
		call.(map[string]any)["pledgeCase"] = "[Circular]"
	}
}

// dryStore runs changes and keeps none.
type dryStore struct{ service.Store }

var errDry = errors.New("not kept")

// Write runs change and takes it back.
func (d dryStore) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	if mode != service.WriteIsolated {
		return d.Store.Write(ctx, mode, change)
	}
	err := d.Store.Write(ctx, service.WriteIsolated, func(tx service.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		return errDry
	})
	if errors.Is(err, errDry) {
		return nil
	}
	return err
}
