package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/service"
)

type serveOptions struct {
	listen    string
	publicURL string
	logFormat string
	logLevel  string
	rate      float64
	tlsCert   string
	tlsKey    string
	sandbox   bool
	seed      uint64 // Of the sandbox.
	startTime string // Of its clock; empty: now.
	load      string // A file of its records; empty: sample data.
	probes    string // Where /metrics, /healthz and /readyz are served; empty: with the interface.
	drain     time.Duration
	// The defaults of flags are there before any command runs: this one would end the
	// long statements of the others.
	answerTimeout time.Duration
	recordErasure func(service.ErasedPerson) error // Nil in a sandbox.
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
		Long: "Serve answers the interface until it is interrupted. The first line of stdout is\n" +
			"the base URL, written when requests are accepted; the log goes to stderr. Serve\n" +
			"waits for a PostgreSQL server that is not there yet: until then requests get\n" +
			"503. SIGHUP reads the files of the certificate again.\n\n" +
			"Each flag has a variable, such as FUNDESKD_TLS_CERT for --tls-cert; a flag goes\n" +
			"before its variable. On an address off this machine without a certificate, only\n" +
			"this machine sees /metrics.\n\n" + sandboxHelp,
		Example: "  fundeskd serve --listen 127.0.0.1:8080\n  fundeskd serve --listen :8443 --tls-cert cert.pem --tls-key key.pem --log-format json\n" +
			"  fundeskd serve --sandbox --persons 500 --seed 7 --start-time 2026-11-20T09:00:00Z",
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // The reader of the log may go away: requests are served all the same.
			if err := cmp.Or(p.fromEnvironment(c), p.checkSandbox(c, o)); err != nil {
				return err
			}
			if o.sandbox {
				return p.serveSandbox(c.Context(), o)
			}
			o.recordErasure = p.recordErasures()
			s, err := p.newServer(c.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.Out, s.URL)
			return errors.Join(s.Run(c.Context()), s.Close())
		},
	}
	p.erasuresFlag(c)
	p.sandboxFlags(c, &o)
	flags := c.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 picks one")
	flags.StringVar(&o.publicURL, "public-url", "", "base `URL` of signed links (default: as each request came)")
	flags.StringVar(&o.logFormat, "log-format", "text", "`FORMAT`, text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "the least `LEVEL` that is logged: info has a line a request, warn and error have those that failed")
	flags.Float64Var(&o.rate, "rate", 0, "requests a second, `N`, that one account may make (0: any number)")
	flags.IntVar(&p.store.Connections, "database-connections", 0, "at most `N` connections to the database at once; of SQLite, those that read lists, and as many that read single records (default: 16 with PostgreSQL, one a processor with SQLite, 2 at least)")
	flags.DurationVar(&p.store.ConnectTimeout, "database-connect-timeout", 0, "how long a PostgreSQL server may take to accept a connection (default 3s)")
	flags.DurationVar(&o.answerTimeout, "database-answer-timeout", defaultAnswerTimeout, "how long a PostgreSQL server may take to answer, and a free connection to come")
	flags.BoolVar(&p.rules.AuditReads, "audit-reads", false, "note in the audit who is shown persons, one by one and in lists; each is a change of the database")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate `file`")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key `file` of the certificate")
	flags.StringVar(&o.probes, "metrics-listen", "", "`address` that serves /metrics, /healthz and /readyz, and nothing else does (default: with the interface)")
	flags.DurationVar(&o.drain, "drain", 0, "how long requests are still accepted at the end, while /readyz is 503 already")
	return c
}

func variableOf(flag string) string {
	return "FUNDESKD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment gives the flags that the command line does not name the values of their variables, for the
// file of the installed service.
func (p *program) fromEnvironment(c *cobra.Command) (err error) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		value := p.Getenv(variableOf(f.Name))
		if f.Changed || value == "" || err != nil {
			return
		}
		if wrong := c.Flags().Set(f.Name, value); wrong != nil {
			err = usage("%s: %w", variableOf(f.Name), flagError(wrong))
		}
	})
	return err
}

// checkPublicURL refuses what no link can begin with. Links go to every account that may read a pledge:
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

// minRate is one request in a quarter of an hour: less is a mistake.
const minRate = 0.001

func (p *program) checkServe(o serveOptions) error {
	if err := o.checkPublicURL(); err != nil {
		return err
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return usage("--tls-cert and --tls-key go together (as variables FUNDESKD_TLS_CERT and FUNDESKD_TLS_KEY)")
	}
	for flag, address := range map[string]string{"listen": o.listen, "metrics-listen": o.probes} {
		if strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "/") {
			return usage("--%s %q names a socket of this machine; only TCP is served: HOST:PORT, such as 127.0.0.1:8080", flag, address)
		}
	}
	if !(o.rate >= 0) || math.IsInf(o.rate, 1) { // NaN is not.
		return usage("--rate must be a number of requests, and not negative")
	}
	if o.rate > 0 && o.rate < minRate {
		return usage("--rate %v is less than a request in 1000 seconds; use %v or more, or 0 for any number", o.rate, minRate)
	}
	if p.store.Connections < 0 || p.store.ConnectTimeout < 0 || o.answerTimeout < 0 || o.drain < 0 {
		return usage("--database-connections, --database-connect-timeout, --database-answer-timeout and --drain must not be negative")
	}
	return nil
}

func newLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	options := new(slog.HandlerOptions)
	levels := map[string]slog.Level{"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	least, ok := levels[strings.ToLower(level)]
	if !ok {
		return nil, usage("unknown log level %q; known are info, warn, error", level)
	}
	options.Level = least
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, usage("unknown log format %q; known are text, json", format)
	}
}
