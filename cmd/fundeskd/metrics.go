package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
	database *prometheus.HistogramVec
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
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.database,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
}

// transaction counts one transaction of the database.
func (m *metrics) transaction(change bool, took time.Duration) {
	kind := "read"
	if change {
		kind = "change"
	}
	m.database.WithLabelValues(kind).Observe(took.Seconds())
}

// pool reports the connections of a store.
func (m *metrics) pool(store *sqlstore.Store) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "fundeskd_database_connections_in_use", Help: "Connections that read.",
		}, func() float64 { used, _ := store.Connections(); return float64(used) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "fundeskd_database_connections_max", Help: "Connections that may read at once.",
		}, func() float64 { _, most := store.Connections(); return float64(most) }),
	)
}

// wrap serves the metrics beside the interface.
func (m *metrics) wrap(api http.Handler) http.Handler {
	page := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			page.ServeHTTP(w, r)
			return
		}
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		api.ServeHTTP(w, r)
	})
}
