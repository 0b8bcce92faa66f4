package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestLargeBodyGetsItsAnswer sends bodies that are too large the way simple clients do,
// all of it before the answer is looked at. Spec gap: R2.
func TestLargeBodyGetsItsAnswer(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token := h.Token()
	address := strings.TrimPrefix(h.URL, "http://")
	body := `{"academicTitle":"` + strings.Repeat("x", 6<<20) + `"}`
	for name, rest := range map[string]string{
		"sized":   fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
		"chunked": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				connection, err := net.Dial("tcp", address)
				servicetest.Check(t, err)
				defer connection.Close()
				_, err = fmt.Fprintf(connection, "POST /api/v1/persons HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", token, rest)
				if err != nil {
					t.Fatalf("send the body: %v", err)
				}
				answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
				if err != nil {
					t.Fatalf("read the answer: %v", err)
				}
				answer.Body.Close()
				if answer.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("got %d, want 413", answer.StatusCode)
				}
			}
		})
	}
}
