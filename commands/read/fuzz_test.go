package read

import (
	"os"
	"path/filepath"
	"testing"
)

// The position of a pull is taken as it was kept, or refused.
func FuzzPosition(f *testing.F) {
	f.Add([]byte(`{"service":"s","query":"q","after":"2026-11-20T09:15:00.000Z","written":{}}`))
	f.Add([]byte(`{"service":"s","query":"q"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := position{Service: "s", Query: "q"}
		if err := p.load(path); err == nil && (p.Service != "s" || p.Query != "q") {
			t.Errorf("%q: got a position of %q %q", text, p.Service, p.Query)
		}
	})
}
