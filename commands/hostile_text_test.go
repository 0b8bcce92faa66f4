package commands

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"

	"fundesk/commands/bulk"
	"fundesk/service/servicetest"
)

// hostileText is a text that would take over a terminal: a title, the clipboard, a query, C1 controls, a turned
// direction, zero-width characters, and a carriage return.
const hostileText = "A\x1b]0;title\x07\x1b]52;c;eA==\x07\x1b[6n\u009b31m\u202eturned\u200bzero\u2066\ufeff\u0085\rover"

// hostileRecord has that text in every possible place, names included.
func hostileRecord() map[string]any {
	const id = "11111111-1111-4111-8111-111111111111"
	record := map[string]any{
		"uuid":             id,
		hostileText:        hostileText,
		"notes":            hostileText,
		"type":             hostileText,
		"lastName":         hostileText,
		"donationInterval": hostileText,
	}
	record["result"] = map[string]any{"resultCode": hostileText, hostileText: hostileText}
	record["owningOrganization"] = map[string]any{"uuid": id, "name": hostileText}
	record["person"] = map[string]any{"uuid": id, "lastName": hostileText}
	return record
}

// Text from a service reaches a terminal neither by messages, which mostly share one stream, nor through shell
// completion.
func TestHostileText(t *testing.T) {
	t.Parallel()
	record := hostileRecord()
	page := map[string]any{
		"pageInfo": map[string]any{"hasNextPage": false, "endCursor": hostileText},
		"edges":    []any{map[string]any{"cursor": hostileText, "node": record}},
	}
	for name, answer := range map[string]struct {
		status int
		list   any
		one    any
	}{
		"in records": {http.StatusOK, page, record},
		"in refusals": {
			status: http.StatusConflict,
			list: map[string]any{
				"detail":    hostileText,
				hostileText: hostileText,
				"errors":    []any{map[string]any{"pointer": hostileText, "message": hostileText}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serving(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.status)
				body := answer.list
				if answer.one != nil && strings.Contains(r.URL.Path, "1111") {
					body = answer.one
				}
				_ = json.NewEncoder(w).Encode(body)
			})
			names := strings.NewReplacer("$ID", "11111111-1111-4111-8111-111111111111", "$NOTHING", "")
			a := &actedService{T: t, names: names, env: homeAt(t, address, "token")}
			for _, line := range []string{
				"call list", "person list", "pledge list", "call list --limit 1", "call get $ID",
				"call attempt $ID", "call cancel $ID --yes", "person update $ID --last-name x",
				"call stats", "api GET /api/v1/calls", "auth status",
			} {
				for _, flags := range []string{"", " --debug"} {
					_, errs, _ := a.run(line + flags)
					a.harmless(line+flags, errs)
				}
			}
			for _, line := range []string{
				"person get", "call get", "pledge get", "call complete $ID --result-code",
				"call list --owning-organization",
			} {
				out, errs, _ := a.run("__complete " + line + " $NOTHING")
				a.harmless(line, out+errs)
				asked := strings.HasSuffix(line, " get")
				if asked && answer.status == http.StatusOK && !strings.Contains(out, "1111") {
					t.Errorf("%s: got %q, want the record", line, out)
				}
			}
		})
	}
}

// Text in arguments, names of files and their lines reaches a terminal by no message and no output.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	lines := []string{
		"H", "call H", "call list H", "call list --H", "call list --H=1", "-H", "call list -o H",
		"call list --columns H", "call list --sort-by H",
		"call list --jq H", "call list --jq . --arg H", "call list --status H", "call list --requested-after H",
		"call list --person H",
		"call list --limit H", "call list --include H", "call list --for-excel H -o csv", "call get H",
		"call attempt H --yes", "help H",
		"call complete ID --result-code H --dry-run", "call complete ID --result-code x --notes H --dry-run",
		"call complete ID --rating H --result-code x",
		"call create --person ID --type H", "call create --person ID --type winback --notes H --dry-run",
		"person update ID --last-name H --dry-run",
		"person update ID --clear H", "person update ID --email H", "person create --file H", "person import H",
		"person import FILE --map H",
		"person import FILE --map H=name.lastName", "person import FILE --value H",
		"person import FILE --value gender:H=x", "person import FILE --default H",
		"person import FILE --country H", "person import FILE", "person import FILE --encoding H",
		"person import ROWS --dry-run", "person apply ROWS --dry-run",
		"pull person --state DIR/H", "pull person --since H", "queue later ID --at H", "queue release H",
		"pledge action H ID --dry-run", "pledge action H",
		"profile add H --base-url http://127.0.0.1:1", "profile use H", "profile show H", "profile set work H x",
		"profile set work agent=H", "profile remove H --yes",
		"call list --profile H", "call list --base-url H", "call list --ca-cert H", "call list --timeout H", "api H",
		"api GET H", "api GET /api/v1/calls -F H",
		"api GET /api/v1/calls --input H", "outbox drop H", "outbox show H", "auth login --profile H", "completion H",
		"doctor --profile H", "version H",
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"headers": hostileText + ",b\n1,2\n",
		"rows":    "name.lastName,gender,dateOfBirth\n\"" + hostileText + "\"," + "V,\"" + hostileText + "\"\n",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	h := plain(t)
	a := &actedService{T: t}
	for _, text := range lines {
		var args []string
		for word := range strings.FieldsSeq(text) {
			word = strings.NewReplacer("ID", testID, "DIR", dir, "FILE", filepath.Join(dir, "headers"), "ROWS",
				filepath.Join(dir, "rows")).Replace(word)
			args = append(args, strings.ReplaceAll(word, "H", hostileText))
		}
		a.harmless(text, onTerminal(t, homeAt(t, h.URL, h.Token(), "HOME", dir), args))
	}
}

// onTerminal returns what a command line writes to a terminal, without the colours and carriage returns of one.
func onTerminal(t *testing.T, environment map[string]string, args []string) string {
	t.Helper()
	master, terminal, err := pty.Open()
	servicetest.Check(t, err)
	defer master.Close()
	go func() {
		Run(t.Context(), args, hasty(appOf(environment, strings.NewReader(""), terminal, terminal)))
		terminal.Close() // The master reads to the end of it.
	}()
	text, _ := io.ReadAll(master) // A pseudo-terminal ends with an error.
	return regexp.MustCompile("\x1b\\[[0-9;]*[mK]|\r").ReplaceAllString(string(text), "")
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

func FuzzTargets(f *testing.F) {
	for _, seed := range []string{
		testID, testID + "\r\n\n" + testID, `{"uuid":"` + testID + `"}`, `"` + testID + `"`, "{",
		"\xff", `{"uuid":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ids, err := bulk.ReadTargets(bytes.NewReader(text))
		if err == nil && len(ids) > 1+bytes.Count(text, []byte("\n")) {
			t.Errorf("%q: got %d identifiers, want at most one a line", text, len(ids))
		}
		if err != nil && ids != nil {
			t.Errorf("%q: got %v and identifiers too", text, err)
		}
	})
}

func FuzzAPIPath(f *testing.F) {
	for _, seed := range []string{
		"/api/v1/calls?first=1", "https://elsewhere.example/x", "//elsewhere.example/x", "calls",
		"/%2e%2e/x", "/a?b=%zz", "\x00", "/a#b", "?",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, _, err := splitPath(text)
		if err == nil && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//")) {
			t.Errorf("%q: got %q, want a path of the service", text, path)
		}
	})
}

func FuzzFieldValue(f *testing.F) {
	for _, seed := range []string{
		"12.50", "9007199254740993", "true", "null", `{"a":1}`, "[", "text", "1e400", "-", "007",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text {
			return
		}
		encoded, err := json.Marshal(fieldValueOf(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var same string
		isText := json.Unmarshal(encoded, &same) == nil && same == text
		if isNumber := string(encoded) == text; !isText && !isNumber && !json.Valid([]byte(text)) {
			t.Errorf("%q: got %s", text, encoded)
		}
	})
}
