package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// The formats that a name implies, and the ones by which generated programs read a value. A number without a format
// becomes a float32, which loses cents.
var formatsByName = []struct {
	name    *regexp.Regexp
	formats string
}{
	{regexp.MustCompile(`^(u|[a-zA-Z]+U)uids?$|^consumerIdentifier$`), "uuid"},
	{regexp.MustCompile(`^dateOfBirth$`), "date"},
	{regexp.MustCompile(`^[a-zA-Z]+(At|After|From|Until|Before)$|^since$|^collectionDate$`), "date-time"},
	{regexp.MustCompile(`(?i)amount$|rating$|score$|percentage$|duration$`), "double"},
}

// TestOpenAPIForGeneratedPrograms walks openapi.json. Every number, identifier, time and date has its format, except
// for a failing entry's copy. Servers are relative, both kinds of a creation have an example, and no header for
// browsers of other origins is described.
func TestOpenAPIForGeneratedPrograms(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI)
	servicetest.Check(t, err)
	seen, named := map[*openapi3.Schema]bool{}, 0
	var format func(s *openapi3.Schema) string
	format = func(s *openapi3.Schema) string {
		formats := s.Format
		for _, part := range slices.Concat(s.AnyOf, s.AllOf) {
			formats += format(part.Value)
		}
		if s.Items != nil {
			formats += format(s.Items.Value)
		}
		return formats
	}
	var walk func(path, name string, s *openapi3.Schema)
	walk = func(path, name string, s *openapi3.Schema) {
		for _, by := range formatsByName {
			if by.name.MatchString(name) && !strings.HasPrefix(path, "ProcessedError") {
				if named++; format(s) != by.formats {
					t.Errorf("%s: got the format %q, want %s", path, format(s), by.formats)
				}
			}
		}
		if seen[s] {
			return
		}
		seen[s] = true
		if s.Type.Includes("number") && s.Format != "double" ||
			s.Type.Includes("integer") && s.Format != "int32" && s.Format != "int64" {
			t.Errorf("%s: got the format %q of a number", path, s.Format)
		}
		for _, part := range slices.Concat(s.AnyOf, s.AllOf) {
			walk(path, "", part.Value)
		}
		if s.Items != nil {
			walk(path+"[]", "", s.Items.Value)
		}
		for member, below := range s.Properties {
			walk(path+"/"+member, member, below.Value)
		}
	}
	for name, s := range document.Components.Schemas {
		walk(name, "", s.Value)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, p := range operation.Parameters {
				walk(method+" "+path+"?"+p.Value.Name, p.Value.Name, p.Value.Schema.Value)
			}
		}
	}
	if named < 130 {
		t.Errorf("got %d values that are known by their names, want 130 at least", named)
	}
	for _, server := range document.Servers {
		if !strings.HasPrefix(server.URL, "/") {
			t.Errorf("got the server %s, want a relative one", server.URL)
		}
	}
	for _, path := range []string{"/api/v1/calls", "/api/v1/pledges"} {
		examples := document.Paths.Value(path).Post.RequestBody.Value.Content["application/json"].Examples
		if examples["serviceManaged"] == nil || examples["external"] == nil {
			t.Errorf("%s: got the examples %v, want one of each kind", path, slices.Collect(maps.Keys(examples)))
		}
	}
	entry := document.Components.Schemas["ProcessedErrors"].Value.Properties["errors"].Value.Items.Value
	for name, s := range entry.Properties {
		if s.Value.Format != "" || s.Value.Pattern != "" || len(s.Value.Enum) > 0 {
			t.Errorf("%s of a failing entry: got %+v, want anything that was sent", name, s.Value)
		}
	}
	if bytes.Contains(bytes.ToLower(httpapi.OpenAPI), []byte("access-control")) {
		t.Error("a header is told of that is never sent")
	}
}

// TestOpenAPIBounds sends values beyond the bounds of each body that openapi.json describes. The service refuses each
// and names its place, so no bound in openapi_notes.json is narrower than the service's.
func TestOpenAPIBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	document, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI)
	servicetest.Check(t, err)
	token := w.Token(servicetest.May(slices.Concat(service.Permissions, service.NamedPermissions)...))
	tried := 0
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			// Its entries fail one by one.
			if operation.RequestBody == nil || strings.HasSuffix(path, "mark-processed") {
				continue
			}
			for _, beyond := range beyondBounds("",
				operation.RequestBody.Value.Content["application/json"].Schema.Value) {
				tried++
				if strings.HasPrefix(beyond.pointer, "/externalSource") { // Only an external call has one.
					beyond.body.(map[string]any)["externalMetadata"] = map[string]any{"applicationName": "x"}
				}
				body, err := json.Marshal(beyond.body)
				servicetest.Check(t, err)
				answer := w.Do(token, method, strings.ReplaceAll(path, "{uuid}", w.a.call.String()), string(body))
				if answer.Status != http.StatusBadRequest ||
					!bytes.Contains(answer.Body, []byte(`"`+beyond.pointer+`"`)) {
					t.Errorf("%s %s with %.100s: got %d %s", method, path, body, answer.Status, answer.Body)
				}
			}
		}
	}
	if tried < 80 {
		t.Errorf("got %d bounds, want 80 at least", tried)
	}
}

// outside is a body with one value beyond a bound, at pointer.
type outside struct {
	pointer string
	body    any
}

// beyondBounds returns a value beyond each bound of a schema, which is at pointer.
func beyondBounds(pointer string, s *openapi3.Schema) []outside {
	for _, part := range slices.Concat(s.AnyOf, s.AllOf) {
		if part.Value.Type.Is("object") {
			s = part.Value
		}
	}
	var all []outside
	if s.MaxLength != nil && s.Type.Includes("string") && s.Format == "" {
		all = append(all, outside{pointer, strings.Repeat("A", int(*s.MaxLength)+1)})
	}
	if s.Max != nil {
		all = append(all, outside{pointer, *s.Max + 1})
	}
	if s.Min != nil {
		all = append(all, outside{pointer, *s.Min - 1})
	}
	for name, property := range s.Properties {
		for _, inner := range beyondBounds(pointer+"/"+name, property.Value) {
			all = append(all, outside{inner.pointer, map[string]any{name: inner.body}})
		}
	}
	return all
}

// TestOpenAPINotices shows that the check sees what is wrong.
func TestOpenAPINotices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := callPath(w.a.call)
	for _, bend := range []struct{ from, to string }{
		{`"uuid"`, `"uid"`},
		{`"status":"requested"`, `"status":"open"`},
		{`"attemptsCount":0`, `"attemptsCount":"0"`},
		{`"cancelledAt":null`, `"cancelledAt":1`},
		{`"cancelledAt":null`, `"cancelledAt":"yesterday"`},
		{`"personUuid":"`, `"personUuid":"x`},
		{`"attempts":[]`, `"attempts":[{}]`},
		{`"attempts":[]`, `"attempts":null`},
	} {
		answer := w.get(path)
		bent := strings.Replace(string(answer.Body), bend.from, bend.to, 1)
		if bent == string(answer.Body) {
			t.Fatalf("%s is not in the answer", bend.from)
		}
		answer.Body = []byte(bent)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		if err := servicetest.Conforms(request, nil, answer); err == nil {
			t.Errorf("%s instead of %s is not noticed", bend.to, bend.from)
		}
	}
}
