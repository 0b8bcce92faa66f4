package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"fundesk/cmd/internal/release"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/signin"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// timeouts end connections of slow clients, and limit how long the end waits for requests.
type timeouts struct {
	header, body, answer, idle, shutdown time.Duration
}

// defaultTimeouts are long enough for a slow line, and end a connection that only holds a place.
var defaultTimeouts = timeouts{
	header:   10 * time.Second,
	body:     60 * time.Second,
	answer:   120 * time.Second,
	idle:     120 * time.Second,
	shutdown: 30 * time.Second,
}

const maxHeader = 64 << 10

// server returns an HTTP server with the timeouts.
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

// server is a running fundeskd: a database, a front that answers, its listeners and its maintenance.
type server struct {
	URL string // Of the interface.

	program     *program
	options     serveOptions
	logger      *slog.Logger
	metrics     *metrics
	front       *front
	certificate *certificate     // Nil without TLS.
	signIn      *signin.Provider // Nil without --oidc-issuer.
	signInMap   *signin.Map      // The same.

	store   *sqlstore.Store // Nil while the server waits for its database.
	service atomic.Pointer[service.Service]
	privacy atomic.Pointer[privacy.Service] // Stored before service.

	http          *http.Server
	listener      net.Listener
	probes        *http.Server // Nil without --metrics-listen.
	probeListener net.Listener
	shutdown      time.Duration
	reload        chan os.Signal
}

// newServer opens the database and listens. [server.Run] answers, and waits for a database that is not there yet.
func (p *program) newServer(ctx context.Context, o serveOptions) (*server, error) {
	s, err := p.openServer(ctx, o)
	if err != nil {
		return nil, err
	}
	err = s.listen(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openServer returns a server with an open database, or with one that may come later. It does not listen.
func (p *program) openServer(ctx context.Context, o serveOptions) (*server, error) {
	err := o.check()
	if err != nil {
		return nil, err
	}
	logger, err := newLogger(p.Err, o.logFormat, o.logLevel)
	if err != nil {
		return nil, err
	}
	certificate, err := newCertificate(o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, err
	}
	s := &server{
		program:     p,
		options:     o,
		logger:      logger,
		metrics:     newMetrics(),
		certificate: certificate,
		reload:      make(chan os.Signal, 1),
	}
	s.signIn, s.signInMap, err = o.oidc.provider(logger)
	if err != nil {
		return nil, err
	}
	s.front = &front{metrics: s.metrics, isApart: o.metricsAt != "", now: p.Now}
	s.front.closing, s.front.close = context.WithCancel(context.WithoutCancel(ctx))
	s.metrics.ready(s.front.ready)
	s.warnShared()
	err = s.openDatabase(ctx)
	if err != nil && !mayComeLater(err) {
		return nil, err
	}
	return s, nil
}

// warnShared warns if another program has the database file open.
func (s *server) warnShared() {
	name, err := s.program.databaseName()
	if err == nil && sqlstore.IsServed(name) {
		s.logger.Warn(
			"another program has this database file open; both serve it, and wait for each other",
			"database",
			name,
		)
	}
}

// openDatabase opens the database and lets the front serve the interface.
func (s *server) openDatabase(ctx context.Context) error {
	p := s.program
	options, err := p.storeOptions(access{create: true})
	if err != nil {
		return err
	}
	options.Connections = s.options.connections
	options.ConnectTimeout = s.options.connectTimeout
	options.AnswerTimeout = s.options.answerTimeout
	options.Observe = s.metrics.transaction
	store, err := p.openStore(ctx, options)
	if err != nil {
		return err
	}
	rules := service.Options{AuditReads: s.options.auditReads, TokenEnds: s.warnTokenEnds}
	if s.signIn != nil {
		rules.SignIn = s.signIn
	}
	served, err := p.newService(ctx, store, rules)
	if err != nil {
		return err
	}
	err = checkMapped(ctx, served, s.signInMap)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	s.store = store
	erasing := privacy.New(served, s.options.record)
	s.privacy.Store(erasing)
	s.service.Store(served)
	s.metrics.watchPool(store)
	s.metrics.watchQueue(served)
	s.metrics.watchExpiry(served, s.certificate, strings.HasPrefix(options.Database, "sqlite:"), p.Now)
	s.front.serve(httpapi.New(httpapi.Options{
		Service:    served,
		Logger:     s.logger,
		BaseURL:    s.options.publicURL,
		Rate:       s.options.rate, // By the system's clock, also in a sandbox.
		Version:    release.Version,
		SignIn:     s.options.oidc.offered(),
		Privacy:    erasing,
		CountQueue: s.metrics.queueEvent,
		Observe:    s.metrics.observe,
	}))
	return nil
}

func (s *server) warnTokenEnds(a service.Account, at time.Time) {
	s.logger.Warn("a token ends soon; issue another one: fundeskd token issue",
		"account", a.UUID.String(), "ends", at.UTC().Format(time.RFC3339))
}

// mayComeLater reports whether a database that could not be opened may be there soon. A refused name, role, password or
// parameter is a mistake of the operator, and ends the start at once.
func mayComeLater(err error) bool {
	refusal, ok := errors.AsType[*service.Error](err)
	if !ok || refusal.Kind != service.Unavailable {
		return false
	}
	code := (pgdriver.Driver{}).Code(err)
	if isOperatorMistake(code) {
		return false
	}
	return code != "" || (pgdriver.Driver{}).Disconnected(err)
}

// isOperatorMistake reports whether a code of PostgreSQL means a mistake that a retry cannot mend.
func isOperatorMistake(code string) bool {
	const unknownDatabase = "3D000"
	if code == unknownDatabase {
		return true
	}
	for _, class := range []string{
		"28", // No such login.
		"42", // No right.
		"22", // A parameter that the server never accepts.
	} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// listen opens the listeners of the interface and of the probes.
func (s *server) listen(ctx context.Context) error {
	limits := s.program.timeouts
	if limits == (timeouts{}) {
		limits = defaultTimeouts
	}
	s.shutdown = limits.shutdown
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.options.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", portHint(err))
	}
	address := listener.Addr().String()
	if s.certificate == nil {
		s.listener = listener
		s.URL = "http://" + reachable(address)
	} else {
		s.listener = tls.NewListener(listener, s.certificate.config())
		s.URL = "https://" + reachable(address)
		s.certificate.warnOfDates(s.logger, s.program.Now())
	}
	if s.certificate == nil && !isLoopback(address) {
		s.front.isOpen = true
		s.logger.Warn(
			"tokens and donors' data are not encrypted on this address, and only this machine sees /metrics; "+
				"use --tls-cert and --tls-key, or --listen 127.0.0.1:8080 behind a proxy",
			"listen",
			address,
		)
	}
	// SIGHUP ends a program whose terminal closes, unless a certificate can be read again.
	if s.certificate != nil || !isTerminal(s.program.In) {
		signal.Notify(s.reload, syscall.SIGHUP)
		signal.Stop(s.program.hangUp)
	}
	s.http = limits.server(s.front, s.logger)
	if s.options.metricsAt == "" {
		return nil
	}
	s.probeListener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.options.metricsAt)
	if err != nil {
		return errors.Join(fmt.Errorf("listen for --metrics-listen: %w", portHint(err)), listener.Close())
	}
	s.probes = limits.server(http.HandlerFunc(s.front.probe), s.logger)
	return nil
}

// portHint adds the way out to the error of a port that is in use.
func portHint(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; stop the program that has the port, or choose another port", err)
	}
	return err
}

// reachable returns an address that a client on this machine can use. A server that listens on every address is reached
// on 127.0.0.1.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip := net.ParseIP(host)
	if ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Run answers requests until the context ends, and then lets requests in flight finish.
func (s *server) Run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	maintained, endMaintenance := context.WithCancel(context.WithoutCancel(ctx))
	defer background.Wait()
	defer stop()
	defer endMaintenance() // After the last request: another machine may have erased a person until then.
	failed := make(chan error, 3)
	if s.store == nil {
		background.Go(func() { sendError(failed, s.awaitDatabase(running)) })
	}
	if s.signIn != nil {
		background.Go(func() { s.signIn.Run(running) })
	}
	background.Go(func() { s.reloadCertificates(running) })
	background.Go(func() { s.newMaintenance().run(maintained) })
	if s.probes != nil {
		s.logger.Info("serving metrics", "url", "http://"+reachable(s.probeListener.Addr().String()))
		background.Go(func() { failed <- s.probes.Serve(s.probeListener) })
		defer func() { _ = s.probes.Close() }() // Probes in flight do not matter now.
	}
	go func() { failed <- s.http.Serve(s.listener) }()
	s.logger.Info("serving", "url", s.URL)
	s.notify(daemon.SdNotifyReady)
	background.Go(func() { s.feedWatchdog(running) })
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serve: %w", err), s.http.Close())
	case <-ctx.Done():
	}
	return s.end(context.WithoutCancel(ctx))
}

func sendError(to chan<- error, err error) {
	if err != nil {
		to <- err
	}
}

// maintain begins the maintenance of a server that does not run. end ends it.
func (s *server) maintain(ctx context.Context) func() {
	running, cancel := context.WithCancel(ctx)
	var maintaining sync.WaitGroup
	maintaining.Go(func() { s.newMaintenance().run(running) })
	return func() {
		cancel()
		maintaining.Wait()
	}
}

func (s *server) newMaintenance() *maintenance {
	m := &maintenance{
		service:    s.service.Load,
		privacy:    s.privacy.Load,
		logger:     s.logger,
		countQueue: s.metrics.queueEvent,

		lostErasures: &s.metrics.lostErasures,
	}
	if s.options.record != nil {
		m.copyErasures = func(ctx context.Context, served *service.Service) (int, error) {
			return s.program.copyErasures(ctx, served, s.options.erasuresLog)
		}
	}
	return m
}

// An end that takes longer than this is explained in the log.
const quietEnd = 500 * time.Millisecond

// end drains load balancers and lets requests in flight finish.
func (s *server) end(ctx context.Context) error {
	s.notify(daemon.SdNotifyStopping)
	if s.options.drain > 0 {
		s.logger.Info("draining", "for", s.options.drain)
		s.front.isDraining.Store(true)
		s.program.Sleep(s.options.drain) // A second signal ends the program.
	}
	s.logger.Info("ending")
	notice := time.AfterFunc(quietEnd, func() {
		s.logger.Warn("waiting for requests that are still running; a second signal ends at once")
	})
	defer notice.Stop()
	s.front.close()
	ending, cancel := context.WithTimeout(ctx, s.shutdown)
	defer cancel()
	err := s.http.Shutdown(ending)
	if err != nil {
		return errors.Join(fmt.Errorf("end: %w", err), s.http.Close())
	}
	return nil
}

const (
	awaitPause = 500 * time.Millisecond // Between two tries to open the database.
	awaitLog   = time.Minute            // Between two lines of the log about it.
)

// awaitDatabase opens the database as soon as it is there.
func (s *server) awaitDatabase(ctx context.Context) error {
	var logged time.Time
	for {
		err := s.openDatabase(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // The server ends.
		}
		if err == nil {
			s.logger.Info("the database is there")
			return nil
		}
		if !mayComeLater(err) {
			return err
		}
		if time.Since(logged) >= awaitLog {
			s.logger.Warn("waiting for the database", "error", oneLine(err))
			logged = time.Now()
		}
		_ = service.Pause(ctx, awaitPause)
	}
}

// reloadCertificates reads the certificate again at each SIGHUP. If that fails, the last one stays in use.
func (s *server) reloadCertificates(ctx context.Context) {
	for {
		select {
		case <-s.reload:
			s.reloadCertificate()
		case <-ctx.Done():
			return
		}
	}
}

func (s *server) reloadCertificate() {
	if s.certificate == nil {
		s.logger.Info("there is no certificate to read again")
		return
	}
	err := s.certificate.read()
	if err != nil {
		s.logger.Error("the certificate cannot be read; the last one stays in use", "error", err.Error())
		return
	}
	s.logger.Info("the certificate was read again")
	s.certificate.warnOfDates(s.logger, s.program.Now())
}

// Close closes the database.
func (s *server) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// notify sends a state to systemd, if that started the program.
func (s *server) notify(state string) {
	_, err := daemon.SdNotify(false, state)
	if err != nil {
		s.logger.Warn("the service manager cannot be notified", "error", err.Error())
	}
}

// feedWatchdog notifies systemd twice in each interval of its watchdog, as long as the front answers.
func (s *server) feedWatchdog(ctx context.Context) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return
	}
	for ctx.Err() == nil {
		answersOK(ctx, s.front, "/healthz") // A front that hangs feeds no watchdog.
		s.notify(daemon.SdNotifyWatchdog)
		_ = service.Pause(ctx, interval/2)
	}
}
