package httpapi_test

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

func init() { sqlstore.ProbePause = 0 } // Each /readyz makes its own small write.

// TestReadyMeansAChangeWorks takes a process out of service while the database refuses a change of any table, until
// a change of a record is kept again, whatever time passes.
func TestReadyMeansAChangeWorks(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		file := servicetest.NewFile(t)
		db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(file, "sqlite:")+"?_pragma=busy_timeout(10000)")
		servicetest.Check(t, err)
		t.Cleanup(func() { _ = db.Close() })
		testReady(t, file, 500, func(text string) {
			_, err := db.ExecContext(t.Context(), text)
			servicetest.Check(t, err)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		server := servicetest.NewServer(t)
		testReady(t, servicetest.Clusters("", server), 503, func(text string) { server.Execute(t, text) })
	})
}

func testReady(t *testing.T, database string, refused int, execute func(text string)) {
	f := newFloor(t, servicetest.NewOn(t, database))
	f.person("null")
	body := `{"owningOrganizationUuid":"` + f.organization.String() + `","recruitingOrganizationUuid":"` +
		f.organization.String() + `"}`
	for _, table := range []string{"persons", "audit"} {
		f.want(200, http.MethodGet, "/readyz", "")
		execute(`ALTER TABLE ` + table + ` RENAME TO gone`)
		f.want(refused, http.MethodPost, "/api/v1/persons", body)
		f.want(503, http.MethodGet, "/readyz", "")
		execute(`ALTER TABLE gone RENAME TO ` + table)
		f.want(503, http.MethodGet, "/readyz", "")
		if id := f.person("null"); id == (apitype.UUID{}) {
			t.Error("got no person")
		}
	}
	f.want(200, http.MethodGet, "/readyz", "")
}
