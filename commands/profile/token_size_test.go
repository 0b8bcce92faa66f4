package profile

import (
	"strings"
	"testing"
)

func TestTokenFitsTheKeyring(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		system  string
		bytes   int
		problem string
	}{
		{"windows", 2560, ""},
		{"windows", 2561, "it has 2561 bytes, and an entry in the keyring of Windows holds 2560"},
		{"darwin", 2900, ""},
		{"darwin", 3100, "it has 3100 bytes, and an entry in the keyring of macOS holds 2900"},
		{"linux", 60000, ""},
	} {
		err := fitsKeyring(test.system, strings.Repeat("a", test.bytes))
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%d bytes on %s: got %v, want %q", test.bytes, test.system, err, test.problem)
		}
	}
}
