package apiclient_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// A long list: pages of 500 records of 2.3 kB.
const (
	benchPage  = 500
	benchPages = 20
	benchSize  = 2300
)

// longList serves a list whose pages wait for a time before they answer.
func longList(b *testing.B, latency time.Duration) *httptest.Server {
	b.Helper()
	pages := make([][]byte, benchPages)
	for p := range pages {
		var edges []string
		for i := range benchPage {
			n := p*benchPage + i
			node := fmt.Sprintf(`{"uuid":"00000000-0000-4000-8000-%012d","status":"requested","notes":%q}`, n, strings.Repeat("x", benchSize-90))
			edges = append(edges, fmt.Sprintf(`{"cursor":"c%d","node":%s}`, n, node))
		}
		pages[p] = fmt.Appendf(nil, `{"pageInfo":{"startCursor":"c%d","endCursor":"%d","hasPreviousPage":%t,"hasNextPage":%t},"edges":[%s]}`,
			p*benchPage, p+1, p > 0, p+1 < benchPages, strings.Join(edges, ","))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("after"))
		time.Sleep(latency)
		w.Header().Set("Content-Type", "application/json")
		w.Write(pages[page])
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkFloor is the yardstick: the same bytes through the JSON tokenizer, page after
// page.
func BenchmarkFloor(b *testing.B) {
	server := longList(b, 0)
	for b.Loop() {
		for page := range benchPages {
			answer, err := http.Get(server.URL + "?after=" + strconv.Itoa(page))
			if err != nil {
				b.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := jsontext.NewDecoder(bytes.NewBuffer(body)).ReadValue(); err != nil {
				b.Fatal(err)
			}
		}
	}
	perSecond(b)
}

// BenchmarkAll walks the list without decoding; compare records/s with BenchmarkFloor.
func BenchmarkAll(b *testing.B) {
	walk(b, longList(b, 0), nil)
	perSecond(b)
}

// BenchmarkAllDecoded walks the list and decodes every record.
func BenchmarkAllDecoded(b *testing.B) {
	walk(b, longList(b, 0), func(r apiclient.Record[apitype.Call]) error { _, err := r.Decode(); return err })
	perSecond(b)
}

// BenchmarkAllLatency walks the list at 20 ms a request; the ratio is to pages × latency.
func BenchmarkAllLatency(b *testing.B) {
	const latency = 20 * time.Millisecond
	walk(b, longList(b, latency), nil)
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/(benchPages*latency.Seconds()), "×latency")
}

func walk(b *testing.B, server *httptest.Server, use func(apiclient.Record[apitype.Call]) error) {
	b.Helper()
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for record, err := range client.Calls.All(context.Background(), apitype.CallListOptions{}, apiclient.AllOptions{PageSize: benchPage}) {
			if err == nil && use != nil {
				err = use(record)
			}
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != benchPage*benchPages {
			b.Fatalf("got %d records", n)
		}
	}
}

func perSecond(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.N*benchPage*benchPages)/b.Elapsed().Seconds(), "records/s")
}
