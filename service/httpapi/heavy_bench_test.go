package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The heavy record of BenchmarkHeavyRecord: a pledge with so many calls, each with notes of so
// many bytes. The answer to each change of one of them has the newest 100.
const (
	heavyCount = 300
	heavyNotes = 20_000
	heavyRound = 2 * time.Second
)

// BenchmarkHeavyRecord prints how long another account's creations take alone, beside one caller
// who reads calls of a heavy pledge without a pause, and beside one who records attempts on
// them. The goal: not more than twice as long, and no longer beside attempts than beside reads,
// which hold no transaction.
//
//	go test ./service/httpapi -run '^$' -bench 'BenchmarkHeavyRecord$' -benchtime 1x
func BenchmarkHeavyRecord(b *testing.B) { benchmarkHeavy(b, newWorld(b)) }

// BenchmarkHeavyRecordPostgres is BenchmarkHeavyRecord on PostgreSQL.
func BenchmarkHeavyRecordPostgres(b *testing.B) {
	servicetest.NeedPostgres(b)
	benchmarkHeavy(b, newWorldOn(b, servicetest.NewOn(b, servicetest.Clusters("", servicetest.NewServer(b)))))
}

func benchmarkHeavy(b *testing.B, w *world) {
	b.Helper()
	w.unchecked()
	calls := make([]apitype.UUID, heavyCount)
	for i := range calls {
		calls[i] = w.create("/api/v1/calls", w.callBody(w.a, `,"notes":"`+strings.Repeat("x", heavyNotes)+`"`))
	}
	ask := func(token, method, path, body string) {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		if w.Handler.ServeHTTP(answer, request); answer.Code/100 != 2 {
			b.Errorf("%s %s: got %d", method, path, answer.Code)
		}
	}
	read := func(id apitype.UUID) { ask(w.a.token, http.MethodGet, "/api/v1/calls/"+id.String(), "") }
	attempt := func(id apitype.UUID) {
		ask(w.a.token, http.MethodPut, "/api/v1/calls/"+id.String()+"/actions/add-attempt", "{}")
	}
	person := w.personBody(w.b)
	for b.Loop() {
		fmt.Println("| creations by 4 callers | median | slowest hundredth | per second |\n|---|---|---|---|")
		for _, beside := range []struct {
			name string
			do   func(apitype.UUID)
		}{{"alone", nil}, {"beside reads of the heavy pledge's calls", read}, {"beside attempts on them", attempt}} {
			took := besideHeavy(calls, beside.do, func() { ask(w.b.token, http.MethodPost, "/api/v1/persons", person) })
			fmt.Printf("| %s | %d µs | %d µs | %.0f |\n", beside.name, took[len(took)/2].Microseconds(), took[len(took)*99/100].Microseconds(), float64(len(took))/heavyRound.Seconds())
		}
	}
}

// besideHeavy is how long each creation of four callers took for one round, in order, beside
// somebody who does something with one call after the other, nil for nothing.
func besideHeavy(calls []apitype.UUID, beside func(apitype.UUID), create func()) []time.Duration {
	end := time.Now().Add(heavyRound)
	var group sync.WaitGroup
	if beside != nil {
		group.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				beside(calls[i%len(calls)])
			}
		})
	}
	var mu sync.Mutex
	var all []time.Duration
	for range 4 {
		group.Go(func() {
			var own []time.Duration
			for start := time.Now(); start.Before(end); start = time.Now() {
				create()
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	group.Wait()
	slices.Sort(all)
	return all
}
