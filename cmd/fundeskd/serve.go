package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/service/privacy"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen      string
	metricsAt   string // Where /metrics, /healthz and /readyz are served. Empty means with the interface.
	publicURL   string
	tlsCert     string
	tlsKey      string
	rate        float64 // Requests a second of one account. Zero means unlimited.
	drain       time.Duration
	logFormat   string
	logLevel    string
	auditReads  bool
	erasuresLog string

	connections    int // To the database. Zero means the engine's default.
	connectTimeout time.Duration
	answerTimeout  time.Duration

	oidc    oidcOptions
	sandbox sandboxOptions

	record privacy.Record // Of erasures. Nil in a sandbox.
}

func (p *program) serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the interface over HTTP",
		Long: "Serve answers requests until it is interrupted. The first line of stdout is the\n" +
			"base URL, written when requests are accepted; the log goes to stderr. Serve\n" +
			"waits until PostgreSQL answers, and requests get 503 until then. SIGHUP reloads\n" +
			"the certificate.\n\n" +
			"Each flag has a variable, such as FUNDESKD_TLS_CERT for --tls-cert; a flag wins\n" +
			"over its variable. On an address off this machine without a certificate, only\n" +
			"this machine sees /metrics.\n\n" + oidcHelp + "\n\n" + sandboxHelp,
		Example: "  fundeskd serve --listen 127.0.0.1:8080\n" +
			"  fundeskd serve --listen :8443 --tls-cert cert.pem --tls-key key.pem --log-format json\n" +
			"  fundeskd serve --sandbox --persons 500 --seed 7 --start-time 2026-11-20T09:00:00Z",
		Args: exactly(nil),
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		signal.Ignore(syscall.SIGPIPE) // The reader of the log may go away, and serve goes on.
		err := p.readVariables(c)
		if err != nil {
			return err
		}
		err = o.sandbox.check(c.Flags(), p.Now)
		if err != nil {
			return err
		}
		if o.sandbox.isOn {
			o.oidc = oidcOptions{} // Its clock would end every token.
			return p.serveSandbox(c.Context(), o)
		}
		o.record = p.recordErasures(o.erasuresLog)
		s, err := p.newServer(c.Context(), o)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.Out, s.URL)
		return errors.Join(s.Run(c.Context()), s.Close())
	}
	o.addFlags(c.Flags())
	o.sandbox.addFlags(c.Flags(), p.samplePersons)
	return c
}

func (o *serveOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 picks one")
	flags.StringVar(&o.metricsAt, "metrics-listen", "",
		"`address` that alone serves /metrics, /healthz and /readyz (default: with the interface)")
	flags.StringVar(&o.publicURL, "public-url", "", "base `URL` of signed links (default: the address of each request)")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate `file`")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key `file` of the certificate")
	flags.Float64Var(&o.rate, "rate", 0, "allow one account `N` requests a second (0: any number)")
	flags.DurationVar(&o.drain, "drain", 0,
		"how long requests are still accepted at the end, while /readyz is 503 already")
	flags.StringVar(&o.logFormat, "log-format", "text", "write the log in this `FORMAT`: text or json")
	flags.StringVar(&o.logLevel, "log-level", "info",
		"log from this `LEVEL` on: info has a line for each request, warn and error only failures")
	flags.BoolVar(&o.auditReads, "audit-reads", false,
		"record in the audit which persons are shown, one by one and in lists; each read then changes the database")
	flags.IntVar(&o.connections, "database-connections", 0,
		"at most `N` connections to the database at once; of SQLite, those that read lists, and as many that read "+
			"single records (default: 16 with PostgreSQL, one a processor with SQLite, 2 at least)")
	flags.DurationVar(&o.connectTimeout, "database-connect-timeout", 0,
		"how long a PostgreSQL server may take to accept a connection (default 3s)")
	flags.DurationVar(&o.answerTimeout, "database-answer-timeout", defaultAnswerTimeout,
		"how long a PostgreSQL server may take to answer, and a connection to become free")
	erasuresFlag(flags, &o.erasuresLog)
	o.oidc.addFlags(flags)
}

// variableOf returns the environment variable of a flag of serve.
func variableOf(flag string) string {
	return "FUNDESKD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readVariables sets the flags that the command line does not name from their variables. The installed service has its
// settings there.
func (p *program) readVariables(c *cobra.Command) error {
	var err error
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		value := p.Getenv(variableOf(f.Name))
		if f.Changed || value == "" || err != nil {
			return
		}
		setErr := c.Flags().Set(f.Name, value)
		if setErr != nil {
			err = usage("%s: %w", variableOf(f.Name), flagError(setErr))
		}
	})
	return err
}

// minRate is a request in 1000 seconds. A lower rate is a mistake.
const minRate = 0.001

// check refuses flags with values that they cannot have.
func (o *serveOptions) check() error {
	err := checkPublicURL(o.publicURL)
	if err != nil {
		return err
	}
	err = o.oidc.check()
	if err != nil {
		return err
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return usage("--tls-cert and --tls-key go together (as variables FUNDESKD_TLS_CERT and FUNDESKD_TLS_KEY)")
	}
	for flag, address := range map[string]string{"listen": o.listen, "metrics-listen": o.metricsAt} {
		if strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "/") {
			return usage(
				"--%s %q names a socket of this machine; only TCP is served: HOST:PORT, such as 127.0.0.1:8080",
				flag,
				address,
			)
		}
		_, _, err := net.SplitHostPort(address)
		if err != nil && address != "" {
			return usage(
				"--%s %q has no port: use HOST:PORT, such as 127.0.0.1:8080, or :8443 for every address",
				flag,
				address,
			)
		}
	}
	isNumber := o.rate >= 0 && !math.IsInf(o.rate, 1) // NaN compares false.
	if !isNumber {
		return usage("--rate must be a number of requests, and not negative")
	}
	if o.rate > 0 && o.rate < minRate {
		return usage(
			"--rate %v is less than a request in 1000 seconds; use %v or more, or 0 for any number",
			o.rate,
			minRate,
		)
	}
	least := min(o.connectTimeout, o.answerTimeout, o.drain, time.Duration(o.connections))
	if least < 0 {
		return usage("--database-connections, --database-connect-timeout, --database-answer-timeout and --drain " +
			"must not be negative")
	}
	return nil
}

// checkPublicURL refuses a URL that no link can begin with. Every account that may read a pledge gets such links, and
// would get a password in them too.
func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	base, err := url.Parse(text)
	isWeb := err == nil && (base.Scheme == "http" || base.Scheme == "https") && base.Host != ""
	if !isWeb {
		return usage("--public-url must be a URL such as https://service.example, with or without a path")
	}
	hasQuery := base.RawQuery != "" || base.ForceQuery
	if base.User != nil || hasQuery || base.Fragment != "" {
		return usage("--public-url must not have a user, a query or a fragment: links begin with it")
	}
	return nil
}

var logLevels = map[string]slog.Level{"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func newLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	least, ok := logLevels[strings.ToLower(level)]
	if !ok {
		return nil, usage("--log-level must be one of info, warn, error, not %q", level)
	}
	options := &slog.HandlerOptions{Level: least}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, usage("--log-format must be one of text, json, not %q", format)
	}
}
