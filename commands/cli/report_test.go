package cli

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"fundesk/commands/profile"
)

// A service that refuses a connection may ask for a certificate. The hint names the settings, or the certificate that
// was shown.
func TestHintOfClientCertificate(t *testing.T) {
	t.Parallel()
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	const address = "https://api.example.org"
	for _, test := range []struct {
		name   string
		err    error
		target *Target
		want   string
	}{
		{
			"without a certificate", alert,
			&Target{Name: "prod", FromProfile: true, BaseURL: address},
			"if it asks for a certificate: fundesk profile add prod --base-url https://api.example.org " +
				"--set client_cert=FILE --set client_key=FILE",
		},
		{
			"without a profile", fmt.Errorf("read: %w", alert), &Target{BaseURL: address},
			"if it asks for a certificate: fundesk profile add NAME --base-url https://api.example.org " +
				"--set client_cert=FILE --set client_key=FILE",
		},
		{
			"with a certificate", alert,
			&Target{Name: "prod", FromProfile: true, BaseURL: address, Profile: profile.Profile{ClientCert: "c.pem"}},
			"it may not accept the certificate c.pem of the profile",
		},
		{
			name:   "another fault of the network",
			err:    &net.OpError{Op: "read", Err: errors.New("reset")},
			target: &Target{BaseURL: address},
		},
		{"no service", alert, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := hintOfTLS(test.err, test.target); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
