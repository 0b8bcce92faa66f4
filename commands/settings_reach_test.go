package commands

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/service/servicetest"
)

// settingsSession returns a session with an environment, and a profile p in its configuration.
func settingsSession(t *testing.T, environment map[string]string, settings string) *cli.Session {
	t.Helper()
	dir := t.TempDir()
	config := "[profiles.p]\nbase_url = \"https://api.example.org\"\n" + settings
	writeFile(t, filepath.Join(dir, "config.toml"), config)
	all := map[string]string{
		"HOME":               t.TempDir(),
		"FUNDESK_CONFIG_DIR": dir,
		"FUNDESK_PROFILE":    "p",
		"FUNDESK_TOKEN":      "secret",
	}
	maps.Copy(all, environment)
	return cli.NewSession(cli.App{
		In:     strings.NewReader(""),
		Out:    &bytes.Buffer{},
		Err:    &bytes.Buffer{},
		Now:    time.Now,
		Getenv: func(name string) string { return all[name] },
	}, nil)
}

// The profile's settings of calls reach the Desk.
func TestProfileReachesTheDesk(t *testing.T) {
	t.Parallel()
	s := settingsSession(t, nil, "result_codes = [\"later\", \"yes\"]\nmax_attempts = 7\n")
	screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
	servicetest.Check(t, err)
	servicetest.Same(t, "result codes", []string{"later", "yes"}, screen.ResultCodes)
	servicetest.Same(t, "attempts", 7, screen.MaxAttempts)
}

// The screen begins with the end of a token that is near.
func TestTokenEndReachesTheScreen(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{
		13*24*time.Hour + time.Hour: "the token ends in 13 days, on 20",
		15 * 24 * time.Hour:         "",
	} {
		s := settingsSession(t, map[string]string{"FUNDESK_TOKEN": tokenOf(left)}, "")
		screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
		if err != nil || !strings.HasPrefix(screen.Notice, want) || (want == "") != (screen.Notice == "") {
			t.Errorf("with %s left: got %q, %v, want %q", left, screen.Notice, err, want)
		}
	}
}

// A user without colours gets none, on the whole screen.
func TestNoColorReachesTheScreen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		environment map[string]string
		flag, want  bool
	}{
		{"nobody asked", nil, false, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false, true},
		{"--no-color", nil, true, true},
	} {
		s := settingsSession(t, test.environment, "")
		s.Flags.NoColor = test.flag
		screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
		servicetest.Check(t, err)
		servicetest.Same(t, test.name, test.want, screen.NoColor)
	}
}

// Cells that a spreadsheet would take for formulas are guarded in a file for a spreadsheet, and in no other one.
func TestGuardedCellsReachTheFile(t *testing.T) {
	t.Parallel()
	page := `{"edges":[{"node":{"uuid":"` + testID +
		`","lastName":"=1+1"},"cursor":"c"}],"pageInfo":{"hasNextPage":false,"hasPreviousPage":false,"startCursor":"c","endCursor":"c"}}`
	list := []string{"person", "list", "-o", "csv", "--columns", "lastName"}
	for flag, want := range map[string]string{
		"":               "lastName\r\n=1+1\r\n",
		"--for-excel EN": "\uFEFFlastName\r\n'=1+1\r\n",
	} {
		tryAgainst(
			t, status(200, "application/json", page), "", append(slices.Clone(list), strings.Fields(flag)...)...,
		).Ends(0).PrintsOnly(want)
	}
}

// The folder of a variable comes first, then that of XDG, then one below the home folder.
func TestFoldersOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ variable, xdg, below, command string }{
		{"FUNDESK_CONFIG_DIR", "XDG_CONFIG_HOME", ".config/fundesk", "profile add q --base-url https://q.example.org"},
		{
			variable: "FUNDESK_STATE_DIR",
			xdg:      "XDG_STATE_HOME",
			below:    ".local/state/fundesk",
			command:  "call attempt " + testID + " --outbox --base-url http://127.0.0.1:1 --retry 0",
		},
		{"FUNDESK_DATA_DIR", "XDG_DATA_HOME", ".local/share/fundesk", "person list --base-url embedded:q"},
	} {
		root := t.TempDir()
		environment := map[string]string{"HOME": filepath.Join(root, "home"), "FUNDESK_TOKEN": "secret"}
		used := func() string {
			var data string
			Run(t.Context(), strings.Fields(test.command), cli.App{
				In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: time.Now,
				Getenv: func(name string) string { return environment[name] },
				Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
				OpenEmbedded: func(_ context.Context, _, dataDir string) (cli.Embedded, error) {
					data = dataDir
					return nil, errors.New("not here")
				},
			})
			return data
		}
		for _, step := range []struct{ variable, value, want string }{
			{"", "", filepath.Join(root, "home", filepath.FromSlash(test.below))},
			{test.xdg, filepath.Join(root, "xdg"), filepath.Join(root, "xdg", "fundesk")},
			{test.variable, filepath.Join(root, "own"), filepath.Join(root, "own")},
		} {
			environment[step.variable] = step.value
			data := used()
			if test.variable == "FUNDESK_DATA_DIR" {
				if data != step.want {
					t.Errorf("%s=%s: got data in %q, want %q", step.variable, step.value, data, step.want)
				}
			} else if _, err := os.Stat(step.want); err != nil {
				t.Errorf("%s=%s: got nothing in %s: %v", step.variable, step.value, step.want, err)
			}
		}
	}
}

// authority issues certificates for a test.
type authority struct {
	*testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t, dir: t.TempDir()}
	a.issue("ca", nil)
	return a
}

// issue writes a certificate and its key as name.pem and name.key; usage nil is the
// authority's own.
func (a *authority) issue(name string, usage []x509.ExtKeyUsage) (certFile, keyFile string) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: usage, KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: usage == nil,
	}
	if usage == nil {
		template.KeyUsage = x509.KeyUsageCertSign
		a.key, a.cert = key, template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.Fatal(err)
	}
	if a.cert == template {
		a.cert, _ = x509.ParseCertificate(der)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", private)
}

func (a *authority) write(name, kind string, der []byte) string {
	a.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

// A service that asks for a certificate gets the one of the profile; without it, or with one
// of another authority, the service is not reached.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	serverCert, serverKey := a.issue("server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(a.cert)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"pageInfo":{"hasNextPage":false},"edges":[]}`)
	}))
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    trusted,
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // Of the handshakes that are meant to fail.
	server.StartTLS()
	t.Cleanup(server.Close)
	clientCert, clientKey := a.issue("client", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	strangerCert, strangerKey := newAuthority(t).issue("stranger", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	ca := "--ca-cert=" + filepath.Join(a.dir, "ca.pem")
	for name, test := range map[string]struct {
		flags []string
		code  int
	}{
		"the certificate of the profile": {
			flags: []string{ca, "--set", "client_cert=" + clientCert, "--set", "client_key=" + clientKey},
		},
		"none": {[]string{ca}, 8},
		"one of another authority": {
			flags: []string{ca, "--set", "client_cert=" + strangerCert, "--set", "client_key=" + strangerKey},
			code:  8,
		},
		"a service that nobody vouches for": {
			flags: []string{"--set", "client_cert=" + clientCert, "--set", "client_key=" + clientKey},
			code:  8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			l := line{environment: map[string]string{"HOME": home, "FUNDESK_TOKEN": "token"}}
			add := append([]string{"profile", "add", "tls", "--base-url", server.URL}, test.flags...)
			l.try(t, "", add...).MustEnd(0)
			_, errs, code := l.run(t, "call list --retry 0")
			if code != test.code {
				t.Errorf("got exit code %d and %s, want %d", code, errs, test.code)
			}
			servicetest.Same(t, "Contains", !slices.Contains(test.flags, ca), strings.Contains(errs, "--ca-cert FILE"))
			l.try(t, "doctor -o tsv --retry 0").Hides("PRIVATE")
		})
	}
}

// A login with the file of an authority keeps the file: the next command reaches the service without the flag.
func TestLoginKeepsTheAuthority(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/v1/") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"pageInfo":{"hasNextPage":false},"edges":[]}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // Of the handshakes that are meant to fail.
	server.StartTLS()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	servicetest.Check(t, os.WriteFile(file, ca, 0o600))
	l := line{environment: map[string]string{"HOME": t.TempDir()}, stdin: "token\n"}
	login := []string{
		"auth", "login", "--profile", "own", "--base-url", server.URL, "--with-token",
		"--insecure-storage",
	}
	l.try(t, "", login...).MustEnd(8, "--ca-cert FILE")
	l.try(t, "", append(login, "--ca-cert", file)...).MustEnd(0)
	l.try(t, "call list --retry 0").Ends(0)
	l.try(t, "profile set own ca_cert=").MustEnd(0)
	want := "to keep it: fundesk profile set own ca_cert=FILE"
	if _, errs, _ := l.run(t, "call list --retry 0"); !strings.Contains(errs, want) {
		t.Errorf("got %s, want %s", errs, want)
	}
}

// --retry N tries what may be repeated once and N times again, and a change never.
func TestRetriesAreCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		want int64
	}{
		{"call list --retry 0", 1},
		{"call list --retry 2", 3},
		{"call list", 4},
		{"call get " + testID + " --retry 1", 2},
	} {
		var tries atomic.Int64
		tryAgainst(t, func(w http.ResponseWriter, r *http.Request) {
			tries.Add(1)
			status(http.StatusServiceUnavailable, "application/json", `{"detail":"no"}`)(w, r)
		}, test.args).Ends(8)
		servicetest.Same(t, test.args+": tries", test.want, tries.Load())
	}
	var moves atomic.Int64
	against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			moves.Add(1)
		}
		reset(w, r)
	}, "call cancel", testID, "--yes", "--retry", "5")
	servicetest.Same(t, "requests to cancel", int64(1), moves.Load())
}

// A proxy that refuses is named: the service was not asked.
func TestRefusingProxyIsNamed(t *testing.T) {
	t.Parallel()
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	home := t.TempDir()
	l := line{environment: map[string]string{"HOME": home, "FUNDESK_TOKEN": "x"}}
	l.try(t, "profile add prod --base-url https://svc.example.org --set", "proxy="+address).MustEnd(0)
	host := strings.TrimPrefix(address, "http://")
	want := "cannot reach svc.example.org: the proxy " + host + " answered 403 Forbidden"
	l.try(t, "call list --retry 0").Ends(8, want)
}
