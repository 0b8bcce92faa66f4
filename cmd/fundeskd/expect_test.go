package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// TestRefusalComesBeforeTheBody refuses a client that waits for 100 Continue before it sends the body.
func TestRefusalComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	account := e.account("a --all-organizations --permission calls:read")
	s := e.serve()
	for _, test := range []struct {
		path, token string
		status      int
	}{
		{"/api/v1/persons", "none", http.StatusUnauthorized},
		{"/api/v1/persons", account.Token, http.StatusForbidden},
		{"/nope", account.Token, http.StatusNotFound},
		{"/api/v1/persons/actions", account.Token, http.StatusMethodNotAllowed},
	} {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		servicetest.Check(t, err)
		servicetest.Check(t, connection.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = fmt.Fprintf(connection,
			"POST %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n", test.path, test.token)
		servicetest.Check(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("%s: got %v, want %d before the body", test.path, err, test.status)
			continue
		}
		servicetest.Same(t, test.path, test.status, answer.StatusCode)
		servicetest.Check(t, answer.Body.Close())
		servicetest.Check(t, connection.Close())
	}
	e.try("serve --listen unix:/run/x").Ends(exitUsage, "only TCP is served")
}
