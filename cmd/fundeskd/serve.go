package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fundesk/service/httpapi"
	"fundesk/service/sqlstore"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen    string
	publicURL string
	logFormat string
	rate      float64
	tlsCert   string
	tlsKey    string
	sandbox   bool
	// The defaults of flags are there before any command runs: this one would end the
	// long statements of the others.
	answerTimeout time.Duration
}

// timeouts end connections of slow clients, and bound how long requests in flight may
// take when the server ends.
type timeouts struct {
	header, body, answer, idle, shutdown time.Duration
}

// defaultTimeouts leave time for a slow line, and none for one that only holds a
// connection.
var defaultTimeouts = timeouts{
	header: 10 * time.Second, body: 60 * time.Second, answer: 120 * time.Second, idle: 120 * time.Second,
	shutdown: 30 * time.Second,
}

const maxHeader = 64 << 10

// sayAfter is how long the end is waited for without a word.
const sayAfter = 500 * time.Millisecond

func (p *program) serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the interface over HTTP",
		Long: "Serve answers the interface until it is interrupted. The first line of stdout is the base URL,\n" +
			"written when requests are accepted; the log goes to stderr.\n\n" + sandboxHelp,
		Example: "  fundeskd serve --listen 127.0.0.1:8080\n  fundeskd serve --listen :8443 --tls-cert cert.pem --tls-key key.pem --log-format json\n" +
			"  fundeskd serve --sandbox",
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // Who reads the log may go away, and nobody is served less.
			if o.sandbox {
				return p.serveSandbox(c.Context(), o)
			}
			s, err := p.newServer(c.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.Out, s.URL)
			return errors.Join(s.Run(c.Context()), s.Close())
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 picks one")
	flags.StringVar(&o.publicURL, "public-url", "", "base `URL` of signed links (default: as each request came)")
	flags.StringVar(&o.logFormat, "log-format", "text", "`FORMAT`, text or json")
	flags.Float64Var(&o.rate, "rate", 0, "requests a second, `N`, that one account may make (0: any number)")
	flags.IntVar(&p.connections, "database-connections", 0, "at most `N` connections to the database at once; of SQLite, those that read (default: 16 with PostgreSQL, one a processor with SQLite, 2 at least)")
	flags.DurationVar(&p.connectTimeout, "database-connect-timeout", 0, "how long a PostgreSQL server may take to accept a connection (default 3s)")
	flags.BoolVar(&o.sandbox, "sandbox", false, "serve sample data of its own, with a clock that can be set and faults on demand; see fundeskd serve --help")
	flags.DurationVar(&o.answerTimeout, "database-answer-timeout", defaultAnswerTimeout, "how long a PostgreSQL server may take to answer, and a free connection to come")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate `file`")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key `file` of the certificate")
	return c
}

// server is the running program; tests start it as it is.
type server struct {
	URL      string // Where it is reached.
	store    *sqlstore.Store
	listener net.Listener
	http     *http.Server
	logger   *slog.Logger
	shutdown time.Duration // How long requests in flight may take at the end.
}

// newServer opens the database and listens; Run then answers.
func (p *program) newServer(ctx context.Context, o serveOptions) (_ *server, err error) {
	logger, err := newLogger(p.Err, o.logFormat)
	if err != nil {
		return nil, err
	}
	if err := o.checkPublicURL(); err != nil {
		return nil, err
	}
	certificates, err := o.certificates()
	if err != nil {
		return nil, err
	}
	if !(o.rate >= 0) || math.IsInf(o.rate, 1) { // NaN is not.
		return nil, usage("--rate must be a number of requests, and not negative")
	}
	if p.connections < 0 || p.connectTimeout < 0 || o.answerTimeout < 0 {
		return nil, usage("--database-connections, --database-connect-timeout and --database-answer-timeout must not be negative")
	}
	metrics := newMetrics()
	p.observe, p.count, p.answerTimeout = metrics.transaction, metrics.queueEvent, o.answerTimeout
	store, s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if err = store.Whole(ctx); err != nil {
		return nil, fmt.Errorf("serve the database: %w", err)
	}
	metrics.pool(store)
	metrics.oldest(s)
	api := httpapi.New(httpapi.Options{
		Service: s, Logger: logger, BaseURL: o.publicURL, Rate: o.rate, Now: p.Now, Version: version(), Observe: metrics.observe,
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	limits := p.timeouts
	if limits == (timeouts{}) {
		limits = defaultTimeouts
	}
	scheme := "http://"
	if certificates != nil {
		listener, scheme = tls.NewListener(listener, certificates), "https://"
	}
	return &server{
		URL:   scheme + reachable(listener.Addr().String()),
		store: store, listener: listener, logger: logger, shutdown: limits.shutdown,
		http: limits.server(metrics.wrap(api), logger),
	}, nil
}

// server answers with a handler, within the time-outs.
func (l timeouts) server(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: l.header,
		ReadTimeout:       l.body,
		WriteTimeout:      l.answer,
		IdleTimeout:       l.idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// reachable is an address that a client on this machine can use: a server that listens
// on every address is reached on this one.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Run answers until the context ends, then lets requests in flight finish.
func (s *server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	s.logger.Info("serving", "url", s.URL)
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.logger.Info("ending")
	notice := time.AfterFunc(sayAfter, func() { s.logger.Warn("waiting for requests that are still running; a second signal ends at once") })
	defer notice.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdown)
	defer cancel()
	if err := s.http.Shutdown(ending); err != nil {
		return errors.Join(fmt.Errorf("end: %w", err), s.http.Close())
	}
	return nil
}

// Close closes the database.
func (s *server) Close() error { return s.store.Close() }

// checkPublicURL refuses what no link can begin with. Links go to whoever may read a pledge:
// a password in them would too.
func (o serveOptions) checkPublicURL() error {
	if o.publicURL == "" {
		return nil
	}
	base, err := url.Parse(o.publicURL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return usage("--public-url must be as https://service.example, with a path or without")
	}
	if base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "" {
		return usage("--public-url must not have a user, a query or a fragment: links begin with it")
	}
	return nil
}

// certificates reads the files of the flags; nil when there are none.
func (o serveOptions) certificates() (*tls.Config, error) {
	if o.tlsCert == "" && o.tlsKey == "" {
		return nil, nil
	}
	if o.tlsCert == "" || o.tlsKey == "" {
		return nil, usage("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func newLogger(w io.Writer, format string) (*slog.Logger, error) {
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	default:
		return nil, usage("unknown log format %q; known are text, json", format)
	}
}
