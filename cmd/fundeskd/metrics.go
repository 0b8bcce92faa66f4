package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
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

// metrics count what the server does. Labels are route templates and statuses, never a
// value of a request.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	sent     *prometheus.CounterVec
	rated    prometheus.Counter // Refused for the rate of an account.
	database *prometheus.HistogramVec
	queue    *prometheus.CounterVec
	page     http.Handler // Shows all of them.
}

// buckets are the bounds of the time histograms, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	made := promauto.With(m.registry)
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return made.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	timed := func(name, help, label string) *prometheus.HistogramVec {
		return made.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	}
	m.requests = count("fundeskd_http_requests_total", "Requests answered, by route template and status.", "route", "status")
	m.duration = timed("fundeskd_http_request_duration_seconds", "Time to answer, by route template.", "route")
	m.database = timed("fundeskd_database_transaction_duration_seconds", "Time of transactions, waiting included, by kind: read or change.", "kind")
	m.sent = count("fundeskd_http_response_bytes_total", "Bytes of answers as they were sent, by route template.", "route")
	m.queue = count("fundeskd_queue_leases_total",
		"Leases of the queue, by what happened: taken, expired, released, or refused because the call or the lease was not to be had.", "event")
	for _, event := range []queue.Event{queue.Taken, queue.Expired, queue.Released, queue.Refused} {
		m.queue.WithLabelValues(string(event))
	}
	m.inFlight = made.NewGauge(prometheus.GaugeOpts{Name: "fundeskd_http_requests_in_flight", Help: "Requests being answered."})
	m.rated = made.NewCounter(prometheus.CounterOpts{
		Name: "fundeskd_rate_refusals_total", Help: "Requests refused as their account asked more often than --rate.",
	})
	made.NewGauge(prometheus.GaugeOpts{
		Name: "fundeskd_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": release.Version, "go": runtime.Version()},
	}).Set(1)
	m.gauge("fundeskd_memory_anonymous_bytes", "Memory of the process without the pages of files, which the system takes back; NaN: not known here.", func(context.Context) (float64, error) {
		return anonymousMemory()
	})
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) observe(o httpapi.Observation) {
	route := o.Route
	if route == "" {
		route = "other"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(o.Status)).Inc()
	m.duration.WithLabelValues(route).Observe(o.Duration.Seconds())
	m.sent.WithLabelValues(route).Add(float64(o.Bytes))
	if o.Status == http.StatusTooManyRequests {
		m.rated.Inc()
	}
}

func (m *metrics) transaction(change bool, took time.Duration) {
	kind := "read"
	if change {
		kind = "change"
	}
	m.database.WithLabelValues(kind).Observe(took.Seconds())
}

func (m *metrics) queueEvent(event queue.Event, n int) {
	m.queue.WithLabelValues(string(event)).Add(float64(n))
}

// readingPatience is how long a reading of the metrics waits for the database.
const readingPatience = 2 * time.Second

// gauge shows a value that each reading asks for; NaN: the database does not answer.
func (m *metrics) gauge(name, help string, value func(context.Context) (float64, error)) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), readingPatience)
		defer cancel()
		v, err := value(ctx)
		if err != nil {
			return math.NaN()
		}
		return v
	}))
}

// of shows what a service tells of its queue and its clock.
func (m *metrics) of(s *service.Service) {
	m.gauge("fundeskd_queue_oldest_seconds", "How long the oldest call of the queue has waited; 0: none waits; NaN: the database does not answer.", func(ctx context.Context) (float64, error) {
		requested, now, err := queue.New(s, nil).Oldest(ctx)
		if err != nil || requested == nil {
			return 0, err
		}
		return now.Sub(requested.Time).Seconds(), nil
	})
	m.gauge("fundeskd_times_ahead_seconds", "How far the highest time that the database gave to a change is ahead of its clock; 0: it is not.", func(ctx context.Context) (float64, error) {
		newest, now, _, err := s.TimesAhead(ctx)
		return max(newest.Sub(now.Time).Seconds(), 0), err
	})
	m.gauge("fundeskd_clock_ahead_seconds", "How far the database's clock is ahead of this computer's; NaN: the database does not answer.", func(ctx context.Context) (float64, error) {
		ahead, err := s.Store().ClockAhead(ctx)
		return ahead.Seconds(), err
	})
}

// anonymousMemory reads what Linux counts of this process's own memory.
func anonymousMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	var kilobytes float64
	if err == nil {
		_, err = fmt.Sscan(after, &kilobytes)
	}
	return kilobytes * 1024, err
}

// ends shows how long what ends by itself is good, and how old the last backup is.
func (m *metrics) ends(s *service.Service, certificate *certificate, isFile bool, now func() time.Time) {
	m.gauge("fundeskd_token_ends_seconds", "How long the token is good that ends first of those used in the last 14 days; NaN: there is none.", func(ctx context.Context) (float64, error) {
		tokens, err := s.Tokens(ctx)
		left := math.NaN()
		for _, t := range tokens {
			end := t.End()
			if end == nil || !end.After(now()) || t.LastUsedOn == nil || now().Sub(t.LastUsedOn.Midnight()) > 15*24*time.Hour {
				continue
			}
			if in := end.Sub(now()).Seconds(); !(in >= left) {
				left = in
			}
		}
		return left, err
	})
	m.gauge("fundeskd_certificate_ends_seconds", "How long the certificate of --tls-cert is good; NaN: there is none.", func(context.Context) (float64, error) {
		if certificate == nil {
			return math.NaN(), nil
		}
		return certificate.pair.Load().Leaf.NotAfter.Sub(now()).Seconds(), nil
	})
	m.gauge("fundeskd_backup_age_seconds", "How old the last fundeskd backup is; +Inf: there was none; NaN: the database is not an SQLite file.", func(ctx context.Context) (float64, error) {
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

func (m *metrics) pool(store *sqlstore.Store) {
	m.gauge("fundeskd_database_connections_in_use", "Connections that read.", func(context.Context) (float64, error) { return float64(store.Pool().InUse), nil })
	m.gauge("fundeskd_database_connections_max", "Connections that may read at once.", func(context.Context) (float64, error) { return float64(store.Pool().Most), nil })
	for event, value := range map[string]func(sqlstore.PoolStats) int64{
		"opened":    func(p sqlstore.PoolStats) int64 { return p.Opened },
		"lost":      func(p sqlstore.PoolStats) int64 { return p.Lost },
		"waited":    func(p sqlstore.PoolStats) int64 { return p.Waited },
		"timed_out": func(p sqlstore.PoolStats) int64 { return p.TimedOut },
		"retried":   func(p sqlstore.PoolStats) int64 { return p.Retried },
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "fundeskd_database_events_total",
			Help:        "Connections that were opened and lost; how often one was waited for, and in vain; transactions that were run again.",
			ConstLabels: prometheus.Labels{"event": event},
		}, func() float64 { return float64(value(store.Pool())) }))
	}
}

// ready shows whether a change could be made now, as /readyz tells it.
func (m *metrics) ready(is func(context.Context) bool) {
	m.gauge("fundeskd_ready", "1 where a change could be made, as /readyz told in the last 5 s; else 0.", func(ctx context.Context) (float64, error) {
		if is(ctx) {
			return 1, nil
		}
		return 0, nil
	})
}
