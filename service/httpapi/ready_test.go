package httpapi_test

import (
	"net/http"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestReadyMeansAChangeWorks takes a process out of service while the database refuses a change of any table, until
// a change of a record is kept again.
func TestReadyMeansAChangeWorks(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.NewServer(t)
	f := newFloor(t, servicetest.NewOn(t, servicetest.Clusters("", server)))
	f.person("null")
	f.want(200, http.MethodGet, "/readyz", "")
	server.Execute(t, `ALTER TABLE persons RENAME TO gone`)
	for range 2 {
		f.want(503, http.MethodPost, "/api/v1/persons", `{"owningOrganizationUuid":"`+f.organization.String()+`","recruitingOrganizationUuid":"`+f.organization.String()+`"}`)
		f.want(503, http.MethodGet, "/readyz", "")
	}
	server.Execute(t, `ALTER TABLE gone RENAME TO persons`)
	f.want(503, http.MethodGet, "/readyz", "")
	if id := f.person("null"); id == (apitype.UUID{}) {
		t.Error("got no person")
	}
	f.want(200, http.MethodGet, "/readyz", "")
}
