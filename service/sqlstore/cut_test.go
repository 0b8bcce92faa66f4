package sqlstore_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// allCuts cuts the operator's commands off at each of their statements; a run in CI does at a few.
var allCuts = flag.Bool("cuts", false, "cut the operator's commands off from PostgreSQL at each of their statements")

// cutter passes statements to a server, and acts at one of them. If it ends itself, the server sees all programs
// killed.
type cutter struct {
	net.Listener
	network, address string
	statements       atomic.Int64
	at               int64
	after            bool // The server gets the statement.
	happens          func(*cutter)
	cut              context.Context
	stop             context.CancelFunc
}

// newCutter returns a cutter before a server, and the name of the database behind it.
func newCutter(t *testing.T, database string, at int64, after bool, happens func(*cutter)) (*cutter, string) {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	servicetest.Check(t, err)
	folder, err := os.MkdirTemp("", "fundesk-cut-") // Short enough for a socket.
	servicetest.Check(t, err)
	c := &cutter{at: at, after: after, happens: happens}
	c.network, c.address = pgconn.NetworkAddress(config.Host, config.Port)
	c.cut, c.stop = context.WithCancel(t.Context())
	c.Listener, err = new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.end()
		servicetest.Report(t, os.RemoveAll(folder))
	})
	go c.serve()
	name := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(config.User, config.Password),
		Path:   "/" + config.Database,
	}
	name.RawQuery = url.Values{"host": {folder}, "sslmode": {"disable"}}.Encode()
	return c, name.String()
}

// end ends all connections, and takes no more.
func (c *cutter) end() {
	c.stop()
	_ = c.Close() // Once more at the same place.
}

func (c *cutter) serve() {
	for {
		program, err := c.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(c.cut, c.network, c.address)
		if err != nil {
			_ = program.Close()
			continue
		}
		context.AfterFunc(c.cut, func() {
			_ = program.Close()
			_ = server.Close()
		})
		go func() {
			_, _ = io.Copy(program, server) // It ends with either of them.
			_ = program.Close()
		}()
		go func() {
			_ = c.pass(server, program)
			_ = server.Close()
		}()
	}
}

// pass hands messages on: the first has no kind, and each other one begins with it.
func (c *cutter) pass(server io.Writer, program io.Reader) error {
	for header := make([]byte, 4); ; header = make([]byte, 5) {
		if _, err := io.ReadFull(program, header); err != nil {
			return err
		}
		rest := make([]byte, binary.BigEndian.Uint32(header[len(header)-4:])-4)
		if _, err := io.ReadFull(program, rest); err != nil {
			return err
		}
		last := false
		// A query, a prepared one, the end of a COPY.
		if len(header) == 5 && (header[0] == 'Q' || header[0] == 'E' || header[0] == 'c') {
			last = c.statements.Add(1) == c.at
		}
		if last && !c.after {
			c.happens(c)
		}
		if _, err := server.Write(append(header, rest...)); err != nil {
			return err
		}
		if last && c.after {
			c.happens(c)
		}
	}
}

// cutCommand is an operator's command at a database.
type cutCommand struct {
	name    string
	prepare func(t *testing.T, database string)
	run     func(ctx context.Context, store *sqlstore.Store) error // After the store was opened, which migrates.
	twice   func(error) bool                                       // Whether it reported its end before.
	verify  func(t *testing.T, store *sqlstore.Store)
	at      []int64 // The statements at which it meets trouble in CI.
	little  bool    // What it writes always has room.
}

// TestCutCommands cuts commands off from a PostgreSQL server at their statements, as a kill does: run
// again they end, and all is there that should be, once.
func TestCutCommands(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	cut := trouble{server: servicetest.PostgresServer(t), begins: (*cutter).end, ends: func() {}}
	for _, command := range cutCommands(t) {
		t.Run(command.name, func(t *testing.T) {
			t.Parallel()
			command.meets(t, cut)
		})
	}
}

// trouble is a fault at a statement.
type trouble struct {
	server string // The place of the fault.
	begins func(*cutter)
	ends   func() // When the command has ended.
}

// meets runs a command with trouble at each of its statements in turn. failures are the command's errors.
func (c cutCommand) meets(t *testing.T, what trouble) (failures []error) {
	t.Helper()
	if !*allCuts {
		for _, n := range c.at {
			failure, met := c.meetsAt(t, what, n)
			if !met {
				t.Errorf("it has not so many statements as %d", n)
			}
			failures = append(failures, failure)
		}
		return failures
	}
	for n := int64(1); ; n++ {
		failure, met := c.meetsAt(t, what, n)
		if !met {
			t.Logf("it has %d statements", n-1)
			return failures
		}
		failures = append(failures, failure)
	}
}

// cutCommands returns the operator's commands.
func cutCommands(t *testing.T) []cutCommand {
	t.Helper()
	source := filled(t, 40)
	want := withoutLoads(dump(t, source))
	equal := func(t *testing.T, store *sqlstore.Store) {
		t.Helper()
		servicetest.Same(t, "got other rows", want, withoutLoads(dump(t, store)))
	}
	empty := func(t *testing.T, database string) {
		t.Helper()
		servicetest.Check(t, reopen(t, database).Close())
	}
	records := manyRecords(20)
	signed := &signedDatabase{}
	return []cutCommand{
		{"migrate", func(*testing.T, string) {}, func(ctx context.Context, store *sqlstore.Store) error {
			return store.Ping(ctx)
		}, func(error) bool { return false }, func(t *testing.T, store *sqlstore.Store) {
			t.Helper()
			if n := count(t, store, "settings"); n != 0 { // The dump has none that a migration makes.
				t.Errorf("got %d settings, want none", n)
			}
		}, []int64{6, 9}, false},
		{"load of a dump", empty, func(ctx context.Context, store *sqlstore.Store) error {
			s, err := service.New(ctx, service.Options{Store: store})
			if err != nil {
				return err
			}
			return servicetest.Load(ctx, s, func(add func(service.LoadRecord) error) error {
				return source.Dump(ctx, add)
			})
		}, func(err error) bool {
			refusal, is := errors.AsType[*service.Error](err)
			return is && refusal.Kind == service.Conflict
		}, equal, []int64{8, 31}, false},
		{"load", empty, func(ctx context.Context, store *sqlstore.Store) error {
			s, err := service.New(ctx, service.Options{Store: store})
			if err != nil {
				return err
			}
			return servicetest.Load(ctx, s, func(add func(service.LoadRecord) error) (err error) {
				for _, record := range records {
					err = errors.Join(err, add(record))
				}
				return err
			})
		}, func(err error) bool {
			refusal, is := errors.AsType[*service.Error](err)
			return is && refusal.Kind == service.Conflict
		}, func(t *testing.T, store *sqlstore.Store) {
			t.Helper()
			servicetest.Same(t, "persons", 20, count(t, store, "persons"))
		}, []int64{8, 15}, false},
		{
			name:    "key rotate",
			prepare: signed.prepare,
			run:     signed.rotate,
			twice:   func(error) bool { return false },
			verify:  signed.verify,
			at:      []int64{12, 13, 14},
			little:  true,
		},
		{"check", damaged, func(ctx context.Context, store *sqlstore.Store) error {
			found, err := store.Check(ctx)
			if err == nil && len(found) != 1 {
				t.Errorf("check found %v in a damaged database", found)
			}
			return err
		}, func(error) bool { return false }, repair, []int64{8, 19}, true},
	}
}

// signedDatabase is one with a token.
type signedDatabase struct{ token string }

func (d *signedDatabase) service(t *testing.T, store *sqlstore.Store) *service.Service {
	t.Helper()
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	return s
}

func (d *signedDatabase) prepare(t *testing.T, database string) {
	t.Helper()
	store := reopen(t, database)
	s := d.service(t, store)
	account, err := s.AddAccount(t.Context(), service.Account{Name: "a", Scope: service.Scope{All: true}})
	servicetest.Check(t, err)
	d.token, _, err = s.IssueToken(t.Context(), account.UUID, time.Hour)
	err = errors.Join(err, store.Close())
	if err != nil {
		t.Fatal(err)
	}
}

func (d *signedDatabase) rotate(ctx context.Context, store *sqlstore.Store) error {
	_, err := service.RotateKey(ctx, store, time.Now)
	return err
}

// verify wants the token to be refused, and the rotation to have its line in the audit.
func (d *signedDatabase) verify(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	_, err := d.service(t, store).Authenticate(t.Context(), d.token)
	if service.KindOf(err) != service.Unauthenticated {
		t.Errorf("a token of before: got %v, want that it is refused", err)
	}
	var lines []service.AuditLine
	view(t, store, func(r service.Reader) (err error) {
		lines, err = r.AuditLines(service.AuditFilter{Limit: 100})
		return err
	})

	if !slices.ContainsFunc(lines, func(l service.AuditLine) bool { return l.Operation == service.AuditKeyRotate }) {
		t.Error("the audit has no line of the rotation")
	}
}

// damaged makes a focus area without its organization, which repair removes.
func damaged(t *testing.T, database string) {
	t.Helper()
	store := reopen(t, database)
	update(t, store, func(tx service.Tx) error {
		return tx.InsertFocusArea(service.FocusArea{
			FocusArea:    apitype.FocusArea{UUID: apitype.NewUUID()},
			Organization: apitype.NewUUID(),
		})
	})
	servicetest.Check(t, store.Close())
}

func repair(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	servicetest.Same(t, "focus areas", 1, count(t, store, "focus_areas"))
	servicetest.Check(t, store.Execute(t.Context(), `DELETE FROM focus_areas`))
}

// meetsAt brings trouble at a statement, and reports whether the command has that many.
func (c cutCommand) meetsAt(t *testing.T, what trouble, at int64) (error, bool) {
	t.Helper()
	database, drop, err := servicetest.NewPostgresDatabase(t.Context(), what.server)
	servicetest.Check(t, err)
	c.prepare(t, database)
	do := func(database string) error {
		store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
		if err != nil {
			return err
		}
		return errors.Join(c.run(t.Context(), store), store.Close())
	}
	before, behind := newCutter(t, database, at, at%2 == 0, what.begins)
	failure := do(behind)
	if before.end(); before.statements.Load() < at {
		return nil, false
	}
	what.ends()
	// It may go on by itself.
	await(t, database, `SELECT COUNT(*) = 1 FROM pg_stat_activity WHERE datname = current_database()`)
	if err := do(database); err != nil && !c.twice(err) {
		t.Fatalf("at %d got %v, then: %v", at, failure, err)
	}
	store := reopen(t, database)
	c.verify(t, store)
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("at %d: check: %v %v", at, found, err)
	}
	if err := errors.Join(store.Close(), drop()); err != nil || t.Failed() {
		t.Fatalf("at %d got %v, %v", at, failure, err)
	}
	return failure, true
}

// await asks until the answer is true.
func await(t *testing.T, database, question string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	for is := false; !is; {
		servicetest.Check(t, connection.QueryRow(t.Context(), question).Scan(&is))
	}
	servicetest.Check(t, connection.Close(t.Context()))
}

// holds asks once.
func holds(t *testing.T, database, question string) bool {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	var is bool
	servicetest.Check(t, connection.QueryRow(t.Context(), question).Scan(&is))
	servicetest.Check(t, connection.Close(t.Context()))
	return is
}

// count returns how many rows a table has.
func count(t *testing.T, store *sqlstore.Store, table string) int {
	t.Helper()
	all, err := store.Rows(t.Context())
	servicetest.Check(t, err)
	for _, rows := range all {
		if rows.Table == table {
			return len(rows.Rows)
		}
	}
	return 0
}
