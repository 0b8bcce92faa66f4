package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fundesk/cmd/internal/release"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/queue"
	"fundesk/service/sqlstore"
)

// metrics are the counters of a server. Labels are route templates and statuses, never values of a request.
type metrics struct {
	registry *prometheus.Registry
	page     http.Handler // Serves all of them.

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	sent     *prometheus.CounterVec
	refused  prometheus.Counter // By the rate of an account.
	database *prometheus.HistogramVec
	queue    *prometheus.CounterVec

	lostErasures atomic.Int64
}

// buckets are the bounds of the time histograms, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	made := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return made.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help, label string) *prometheus.HistogramVec {
		return made.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	}
	m := &metrics{
		registry: registry,
		page:     promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		requests: counter("fundeskd_http_requests_total",
			"Requests answered, by route template and status.", "route", "status"),
		duration: histogram("fundeskd_http_request_duration_seconds",
			"Time to answer, by route template.", "route"),
		inFlight: made.NewGauge(prometheus.GaugeOpts{
			Name: "fundeskd_http_requests_in_flight",
			Help: "Requests being answered.",
		}),
		sent: counter("fundeskd_http_response_bytes_total",
			"Bytes of answers as they were sent, by route template.", "route"),
		refused: made.NewCounter(prometheus.CounterOpts{
			Name: "fundeskd_rate_refusals_total",
			Help: "Requests refused because their account exceeded --rate.",
		}),
		database: histogram("fundeskd_database_transaction_duration_seconds",
			"Time of transactions, waiting included, by kind: read or change.", "kind"),
		queue: counter(
			"fundeskd_queue_leases_total",
			"Leases of the queue, by event: taken, expired, released, or refused because the call or the lease was "+
				"not available.",
			"event",
		),
	}
	for _, event := range []queue.Event{queue.Taken, queue.Expired, queue.Released, queue.Refused} {
		m.queue.WithLabelValues(string(event)) // A counter of zero is shown too.
	}
	made.NewGauge(prometheus.GaugeOpts{
		Name:        "fundeskd_build_info",
		Help:        "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": release.Version, "go": runtime.Version()},
	}).Set(1)
	m.gauge(
		"fundeskd_memory_anonymous_bytes",
		"Memory of the process without the pages of files, which the system can take back; NaN: unknown on this "+
			"system.",
		func(context.Context) (float64, error) { return anonymousMemory() },
	)
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// observe counts one answer of the interface.
func (m *metrics) observe(o httpapi.Observation) {
	route := cmp.Or(o.Route, "other")
	m.requests.WithLabelValues(route, strconv.Itoa(o.Status)).Inc()
	m.duration.WithLabelValues(route).Observe(o.Duration.Seconds())
	m.sent.WithLabelValues(route).Add(float64(o.Bytes))
	if o.Status == http.StatusTooManyRequests {
		m.refused.Inc()
	}
}

// transaction counts one transaction of the database.
func (m *metrics) transaction(isChange bool, took time.Duration) {
	kind := "read"
	if isChange {
		kind = "change"
	}
	m.database.WithLabelValues(kind).Observe(took.Seconds())
}

// queueEvent counts n events of the queue.
func (m *metrics) queueEvent(event queue.Event, n int) {
	m.queue.WithLabelValues(string(event)).Add(float64(n))
}

// gaugeTimeout limits how long a gauge waits for the database.
const gaugeTimeout = 2 * time.Second

// gauge adds a value that is read with each request for the page. An error is shown as NaN.
func (m *metrics) gauge(name, help string, value func(context.Context) (float64, error)) {
	read := func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), gaugeTimeout)
		defer cancel()
		v, err := value(ctx)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// ready adds whether a change could be made.
func (m *metrics) ready(isReady func(context.Context) bool) {
	m.gauge("fundeskd_ready", "1 if a change could be made when /readyz was last asked, within 5 s; else 0.",
		func(ctx context.Context) (float64, error) {
			if isReady(ctx) {
				return 1, nil
			}
			return 0, nil
		})
}

// watchQueue adds gauges of the queue and the clocks.
func (m *metrics) watchQueue(s *service.Service) {
	m.gauge("fundeskd_queue_oldest_seconds",
		"How long the oldest call of the queue has waited; 0: none waits; NaN: the database does not answer.",
		func(ctx context.Context) (float64, error) {
			requested, now, err := queue.New(s, nil).Oldest(ctx)
			if err != nil || requested == nil {
				return 0, err
			}
			return now.Sub(requested.Time).Seconds(), nil
		})
	m.gauge("fundeskd_times_ahead_seconds",
		"How far the highest time that the database gave to a change is ahead of its clock; 0: not ahead.",
		func(ctx context.Context) (float64, error) {
			newest, now, _, err := s.TimesAhead(ctx)
			return max(newest.Sub(now.Time).Seconds(), 0), err
		})
	m.gauge("fundeskd_erasures_lost",
		"Erasures of this machine's file that the database lacks, because it was put back; fundeskd erasures replay "+
			"repeats them.",
		func(context.Context) (float64, error) { return float64(m.lostErasures.Load()), nil })
	m.gauge("fundeskd_clock_ahead_seconds",
		"How far the database's clock is ahead of this computer's; NaN: the database does not answer.",
		func(ctx context.Context) (float64, error) {
			ahead, err := s.Store().ClockAhead(ctx)
			return ahead.Seconds(), err
		})
}

// watchExpiry adds gauges of tokens and the certificate, which expire, and of the last backup, which ages.
func (m *metrics) watchExpiry(s *service.Service, certificate *certificate, isFile bool, now func() time.Time) {
	m.gauge("fundeskd_token_ends_seconds",
		"How long the valid token lasts that ends first; NaN: there is none.",
		func(ctx context.Context) (float64, error) {
			tokens, err := s.GoodTokens(ctx)
			return firstEnd(tokens, now()), err
		})
	m.gauge("fundeskd_certificate_ends_seconds",
		"How long the certificate of --tls-cert is valid; NaN: there is none.",
		func(context.Context) (float64, error) {
			if certificate == nil {
				return math.NaN(), nil
			}
			return certificate.pair.Load().Leaf.NotAfter.Sub(now()).Seconds(), nil
		})
	m.gauge("fundeskd_backup_age_seconds",
		"Age of the last fundeskd backup; +Inf: there was none; NaN: the database is not an SQLite file.",
		func(ctx context.Context) (float64, error) {
			if !isFile {
				return math.NaN(), nil
			}
			at, err := s.LastBackup(ctx)
			if err != nil || at.IsZero() {
				return math.Inf(1), err
			}
			return now().Sub(at).Seconds(), nil
		})
}

// firstEnd returns the seconds until the first valid token ends, or NaN if none is valid.
func firstEnd(tokens []service.IssuedToken, now time.Time) float64 {
	first := math.NaN()
	for _, t := range tokens {
		end := t.End()
		if end == nil || !end.After(now) {
			continue
		}
		left := end.Sub(now).Seconds()
		if math.IsNaN(first) || left < first {
			first = left
		}
	}
	return first
}

// watchPool adds gauges and counters of the connections to the database.
func (m *metrics) watchPool(store *sqlstore.Store) {
	m.gauge("fundeskd_database_connections_in_use", "Connections that read.",
		func(context.Context) (float64, error) { return float64(store.Pool().InUse), nil })
	m.gauge("fundeskd_database_connections_max", "Connections that may read at once.",
		func(context.Context) (float64, error) { return float64(store.Pool().Most), nil })
	for event, value := range map[string]func(sqlstore.PoolStats) int64{
		"opened":    func(p sqlstore.PoolStats) int64 { return p.Opened },
		"lost":      func(p sqlstore.PoolStats) int64 { return p.Lost },
		"waited":    func(p sqlstore.PoolStats) int64 { return p.Waited },
		"timed_out": func(p sqlstore.PoolStats) int64 { return p.TimedOut },
		"retried":   func(p sqlstore.PoolStats) int64 { return p.Retried },
	} {
		options := prometheus.CounterOpts{
			Name: "fundeskd_database_events_total",
			Help: "Connections opened and lost; waits for a connection, also in vain; transactions that were " +
				"retried.",
			ConstLabels: prometheus.Labels{"event": event},
		}
		read := func() float64 { return float64(value(store.Pool())) }
		m.registry.MustRegister(prometheus.NewCounterFunc(options, read))
	}
}

// anonymousMemory returns the bytes of memory that Linux counts as this process's own.
func anonymousMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	var kilobytes float64
	_, err = fmt.Sscan(after, &kilobytes)
	return kilobytes * 1024, err
}
