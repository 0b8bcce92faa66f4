package apiclient

import (
	"encoding/json"
	"html"
	"maps"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRefusal limits the bytes of a refusal's body that are read. A thousand failed marks take a quarter of it.
const maxRefusal = 1 << 20

// maxDetails limits the details of a refusal in an error.
const maxDetails = 100

// maxSentence limits the characters of a foreign error text in an error.
const maxSentence = 300

// readBody finds the readable sentence and the details in the body of a refusal: a
// problem, any other JSON, HTML or plain text. Spec gap: R1.
func (e *Error) readBody(contentType string, body []byte) {
	body = body[:min(len(body), maxRefusal)]
	var value any
	if err := json.Unmarshal(body, &value); err == nil {
		e.readJSON(value)
		e.Detail = e.Detail[:min(len(e.Detail), maxDetails)]
		return
	}
	media, _, _ := mime.ParseMediaType(contentType)
	text := string(body)
	if media == "text/html" || strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = htmlSentence(text)
	}
	e.Message = sentence(text)
}

func (e *Error) readJSON(value any) {
	switch v := value.(type) {
	case string:
		e.Message = sentence(v)
	case []any:
		e.readDetails(v)
	case map[string]any:
		keys := []string{"detail", "message", "error_description", "error", "errorMessage", "title", "reason"}
		for _, key := range keys {
			switch text := v[key].(type) {
			case string:
				if e.Message == "" {
					e.Message = sentence(text)
				}
			case map[string]any:
				if e.Message == "" {
					e.readJSON(text)
				}
			case []any: // Some frameworks put a list of sentences under "message".
				e.readDetails(text)
			}
		}
		switch errors := v["errors"].(type) {
		case []any:
			e.readDetails(errors)
		case map[string]any:
			e.readFields(errors)
		}
		if id, ok := v["instance"].(string); ok && e.RequestID == "" {
			e.RequestID = id
		}
	}
	if e.Message == "" && len(e.Detail) > 0 {
		e.Message = e.Detail[0]
	}
}

// readDetails reads a list of sentences, or of objects with a place and a sentence.
func (e *Error) readDetails(list []any) {
	for _, item := range list {
		switch v := item.(type) {
		case string:
			e.Detail = append(e.Detail, sentence(v))
		case map[string]any:
			where := firstText(v, "pointer", "parameter", "field", "path", "property", "entityUuid")
			if strings.HasPrefix(where, "/") {
				where = strings.ReplaceAll(where[1:], "/", ".")
			}
			what := firstText(v, "message", "errorMessage", "detail", "description", "title", "code")
			if where != "" && what != "" {
				e.Detail = append(e.Detail, where+": "+sentence(what))
			} else if where+what != "" {
				e.Detail = append(e.Detail, sentence(where+what))
			}
		}
	}
}

// readFields reads an object of field names with one or several sentences each.
func (e *Error) readFields(fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case string:
			e.Detail = append(e.Detail, name+": "+sentence(v))
		case []any:
			for _, item := range v {
				if text, ok := item.(string); ok {
					e.Detail = append(e.Detail, name+": "+sentence(text))
				}
			}
		}
	}
}

func firstText(object map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// htmlSentence returns the heading, the title or the first text of a page.
func htmlSentence(page string) string {
	lower := strings.ToLower(page)
	if len(lower) == len(page) {
		for _, tag := range []string{"h1", "title"} {
			_, after, found := strings.Cut(lower, "<"+tag)
			if !found {
				continue
			}
			start := len(page) - len(after)
			if open := strings.IndexByte(page[start:], '>'); open >= 0 {
				text, _, _ := strings.Cut(page[start+open+1:], "</")
				if stripped := stripTags(text); stripped != "" {
					return stripped
				}
			}
		}
	}
	return stripTags(page)
}

func stripTags(page string) string {
	var b strings.Builder
	inTag := false
	for _, r := range page {
		switch {
		case r == '<':
			inTag = true
		case r == '>':
			inTag = false
			b.WriteByte(' ')
		case !inTag:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(html.UnescapeString(b.String()))
}

// sentence returns the first line of a text, with single spaces, cut to the length of a message.
func sentence(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "�")), " ")
	if utf8.RuneCountInString(line) > maxSentence {
		line = string([]rune(line)[:maxSentence]) + "…"
	}
	return line
}
