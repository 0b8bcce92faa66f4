package sandbox

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/service/httpapi"
)

// The page of the interface: one file without a script, which asks nobody for anything.
var (
	//go:embed docs.html
	docsHTML string
	//go:embed docs.css
	docsCSS string
)

// docsPage is the page of openapi.json.
var docsPage = sync.OnceValues(func() ([]byte, error) {
	var d document
	if err := json.Unmarshal(httpapi.OpenAPI, &d, json.MatchCaseInsensitiveNames(true)); err != nil {
		return nil, err
	}
	page, err := template.New("docs").Funcs(template.FuncMap{
		"paragraphs": func(text string) []string { return strings.Split(text, "\n\n") },
		"upper":      strings.ToUpper,
		"style":      func() template.CSS { return template.CSS(docsCSS) },
		"rows":       func(s schema) []row { return s.rows("") },
		"kind":       schema.kind,
		"bounds":     schema.bounds,
		"parameters": d.parameters,
		"answer":     d.answer,
		"samples":    d.samples,
	}).Parse(docsHTML)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	err = page.Execute(&all, d)
	return all.Bytes(), err
})

// docsPolicy lets a browser load nothing for the page, and apply the style within it.
var docsPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(docsCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

// docs shows the page.
func docs(w http.ResponseWriter, _ *http.Request) {
	page, err := docsPage()
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", docsPolicy())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page) // The caller has gone away.
}

// parameters are those of an operation.
func (d document) parameters(o operation) []row {
	rows := make([]row, len(o.Parameters))
	for i, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters.named(p.Ref)
		}
		rows[i] = newRow(p.Name, p.Schema, p.Description, p.Required)
		rows[i].In = p.In
	}
	return rows
}

// answer is an answer that may stand among the components.
func (d document) answer(r response) response {
	if r.Ref != "" {
		return d.Components.Responses.named(r.Ref)
	}
	return r
}

// sample is an example as it is shown.
type sample struct{ Title, Text string }

// samples are the examples of a body.
func (d document) samples(m media) (samples []sample) {
	add := func(title string, value jsontext.Value) {
		value = value.Clone()
		if len(value) > 0 && value.Indent(jsontext.WithIndent("  ")) == nil {
			samples = append(samples, sample{title, string(value)})
		}
	}
	add("Example", m.Example)
	for _, one := range m.Examples {
		e := one.Value
		if e.Ref != "" {
			e = d.Components.Examples.named(e.Ref)
		}
		title := "Example"
		if e.Summary != "" {
			title += ": " + e.Summary
		}
		add(title, e.Value)
	}
	return samples
}
