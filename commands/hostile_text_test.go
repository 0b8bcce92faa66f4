package commands

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
)

// hostileText is what would take over a terminal: a title, the clipboard, a query, C1
// controls, a turned direction, what has no width, and a carriage return.
const hostileText = "A\x1b]0;title\x07\x1b]52;c;eA==\x07\x1b[6n\u009b31m\u202eturned\u200bzero\u2066\ufeff\u0085\rover"

// hostileRecord has that text in every place where a text can stand, names included.
func hostileRecord() map[string]any {
	const id = "11111111-1111-4111-8111-111111111111"
	record := map[string]any{"uuid": id, hostileText: hostileText, "notes": hostileText, "type": hostileText, "lastName": hostileText, "donationInterval": hostileText}
	record["result"] = map[string]any{"resultCode": hostileText, hostileText: hostileText}
	record["owningOrganization"] = map[string]any{"uuid": id, "name": hostileText}
	record["person"] = map[string]any{"uuid": id, "lastName": hostileText}
	return record
}

// What a service sends reaches a terminal neither by messages, whose stream is mostly
// one, nor through a shell that completes.
func TestHostileText(t *testing.T) {
	t.Parallel()
	record := hostileRecord()
	page := map[string]any{"pageInfo": map[string]any{"hasNextPage": false, "endCursor": hostileText}, "edges": []any{map[string]any{"cursor": hostileText, "node": record}}}
	for name, answer := range map[string]struct {
		status int
		list   any
		one    any
	}{
		"in records":  {http.StatusOK, page, record},
		"in refusals": {http.StatusConflict, map[string]any{"detail": hostileText, hostileText: hostileText, "errors": []any{map[string]any{"pointer": hostileText, "message": hostileText}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.status)
				body := answer.list
				if answer.one != nil && strings.Contains(r.URL.Path, "1111") {
					body = answer.one
				}
				_ = json.NewEncoder(w).Encode(body)
			}))
			t.Cleanup(server.Close)
			a := &actedService{T: t, names: strings.NewReplacer("$ID", "11111111-1111-4111-8111-111111111111", "$NOTHING", ""), env: map[string]string{
				"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token",
			}}
			for _, line := range []string{"call list", "person list", "pledge list", "call list --first 1", "call get $ID", "call attempt $ID", "call cancel $ID --yes", "person update $ID --last-name x", "call stats", "api GET /api/v1/calls", "auth status"} {
				for _, flags := range []string{"", " --debug"} {
					_, errs, _ := a.run(line + flags)
					a.harmless(line+flags, errs)
				}
			}
			for _, line := range []string{"person get", "call get", "pledge get", "call complete $ID --result-code", "call list --owning-organization"} {
				out, errs, _ := a.run("__complete " + line + " $NOTHING")
				a.harmless(line, out+errs)
				if asked := strings.HasSuffix(line, " get"); asked && answer.status == http.StatusOK && !strings.Contains(out, "1111") {
					t.Errorf("%s: got %q, want the record", line, out)
				}
			}
		})
	}
}

// harmless wants no character that a terminal would obey, or not show.
func (a *actedService) harmless(line, text string) {
	a.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r))
	}); i >= 0 {
		a.Errorf("%s: got %.200q, want nothing that a terminal obeys", line, text[i:])
	}
}
