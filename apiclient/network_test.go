package apiclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A replaced transport is checked before anything is sent.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		n      Network
		scheme string
		want   string // Beginning of the error. Empty if there is none.
		proxy  string // Empty: the value of the environment.
	}{
		{"nothing", Network{}, "https", "", ""},
		{"no file of certificates", Network{CACert: "/nowhere/ca.pem"}, "https", "the CA certificate cannot be read: open /nowhere/ca.pem: ", ""},
		{"a file without certificates", Network{CACert: "send_test.go"}, "https", "the file send_test.go holds no certificate (PEM)", ""},
		{"a certificate without a key", Network{ClientCert: "a"}, "https", "a client certificate and its key go together (client_cert, client_key)", ""},
		{"a key without a certificate", Network{ClientKey: "a"}, "https", "a client certificate and its key go together (client_cert, client_key)", ""},
		{"a certificate that is none", Network{ClientCert: "send_test.go", ClientKey: "send_test.go"}, "https", "the client certificate cannot be used: ", ""},
		{"no proxy", Network{Proxy: "direct"}, "https", "", "none"},
		{"a proxy", Network{Proxy: "http://proxy.example:3128"}, "https", "", "http://proxy.example:3128"},
		{"a proxy with TLS", Network{Proxy: "https://proxy.example"}, "https", "", "https://proxy.example"},
		{"a proxy of another kind", Network{Proxy: "socks5://proxy.example"}, "https", "", "socks5://proxy.example"},
		{"a proxy that is none", Network{Proxy: "ftp://proxy.example"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy without a host", Network{Proxy: "http://"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy that is no URL", Network{Proxy: "http://%zz"}, "https", "the proxy is not of the form http://host:port, https:// or socks5://, nor direct", ""},
		{"a proxy to this machine", Network{Proxy: "ftp://proxy.example"}, "http", "", ""},
	} {
		environment := func(*http.Request) (proxy *url.URL, err error) { return nil, errors.New("of the environment") }
		transport := &http.Transport{Proxy: environment}
		err := test.n.apply(transport, test.scheme)
		if test.want != "" {
			if KindOf(err) != KindUsage || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.name, err, test.want)
			}
			continue
		}
		got := "none"
		if transport.Proxy != nil {
			proxy, failed := transport.Proxy(&http.Request{})
			if got = fmt.Sprint(proxy); failed != nil {
				got = ""
			}
		}
		if err != nil || got != test.proxy || transport.TLSClientConfig != nil {
			t.Errorf("%s: got proxy %q, %v, want %q", test.name, got, err, test.proxy)
		}
	}
}
