package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fundesk/commands/bulk"
)

func FuzzTargets(f *testing.F) {
	for _, seed := range []string{testID, testID + "\r\n\n" + testID, `{"uuid":"` + testID + `"}`, `"` + testID + `"`, "{", "\xff", `{"uuid":7}`} {
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
	for _, seed := range []string{"/api/v1/calls?first=1", "https://elsewhere.example/x", "//elsewhere.example/x", "calls", "/%2e%2e/x", "/a?b=%zz", "\x00", "/a#b", "?"} {
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
	for _, seed := range []string{"12.50", "9007199254740993", "true", "null", `{"a":1}`, "[", "text", "1e400", "-", "007"} {
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
