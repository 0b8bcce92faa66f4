// Package pgdriver connects sqlstore with PostgreSQL through pgx. It is a package of its
// own so that only a program that serves PostgreSQL links pgx: the command line, which
// carries the service for its demo, would pay for it at every start.
//
// It must not know a table or a rule.
//
//	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: "postgres://…", Postgres: pgdriver.Driver{}})
package pgdriver

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

var errNoSSLMode = errors.New(
	"its server is not on this machine, and its name has no sslmode: donors' data could travel unencrypted; add " +
		"?sslmode=verify-full with sslrootcert=FILE, or sslmode=require",
)

// isEncryptionNamed reports whether the name of a database, or the environment, sets its encryption.
func isEncryptionNamed(database string) bool {
	named, err := url.Parse(database)
	return err == nil && named.Query().Has("sslmode") || os.Getenv("PGSSLMODE") != "" || os.Getenv("PGSERVICE") != ""
}

// isLocal reports whether a host is this machine: a folder of sockets, or a loopback address.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" ||
		ip != nil && ip.IsLoopback()
}

// application begins the name of each session at the server, by which the service finds its own.
const application = "fundeskd"

// Driver is the [sqlstore.PostgresDriver] of pgx. The zero value is ready.
type Driver struct{}

// defaultConnectTimeout limits how long connecting takes.
const defaultConnectTimeout = 3 * time.Second

// errSeveralHosts refuses a name with several hosts. Only a monitor of them can find out which is the primary: a
// replaced primary may come back without noticing.
var errSeveralHosts = errors.New(
	"its name has several hosts; name one. If servers take over from each other, put HAProxy in front of them, " +
		"as deploy/patroni does",
)

// Open returns a pool of connections to a server. It gives up a connection that is silent for answerTimeout during a
// request. Zero waits without limit. Its error does not contain the name, which may have a password.
func (Driver) Open(database string, connectTimeout, answerTimeout time.Duration) (*sql.DB, error) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		unread, isUnread := errors.AsType[*fs.PathError](err)
		if isUnread {
			return nil, fmt.Errorf("its name has a file that cannot be read: %w", unread)
		}
		return nil, errors.New(
			"its name, or a certificate that it names, is not well formed; write %25 for a % in a password",
		)
	}
	if !isEncryptionNamed(database) && !isLocal(config.Host) {
		return nil, errNoSSLMode
	}
	for _, other := range config.Fallbacks { // Of one host there is one for each way of encryption.
		if other.Host != config.Host || other.Port != config.Port {
			return nil, errSeveralHosts
		}
	}
	if connectTimeout > 0 {
		config.ConnectTimeout = connectTimeout
	} else if config.ConnectTimeout == 0 {
		config.ConnectTimeout = defaultConnectTimeout
	}
	// As pgx sends text, whatever the role has set.
	config.RuntimeParams["client_encoding"] = "UTF8"
	if named := config.RuntimeParams["application_name"]; !strings.HasPrefix(named, application) { // Also of PGAPPNAME.
		config.RuntimeParams["application_name"] = strings.TrimSpace(application + " " + named)
	}
	config.DialFunc = dialer(answerTimeout)
	config.OnNotice = func(c *pgconn.PgConn, notice *pgconn.Notice) {
		switch notice.SeverityUnlocalized {
		case "WARNING":
			c.CustomData()[warned] = notice.Message
		case "INFO":
			c.CustomData()[reported] = append(details(c), notice.Detail)
		}
	}
	var settings []string
	if config.RuntimeParams["statement_timeout"] == "" {
		// So the server ends statements that no request waits for, and not the ones without a deadline, whatever the
		// role sets. A pooler refuses it as a connection parameter.
		settings = append(settings, `SET statement_timeout = `+strconv.FormatInt(answerTimeout.Milliseconds(), 10))
	}
	// A load that waits for its input is not an idle session, whatever is set for the role.
	settings = append(settings, `SET idle_in_transaction_session_timeout = 0`)
	// A page of a list is made by one process of the server, and leaves the others to other requests.
	if answerTimeout > 0 {
		settings = append(settings, `SET max_parallel_workers_per_gather = 0`)
	}
	prepare := func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.PgConn().Exec(ctx, strings.Join(settings, `; `)).ReadAll()
		return err
	}
	return sql.OpenDB(connector{stdlib.GetConnector(*config, stdlib.OptionAfterConnect(prepare))}), nil
}

// Codes of PostgreSQL, from appendix A of its documentation.
const (
	codeProtocolViolation = "08P01"
	codeUndefinedObject   = "42704"
	codeNoDatabase        = "3D000"
	classInvalidLogin     = "28"
)

// Code returns the SQLSTATE of the server's refusal, or an empty text for another error.
//
// PgBouncer refuses an unknown parameter with the code of a lost connection. Code returns PostgreSQL's code for such a
// parameter.
func (Driver) Code(err error) string {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	if refused.Code == codeProtocolViolation && strings.Contains(refused.Message, "startup parameter") {
		return codeUndefinedObject
	}
	return refused.Code
}

// Disconnected reports whether the server was not reached.
func (Driver) Disconnected(err error) bool {
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return connect || pgconn.SafeToRetry(err) || pgconn.Timeout(err)
}

// warned is the key under which a connection stores a warning of the server.
const warned = "warned"

// reported is the key of the details that the server reported to a connection, as VACUUM VERBOSE does.
const reported = "reported"

func details(c *pgconn.PgConn) []string {
	all, _ := c.CustomData()[reported].([]string)
	return all
}

// Rewrite rewrites a table over one connection of the pool, as [sql.Conn.Raw] hands it out, and returns how many dead
// rows the server kept because another transaction could still see them.
func (Driver) Rewrite(ctx context.Context, connection any, table string) (int64, error) {
	c := connection.(*stdlib.Conn).Conn().PgConn()
	delete(c.CustomData(), reported)
	_, err := c.Exec(ctx, `VACUUM (FULL, VERBOSE, ANALYZE) `+table).ReadAll()
	if err != nil {
		return 0, err
	}
	var dead int64
	for _, detail := range details(c) {
		dead += leadingNumber(detail)
	}
	return dead, nil
}

// leadingNumber returns the number that a text begins with, or 0. The server translates texts, but not numbers: the
// detail of a rewritten table begins with "N dead row versions cannot be removed yet".
func leadingNumber(text string) int64 {
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(text)
	}
	n, _ := strconv.ParseInt(text[:digits], 10, 64)
	return n
}

// Commit ends a transaction over one connection of the pool, as [sql.Conn.Raw] passes it. It waits without limit: a
// cancelled commit that waited for a standby is kept, and a failover would lose it. A warning of the server is an
// error, because another session cancelled the wait. Before the commit, in the same round trip, text runs with each of
// rows as its arguments. If one is refused, the server does not commit.
func (Driver) Commit(connection any, text string, rows [][]any) error {
	c := connection.(*stdlib.Conn).Conn()
	known := c.PgConn().CustomData()
	delete(known, warned)
	defer patience(c.PgConn().Conn())()
	last, err := commit(c, text, rows)
	if err != nil {
		return err
	}
	if warning, ok := known[warned]; ok {
		return fmt.Errorf("commit: the server warns: %v", warning)
	}
	if last.String() != "COMMIT" {
		return errors.New("commit: the server rolled the transaction back")
	}
	return nil
}

// commit returns the server's answer to the last statement.
func commit(c *pgx.Conn, text string, rows [][]any) (pgconn.CommandTag, error) {
	var last pgconn.CommandTag
	if len(rows) == 0 {
		results, err := c.PgConn().Exec(context.Background(), `COMMIT`).ReadAll()
		if len(results) == 1 {
			last = results[0].CommandTag
		}
		return last, err
	}
	var batch pgx.Batch
	for _, row := range rows {
		batch.Queue(text, row...)
	}
	batch.Queue(`COMMIT`)
	results := c.SendBatch(context.Background(), &batch)
	var err error
	for range batch.Len() {
		last, err = results.Exec()
		if err != nil {
			break
		}
	}
	return last, cmp.Or(err, results.Close())
}

// BeginAt runs the text that begins a transaction over one connection of the pool, as [sql.Conn.Raw] passes it. It
// returns the server's time of the start, in the same round trip.
func (Driver) BeginAt(ctx context.Context, connection any, text string) (time.Time, error) {
	c := connection.(*stdlib.Conn).Conn().PgConn()
	results, err := c.Exec(ctx, text+`; SELECT CAST(EXTRACT(EPOCH FROM transaction_timestamp()) * 1000000 AS BIGINT)`).
		ReadAll()
	if err != nil {
		return time.Time{}, err
	}
	micros, err := strconv.ParseInt(string(results[len(results)-1].Rows[0][0]), 10, 64)
	return time.UnixMicro(micros), err
}

// connecting marks the context of a connection that is made for the pool.
type connecting struct{}

type connector struct {
	driver.Connector
}

// Connect makes a connection. If the server refuses the login or has no such database, the error is the server's
// alone: pgx puts before it that another way of encryption was tried in vain.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := c.Connector.Connect(context.WithValue(ctx, connecting{}, true))
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (strings.HasPrefix(refused.Code, classInvalidLogin) || refused.Code == codeNoDatabase) {
		return nil, refused
	}
	return connection, err
}

var errNoCancel = errors.New("nothing is cancelled at the server: it may be a commit")

// dialer connects the pool to a server, and nothing else. pgx would use another connection to cancel the statement of
// a broken one, whatever it is. statement_timeout ends statements that take too long before their commit.
func dialer(answerTimeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	// A server that vanished without a word is noticed while an answer is waited for.
	d := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{
			Enable:   true,
			Idle:     2 * time.Second,
			Interval: 2 * time.Second,
			Count:    3,
		},
		ControlContext: limitUnacknowledged,
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(connecting{}) == nil {
			return nil, errNoCancel
		}
		c, err := d.DialContext(ctx, network, address)
		if err != nil || answerTimeout <= 0 {
			return c, err
		}
		return &impatient{Conn: c, wait: answerTimeout}, nil
	}
}

// impatient is a connection with a limit for the silence of its peer during a read. A server that hangs keeps its
// connections open, and nothing else would notice it.
type impatient struct {
	net.Conn
	wait    time.Duration
	until   atomic.Int64 // The deadline of its request, in nanoseconds since 1970. Zero sets none.
	patient atomic.Bool  // It may be silent for any time: a commit is under way.
}

// Read waits for so long, unless an earlier deadline was set for the time of connecting.
func (c *impatient) Read(data []byte) (int, error) {
	if err := c.SetReadDeadline(c.deadline()); err != nil {
		return 0, err
	}
	return c.Conn.Read(data)
}

// Write has the same limit: the buffers of a server that hangs fill up.
func (c *impatient) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(c.deadline()); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

func (c *impatient) deadline() time.Time {
	if c.patient.Load() {
		return time.Time{}
	}
	silent := time.Now().Add(c.wait)
	if until := c.until.Load(); until != 0 && until < silent.UnixNano() {
		return time.Unix(0, until)
	}
	return silent
}

// impatience returns the connection below a session, or below its encryption, or nil if it has no limit.
func impatience(c net.Conn) *impatient {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	i, _ := c.(*impatient)
	return i
}

// patience lets a connection wait any time until it is ended.
func patience(c net.Conn) func() {
	i := impatience(c)
	if i == nil {
		return func() {}
	}
	i.patient.Store(true)
	return func() { i.patient.Store(false) }
}

// Until sets the time after which a connection of the pool, as [sql.Conn.Raw] passes it, waits for no answer except a
// commit's. Zero sets none.
func (Driver) Until(connection any, at time.Time) error {
	if i := impatience(connection.(*stdlib.Conn).Conn().PgConn().Conn()); i != nil {
		var until int64
		if !at.IsZero() {
			until = at.UnixNano()
		}
		i.until.Store(until)
	}
	return nil
}
