package commands

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// A service that cannot prove its name gets no token. The hint says what to do about it.
func TestServiceThatCannotProveItsName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, host string
		ended      bool
		isPlain    bool
		asksPlain  bool
		want       string
	}{
		{name: "its own certificate", host: "localhost"},
		{
			name: "another host", host: "other.example",
			want: "another host has this certificate: check the base URL, or ask the service's operator",
		},
		{
			name: "an ended certificate", host: "localhost", ended: true,
			want: "if this computer's clock is right, ask the service's operator to renew the certificate",
		},
		{name: "no TLS", isPlain: true, want: "what answers there has no TLS: check the port"},
		{
			name: "plain http to a port for TLS", host: "localhost", asksPlain: true,
			want: "answers with TLS alone: the base URL has to begin with https://",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.want != "" {
					t.Errorf("got a request with the token %q, want none", r.Header.Get("Authorization"))
				}
				w.Header().Set("Content-Type", "application/json")
				_, err := w.Write([]byte(`{"pageInfo":{"hasNextPage":false},"edges":[]}`))
				servicetest.Report(t, err)
			})
			server := httptest.NewUnstartedServer(answer)
			file := filepath.Join(t.TempDir(), "ca.pem")
			server.TLS = &tls.Config{
				MinVersion:   tls.VersionTLS12,
				Certificates: []tls.Certificate{certificateFor(t, test.host, test.ended, file)},
			}
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // Of the handshakes that are meant to fail.
			if test.isPlain {
				server.Start()
			} else {
				server.StartTLS()
			}
			t.Cleanup(server.Close)
			address := "https://localhost" + server.URL[strings.LastIndexByte(server.URL, ':'):]
			if test.asksPlain {
				address = strings.Replace(address, "https", "http", 1)
			}
			l := line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_TOKEN": "token"}}
			_, errs, code := l.run(t, "call list --retry 0 --base-url "+address+" --ca-cert "+file)
			if test.want == "" {
				servicetest.Same(t, "exit code of "+errs, 0, code)
				return
			}
			if code != 8 || !strings.Contains(errs, test.want+"\n") {
				t.Errorf("got %d %s, want %q", code, errs, test.want)
			}
		})
	}
}

// certificateFor returns a certificate of a host that has signed itself, and writes it to a file.
func certificateFor(t *testing.T, host string, hasEnded bool, file string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	servicetest.Check(t, err)
	until := time.Now().Add(time.Hour)
	if hasEnded {
		until = time.Now().Add(-time.Hour)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-2 * time.Hour),
		NotAfter:     until,
		DNSNames:     []string{host},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	servicetest.Check(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	servicetest.Check(t, os.WriteFile(file, text, 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
