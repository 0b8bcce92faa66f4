//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/durable/privileged"
)

func TestTrustInAnothersFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	privileged.GiveToOther(t, file)
	if err := CheckTrust(file); err == nil || !strings.Contains(err.Error(), "belongs to another user (65534)") {
		t.Errorf("got %v, want it to say whose it is", err)
	}
}

// Promise P8: files that others could have written are refused.
// Promise P8: files of others are refused.
func TestTrust(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	tests := []struct {
		name    string
		prepare func(folder, file string) error
		want    string // In the error. Empty if there is none.
	}{
		{"closed", func(_, file string) error { return os.Chmod(file, 0o600) }, ""},
		{"read by others", func(_, file string) error { return os.Chmod(file, 0o644) }, ""},
		{"written by others", func(_, file string) error { return os.Chmod(file, 0o602) }, "chmod go-w"},
		{
			name:    "its folder is written by others",
			prepare: func(folder, _ string) error { return os.Chmod(folder, 0o777) },
			want:    "chmod go-w",
		},
		{
			name:    "a folder above is written by others",
			prepare: func(folder, _ string) error { return os.Chmod(filepath.Dir(folder), 0o777) },
			want:    "chmod go-w",
		},
		{
			name:    "a folder with the sticky bit",
			prepare: func(folder, _ string) error { return os.Chmod(folder, 0o777|os.ModeSticky) },
		},
		{"not there", func(_, file string) error { return os.Remove(file) }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := filepath.Join(home, strings.ReplaceAll(test.name, " ", "-"), "fundesk")
			file := filepath.Join(folder, "config.toml")
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := test.prepare(folder, file); err != nil {
				t.Fatal(err)
			}
			err := CheckTrust(file)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
