package main

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fundesk/cmd/internal/release"
	"fundesk/service"
	"fundesk/service/httpapi"
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
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fundeskd_http_requests_total", Help: "Requests answered, by route template and status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fundeskd_http_request_duration_seconds", Help: "Time to answer, by route template.",
			Buckets: buckets,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "fundeskd_http_requests_in_flight", Help: "Requests being answered.",
		}),
		database: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fundeskd_database_transaction_duration_seconds", Help: "Time of transactions, waiting included, by kind: read or change.",
			Buckets: buckets,
		}, []string{"kind"}),
	}
	m.queue = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fundeskd_queue_leases_total", Help: "Leases of the queue, by what happened: taken, expired, released, or refused because the call or the lease was not to be had.",
	}, []string{"event"})
	for _, event := range []service.QueueEvent{service.LeasesTaken, service.LeasesExpired, service.LeasesReleased, service.LeasesRefused} {
		m.queue.WithLabelValues(string(event))
	}
	m.sent = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fundeskd_http_response_bytes_total", Help: "Bytes of answers as they were sent, by route template.",
	}, []string{"route"})
	m.rated = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "fundeskd_rate_refusals_total", Help: "Requests refused as their account asked more often than --rate.",
	})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "fundeskd_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": release.Version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.requests, m.duration, m.inFlight, m.sent, m.rated, m.database, m.queue,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// observe counts one answered request.
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

// transaction counts one transaction of the database.
func (m *metrics) transaction(change bool, took time.Duration) {
	kind := "read"
	if change {
		kind = "change"
	}
	m.database.WithLabelValues(kind).Observe(took.Seconds())
}

// queueEvent counts what happens in the queue.
func (m *metrics) queueEvent(event service.QueueEvent, n int) {
	m.queue.WithLabelValues(string(event)).Add(float64(n))
}

// oldestPatience is how long a reading of the metrics waits for the database.
const oldestPatience = 2 * time.Second

// oldest reports how long the oldest call waits that could be given now.
func (m *metrics) oldest(s *service.Service) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fundeskd_queue_oldest_seconds", Help: "How long the oldest call of the queue has waited; 0: none waits; NaN: the database does not answer.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), oldestPatience)
		defer cancel()
		requested, now, err := s.OldestWaiting(ctx)
		switch {
		case err != nil:
			return math.NaN()
		case requested == nil:
			return 0
		default:
			return now.Sub(requested.Time).Seconds()
		}
	}))
}

// clock reports how far the clocks differ.
func (m *metrics) clock(s *service.Service) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fundeskd_clock_ahead_seconds", Help: "How far the database's clock is ahead of this computer's; NaN: the database does not answer.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), oldestPatience)
		defer cancel()
		ahead, err := s.ClockAhead(ctx)
		if err != nil {
			return math.NaN()
		}
		return ahead.Seconds()
	}))
}

// pool reports the connections of a store.
func (m *metrics) pool(store *sqlstore.Store) {
	gauge := func(name, help string, value func(sqlstore.PoolStats) int) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value(store.Pool())) }))
	}
	gauge("fundeskd_database_connections_in_use", "Connections that read.", func(p sqlstore.PoolStats) int { return p.InUse })
	gauge("fundeskd_database_connections_max", "Connections that may read at once.", func(p sqlstore.PoolStats) int { return p.Most })
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

// ready reports whether a change could be made now, as /readyz tells it.
func (m *metrics) ready(is func(context.Context) bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fundeskd_ready", Help: "1 where a change could be made, as /readyz told in the last 5 s; else 0.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), oldestPatience)
		defer cancel()
		if is(ctx) {
			return 1
		}
		return 0
	}))
}
