package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// TestPrinted compares what is printed to an operator, whole.
func TestPrinted(t *testing.T) {
	t.Parallel()
	id := apitype.MustParseUUID("6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01")
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	erasure := privacy.Erasure{
		PersonUUID:   id,
		ErasedAt:     at,
		Calls:        1,
		Pledges:      2,
		Transactions: 0,
		Signatures:   1,
		Waiting:      1,
		Leases:       3,
	}
	erased := func(change func(*privacy.Erasure)) string {
		e := erasure
		change(&e)
		var out bytes.Buffer
		writeErasure(&out, e)
		return out.String()
	}
	counted := func(saved service.Saved) string {
		var out bytes.Buffer
		servicetest.Report(t, (&program{Out: &out}).printSaved(saved))
		return out.String()
	}
	cells := func(line privacy.ExportAudit) string {
		line.Time = at
		return strings.Join(auditCells(line), " | ")
	}
	months := func(text string) string {
		n, err := parseMonths(text)
		switch {
		case err != nil:
			return err.Error()
		case n == nil:
			return "none"
		default:
			return strconv.Itoa(*n)
		}
	}
	printed := func(value any) string {
		var out bytes.Buffer
		servicetest.Report(t, (&program{Out: &out, output: "json"}).print(value, nil))
		return out.String()
	}
	streamed := func(output string, records ...string) string {
		var out bytes.Buffer
		lines := (&program{Out: &out, output: output}).newLineWriter()
		for _, record := range records {
			servicetest.Report(t, lines.add(record, func() []string { return []string{record, "2"} }))
		}
		servicetest.Report(t, lines.close())
		return out.String()
	}
	const noMonths = "must be months such as 24mo, years such as 2y (100y at most), or never"
	for _, test := range []struct{ name, got, want string }{
		{
			name: "an erasure",
			got:  erased(func(*privacy.Erasure) {}),
			want: "erased person " + id.String() + ": 1 call, 2 pledges, 0 transactions, 1 signature file; 1 call of the queue, 3 leases\n",
		},
		{"a dry run", erased(func(e *privacy.Erasure) {
			e.DryRun = true
		}), "would erase person " + id.String() + ": 1 call, 2 pledges, 0 transactions, 1 signature file; 1 call of the queue, 3 leases\n"},
		{"an erasure again", erased(func(e *privacy.Erasure) {
			e.Repeated, e.Scrubbed = true, &service.Scrubbed{}
		}), "person " + id.String() + " was erased at 2026-11-20T09:15:00.000Z\n"},
		{
			"an erasure that left something", erased(func(e *privacy.Erasure) {
				e.Repeated, e.Scrubbed = true, &service.Scrubbed{Later: []string{"calls"}}
			}),
			"person " + id.String() + " was erased at 2026-11-20T09:15:00.000Z\n" +
				"the bytes remain in unused space (calls) until the next fundeskd clean\n",
		},
		{
			name: "a load",
			got:  counted(service.Saved{service.LoadPerson: 1, service.LoadOrganization: 2, service.LoadCall: 0}),
			want: "2 organizations\n1 person\n",
		},
		{"a load of nothing", counted(service.Saved{}), "0 records\n"},
		{
			name: "a line of an operator",
			got:  cells(privacy.ExportAudit{Operation: service.AuditLoad, Count: new(1)}),
			want: "2026-11-20T09:15:00.000Z | an operator | - | - | load | 1 record  ",
		},
		{
			"a line of an account",
			cells(privacy.ExportAudit{
				Account:   &id,
				User:      &id,
				RequestID: "R1",
				Record:    &id,
				Operation: service.AuditPersonErase,
				Fields:    []string{"a", "b"},
				Reason:    "R",
			}),
			"2026-11-20T09:15:00.000Z | " + id.String() + " | " + id.String() + " | R1 | person.erase | " +
				id.String() + "  a,b  (R)",
		},
		{"a refusal", oneLine(&service.Error{Detail: "no", Cause: errors.New("a:\n\tb\n\tc\nd")}), "no: a: b; c; d"},
		{"an error", oneLine(errors.Join(errors.New("a"), errors.New("b"))), "a; b"},
		{"no month", months("0mo"), noMonths},
		{"a month", months("1mo"), "1"},
		{"100 years of months", months("1200mo"), "1200"},
		{"more", months("1201mo"), noMonths},
		{"two years", months("2y"), "24"},
		{"months without a unit", months("24"), noMonths},
		{"a unit without months", months("mo"), noMonths},
		{"never", months("never"), "none"},
		{"JSON", printed(map[string]string{"name": "<A & B>"}), "{\"name\":\"<A & B>\"}\n"},
		{"lines of JSON", streamed("ndjson", "<a>", "b"), "\"<a>\"\n\"b\"\n"},
		{"an array of lines", streamed("json", "<a>", "b"), "[\"<a>\"\n,\"b\"\n]\n"},
		{"an array of none", streamed("json"), "[]\n"},
		{"no lines", streamed("ndjson"), ""},
		{"cells", streamed("", "a\tb", "c"), "a b  2\nc  2\n"},
		{
			name: "no cells of control",
			got:  strings.Join(printableCells([]string{"a\tb", "\x1b[1m", "ok"}), "|"),
			want: "a b|\ufffd[1m|ok",
		},
	} {
		servicetest.Same(t, test.name, test.want, test.got)
	}
}

// TestServeRefuses lists values that the flags of serve refuse, and close ones that they accept.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	const (
		noURL    = "--public-url must be a URL such as https://service.example, with or without a path"
		moreURL  = "--public-url must not have a user, a query or a fragment: links begin with it"
		negative = "--database-connections, --database-connect-timeout, --database-answer-timeout and --drain must not be negative"
		noTime   = " is not a time from 2000 to 2291"
	)
	tests := []struct {
		name string
		set  func(o *serveOptions)
		want string
	}{
		{"nothing", func(*serveOptions) {}, ""},
		{"a URL", func(o *serveOptions) { o.publicURL = "https://a.example/b" }, ""},
		{"a plain URL", func(o *serveOptions) { o.publicURL = "http://a.example" }, ""},
		{"another scheme", func(o *serveOptions) { o.publicURL = "ftp://a.example" }, noURL},
		{"no host", func(o *serveOptions) { o.publicURL = "https:///a" }, noURL},
		{"no URL", func(o *serveOptions) { o.publicURL = "https://a.example/%zz" }, noURL},
		{"a user", func(o *serveOptions) { o.publicURL = "https://a@a.example" }, moreURL},
		{"a query", func(o *serveOptions) { o.publicURL = "https://a.example?a=b" }, moreURL},
		{"the sign of a query", func(o *serveOptions) { o.publicURL = "https://a.example?" }, moreURL},
		{"a fragment", func(o *serveOptions) { o.publicURL = "https://a.example#a" }, moreURL},
		{
			name: "a certificate alone",
			set:  func(o *serveOptions) { o.tlsCert = "a" },
			want: "--tls-cert and --tls-key go together (as variables FUNDESKD_TLS_CERT and FUNDESKD_TLS_KEY)",
		},
		{
			name: "a key alone",
			set:  func(o *serveOptions) { o.tlsKey = "a" },
			want: "--tls-cert and --tls-key go together (as variables FUNDESKD_TLS_CERT and FUNDESKD_TLS_KEY)",
		},
		{"both", func(o *serveOptions) { o.tlsCert, o.tlsKey = "a", "b" }, ""},
		{
			name: "a rate below 0",
			set:  func(o *serveOptions) { o.rate = -0.001 },
			want: "--rate must be a number of requests, and not negative",
		},
		{"the least rate", func(o *serveOptions) { o.rate = 0.001 }, ""},
		{
			name: "less",
			set:  func(o *serveOptions) { o.rate = 0.0009 },
			want: "--rate 0.0009 is less than a request in 1000 seconds; use 0.001 or more, or 0 for any number",
		},
		{"connections", func(o *serveOptions) { o.connections = -1 }, negative},
		{"time to connect", func(o *serveOptions) { o.connectTimeout = -1 }, negative},
		{"time to answer", func(o *serveOptions) { o.answerTimeout = -1 }, negative},
		{"drain", func(o *serveOptions) { o.drain = -1 }, negative},
		{
			name: "no start",
			set:  func(o *serveOptions) { o.sandbox.startTime = "soon" },
			want: `--start-time "soon" is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20`,
		},
		{"the first start", func(o *serveOptions) { o.sandbox.startTime = "2000-01-01T00:00:00Z" }, ""},
		{
			name: "a start before",
			set:  func(o *serveOptions) { o.sandbox.startTime = "1999-12-31T23:59:59.999Z" },
			want: `--start-time "1999-12-31T23:59:59.999Z"` + noTime,
		},
		{"a late start", func(o *serveOptions) { o.sandbox.startTime = "2291-12-31T23:59:59Z" }, ""},
		{
			name: "a start after",
			set:  func(o *serveOptions) { o.sandbox.startTime = "2293-01-01T00:00:00Z" },
			want: `--start-time "2293-01-01T00:00:00Z"` + noTime,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var o serveOptions
			test.set(&o)
			err := o.check()
			if err == nil {
				_, err = o.sandbox.start(time.Now)
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if _, ok := errors.AsType[usageError](err); got != test.want || ok != (test.want != "") {
				t.Errorf("got %q, a mistake in the command line: %t, want %q", got, ok, test.want)
			}
		})
	}
}

// TestFront asks the gate before the interface, without a database and with one.
func TestFront(t *testing.T) {
	t.Parallel()
	const nowhere, ending, later = "there is no such path", "the service is shutting down", "the database is not available yet"
	tests := []struct {
		method, path             string
		isApart, isDraining, api bool
		probe                    bool // By the listener of the probes.
		status                   int
		detail                   string
	}{
		{"GET", "/healthz", false, false, false, false, 200, "ok\n"},
		{"GET", "/readyz", false, false, false, false, 503, later},
		{"GET", "/api/v1/calls", false, false, false, false, 503, later},
		{"GET", "/metrics", false, false, false, false, 200, "fundeskd_build_info"},
		{"HEAD", "/metrics", false, false, false, false, 200, ""},
		{"POST", "/metrics", false, false, true, false, 418, "api"},
		{"GET", "/readyz", false, false, true, false, 418, "api"},
		{"GET", "/readyz", false, true, true, false, 503, ending},
		{"GET", "/healthz", false, true, true, false, 418, "api"},
		{"GET", "/healthz", true, false, true, false, 404, nowhere},
		{"GET", "/metrics", true, false, true, false, 404, nowhere},
		{"GET", "/api/v1/calls", true, false, true, false, 418, "api"},
		{"GET", "/healthz", true, false, true, true, 418, "api"},
		{"GET", "/api/v1/calls", true, false, true, true, 404, nowhere},
		{"GET", "/readyz", true, true, true, true, 503, ending},
	}
	for _, test := range tests {
		f := &front{metrics: newMetrics(), isApart: test.isApart}
		f.isDraining.Store(test.isDraining)
		if test.api {
			f.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "api", http.StatusTeapot)
			}))
		}
		answer, handler := httptest.NewRecorder(), http.Handler(f)
		if test.probe {
			handler = http.HandlerFunc(f.probe)
		}
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), test.method, test.path, http.NoBody))
		if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.detail) {
			t.Errorf("%+v: got %d %s", test, answer.Code, answer.Body)
		}
		if again := answer.Header().Get("Retry-After"); (again == "1") != (test.status == 503) {
			t.Errorf("%+v: got %q as when to come again", test, again)
		}
	}
}

// TestReadyIsAskedNowAndThen shows that scrapes of /metrics ask for /readyz, which changes the database, once in
// five seconds, and that a program that is about to end is not ready.
func TestReadyIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	clock, asked, status := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 0, http.StatusOK
	f := &front{now: func() time.Time { return clock }}
	if f.ready(t.Context()) {
		t.Error("got it ready without a database")
	}
	f.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		servicetest.Same(t, "asked", "/readyz", r.URL.Path)
		asked++
		w.WriteHeader(status)
	}))
	for i, step := range []struct {
		after  time.Duration
		status int
		ready  bool
		asked  int
	}{
		{0, 200, true, 1},
		{5*time.Second - 1, 503, true, 1},
		{1, 503, false, 2},
		{time.Second, 200, false, 2},
		{4 * time.Second, 200, true, 3},
	} {
		clock, status = clock.Add(step.after), step.status
		if got := f.ready(t.Context()); got != step.ready || asked != step.asked {
			t.Errorf("step %d: got it ready: %t, asked %d times, want %t and %d", i, got, asked, step.ready, step.asked)
		}
	}
	f.isDraining.Store(true)
	if f.ready(t.Context()) {
		t.Error("got it ready when it is about to end")
	}
}

// Without a certificate there is none. An unreadable one is named.
func TestCertificateOfFiles(t *testing.T) {
	t.Parallel()
	if c, err := newCertificate("", ""); c != nil || err != nil {
		t.Errorf("got %v, %v without files, want nothing", c, err)
	}
	file, key, _ := selfSigned(t)
	half := filepath.Join(t.TempDir(), "half.key")
	servicetest.Check(t, os.WriteFile(half, readFile(t, key)[:100], 0o600))
	for _, test := range []struct{ file, key, want string }{
		{"nowhere.pem", "nowhere.key", "read the certificate nowhere.pem with the key nowhere.key: open nowhere.pem: "},
		{file, half, "read the certificate " + file + " with the key " + half + ": tls: "},
	} {
		_, err := newCertificate(test.file, test.key)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// A certificate that clients refuse because it has ended is in the log of the operator.
func TestCertificateThatHasEnded(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	file, key, _ := selfSigned(t)
	const warning = "clients refuse the certificate, which is not valid now"
	s := e.serve("--tls-cert", file, "--tls-key", key)
	s.stop()
	if strings.Contains(s.log.String(), warning) {
		t.Errorf("got %s, want no warning of a certificate that is valid", s.log)
	}
	e.ahead = 48 * time.Hour
	s = e.serve("--tls-cert", file, "--tls-key", key)
	s.stop()
	if !strings.Contains(s.log.String(), warning) || !strings.Contains(s.log.String(), file) {
		t.Errorf("got %s, want a warning that names the certificate", s.log)
	}
}

// Erasures are noted in the file of the database, or in the named one. Without a place for it, no person is erased.
func TestErasuresAreNoted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	id := apitype.MustParseUUID("6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01")
	at := apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	for _, test := range []struct {
		database, log, data string
		file                string // The file of erasures. Empty if none can be written.
		variable            string // The file of serve.
	}{
		{database: "sqlite:" + folder + "/a.db", file: folder + "/a.db.erasures"},
		{database: "sqlite:" + folder + "/a.db", log: folder + "/b/log", file: folder + "/b/log"},
		{database: "postgres://u@h/sea", data: folder + "/c", file: folder + "/c/sea.erasures"},
		{database: "postgres://u@h/", data: folder + "/c", file: folder + "/c/fundeskd.erasures"},
		{database: "postgres://u@h", data: folder + "/d", file: folder + "/d/fundeskd.erasures"},
		{database: "postgres://u@h/s", data: folder + "/d", file: folder + "/d/s.erasures"},
		{database: "postgres://u@h/sea"},
		{database: "sqlite:" + folder + "/a.db", variable: folder + "/e/log", file: folder + "/e/log"},
		{
			database: "sqlite:" + folder + "/a.db",
			variable: folder + "/e/log",
			log:      folder + "/f/log",
			file:     folder + "/f/log",
		},
	} {
		p := program{database: test.database, Getenv: func(name string) string {
			return map[string]string{"FUNDESK_DATA_DIR": test.data, "FUNDESKD_ERASURES_LOG": test.variable}[name]
		}}
		for range 2 {
			err := p.recordErasures(test.log).Add(service.ErasedPerson{UUID: id, ErasedAt: at})
			if test.file == "" &&
				(err == nil || err.Error() != "record the erasure: no data folder is known; use --erasures-log FILE") ||
				test.file != "" && err != nil {
				t.Errorf("%s: got %v", test.database, err)
			}
		}
		if test.file == "" {
			continue
		}
		noted, err := os.ReadFile(test.file)
		want := strings.Repeat(
			`{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n",
			2,
		)
		if err != nil || string(noted) != want {
			t.Errorf("%s: got %q, %v, want %q", test.file, noted, err, want)
		}
		persons, err := readErasures(test.file)
		if diff := cmp.Diff([]service.ErasedPerson{{UUID: id, ErasedAt: at}}, persons); diff != "" || err != nil {
			t.Errorf("%s: got %v, %s", test.file, err, diff)
		}
	}
	for _, line := range []string{
		`{`,
		`{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"}`,
		`{"erasedAt":"2026-11-20T09:15:00.000Z"}`,
	} {
		file := filepath.Join(folder, "bad")
		write(t, file,
			`{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","erasedAt":"2026-11-20T09:15:00.000Z"}`+"\n"+line+"\n")
		if _, err := readErasures(file); err == nil || err.Error() != file+", line 2: is not an erasure" {
			t.Errorf("%s: got %v, want that the line is not an erasure", line, err)
		}
	}
}

// TestMetricsPage compares the metrics of a few requests, whole: names, labels, units and bounds.
//
//	go test ./cmd/fundeskd -run TestMetricsPage -update
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	const golden = "testdata/metrics.txt"
	m := newMetrics()
	m.ready(func(context.Context) bool { return false })
	m.observe(httpapi.Observation{Route: "GET /api/v1/calls", Status: 200, Duration: 2 * time.Second, Bytes: 500})
	m.observe(httpapi.Observation{Route: "GET /api/v1/calls", Status: 429, Duration: time.Millisecond, Bytes: 20})
	m.observe(httpapi.Observation{Status: 404, Duration: 3 * time.Millisecond, Bytes: 1})
	m.transaction(true, 7*time.Second)
	m.transaction(false, 20*time.Second)
	m.queueEvent(queue.Taken, 3)
	answer := httptest.NewRecorder()
	m.page.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	var got strings.Builder
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, "fundeskd_") &&
			!strings.HasPrefix(line, "fundeskd_build_info") &&
			!strings.HasPrefix(line, "fundeskd_memory_anonymous_bytes") {
			got.WriteString(line)
		}
	}
	if *update {
		write(t, golden, got.String())
	}
	want, err := os.ReadFile(golden)
	servicetest.Check(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r", ""), got.String()); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", golden, diff)
	}
}

// TestLogOfALevel writes lines of each level: those below the least are left out, in either format.
func TestLogOfALevel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format, level string
		lines         int
		has           string
	}{
		{"text", "info", 3, "level=INFO msg=said"},
		{"TEXT", "WARN", 2, "level=WARN msg=said"},
		{"json", "error", 1, `"level":"ERROR","msg":"said"`},
		{"JSON", "Info", 3, `"level":"INFO","msg":"said"`},
	} {
		var out bytes.Buffer
		log, err := newLogger(&out, test.format, test.level)
		servicetest.Check(t, err)
		log.Debug("said")
		log.Info("said")
		log.Warn("said")
		log.Error("said")
		if strings.Count(out.String(), "\n") != test.lines || !strings.Contains(out.String(), test.has) {
			t.Errorf("%s %s: got %s, want %d lines", test.format, test.level, &out, test.lines)
		}
	}
	for address, want := range map[string]string{
		"0.0.0.0:80":   "127.0.0.1:80",
		"[::]:80":      "127.0.0.1:80",
		"127.0.0.2:80": "127.0.0.2:80",
		"[::1]:80":     "[::1]:80",
		"a.example:80": "a.example:80",
		"nowhere":      "nowhere",
	} {
		servicetest.Same(t, address, want, reachable(address))
	}
}
