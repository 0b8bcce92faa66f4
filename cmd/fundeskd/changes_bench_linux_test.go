package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

var (
	changesPersons = flag.Int("changes-persons", 6600, "how many persons BenchmarkChanges changes calls of; 66,000 have 100,000 calls")
	changesKeep    = flag.String("changes-keep", "", "`folder` that BenchmarkChanges fills once")
)

// changeCallers is how many connections change calls at once.
const changeCallers = 16

// BenchmarkChanges changes calls chosen at random in a program of its own, over HTTP: its
// processor time, how many a second, and what it writes, log and file, for each change.
//
//	go test ./cmd/fundeskd -run '^$' -bench BenchmarkChanges -benchtime 20000x -changes-persons 66000
func BenchmarkChanges(b *testing.B) {
	e := environment{t: b, folder: cmp.Or(*changesKeep, b.TempDir())}
	file := filepath.Join(e.folder, "fundeskd.db")
	if _, err := os.Stat(file); err != nil {
		if code, _, errs := e.run("", "sample", "--persons", strconv.Itoa(*changesPersons)); code != exitDone {
			b.Fatal(errs)
		}
	}
	var account struct{ Token string }
	e.must(&account, "", "account", "add", apitype.NewUUID().String(), "--all-organizations")
	calls := randomCalls(b, file)
	program := e.child()
	defer func() { // Before the context of the benchmark ends, which kills it.
		_ = program.command.Process.Signal(os.Interrupt)
		_ = program.command.Wait()
	}()
	c := &changer{b: b, program: program, token: account.Token, calls: calls, client: clientOf(changeCallers)}
	user := apitype.NewUUID()
	b.Run("creation", func(b *testing.B) {
		c.run(b, http.StatusCreated, func(_, person string) (method, path, body string) {
			return http.MethodPost, "/api/v1/calls", fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-01-01","type":"winback"}`, person)
		})
	})
	b.Run("attempt", func(b *testing.B) {
		c.run(b, http.StatusOK, func(call, _ string) (method, path, body string) {
			return http.MethodPut, "/api/v1/calls/" + call + "/actions/add-attempt", fmt.Sprintf(`{"userUuid":%q}`, user)
		})
	})
	b.Run("completion", func(b *testing.B) {
		c.run(b, http.StatusOK, func(call, _ string) (method, path, body string) {
			return http.MethodPut, "/api/v1/calls/" + call + "/actions/complete", fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":"no_interest","notes":"rang twice"}}`, user)
		})
	})
}

// randomCalls are calls that can be changed, each with its person, in no order.
func randomCalls(b *testing.B, file string) (calls [][2]string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(b.Context(), `SELECT c.uuid, p.uuid FROM calls c JOIN persons p ON p.number = c.person_number
		WHERE c.external = 0 AND c.status = 'requested' AND json_extract(CAST(c.doc AS TEXT), '$.attemptsCount') < 2 ORDER BY random()`)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var call, person []byte
		if err := rows.Scan(&call, &person); err != nil {
			b.Fatal(err)
		}
		calls = append(calls, [2]string{apitype.UUID(call).String(), apitype.UUID(person).String()})
	}
	if err := rows.Err(); err != nil || len(calls) == 0 {
		b.Fatal(len(calls), err)
	}
	return calls
}

// changer changes calls of a program, each once.
type changer struct {
	b       *testing.B
	program child
	token   string
	calls   [][2]string
	client  *http.Client
}

// run makes as many changes as the benchmark asks for.
func (c *changer) run(b *testing.B, want int, change func(call, person string) (method, path, body string)) {
	var next atomic.Int64
	var group sync.WaitGroup
	used, written := c.used(b)
	start := time.Now()
	for range changeCallers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N || i >= len(c.calls) {
					return
				}
				method, path, body := change(c.calls[i][0], c.calls[i][1])
				if got, answer := c.ask(b, method, path, body); got != want {
					b.Errorf("%s %s: got %d: %s", method, path, got, answer)
					return
				}
			}
		})
	}
	group.Wait()
	took := time.Since(start)
	usedNow, writtenNow := c.used(b)
	n := float64(min(b.N, len(c.calls)))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64((usedNow-used).Microseconds())/n, "cpu-µs/change")
	b.ReportMetric(n/took.Seconds(), "changes/s")
	b.ReportMetric(float64(writtenNow-written)/n/1000, "kB/change")
}

func (c *changer) ask(b *testing.B, method, path, body string) (status int, answer []byte) {
	request, err := http.NewRequestWithContext(b.Context(), method, c.program.url+path, bytes.NewBufferString(body))
	if err != nil {
		b.Error(err)
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		b.Error(err)
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		b.Error(err)
	}
	return response.StatusCode, answer
}

// used is the processor time of the program so far, and how many bytes it wrote to files.
func (c *changer) used(b *testing.B) (processor time.Duration, written int64) {
	folder := fmt.Sprintf("/proc/%d/", c.program.command.Process.Pid)
	stat, err := os.ReadFile(folder + "stat")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after) // From the third one of proc(5) on.
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		processor += time.Duration(ticks) * 10 * time.Millisecond
	}
	about, err := os.ReadFile(folder + "io")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ = strings.Cut(string(about), "write_bytes: ")
	if _, err := fmt.Sscan(after, &written); err != nil {
		b.Fatal(err)
	}
	return processor, written
}
