package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/service/servicetest"
)

// long asks for the long forms, which run by night.
var long = flag.Bool("long", false, "run the long forms of tests")

// inShort returns a value for the day, or one for the night.
func inShort[T any](day, night T) T {
	if *long {
		return night
	}
	return day
}

// environment is a folder and a database of its own for each test.
type environment struct {
	t        testing.TB
	folder   string
	database string // Empty for the SQLite file of the folder.
	timeouts timeouts
	sleep    func(time.Duration)
	ahead    time.Duration // Of the clock of its programs.
	stdin    string
}

// newEnvironment is on PostgreSQL if the services of tests are.
func newEnvironment(t *testing.T) environment {
	t.Helper()
	e := environment{t: t, folder: t.TempDir()}
	if servicetest.OnPostgres() {
		e.database = servicetest.PostgresDatabase(t)
	}
	return e
}

// newFileEnvironment uses SQLite, for tests of its file and for those that name a database. It skips the test if the
// test services run on PostgreSQL, where it would repeat itself.
func newFileEnvironment(t *testing.T) environment {
	t.Helper()
	if servicetest.OnPostgres() {
		t.Skip("it uses SQLite in any case, or PostgreSQL")
	}
	return environment{t: t, folder: t.TempDir()}
}

func (e environment) getenv(name string) string {
	switch name {
	case "FUNDESK_DATA_DIR":
		return e.folder
	case "FUNDESKD_DATABASE":
		return e.database
	}
	return ""
}

func (e environment) program(in string, out, errs io.Writer) program {
	return program{
		In:            strings.NewReader(in),
		Out:           out,
		Err:           errs,
		Getenv:        e.getenv,
		Now:           func() time.Time { return time.Now().Add(e.ahead) },
		Sleep:         e.sleep,
		timeouts:      e.timeouts,
		samplePersons: 200,
	}
}

// reading returns the environment with a text on the stdin of its programs.
func (e environment) reading(stdin string) environment {
	e.stdin = stdin
	return e
}

// run runs a command line, whose words are split at blanks but for those between quotes. More words are taken as they
// are.
func (e environment) run(words string, more ...string) (code int, out, errs string) {
	e.t.Helper()
	var o, r bytes.Buffer
	code = run(e.t.Context(), append(servicetest.Words(words), more...), e.program(e.stdin, &o, &r))
	return code, o.String(), r.String()
}

// done runs a command that must succeed.
func (e environment) done(words string, more ...string) {
	e.t.Helper()
	e.try(words, more...).MustEnd(exitDone)
}

// must runs a command with -o json and decodes what it prints.
func (e environment) must(value any, words string, more ...string) {
	e.t.Helper()
	got := e.try(words, append(slices.Clone(more), "-o", "json")...).MustEnd(exitDone)
	if err := json.Unmarshal([]byte(got.Stdout), value); err != nil {
		e.t.Fatalf("%s: %v", got, err)
	}
}

// serving is a running fundeskd.
type serving struct {
	url  string
	stop func() int // Ends it as a signal does, and is its exit code.
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serve starts fundeskd serve and waits for its first line.
func (e environment) serve(args ...string) serving {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.t.Context()))
	read, written := io.Pipe()
	s := serving{log: &lockedBuffer{}}
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), e.program("", written, s.log))
		_ = written.Close() // Ends the wait for the first line if there is none.
		ended <- code
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		e.t.Fatalf("no first line: %v; log: %s", err, s.log)
	}
	s.url = strings.TrimSuffix(line, "\n")
	var once sync.Once
	code := -1
	s.stop = func() int {
		once.Do(func() {
			cancel()
			code = <-ended
		})
		return code
	}
	e.t.Cleanup(func() { s.stop() })
	return s
}

func get(t testing.TB, client *http.Client, url, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	servicetest.Check(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	servicetest.Check(t, err)
	data, err := io.ReadAll(response.Body)
	servicetest.Check(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(data)
}

// TestServe runs the whole program: other commands change what it serves while it runs.
func TestServe(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve("--log-format", "json", "--database-connections", "3")
	connections := 6 // Readers of lists, and readers of single records.
	if strings.HasPrefix(e.database, "postgres") {
		connections = 3
	}
	var organization, account struct{ UUID, Token, ExpiresAt string }
	e.must(&organization, "organization add --name 'Sea Rescue' --abbreviation SR --max-call-attempts 3")
	e.must(&account, "account add 'call centre' --organization", organization.UUID, "--permission", "persons:read")
	for path, want := range map[string]int{
		"/api/v1/persons": 200,
		"/api/v1/calls":   403,
		"/healthz":        200,
		"/readyz":         200,
		"/openapi.json":   200,
	} {
		s.replies(t, path, account.Token, want)
	}
	var issued struct{ Token, Account, ExpiresAt string }
	e.must(&issued, "token issue", account.UUID, "--ttl", "1h")
	s.replies(t, "/api/v1/persons", issued.Token, 200)
	servicetest.Same(e.t, "issued.Account", account.UUID, issued.Account)
	_, metrics := s.get(t, "/metrics", "")
	for _, want := range []string{
		`fundeskd_http_requests_total{route="GET /api/v1/persons",status="200"} 2`,
		`fundeskd_http_requests_total{route="GET /api/v1/calls",status="403"} 1`,
		`fundeskd_http_request_duration_seconds_count{route="GET /healthz"} 1`,
		`fundeskd_database_transaction_duration_seconds_count{kind="read"}`,
		`fundeskd_database_connections_in_use `,
		fmt.Sprintf("fundeskd_database_connections_max %d\n", connections),
		`fundeskd_database_events_total{event="opened"} `,
		`fundeskd_database_events_total{event="timed_out"} 0`,
		`fundeskd_http_response_bytes_total{route="GET /healthz"} 3`,
		`fundeskd_rate_refusals_total 0`,
		`fundeskd_ready 1`,
		`fundeskd_queue_leases_total{event="taken"} 0`,
		`fundeskd_queue_oldest_seconds `,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	e.must(&account, "account revoke", account.UUID)
	s.replies(t, "/api/v1/persons", issued.Token, 401)
	if code := s.stop(); code != exitDone {
		t.Errorf("got code %d, log %s", code, s.log)
	}
	for line := range strings.Lines(s.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has the line %s", line)
		}
	}
	if strings.Contains(s.log.String(), issued.Token) {
		t.Error("the log holds a token")
	}
}

// TestRequestInFlight shows that a program which has to end still answers a request that has begun.
func TestRequestInFlight(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	account := e.account("a --all-organizations")
	s := e.serve()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	servicetest.Check(t, err)
	defer func() { _ = connection.Close() }()
	head := "POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nAuthorization: Bearer " +
		account.Token + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
	if _, err := io.WriteString(connection, head); err != nil {
		t.Fatal(err)
	}
	// The server asks for the body: its handler is reading.
	reader := bufio.NewReader(connection)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q %v, want 100", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	code := make(chan int, 1)
	go func() { code <- s.stop() }()
	if _, err := io.WriteString(connection, "{}"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(reader, nil)
	servicetest.Check(t, err)
	if err := response.Body.Close(); err != nil || response.StatusCode != 400 {
		t.Errorf("got %d %v, want 400", response.StatusCode, err)
	}
	if got := <-code; got != exitDone {
		t.Errorf("got code %d", got)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	account := e.account("a --all-organizations")
	s := e.serve("--rate", "0.01")
	statuses := map[int]int{}
	for range 5 {
		status, _ := s.get(t, "/api/v1/persons", account.Token)
		statuses[status]++
	}
	if statuses[200] < 1 || statuses[429] < 3 {
		t.Errorf("got %v, want one answer and refusals", statuses)
	}
	if _, metrics := s.get(
		t, "/metrics", "",
	); !strings.Contains(metrics, "fundeskd_rate_refusals_total "+strconv.Itoa(statuses[429])+"\n") {
		t.Errorf("got other refusals in the metrics than %d", statuses[429])
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	certificate, key, pool := selfSigned(t)
	s := e.serve("--tls-cert", certificate, "--tls-key", key)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}
	defer client.CloseIdleConnections()
	if status, _ := get(t, client, s.url+"/healthz", ""); status != 200 || !strings.HasPrefix(s.url, "https://") {
		t.Errorf("got %d from %s", status, s.url)
	}
	old := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if connection, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), old); err == nil {
		connection.Close()
		t.Error("got a connection with TLS 1.1, want 1.2 at least")
	}
}

// A connection that only holds a place is ended: a slow request, an unread answer, and silence.
func TestTimesOfConnections(t *testing.T) {
	t.Parallel()
	s := defaultTimeouts.server(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	got := []time.Duration{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout}
	servicetest.Same(
		t,
		"for headers, bodies, answers and silence",
		[]time.Duration{10 * time.Second, time.Minute, 2 * time.Minute, 2 * time.Minute},
		got,
	)
}

func selfSigned(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	servicetest.Check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	servicetest.Check(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	servicetest.Check(t, err)
	folder := t.TempDir()
	certificate, key, pool = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(text)
	err = errors.Join(os.WriteFile(certificate, text, 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	servicetest.Check(t, err)
	return certificate, key, pool
}

const (
	organizationLine = `{"kind":"organization","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","name":"A","abbreviation":"A","coolingOff":"1h"}}`
	personLine       = `{"kind":"person","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02","owningOrganizationUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","recruitingOrganizationUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","createdAt":"2026-11-20","mandate":{"id":"M","createdAt":"2026-11-20"},"qualityResult":{"score":1.50,"maxScore":2,"percentage":75,"createdAt":"2026-11-20","gateResults":[]}}}`
	pledgeLine       = `{"kind":"pledge","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03","person":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02"},"status":"active","startsAt":"2026-12-01","createdAt":"2026-11-20","releasedAt":"2026-11-20","owningOrganizationUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","recruitingOrganizationUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01","initialDonationAmount":5,"donationAmount":7.5,"initialDonationInterval":"monthly","donationInterval":"once","recruiterUserUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c09","campaignCode":"C","signature":"AAEC"}}`
	callLine         = `{"kind":"call","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c04","status":"completed","requestedAt":"2026-11-20","attemptsCount":0,"type":"winback","personUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02","relatedCaseUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03","recordingDuration":61.250,"completedAt":"2026-11-20","result":{"resultCode":"ok"}}}`
	transactionLine  = `{"kind":"transaction","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c05","pledgeUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03","amount":5,"method":"payment_qr","status":"paid","createdAt":"2026-11-20"}}`
)

func TestLoad(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := filepath.Join(e.folder, "records.ndjson")
	lines := strings.Join([]string{organizationLine, personLine, "", pledgeLine, callLine, transactionLine}, "\n")
	write(t, file, lines)
	var counts map[string]int
	e.must(&counts, "load", file)
	if counts["call"] != 1 || counts["transaction"] != 1 || len(counts) != 5 {
		t.Errorf("got %v", counts)
	}
	account := e.account("a --all-organizations")
	s := e.serve()
	_, call := s.get(t, "/api/v1/calls/6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c04", account.Token)
	for _, want := range []string{
		`"recordingDuration":61.250`,
		`"score":1.50`,
		`"campaignCode":"C"`,
		`"donationAmount":7.5`,
		`"method":"payment_qr"`,
		`"signatureSignedUrl":"` + s.url + `/signatures/`,
	} {
		if !strings.Contains(call, want) {
			t.Errorf("the call lacks %s: %s", want, call)
		}
	}
	_, qr := s.get(t, "/api/v1/pledges?withPaymentQr=true", account.Token)
	if !strings.Contains(qr, "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03") {
		t.Errorf("got %s", qr)
	}
}

// TestLoadWithoutStatistics locks a table that a load does not need, so that its statistics cannot be made. The records
// are saved by then: the load prints them, and warns.
func TestLoadWithoutStatistics(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	e := newFileEnvironment(t)
	e.database = servicetest.EmptyDatabase(t)
	e.done("migrate")
	connection, err := pgx.Connect(t.Context(), e.database)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	for _, text := range []string{
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 1', current_database()); END $$`,
		`BEGIN`,
		`LOCK TABLE user_states IN ACCESS EXCLUSIVE MODE`,
	} {
		_, err := connection.Exec(t.Context(), text)
		servicetest.Check(t, err)
	}
	line := `{"kind":"organization","data":{"uuid":"33333333-3333-4333-8333-333333333333","name":"A","abbreviation":"A"}}`

	e.reading(line).try("load -").Ends(exitDone, "statistics").PrintsOnly("1 organization\n")
	var organizations []any
	if e.must(&organizations, "organization list"); len(organizations) != 1 {
		t.Errorf("got %d organizations, want the loaded one", len(organizations))
	}
}

// TestLoadRefuses shows that a bad line is named, and that nothing of the file is kept.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, want string }{
		{"not JSON", `{`, "line 3: is not valid JSON"},
		{"unknown kind", `{"kind":"donor","data":{}}`, "line 3: kind must be one of"},
		{
			name: "unknown field",
			line: `{"kind":"user","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c09","email":"x"}}`,
			want: "line 3: email is not a known field",
		},
		{
			name: "unknown field before the kind",
			line: `{"data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c09","email":"x"},"kind":"user"}`,
			want: "line 3: email is not a known field",
		},
		{"field twice", `{"kind":"user","data":{"name":"a","name":"a"}}`, "line 3: name is given twice"},
		{"kind twice", `{"kind":"user","kind":"user","data":{}}`, "line 3: kind is given twice"},
		{"no kind", `{"data":{}}`, "line 3: kind must be one of"},
		{"kind of another type", `{"kind":5,"data":{}}`, "line 3: kind must be a string"},
		{"more than kind and data", `{"kind":"user","data":{},"x":1}`, "line 3: x is not a known field"},
		{"data of another type", `{"kind":"user","data":[]}`, "line 3: data must be a JSON object"},
		{
			name: "NUL",
			line: `{"kind":"user","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c09","identifier":"","name":"\u0000"}}`,
			want: "line 3: name must not contain a NUL",
		},
		{"no data", `{"kind":"user"}`, "line 3: data must be a JSON object"},
		{
			name: "again",
			line: personLine,
			want: "line 3: a person with this uuid already exists: uuid is already taken; --skip-existing skips the records that exist\n",
		},
		{
			name: "missing reference",
			line: strings.Replace(pledgeLine, "1c02", "1c99", 1),
			want: "line 3: the request has values that are not valid: person.uuid names no person",
		},
		{
			name: "wrong status",
			line: strings.Replace(callLine, "completed", "done", 1),
			want: "line 3: the request has values that are not valid: status must be one of",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			code, _, errs := e.reading(organizationLine + "\n" + personLine + "\n" + test.line).run("load -")
			if code != exitFailure || !strings.HasPrefix(errs, "fundeskd: load: "+test.want) {
				t.Errorf("got code %d, %q, want %q", code, errs, test.want)
			}
			var organizations []any
			if e.must(&organizations, "organization list"); len(organizations) != 0 {
				t.Errorf("got %d organizations, want none kept", len(organizations))
			}
		})
	}
}

func TestSampleBackupCheck(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var counts map[string]int
	e.must(&counts, "sample --persons 30 --seed 5")
	if counts["person"] != 30 || counts["organization"] != 2 {
		t.Errorf("got %v", counts)
	}
	copied := filepath.Join(e.folder, "copy.db")
	if code, out, errs := e.run("backup", copied); code != exitDone || !strings.HasSuffix(out, "  "+copied+"\n") {
		t.Errorf("got %d %s %s", code, out, errs)
	}
	if code, _, errs := e.run("backup", copied); code != exitFailure || !strings.HasPrefix(errs, "fundeskd: backup: ") {
		t.Errorf("got %d %s for a file that exists", code, errs)
	} else if want := "fundeskd: backup: " + copied + " already exists; name another file\n"; errs != want {
		t.Errorf("got %q, want %q", errs, want)
	}
	for _, database := range []string{"sqlite:" + copied, "sqlite:" + filepath.Join(e.folder, "fundeskd.db")} {
		e.try("check --database", database).Ends(exitDone).PrintsOnly("ok\n")
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		code int
		want string // The beginning of stderr, or of stdout if the code is 0.
	}{
		{"no command", nil, 0, "fundeskd serves persons, calls and pledges over HTTP from a database"},
		{"help", []string{"serve", "--help"}, 0, "Serve answers requests until it is interrupted."},
		{"unknown command", []string{"start"}, 2, "unknown command \"start\" for \"fundeskd\"; see: fundeskd --help\n"},
		{
			name: "unknown verb",
			args: []string{"account", "drop"},
			code: 2,
			want: "unknown command \"drop\" for \"fundeskd account\"; see: fundeskd account --help\n",
		},
		{"unknown flag", []string{"serve", "--port", "1"}, 2, "unknown flag: --port\n"},
		{"unknown format", []string{"account", "list", "-o", "xml"}, 2, "-o must be json, not \"xml\"\n"},
		{"missing argument", []string{"account", "revoke"}, 2, "missing UUID; see: fundeskd account revoke --help\n"},
		{
			name: "malformed uuid",
			args: []string{"account", "revoke", "1"},
			code: 2,
			want: "account \"1\" is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)\n",
		},
		{"unknown account", []string{"account", "revoke", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"}, 1, ""},
		{
			name: "no scope",
			args: []string{"account", "add", "x"},
			code: 2,
			want: "use --organization UUID, once or more, or --all-organizations; fundeskd organization list names them\n",
		},
		{
			name: "unknown permission",
			args: []string{"account", "add", "x", "--all-organizations", "--permission", "calls:all"},
			code: 2,
			want: "there is no permission \"calls:all\"; there are persons:read, persons:create, persons:update, calls:read, calls:create, calls:attempt, calls:complete, calls:cancel, calls:expire, pledges:read, pledges:create, pledges:update, pledges:act, entities:mark, persons:erase, settings:write, changes:read\n",
		},
		{
			name: "unknown organization",
			args: []string{"account", "add", "x", "--organization", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"},
			code: 2,
			want: "there is no organization 6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01\n",
		},
		{
			name: "empty permission",
			args: []string{"account", "add", "x", "--all-organizations", "--permission", ""},
			code: 2,
			want: "--permission is empty\n",
		},
		{
			name: "one empty permission",
			args: []string{
				"account", "add", "x", "--all-organizations", "--permission", "calls:read",
				"--permission", ",",
			},
			code: 2,
			want: "--permission is empty\n",
		},
		{
			name: "empty organization",
			args: []string{"account", "add", "x", "--all-organizations", "--organization", ""},
			code: 2,
			want: "--organization is empty\n",
		},
		{
			name: "empty source",
			args: []string{"account", "add", "x", "--all-organizations", "--external-source", ""},
			code: 2,
			want: "--external-source is empty\n",
		},
		{
			name: "account not in UTF-8",
			args: []string{"account", "add", "\xff", "--all-organizations"},
			code: 2,
			want: "the name \"\\xff\" must be valid UTF-8\n",
		},
		{"no name", []string{"organization", "add"}, 2, "--name and --abbreviation are needed\n"},
		{
			name: "check of nothing",
			args: []string{"check", "--database", "sqlite:" + os.DevNull + "/a.db"},
			code: 1,
			want: "check: open the database ",
		},
		{"no file", []string{"load", os.DevNull + "/none"}, 2, "open "},
		{"empty file name", []string{"backup", ""}, 2, "FILE|- is empty; see: fundeskd backup --help\n"},
		{"empty file", []string{"load", os.DevNull}, 0, "0 records\n"},
		{
			name: "another engine",
			args: []string{"migrate", "--database", "mysql://x"},
			code: 1,
			want: "name the database as sqlite:PATH or postgres://…\n",
		},
		{"old schema", []string{"account", "list", "--no-migrate"}, 1, "open the database"},
		{"address in use", []string{"serve", "--listen", "256.0.0.1:1"}, 1, "listen: "},
		{
			name: "an address without a port",
			args: []string{"serve", "--listen", "service.example"},
			code: 2,
			want: "--listen \"service.example\" has no port: use HOST:PORT, such as 127.0.0.1:8080, or :8443 for every address\n",
		},
		{
			name: "a port alone",
			args: []string{"serve", "--metrics-listen", "8081"},
			code: 2,
			want: "--metrics-listen \"8081\" has no port: use HOST:PORT",
		},
		{
			name: "public URL of another kind",
			args: []string{"serve", "--public-url", "ftp://x", "--listen", "256.0.0.1:1"},
			code: 2,
			want: "--public-url must be a URL such as https://service.example, with or without a path\n",
		},
		{"no persons", []string{"sample", "--persons", "0"}, 2, "--persons must be 1 at least\n"},
		{
			name: "a token of no time",
			args: []string{"account", "add", "x", "--all-organizations", "--ttl", "999ms"},
			code: 2,
			want: "--ttl must be a second at least\n",
		},
		{
			name: "an organization that is not a uuid",
			args: []string{"account", "add", "x", "--organization", "1"},
			code: 2,
			want: "--organization \"1\" is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)\n",
		},
		{
			name: "two scopes",
			args: []string{
				"account", "add", "x", "--all-organizations", "--organization",
				"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01",
			},
			code: 2,
			want: "use --organization UUID, once or more, or --all-organizations; fundeskd organization list names them\n",
		},
		{
			name: "no abbreviation",
			args: []string{"organization", "add", "--name", "M"},
			code: 2,
			want: "--name and --abbreviation are needed\n",
		},
		{
			name: "organization of a mistyped uuid",
			args: []string{"organization", "add", "--name", "M", "--abbreviation", "M", "--uuid", "1"},
			code: 2,
			want: "--uuid \"1\" is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)\n",
		},
		{
			name: "an unknown country",
			args: []string{"organization", "add", "--name", "Sea", "--abbreviation", "S", "--country", "Holland"},
			code: 2,
			want: "--country \"Holland\" must be an ISO 3166-1 country code of two capital letters, such as NL\n",
		},
		{
			name: "no change",
			args: []string{"organization", "set", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"},
			code: 2,
			want: "use --max-call-attempts N or --any-call-attempts, --country C or --any-hour, --cooling-off, --settings FILE, or several\n",
		},
		{
			name: "two changes",
			args: []string{
				"organization", "set", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01",
				"--any-call-attempts", "--max-call-attempts", "1",
			},
			code: 2,
			want: "use --max-call-attempts N or --any-call-attempts, --country C or --any-hour, --cooling-off, --settings FILE, or several\n",
		},
		{
			name: "no life",
			args: []string{"token", "issue", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01", "--ttl", "999ms"},
			code: 2,
			want: "--ttl must be a second at least\n",
		},
		{
			name: "no reason",
			args: []string{"person", "erase", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"},
			code: 2,
			want: "--reason is needed; it is kept in the audit\n",
		},
		{"no organization", []string{"retention", "set"}, 2, "use --organization UUID"},
		{
			name: "audit of an organization",
			args: []string{"retention", "set", "--audit", "2y", "--calls", "2y"},
			code: 2,
			want: "--audit holds for the whole database",
		},
		{"no time", []string{"audit", "prune"}, 2, "use --before TIME"},
		{
			name: "a time ahead",
			args: []string{"audit", "prune", "--before", "2099-01-01"},
			code: 2,
			want: "--before 2099-01-01T00:00:00.000Z is ahead of the clock\n",
		},
		{
			name: "no months",
			args: []string{"retention", "set", "--organization", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c01"},
			code: 2,
			want: "use --calls, --leads or --persons, as in --calls 24mo\n",
		},
		{
			name: "log format",
			args: []string{"serve", "--log-format", "xml"},
			code: 2,
			want: "--log-format must be one of text, json, not \"xml\"\n",
		},
		{
			name: "log level",
			args: []string{"serve", "--log-level", "loud"},
			code: 2,
			want: "--log-level must be one of info, warn, error, not \"loud\"\n",
		},
		{
			name: "records and a seed",
			args: []string{"serve", "--sandbox", "--load", "x", "--seed", "1"},
			code: 2,
			want: "--load and --seed cannot be combined: the records are those of the file, in a database that is gone at the end\n",
		},
		{"sample", []string{"sample", "--persons", "1"}, 0, "2 organizations\n20 users\n6 focusAreas\n1 person\n"},
		{"openapi", []string{"openapi"}, 0, "{\n  \"openapi\": \"3.1.0\","},
		{"migrate", []string{"migrate"}, 0, "the schema is of version 1\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := newFileEnvironment(t).run("", test.args...)
			told := out
			if code != exitDone {
				told = strings.TrimPrefix(errs, "fundeskd: ")
			}
			if code != test.code || !strings.HasPrefix(told, test.want) {
				t.Errorf("got code %d, want %d; %s%s", code, test.code, out, errs)
			}
			if code != exitDone && (!strings.HasPrefix(errs, "fundeskd: ") || strings.Count(errs, "\n") != 1) {
				t.Errorf("got %q, want one line", errs)
			}
		})
	}
}

func TestDatabaseName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, flag string
		env        map[string]string
		want       string
	}{
		{"flag", "sqlite:a", map[string]string{"FUNDESKD_DATABASE": "sqlite:b"}, "sqlite:a"},
		{"environment", "", map[string]string{"FUNDESKD_DATABASE": "sqlite:b", "FUNDESK_DATA_DIR": "/c"}, "sqlite:b"},
		{
			name: "data folder",
			env:  map[string]string{"FUNDESK_DATA_DIR": "/c", "XDG_DATA_HOME": "/d"},
			want: "sqlite:/c/fundeskd.db",
		},
		{"XDG", "", map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/e"}, "sqlite:/d/fundesk/fundeskd.db"},
		{"home", "", map[string]string{"HOME": "/e"}, "sqlite:/e/.local/share/fundesk/fundeskd.db"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := program{database: test.flag, Getenv: func(name string) string { return test.env[name] }}
			if got, err := p.databaseName(); got != test.want || err != nil {
				t.Errorf("got %q %v, want %q", got, err, test.want)
			}
		})
	}
	if _, err := (&program{Getenv: func(string) string { return "" }}).databaseName(); err == nil {
		t.Error("got no error without any folder")
	}
}
