package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/service/httpapi"
)

// TestDocs reads the page of the interface: it has every operation with its parameters, every
// schema with its members, and every example; its links lead to a place of it; and it runs nothing,
// asks nobody for anything and may not, by its policy.
func TestDocs(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	docs(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", http.NoBody))
	page := answer.Body.String()
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""))
	if answer.Code != http.StatusOK || !strings.HasPrefix(page, "<!doctype html>") || !strings.HasSuffix(page, "</html>\n") {
		t.Fatalf("got %d, %.200s", answer.Code, page)
	}
	var d document
	if err := json.Unmarshal(httpapi.OpenAPI, &d, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	shown := func(what string, words ...string) {
		t.Helper()
		for _, word := range words {
			if word != "" && !strings.Contains(text, word) {
				t.Errorf("%s: %q is not on the page", what, word)
			}
		}
	}
	operations := 0
	for _, at := range d.Paths {
		for _, one := range at.Value {
			operations++
			o := one.Value
			shown(o.OperationID, strings.ToUpper(one.Name)+" "+at.Name, o.Summary, o.Description)
			if !strings.Contains(page, `<section id="`+o.OperationID+`">`) {
				t.Errorf("%s has no place on the page", o.OperationID)
			}
			for _, p := range o.Parameters {
				if p.Ref != "" {
					i := slices.IndexFunc(d.Components.Parameters, func(one member[parameter]) bool { return "#/components/parameters/"+one.Name == p.Ref })
					p = d.Components.Parameters[i].Value
				}
				shown(o.OperationID, p.Name, p.Description)
			}
		}
	}
	if operations < 28 {
		t.Errorf("got %d operations, want all 28", operations)
	}
	for _, one := range d.Components.Schemas {
		shown(one.Name, one.Name, one.Value.Description, one.Value.Format, one.Value.Pattern)
		for _, p := range one.Value.Properties {
			shown(one.Name, p.Name, p.Value.Description)
		}
	}
	shown("examples", "Managed in the service: its rules apply.", "Managed in another system: no rules apply.", `"referenceId": "77"`)
	shown("a nested member", "attempts[].createdAt", "result", "at most 9999999.99")

	ids := regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1)
	for _, link := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		isThere := slices.ContainsFunc(ids, func(id []string) bool { return "#"+id[1] == link[1] })
		if !isThere && link[1] != "/openapi.json" {
			t.Errorf("the link %s leads nowhere", link[1])
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<img|<link|<iframe| src=| on\w+=| style=|url\(|@import`).FindString(page); found != "" {
		t.Errorf("got %q on the page, want nothing that runs or is fetched", found)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	sum := sha256.Sum256([]byte(style[1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := answer.Header().Get("Content-Security-Policy"); got != want {
		t.Errorf("got policy %q, want %q", got, want)
	}
}

// TestDocsKnowEveryKeyword shows that no keyword of a schema is left out of the page.
func TestDocsKnowEveryKeyword(t *testing.T) {
	t.Parallel()
	var raw struct {
		Components struct{ Schemas jsontext.Value }
	}
	var schemas members[schema]
	err := json.Unmarshal(httpapi.OpenAPI, &raw, json.MatchCaseInsensitiveNames(true))
	if err == nil {
		err = json.Unmarshal(raw.Components.Schemas, &schemas, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true))
	}
	if err != nil || len(schemas) < 63 {
		t.Errorf("got %d schemas, %v, want all 63", len(schemas), err)
	}
}

// TestNamesOfTypes compares how the page names types and their bounds, whole.
func TestNamesOfTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                                         "",
		`{"$ref":"#/components/schemas/Call"}`:       "[Call]",
		`{"allOf":[{"$ref":"#/a/A"}]}`:               "[A]",
		`{"type":"integer"}`:                         "integer",
		`{"type":"string","format":"uuid"}`:          "string (uuid)",
		`{"type":["string","null"],"format":"uuid"}`: "string (uuid) or null",
		`{"type":"array","items":{"$ref":"#/a/A"}}`:  "array of [A]",
		`{"type":["array","null"],"items":{"type":"string","format":"date"}}`: "array of string (date) or null",
		`{"type":["string","null"],"enum":["a"],"default":"a"}`:               `"a" or null; default "a"`,
		`{"type":"string","enum":["a","b"]}`:                                  `"a", "b"`,
		`{"anyOf":[{"$ref":"#/a/A"},{"type":"null"}]}`:                        "[A] or null",
		`{"minimum":1,"maximum":28}`:                                          "; 1 to 28",
		`{"minimum":1}`:                                                       "; at least 1",
		`{"maximum":28}`:                                                      "; at most 28",
		`{"exclusiveMinimum":0,"maximum":9}`:                                  "; more than 0, at most 9",
		`{"minLength":1,"maxLength":2}`:                                       "; 1 to 2 characters",
		`{"minLength":1}`:                                                     "; at least 1 characters",
		`{"maxItems":100}`:                                                    "; at most 100 elements",
		`{"minItems":1,"maxItems":1000}`:                                      "; 1 to 1000 elements",
		`{"default":5}`:                                                       "; default 5",
		`{"additionalProperties":true}`:                                       "; with any members",
		`{"additionalProperties":false}`:                                      "",
		`{"pattern":"^a$"}`:                                                   "; matches ^a$",
		`{"examples":["a",1]}`:                                                `; such as "a", such as 1`,
	} {
		var s schema
		if err := json.Unmarshal([]byte(text), &s, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, part := range s.kind() {
			if part.IsLink {
				part.Text = "[" + part.Text + "]"
			}
			got += part.Text
		}
		if bounds := s.bounds(); bounds != "" {
			got += "; " + bounds
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
