package apiclient

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
)

// Network is the way to a service, if it differs from the system's.
type Network struct {
	CACert     string // File of certificates (PEM) that are trusted in addition to the system's.
	ClientCert string // Files of the certificate and key that the service asks for.
	ClientKey  string
	Proxy      string // URL of a proxy, or direct. Empty means the proxy of the environment.
}

// apply sets up a transport to a base URL. Plain http goes to this machine alone, and through no proxy.
func (n Network) apply(transport *http.Transport, base *url.URL) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if n.CACert != "" {
		pem, err := os.ReadFile(n.CACert)
		if err != nil {
			return &Error{Kind: KindUsage, Message: "the CA certificate cannot be read: " + err.Error(), Err: err}
		}
		config.RootCAs, err = x509.SystemCertPool()
		if err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return &Error{Kind: KindUsage, Message: "the file " + n.CACert + " holds no certificate (PEM)"}
		}
	}
	if (n.ClientCert == "") != (n.ClientKey == "") {
		return &Error{
			Kind:    KindUsage,
			Message: "a client certificate and its key go together (client_cert, client_key)",
		}
	}
	if n.ClientCert != "" {
		pair, err := tls.LoadX509KeyPair(n.ClientCert, n.ClientKey)
		if err != nil {
			return &Error{
				Kind: KindUsage,
				Message: "the client certificate " + n.ClientCert + " with the key " + n.ClientKey +
					" cannot be used: " + err.Error(),
				Err: err,
			}
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if n.CACert != "" || n.ClientCert != "" {
		transport.TLSClientConfig = config
	}
	switch {
	case base.Scheme == "http":
	case n.Proxy == "direct":
		transport.Proxy = nil
	case n.Proxy == "":
		fromEnv := cmp.Or(os.Getenv("HTTPS_PROXY"), os.Getenv("https_proxy"))
		if isUnreadableProxy(fromEnv) && !isLoopback(base.Hostname()) {
			return &Error{
				Kind:    KindUsage,
				Message: "the proxy in HTTPS_PROXY cannot be read; write %25 for a % in its password",
			}
		}
		proxy, err := transport.Proxy(&http.Request{URL: base})
		if err != nil || proxy != nil && !isProxy(proxy) {
			return &Error{
				Kind:    KindUsage,
				Message: "the proxy in HTTPS_PROXY is not of the form http://host:port, https:// or socks5://",
			}
		}
	default:
		proxy, err := n.proxy()
		if err != nil {
			return err
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	return nil
}

// CheckProxy returns why the proxy cannot be used, also if the way to the service needs none.
func (n Network) CheckProxy() error {
	if n.Proxy == "" || n.Proxy == "direct" {
		return nil
	}
	_, err := n.proxy()
	return err
}

// proxy returns the address of the proxy.
func (n Network) proxy() (*url.URL, error) {
	proxy, err := url.Parse(n.Proxy)
	if err != nil || !isProxy(proxy) {
		return nil, &Error{
			Kind:    KindUsage,
			Message: "the proxy is not of the form http://host:port, https:// or socks5://, nor direct",
		}
	}
	return proxy, nil
}

// isUnreadableProxy reports whether the library ignores a proxy of the environment, and would go around it.
func isUnreadableProxy(text string) bool {
	_, err := url.Parse(text)
	_, errOfHost := url.Parse("http://" + text)
	return err != nil && errOfHost != nil
}

// isProxy reports whether a URL names a proxy: a scheme that it may have, a host, and a port that exists.
func isProxy(proxy *url.URL) bool {
	isScheme := slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme)
	isRoot := proxy.Path == "" || proxy.Path == "/"
	port, err := strconv.ParseUint(cmp.Or(proxy.Port(), "1"), 10, 16)
	return isScheme && isRoot && proxy.Hostname() != "" && err == nil && port > 0
}

// Reach returns the way to an address that is not the service's, such as that of its identity provider. It shows no
// client certificate.
func (n Network) Reach(address string) (http.RoundTripper, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return nil, &Error{Kind: KindUsage, Message: "the address is not of the form https://host/path"}
	}
	n.ClientCert = ""
	n.ClientKey = ""
	transport := newTransport(base)
	err = n.apply(transport, base)
	if err != nil {
		return nil, err
	}
	return transport, nil
}
