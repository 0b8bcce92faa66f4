package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// pageSize is the page size of both fundesk and its yardstick.
const pageSize = 500

// list is a service that has one long list of calls, and answers from memory.
type list struct {
	*httptest.Server
	page []byte // The edges of a page, whose uuids differ by page.
	one  []byte // A call.
	uuid string // Of it.

	calls   int
	latency time.Duration
}

// newList takes the calls of a page from the sample data of the real service, each with
// its person and the quality of what is known of them: 2.3 kB.
func newList(fundeskd string) (*list, error) {
	sandbox := exec.Command(fundeskd, "serve", "--sandbox", "--listen", "127.0.0.1:0")
	out, err := sandbox.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := sandbox.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = sandbox.Process.Signal(interrupt)
		_ = sandbox.Wait()
	}()
	lines := bufio.NewScanner(out)
	lines.Scan()
	url := lines.Text()
	lines.Scan()
	request, err := http.NewRequest(
		http.MethodGet,
		url+"/api/v1/calls?include=person,personQualityResult&first="+strconv.Itoa(pageSize),
		http.NoBody,
	)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+lines.Text())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var page struct {
		Edges []struct{ Node json.RawMessage }
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return nil, err
	}
	if len(page.Edges) != pageSize {
		return nil, fmt.Errorf("the sample data has %d calls, want %d", len(page.Edges), pageSize)
	}
	l := &list{}
	var edges []string
	for i, edge := range page.Edges {
		var call struct{ UUID string }
		if err := json.Unmarshal(edge.Node, &call); err != nil {
			return nil, err
		}
		if i == 0 {
			l.uuid, l.one = call.UUID, edge.Node
		}
		node := strings.ReplaceAll(string(edge.Node), call.UUID, "PPPPPPPP"+call.UUID[8:])
		edges = append(edges, fmt.Sprintf(`{"cursor":"PPPPPPPP-%d","node":%s}`, i, node))
	}
	l.page = []byte(strings.Join(edges, ","))
	l.Server = httptest.NewServer(http.HandlerFunc(l.answer))
	return l, nil
}

// answer begins after the latency since the request came: what it costs to
// make a page is not added to it.
func (l *list) answer(w http.ResponseWriter, r *http.Request) {
	due := time.Now().Add(l.latency)
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, l.uuid) {
		time.Sleep(time.Until(due))
		_, _ = w.Write(l.one)
		return
	}
	page := 0
	if after := r.URL.Query().Get("after"); after != "" {
		last, _ := strconv.ParseInt(after[:8], 16, 64)
		page = int(last) + 1
	}
	mark := fmt.Sprintf("%08x", page)
	edges := bytes.ReplaceAll(l.page, []byte("PPPPPPPP"), []byte(mark))
	time.Sleep(time.Until(due))
	_, _ = fmt.Fprintf(
		w,
		`{"pageInfo":{"startCursor":"%s-0","endCursor":"%s-%d","hasPreviousPage":%t,"hasNextPage":%t},"edges":[`,
		mark,
		mark,
		pageSize-1,
		page > 0,
		(page+1)*pageSize < l.calls,
	)
	_, _ = w.Write(edges)
	_, _ = w.Write([]byte("]}"))
}
