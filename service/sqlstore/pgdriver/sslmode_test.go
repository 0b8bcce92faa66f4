package pgdriver

import (
	"errors"
	"strings"
	"testing"
)

// TestEncryptionIsNamed refuses a server off this machine if its name does not choose the encryption.
func TestEncryptionIsNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		want error
	}{
		{"postgres://fundeskd@db1/fundesk", errNoSSLMode},
		{"postgres://fundeskd@192.0.2.1:5432/fundesk?application_name=crm", errNoSSLMode},
		{"postgres://fundeskd@db1/fundesk?sslmode=disable", nil},
		{"postgres://fundeskd@db1/fundesk?sslmode=require", nil},
		{"postgres://fundeskd@127.0.0.1/fundesk", nil},
		{"postgres://fundeskd@localhost/fundesk", nil},
		{"postgres://fundeskd@[::1]/fundesk", nil},
		{"postgres://fundeskd@/fundesk?host=/run/postgresql", nil},
	} {
		db, err := Driver{}.Open(test.name, 0, 0)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		if err == nil {
			_ = db.Close()
		}
	}
}

// TestNameThatCannotBeUsed names the file of a certificate that cannot be read, and never the password.
func TestNameThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{
			"postgres://desk:secret@db1/fundesk?sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
			"its name has a file that cannot be read: open /nowhere/ca.pem: ",
		},
		{
			"postgres://desk:secret@db1/fundesk?sslmode=verify-full&sslrootcert=sslmode_test.go",
			"its name, or a certificate that it names, is not well formed; write %25 for a % in a password",
		},
		{
			"postgres://desk:secret%off@db1/fundesk?sslmode=require",
			"its name, or a certificate that it names, is not well formed; write %25 for a % in a password",
		},
	} {
		_, err := Driver{}.Open(test.name, 0, 0)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
