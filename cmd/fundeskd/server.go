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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fundesk/cmd/internal/release"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// server is the running program; tests start it as it is.
type server struct {
	housekeeping chan struct{} // Closed when the housekeeping has ended.

	URL      string // Where it is reached.
	program  *program
	options  serveOptions
	store    *sqlstore.Store // Nil while it is waited for.
	rules    atomic.Pointer[service.Service]
	metrics  *metrics
	front    *front
	http     *http.Server
	listener net.Listener
	// probes serve what --metrics-listen moves; nil when it does not.
	probes      *http.Server
	probesAt    net.Listener
	certificate *certificate // Nil without TLS.
	reload      chan os.Signal
	logger      *slog.Logger
	shutdown    time.Duration // How long requests in flight may take at the end.
}

// newServer opens the database and listens; Run then answers. A database that may come later is
// left to Run.
func (p *program) newServer(ctx context.Context, o serveOptions) (*server, error) {
	s, err := p.openServer(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openServer opens the database, and listens nowhere.
func (p *program) openServer(ctx context.Context, o serveOptions) (_ *server, err error) {
	if err := p.checkServe(o); err != nil {
		return nil, err
	}
	s := &server{program: p, options: o, metrics: newMetrics(), reload: make(chan os.Signal, 1)}
	if s.logger, err = newLogger(p.Err, o.logFormat, o.logLevel); err != nil {
		return nil, err
	}
	if s.certificate, err = newCertificate(o.tlsCert, o.tlsKey); err != nil {
		return nil, err
	}
	s.front = &front{metrics: s.metrics, isApart: o.probes != "", now: p.Now}
	s.front.ending, s.front.end = context.WithCancel(context.WithoutCancel(ctx))
	if name, err := p.databaseName(); err == nil && sqlstore.IsServed(name) {
		s.logger.Warn("another program has this database file open; both serve it, and wait for each other", "database", name)
	}
	s.metrics.ready(s.front.ready)
	p.rules.TokenEnds = func(a service.Account, at time.Time) {
		s.logger.Warn("a token ends soon; fundeskd token issue makes another one", "account", a.UUID.String(), "ends", at.UTC().Format(time.RFC3339))
	}
	p.store.Observe, p.store.AnswerTimeout = s.metrics.transaction, o.answerTimeout
	if err := s.begin(ctx); err != nil && !comesLater(err) {
		return nil, err
	}
	return s, nil
}

// begin opens the database, and lets the interface answer.
func (s *server) begin(ctx context.Context) error {
	store, served, err := s.program.open(ctx)
	if err != nil {
		return err
	}
	s.store = store
	s.rules.Store(served)
	s.metrics.pool(store)
	s.metrics.of(served)
	name, _ := s.program.databaseName() // It was opened by it.
	s.metrics.ends(served, s.certificate, strings.HasPrefix(name, "sqlite:"), s.program.Now)
	s.front.serve(httpapi.New(httpapi.Options{
		Service: served, Logger: s.logger, BaseURL: s.options.publicURL, Rate: s.options.rate, // By the system's clock, which no sandbox moves.
		Version: release.Version, RecordErasure: s.options.recordErasure, CountQueue: s.metrics.queueEvent, Observe: s.metrics.observe,
	}))
	return nil
}

// comesLater reports whether a database that could not be opened may be there soon: its server
// does not answer yet. One that refuses the name, the role or the password is an operator's
// mistake, to be told at once.
func comesLater(err error) bool {
	refusal, ok := errors.AsType[*service.Error](err)
	if !ok || refusal.Kind != service.Unavailable {
		return false
	}
	switch code := (pgdriver.Driver{}).Code(err); {
	case code == "3D000", strings.HasPrefix(code, "28"): // No such database, no such login.
		return false
	case strings.HasPrefix(code, "42"), strings.HasPrefix(code, "22"): // No right, and what the server will never accept: a parameter or its value.
		return false
	default:
		return (pgdriver.Driver{}).Disconnected(err) || code != ""
	}
}

func (s *server) listen(ctx context.Context) error {
	limits := s.program.timeouts
	if limits == (timeouts{}) {
		limits = defaultTimeouts
	}
	s.shutdown = limits.shutdown
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.options.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	scheme := "http://"
	if s.certificate != nil {
		listener, scheme = tls.NewListener(listener, s.certificate.config()), "https://"
	}
	if s.certificate != nil || !isTerminal(s.program.In) { // Closing a terminal ends what runs there.
		signal.Notify(s.reload, syscall.SIGHUP) // To the end: one that comes while it stops must not end it.
	}
	s.listener, s.URL = listener, scheme+reachable(listener.Addr().String())
	s.http = limits.server(s.front, s.logger)
	if address := listener.Addr().String(); s.certificate == nil && !isLoopback(address) {
		s.front.isOpen = true
		s.logger.Warn("tokens and donors' data are not encrypted on this address, and only this machine sees /metrics; "+
			"use --tls-cert and --tls-key, or --listen 127.0.0.1:8080 behind a proxy", "listen", address)
	}
	if s.options.probes == "" {
		return nil
	}
	if s.probesAt, err = new(net.ListenConfig).Listen(ctx, "tcp", s.options.probes); err != nil {
		return errors.Join(fmt.Errorf("listen for --metrics-listen: %w", err), listener.Close())
	}
	s.probes = limits.server(http.HandlerFunc(s.front.probe), s.logger)
	return nil
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
	running, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	failed := make(chan error, 3)
	if s.store == nil {
		background.Go(func() {
			if err := s.await(running); err != nil {
				failed <- err
			}
		})
	}
	background.Go(func() { s.reloadCertificates(running) })
	s.housekeeping = make(chan struct{})
	background.Go(func() {
		defer close(s.housekeeping)
		s.keepHouse(running)
	})
	if s.probes != nil {
		s.logger.Info("serving metrics", "url", "http://"+reachable(s.probesAt.Addr().String()))
		background.Go(func() { failed <- s.probes.Serve(s.probesAt) })
		defer func() { _ = s.probes.Close() }() // Of probes none matters now.
	}
	go func() { failed <- s.http.Serve(s.listener) }()
	s.logger.Info("serving", "url", s.URL)
	s.notify(running, "READY=1")
	background.Go(func() { s.watch(running) })
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serve: %w", err), s.http.Close())
	case <-ctx.Done():
	}
	return s.end(context.WithoutCancel(ctx))
}

// end lets load balancers see that it ends, then requests in flight finish.
func (s *server) end(ctx context.Context) error {
	s.notify(ctx, "STOPPING=1")
	if s.options.drain > 0 {
		s.logger.Info("draining", "for", s.options.drain)
		s.front.isDraining.Store(true)
		s.program.Sleep(s.options.drain) // A second signal ends the program.
	}
	s.logger.Info("ending")
	notice := time.AfterFunc(sayAfter, func() { s.logger.Warn("waiting for requests that are still running; a second signal ends at once") })
	defer notice.Stop()
	s.front.end()
	ending, cancel := context.WithTimeout(ctx, s.shutdown)
	defer cancel()
	if err := s.http.Shutdown(ending); err != nil {
		return errors.Join(fmt.Errorf("end: %w", err), s.http.Close())
	}
	saving, cancel := context.WithTimeout(ctx, lastSave)
	defer cancel()
	select { // It puts back what it could not save.
	case <-s.housekeeping:
	case <-saving.Done():
	}
	s.saveTokenUse(saving)
	return nil
}

// copyPause is how often a process copies the erasures that its file lacks.
const copyPause = time.Hour

// How often it is saved when tokens were used, and how long that may hold up the end.
const (
	savePause = time.Minute
	lastSave  = time.Second
)

// clockWarned is a difference of clocks that the log tells of: times of changes are the database's, and
// tokens end by this computer's.
const clockWarned = 5 * time.Second

// keepHouse continues erasures that were cut short, saves when tokens were used, and warns where this computer's
// clock and the database's differ: now and each minute.
func (s *server) keepHouse(ctx context.Context) {
	var copied time.Time
	for ; ctx.Err() == nil; _ = service.Pause(ctx, savePause) {
		if rules := s.rules.Load(); rules != nil {
			if isDue := time.Since(copied) >= copyPause; isDue && s.options.recordErasure != nil {
				copied = time.Now()
				if err := s.program.copyErasures(ctx, rules); err != nil && ctx.Err() == nil {
					s.logger.Warn("the erasures of the database were not copied to this machine's file, which a restore needs", "error", told(err))
				}
			}
			if err := privacy.New(rules, nil).FinishErasures(ctx); err != nil && ctx.Err() == nil {
				s.logger.Warn("an erasure that was cut short is not finished yet", "error", told(err))
			}
			s.saveTokenUse(ctx)
			if ahead, err := rules.Store().ClockAhead(ctx); err == nil && ahead.Abs() > clockWarned {
				s.logger.Warn("this computer's clock and the database's differ; set one of them", "database ahead by", ahead.Round(time.Millisecond).String())
			}
			if ahead, err := tellAhead(ctx, rules); err == nil && ahead != "" {
				s.logger.Warn(ahead)
			}
		}
	}
}

// saveTokenUse saves it once. What a database does not take now it takes the next time, and what a
// program that is killed had in memory is lost: it is by the day.
func (s *server) saveTokenUse(ctx context.Context) {
	if rules := s.rules.Load(); rules != nil {
		if err := rules.SaveTokenUse(ctx); err != nil {
			s.logger.Warn("when tokens were used was not saved", "error", told(err))
		}
	}
}

// How often a database that is not there is asked for, and the log says that it is waited for.
const (
	awaitPause = 500 * time.Millisecond
	awaitSaid  = time.Minute
)

// await opens the database as soon as it is there.
func (s *server) await(ctx context.Context) error {
	var said time.Time
	for ; ; _ = service.Pause(ctx, awaitPause) {
		err := s.begin(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			s.logger.Info("the database is there")
			return nil
		case !comesLater(err):
			return err
		case time.Since(said) >= awaitSaid:
			s.logger.Warn("waiting for the database", "error", told(err))
			said = time.Now()
		}
	}
}

// reloadCertificates reads the certificate again at each SIGHUP. One that cannot be read leaves
// the last one in use. Without any there is nothing to do: a service manager says it all the same.
func (s *server) reloadCertificates(ctx context.Context) {
	for {
		select {
		case <-s.reload:
			if s.certificate == nil {
				s.logger.Info("there is no certificate to read again")
			} else if err := s.certificate.read(); err != nil {
				s.logger.Error("the certificate was not read again; the last one stays in use", "error", err.Error())
			} else {
				s.logger.Info("the certificate was read again")
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *server) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// notify tells the service manager that started the program how it is (sd_notify of systemd). Without
// one, or when it does not listen, nothing is sent, and requests are served all the same.
func (s *server) notify(ctx context.Context, state string) {
	path := s.program.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if name, abstract := strings.CutPrefix(path, "@"); abstract {
		path = "\x00" + name
	}
	c, err := new(net.Dialer).DialContext(ctx, "unixgram", path)
	if err != nil {
		s.logger.Warn("the service manager does not listen", "error", err.Error())
		return
	}
	_, _ = c.Write([]byte(state)) // A manager that does not read restarts the program by its watchdog.
	_ = c.Close()
}

// watch tells the service manager, twice in the time that it waits for that, that requests are
// answered, until the context ends.
func (s *server) watch(ctx context.Context) {
	wait, err := strconv.ParseInt(s.program.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || wait <= 0 {
		return
	}
	for ; ctx.Err() == nil; _ = service.Pause(ctx, time.Duration(wait)*time.Microsecond/2) {
		_ = isWell(ctx, s.front, "/healthz") // What hangs is not told to be well.
		s.notify(ctx, "WATCHDOG=1")
	}
}
