//go:build unix

package main

import (
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// TestCertificateIsReadAgain renews the certificate of a running program, and then damages it.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	certificate, key, first := selfSigned(t)
	s := e.serve("--tls-cert", certificate, "--tls-key", key)
	ask := func(roots *tls.Config) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: roots, DisableKeepAlives: true}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/healthz", http.NoBody)
		servicetest.Check(t, err)
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	reload := func(said string) {
		t.Helper()
		servicetest.Check(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		for begun := time.Now(); !strings.Contains(s.log.String(), said); {
			if time.Since(begun) > *takeover {
				t.Fatalf("the log does not say %q: %s", said, s.log)
			}
		}
	}
	old := &tls.Config{RootCAs: first, MinVersion: tls.VersionTLS12}
	servicetest.Check(t, ask(old))
	renewed, renewedKey, second := selfSigned(t)
	for from, to := range map[string]string{renewed: certificate, renewedKey: key} {
		servicetest.Check(t, os.Rename(from, to))
	}
	reload("the certificate was read again")
	fresh := &tls.Config{RootCAs: second, MinVersion: tls.VersionTLS12}
	if err := ask(fresh); err != nil {
		t.Errorf("the new certificate: got %v", err)
	}
	if err := ask(old); err == nil {
		t.Error("the old certificate is still in use")
	}
	write(t, certificate, "damaged")
	reload("the last one stays in use")
	if err := ask(fresh); err != nil {
		t.Errorf("after a damaged one: got %v, want the last good one", err)
	}
}

// TestReloadWithoutCertificate reloads a program without TLS, like systemctl reload. It goes on, and still ends on
// request.
func TestReloadWithoutCertificate(t *testing.T) {
	t.Parallel()
	running := newEnvironment(t).child()
	for _, signal := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		servicetest.Check(t, running.command.Process.Signal(signal))
	}
	if err := running.command.Wait(); err != nil {
		t.Errorf("got %v, want a clean end by SIGTERM", err)
	}
}

// TestKeyThatOthersMayRead serves with the key of a certificate that every user may read.
func TestKeyThatOthersMayRead(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	certificate, key, _ := selfSigned(t)
	servicetest.Check(t, os.Chmod(key, 0o644))
	if _, err := newCertificate(certificate, key); err == nil || !strings.Contains(err.Error(), "chmod 600 "+key) {
		t.Errorf("got %v, want the command that closes it", err)
	}
	servicetest.Check(t, os.Chmod(key, 0o640))
	s := e.serve("--tls-cert", certificate, "--tls-key", key)
	s.stop()
}

// TestDatabaseOfAnotherUser looks at a database of another user, without the rights of root.
func TestDatabaseOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to others")
	}
	e := newFileEnvironment(t)
	e.done("migrate")
	folder, err := os.MkdirTemp("", "fundeskd-other-") // Not below the test's own, which others may not enter.
	servicetest.Check(t, err)
	t.Cleanup(func() { servicetest.Report(t, os.RemoveAll(folder)) })
	servicetest.Check(t, os.Chmod(folder, 0o755))
	file, program := filepath.Join(folder, "fundeskd.db"), filepath.Join(folder, "fundeskd")
	write(t, file, readFile(t, filepath.Join(e.folder, "fundeskd.db")))
	servicetest.Check(t, os.WriteFile(program, readFile(t, os.Args[0]), 0o755)) //nolint:gosec // It is a program.
	servicetest.Check(t, os.Chown(file, 12345, 12345))
	command := exec.CommandContext(t.Context(), program, "check", "--database", "sqlite:"+file)
	command.Env = []string{beFundeskd + "=1", "HOME=" + folder}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	out, err := command.CombinedOutput()
	if err == nil ||
		!strings.Contains(string(out), "belongs to another user") ||
		!strings.Contains(string(out), "chown") {
		t.Errorf("got %v, %s", err, out)
	}
}
