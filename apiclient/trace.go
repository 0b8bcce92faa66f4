package apiclient

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// tracer writes requests and answers with everything masked that is personal or
// secret. A nil tracer writes nothing.
type tracer struct {
	mu  sync.Mutex
	out io.Writer
}

// maxTrace limits the bytes of a body that are shown.
const maxTrace = 8 << 10

// maxMasked is the largest body of which anything is shown, in bytes.
const maxMasked = 1 << 20

func (t *tracer) request(r *http.Request, body []byte) {
	if t == nil {
		return
	}
	target := *r.URL
	target.RawQuery = maskQuery(r.URL.Query())
	t.write("> %s %s\n%s", r.Method, target.String(), t.body(body))
}

func (t *tracer) answer(r *http.Response, body []byte, took time.Duration) {
	if t == nil {
		return
	}
	id := r.Header.Get("X-Request-Id")
	if !isWord(id) {
		id = "-"
	}
	t.write(
		"< %d %s, %d bytes in %s, request %s\n%s",
		r.StatusCode,
		http.StatusText(r.StatusCode),
		len(body),
		took.Round(time.Millisecond),
		id,
		t.body(body),
	)
}

func (t *tracer) body(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	text := maskBody(body)
	if len(text) > maxTrace {
		text = text[:maxTrace] + "…"
	}
	return "  " + text + "\n"
}

func (t *tracer) write(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, format, args...)
}

// isWord reports whether a text looks like an enumerated word, a number or a list of
// them.
func isWord(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for _, c := range []byte(text) {
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !isLetter && !strings.ContainsRune("_.,:-", rune(c)) {
			return false
		}
	}
	return true
}

const masked = "***"

// isPlain reports whether a value is an identifier, an enumerated value, a time or an
// amount, which may be shown.
func isPlain(key, text string) bool {
	if _, err := apitype.ParseUUID(text); err == nil {
		return true
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return key != "dateOfBirth"
	}
	switch key { // Not a table of patterns: those would be compiled at every start.
	case "pointer", "parameter":
		return true
	case "status", "type", "entityName", "donationInterval", "initialDonationInterval", "recruitmentType", "include",
		"first", "last", "attemptsCount", "donationAmount", "initialDonationAmount", "amount", "hasNextPage",
		"hasPreviousPage", "preferredPaymentDay", "withPaymentQr", "recordingDuration":
		return isWord(text) // Enumerated words and numbers.
	}
	return false
}

func maskQuery(query url.Values) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			if !isPlain(name, value) {
				value = masked
			}
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, "&")
}

// maskBody returns a body without donors' values.
func maskBody(body []byte) string {
	var value any
	if len(body) > maxMasked { // Masking needs the whole of it in memory.
		return fmt.Sprintf("(%d bytes)", len(body))
	}
	if apitype.DecodeExact(body, &value) != nil {
		return fmt.Sprintf("(%d bytes that are not JSON)", len(body))
	}
	text, err := json.Marshal(maskValue("", value))
	if err != nil {
		return masked
	}
	return string(text)
}

func maskValue(key string, value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		for name, inner := range v {
			v[name] = maskValue(name, inner)
		}
		return v
	case []any:
		for i, inner := range v {
			v[i] = maskValue(key, inner)
		}
		return v
	default:
		if isPlain(key, fmt.Sprint(v)) {
			return v
		}
		return masked
	}
}
