package apiclient

import (
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
		{"nothing", Network{}, "https", "", "http://environment:80"},
		{
			name:   "no file of certificates",
			n:      Network{CACert: "/nowhere/ca.pem"},
			scheme: "https",
			want:   "the CA certificate cannot be read: open /nowhere/ca.pem: ",
		},
		{
			name:   "a file without certificates",
			n:      Network{CACert: "send_test.go"},
			scheme: "https",
			want:   "the file send_test.go holds no certificate (PEM)",
		},
		{
			name:   "a certificate without a key",
			n:      Network{ClientCert: "a"},
			scheme: "https",
			want:   "a client certificate and its key go together (client_cert, client_key)",
		},
		{
			name:   "a key without a certificate",
			n:      Network{ClientKey: "a"},
			scheme: "https",
			want:   "a client certificate and its key go together (client_cert, client_key)",
		},
		{
			name:   "a certificate that is none",
			n:      Network{ClientCert: "send_test.go", ClientKey: "send_test.go"},
			scheme: "https",
			want:   "the client certificate send_test.go with the key send_test.go cannot be used: ",
		},
		{"no proxy", Network{Proxy: "direct"}, "https", "", "none"},
		{"a proxy", Network{Proxy: "http://proxy.example:3128"}, "https", "", "http://proxy.example:3128"},
		{"a proxy with TLS", Network{Proxy: "https://proxy.example"}, "https", "", "https://proxy.example"},
		{"a proxy of another kind", Network{Proxy: "socks5://proxy.example"}, "https", "", "socks5://proxy.example"},
		{
			name:   "a proxy that is none",
			n:      Network{Proxy: "ftp://proxy.example"},
			scheme: "https",
			want:   "the proxy is not of the form http://host:port, https:// or socks5://, nor direct",
		},
		{
			name:   "a proxy without a host",
			n:      Network{Proxy: "http://"},
			scheme: "https",
			want:   "the proxy is not of the form http://host:port, https:// or socks5://, nor direct",
		},
		{
			name:   "a proxy that is not a URL",
			n:      Network{Proxy: "%zz"},
			scheme: "https",
			want:   "the proxy is not of the form http://host:port, https:// or socks5://, nor direct",
		},
		{
			name:   "a proxy with an impossible port",
			n:      Network{Proxy: "http://proxy.example:99999"},
			scheme: "https",
			want:   "the proxy is not of the form",
		},
		{"a proxy with a path", Network{Proxy: "http://proxy.example/x"}, "https", "the proxy is not of the form", ""},
		{"a proxy to this machine", Network{Proxy: "ftp://proxy.example"}, "http", "", "http://environment:80"},
	} {
		environment := func(*http.Request) (proxy *url.URL, err error) { return url.Parse("http://environment:80") }
		transport := &http.Transport{Proxy: environment}
		err := test.n.apply(transport, &url.URL{Scheme: test.scheme, Host: "service.example"})
		if test.want != "" {
			if KindOf(err) != KindUsage || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.name, err, test.want)
			}
			continue
		}
		got := "none"
		if transport.Proxy != nil {
			proxy, failed := transport.Proxy(&http.Request{})
			got = fmt.Sprint(proxy)
			if failed != nil {
				got = ""
			}
		}
		if err != nil || got != test.proxy || transport.TLSClientConfig != nil {
			t.Errorf("%s: got proxy %q, %v, want %q", test.name, got, err, test.proxy)
		}
	}
}

// A proxy of the environment that is none is refused before a request, by the name of its variable.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"://x", "foo bar", "ftp://proxy:1", "proxy:99999", "%zz"} {
		// The library reads a text that is not a URL as the host of one.
		transport := &http.Transport{
			Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://" + text) },
		}
		err := Network{}.apply(transport, &url.URL{Scheme: "https", Host: "service.example"})
		if KindOf(err) != KindUsage || !strings.HasPrefix(err.Error(), "the proxy in HTTPS_PROXY is not of the form") {
			t.Errorf("%q: got %v, want it refused", text, err)
		}
	}
}

// A proxy of the environment that cannot be read is refused: the library would ignore it, and go around it.
func TestUnreadableProxyOfTheEnvironment(t *testing.T) {
	const unreadable = "http://desk:50%off@proxy.example:3128"
	for variable, baseURL := range map[string]string{
		"HTTPS_PROXY": "https://service.example",
		"https_proxy": "https://service.example/base",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, unreadable)
			_, err := New(Options{BaseURL: baseURL})
			want := "the proxy in HTTPS_PROXY cannot be read; write %25 for a % in its password"
			if KindOf(err) != KindUsage || err.Error() != want {
				t.Errorf("got %v, want %q", err, want)
			}
			_, err = New(Options{BaseURL: "https://localhost:8443"}) // No proxy leads to this machine.
			if err != nil {
				t.Errorf("got %v for this machine, want no error", err)
			}
		})
	}
}
