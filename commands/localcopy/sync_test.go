package localcopy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// twice sends each record of a list twice, as a list whose pages moved may do.
type twice struct{ http.Handler }

func (h twice) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	h.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	body := recorded.Body.Bytes()
	var page struct {
		PageInfo json.RawMessage   `json:"pageInfo"`
		Edges    []json.RawMessage `json:"edges"`
	}
	if json.Unmarshal(body, &page) == nil && len(page.Edges) > 0 {
		page.Edges = append(page.Edges, page.Edges...)
		body, _ = json.Marshal(page)
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

// synced returns the rows and indexes of a new copy.
func synced(t *testing.T, h *servicetest.Harness, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	token := func(context.Context) (string, error) { return h.Token(), nil }
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Token: token})
	servicetest.Check(t, err)
	c, err := Open(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	servicetest.Check(t, err)
	_, err = c.Sync(t.Context(), client, Details(), h.Clock.Now())
	servicetest.Check(t, err)
	var all bytes.Buffer
	for _, table := range append(c.fields.tables(), table{name: "sqlite_master", columns: []column{{name: "name"}}}) {
		var names []string
		for _, column := range table.columns {
			names = append(names, column.name)
		}
		statement := fmt.Sprintf("SELECT json_array(%s) FROM %s ORDER BY 1", strings.Join(names, ", "), table.name)
		for _, line := range linesOf(t, c, statement) {
			fmt.Fprintln(&all, table.name, line)
		}
	}
	servicetest.Check(t, c.Close())
	return all.String()
}

// A pledge is released when its cooling-off period ends, without being updated. The next sync reads it again.
func TestReleasedPledges(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(60)
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{
		BaseURL: server.URL,
		Token:   func(context.Context) (string, error) { return h.Token(), nil },
		Now:     h.Clock.Now,
	})
	servicetest.Check(t, err)
	c, err := Open(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	servicetest.Check(t, err)
	t.Cleanup(func() { servicetest.Check(t, c.Close()) })
	released := func() []string {
		_, err := c.Sync(t.Context(), client, nil, h.Clock.Now())
		servicetest.Check(t, err)
		return linesOf(t, c, "SELECT uuid FROM pledges WHERE releasedAt IS NOT NULL ORDER BY 1")
	}
	before := released()
	h.Clock.Advance(21 * 24 * time.Hour)
	var want []string
	for pledge, err := range client.Pledges.All(t.Context(), apitype.PledgeListOptions{}, apiclient.AllOptions{}) {
		servicetest.Check(t, err)
		is, err := pledge.Decode()
		servicetest.Check(t, err)
		if is.ReleasedAt.Pointer() != nil {
			want = append(want, is.UUID.String())
		}
	}
	slices.Sort(want)
	if len(want) <= len(before) {
		t.Fatalf("got %d released pledges before, %d after, want more", len(before), len(want))
	}
	servicetest.Same(t, "released pledges", want, released())
	if twice := linesOf(t, c, "SELECT uuid FROM pledges GROUP BY 1 HAVING COUNT(*) > 1"); len(twice) > 0 {
		t.Errorf("the copy has pledges twice: %v", twice)
	}
}

// linesOf returns the answer of a statement that selects one text.
func linesOf(t *testing.T, c *Copy, statement string) []string {
	t.Helper()
	rows, err := c.db.QueryContext(t.Context(), statement)
	servicetest.Check(t, err)
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		servicetest.Check(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	servicetest.Check(t, rows.Err())
	return lines
}

// A first reading stores a record once that comes twice, and ends with all indexes, whatever its memory holds.
func TestRecordsThatComeTwice(t *testing.T) {
	h := servicetest.New(t)
	h.Sample(20)
	var persons apitype.Page[apitype.Person]
	h.Do(h.Token(), http.MethodGet, "/api/v1/persons", "").Decode(&persons)
	path := "/fundesk/v1/persons/" + persons.Edges[0].Node.UUID.String() + "/consents"
	body := `{"channel":"mail","basis":"customer","at":"2026-11-01T10:00:00Z"}`
	if answer := h.Do(h.Token(), http.MethodPost, path, body); answer.Status != http.StatusCreated {
		t.Fatalf("add a consent: got %d %s", answer.Status, answer.Body)
	}
	want := synced(t, h, h.Handler)
	for _, needed := range []string{
		"persons_key", "calls_personUuid", "transactions_pledgeUuid", "consents [\"", "attempts [\"",
	} {
		if !strings.Contains(want, needed) {
			t.Errorf("the copy has no %s", needed)
		}
	}
	for _, most := range []int{3, maxSeen} {
		before := maxSeen
		maxSeen = most
		got := synced(t, h, twice{h.Handler})
		maxSeen = before
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("with memory for %d records (-once +twice):\n%s", most, diff)
		}
	}
}
