package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"fundesk/apiclient/durable"
)

// certificate is the TLS certificate of the flags. It can be read again while it is in use.
type certificate struct {
	file, key string
	pair      atomic.Pointer[tls.Certificate]
}

// newCertificate reads the files. It returns nil if none are named.
func newCertificate(file, key string) (*certificate, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // Serving without TLS is not an error.
	}
	c := &certificate{file: file, key: key}
	return c, c.read()
}

// read reads the files again. On an error the last pair stays in use.
func (c *certificate) read() error {
	err := durable.CheckClosed(c.key)
	if err != nil {
		return fmt.Errorf("read the key of the certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(c.file, c.key)
	if err != nil {
		return fmt.Errorf("read the certificate %s with the key %s: %w", c.file, c.key, err)
	}
	c.pair.Store(&pair)
	return nil
}

// warnOfDates warns of a certificate that clients refuse at a time, because it has ended or not begun.
func (c *certificate) warnOfDates(logger *slog.Logger, now time.Time) {
	leaf := c.pair.Load().Leaf
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		logger.Warn(
			"clients refuse the certificate, which is not valid now; renew it, then send SIGHUP",
			"file", c.file,
			"from", leaf.NotBefore.Format(time.RFC3339),
			"until", leaf.NotAfter.Format(time.RFC3339),
		)
	}
}

// config returns the configuration of a listener. New connections get the pair that was read last.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}
