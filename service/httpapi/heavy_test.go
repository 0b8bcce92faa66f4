package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// heavyCalls returns a service with calls of up to 64 KiB of metadata and notes of 80 kB, and their order in the list.
func heavyCalls(t *testing.T, h *servicetest.Harness, n int, random *rand.Rand) (string, []string) {
	t.Helper()
	token := h.Token()
	organization := h.Organization("A")
	person := servicetest.NewPerson(organization, apitype.NewTime(servicetest.Start))
	all := []any{person}
	var order []string
	for i := range n {
		call := servicetest.NewCall(person.UUID, apitype.NewTime(servicetest.Start.Add(-time.Duration(i)*time.Minute)))
		if random.IntN(3) > 0 {
			call.Notes = new(strings.Repeat("世", 1+random.IntN(20_000)))
			call.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{
				AdditionalProperties: apitype.Object(`{"transcript":"` + strings.Repeat("x",
					random.IntN(60_000)) + `"}`),
			})
		}
		all = append(all, call)
		order = append(order, call.UUID.String())
	}
	h.LoadAll(all...)
	return token, order
}

// A page ends before four mebibytes; whatever its size and direction, a walk meets every call
// once, in order, and the flags are exact.
func TestPagesOfHeavyRecords(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	random, _ := randomOf(t)
	token, order := heavyCalls(t, h, 150, random)
	h.Serve(h.Service)
	for _, size := range []int{500, 60, 7} {
		for _, backward := range []bool{false, true} {
			for _, include := range []string{"", "include=person,pledge,transactions"} {
				if diff := cmp.Diff(order, walkHeavy(t, h, token, order, size, backward, include)); diff != "" {
					t.Errorf("pages of %d, backward %v: %s", size, backward, diff)
				}
			}
		}
	}
}

// walkHeavy walks the list of calls. Each page is short, and says exactly what comes before and after it.
func walkHeavy(
	t *testing.T,
	h *servicetest.Harness,
	token string,
	order []string,
	size int,
	backward bool,
	include string,
) []string {
	t.Helper()
	return walk(h, t, token, "/api/v1/calls?"+include, size, backward, func(answer servicetest.Answer, p envelope) {
		ids := p.ids()
		if len(answer.Body) >= 4<<20 || len(ids) == 0 || len(ids) > size {
			t.Fatalf("got a page of %d calls and %d bytes", len(ids), len(answer.Body))
		}
		first, last := slices.Index(order, ids[0]), slices.Index(order, ids[len(ids)-1])
		if p.PageInfo.HasPreviousPage != (first > 0) || p.PageInfo.HasNextPage != (last < len(order)-1) {
			t.Errorf("calls %d to %d of %d: got previous %v, next %v",
				first, last, len(order), p.PageInfo.HasPreviousPage, p.PageInfo.HasNextPage)
		}
	})
}

// A pledge shows the newest hundred of its calls, and a call of it is changed in one answer
// that is no longer than that.
func TestCallsOfOnePledge(t *testing.T) {
	t.Parallel()
	w := newWorld(t).unchecked()
	var newest []string
	for i := range 130 {
		body := fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":%q,"type":"happy_call"}`,
			w.a.person, w.a.pledge, servicetest.Start.Add(time.Duration(i%65)*time.Minute).Format(time.RFC3339))
		newest = append(newest, w.create("/api/v1/calls", body).String())
	}
	at := func(id string) int { return slices.Index(newest, id) % 65 }
	for _, path := range []string{pledgePath(w.a.pledge), "/api/v1/calls/" + newest[3]} {
		object := w.get(path).Object()
		if pledge, isCall := object["pledgeCase"].(map[string]any); isCall {
			object = pledge
		}
		calls := object["calls"].([]any)
		if len(calls) != 100 {
			t.Fatalf("%s: got %d calls, want the newest hundred", path, len(calls))
		}
		for i, call := range calls {
			id := call.(map[string]any)["uuid"].(string)
			if i > 0 && at(id) > at(calls[i-1].(map[string]any)["uuid"].(string)) || at(id) < 15 {
				t.Errorf("%s: call %d of minute %d is out of order, or none of the newest", path, i, at(id))
			}
		}
	}
}

// slowReader takes nothing of its answer until let is closed.
type slowReader struct {
	*httptest.ResponseRecorder
	sending chan<- struct{}
	let     <-chan struct{}
}

func (s *slowReader) Write(data []byte) (int, error) {
	s.sending <- struct{}{}
	<-s.let
	return s.ResponseRecorder.Write(data)
}

// One account gets sixteen mebibytes of answers at once. A slow reader has to come again, and others are answered.
// Promise S32: no page is made for an account that takes nothing of those that it has.
func TestSlowReadersOfHeavyPages(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token, _ := heavyCalls(t, h, 150, rand.New(rand.NewPCG(1, 2)))
	store := &watched{Store: h.Store}
	h.Serve(h.On(store))
	const heavy = "/api/v1/calls?first=500"
	sending, let := make(chan struct{}), make(chan struct{})
	var answered sync.WaitGroup
	statuses := make(chan int, 5)
	for range 4 {
		request := httptest.NewRequest(http.MethodGet, heavy, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		slow := &slowReader{httptest.NewRecorder(), sending, let}
		answered.Go(func() {
			h.Handler.ServeHTTP(slow, request)
			statuses <- slow.Code
		})
		<-sending
	}
	store.asked = nil
	got := h.Do(token, http.MethodGet, heavy, "")
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "1" {
		t.Errorf("a fifth page: got %d, want 503 and Retry-After: 1", got.Status)
	}
	if len(store.asked) != 1 {
		t.Errorf("a fifth page: got %v, want the account read and no page made", store.asked)
	}
	h.Want(http.StatusOK, token, http.MethodGet, "/api/v1/calls?first=0", "")
	h.Want(http.StatusOK, h.Token(), http.MethodGet, heavy, "")
	close(let)
	answered.Wait()
	for range 4 {
		servicetest.Same(t, "a slow reader", http.StatusOK, <-statuses)
	}
	h.Want(http.StatusOK, token, http.MethodGet, heavy, "")
}

// The queue is listed by pages that end before four mebibytes, like other lists: a walk meets every call once,
// in order.
// Promise S32: a page ends before 4 MiB.
func TestPagesOfAHeavyQueue(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testPagesOfAHeavyQueue)
}

func testPagesOfAHeavyQueue(t *testing.T, f *floor) {
	token, order := heavyCalls(t, f.Harness, 150, rand.New(rand.NewPCG(1, 2)))
	f.Serve(f.Service)
	slices.Reverse(order) // The oldest call is next.
	for _, size := range []int{500, 60, 7} {
		isFirst := true
		met := walk(f.Harness, f.t, token, "/fundesk/v1/queue/calls", size, false, func(
			answer servicetest.Answer,
			p envelope,
		) {
			if len(answer.Body) >= 4<<20 || len(p.Edges) == 0 || p.PageInfo.HasPreviousPage == isFirst {
				t.Fatalf("got a page of %d calls and %d bytes", len(p.Edges), len(answer.Body))
			}
			isFirst = false
		})
		servicetest.Same(t, "the queue by "+strconv.Itoa(size), order, met)
	}
}

// heavyWaiting loads ten calls that wait, of which four do not fit into one answer, the oldest first.
func heavyWaiting(f *floor) []apitype.UUID {
	note := strings.Repeat("世", 20_000)
	var waiting []apitype.UUID
	for i := range 10 {
		at := apitype.NewTime(servicetest.Start)
		person := servicetest.NewPerson(f.organization, at)
		pledge := servicetest.NewPledge(person.UUID, f.organization, at)
		all := []any{person, pledge}
		for n := range 21 {
			call := servicetest.NewCall(person.UUID,
				apitype.NewTime(servicetest.Start.Add(time.Duration(i-200)*time.Minute)))
			call.RelatedCaseUUID, call.Notes, call.Status = &pledge.UUID, &note, apitype.CallCancelled
			if n == 0 {
				call.Status = apitype.CallRequested
				waiting = append(waiting, call.UUID)
			}
			all = append(all, call)
		}
		f.LoadAll(all...)
	}
	return waiting
}

// Callbacks that do not fit into the answer to a take are the user's own as before: another user gets none of them.
func TestTakeOfHeavyCallbacks(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testTakeOfHeavyCallbacks)
}

func testTakeOfHeavyCallbacks(t *testing.T, f *floor) {
	due := f.In(time.Minute)
	for _, call := range heavyWaiting(f) {
		f.later(call, fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, due, f.users[0]))
	}
	f.Clock.Advance(5 * time.Minute)
	given := len(f.take(f.users[0], `,"count":10`).Leases)
	if others := f.take(f.users[1], `,"count":10`).Leases; given == 0 || given == 10 || len(others) > 0 {
		t.Errorf("got %d callbacks for their user, and %d of them for another one, want some and none",
			given, len(others))
	}
	if got := f.state("?userUuid=" + f.users[0].String()); got.Due != 10-given {
		t.Errorf("got %d due for their user, want %d", got.Due, 10-given)
	}
}

// A take of heavy calls ends like a page before four mebibytes. The calls beyond wait again, at their places
// and as due as they were.
func TestTakeOfHeavyCalls(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testTakeOfHeavyCalls)
}

func testTakeOfHeavyCalls(t *testing.T, f *floor) {
	waiting := heavyWaiting(f)
	due := f.Clock.Now().Add(time.Minute)
	f.later(waiting[9], fmt.Sprintf(`{"notBefore":%q}`, apitype.NewTime(due)))
	f.Clock.Advance(time.Hour)
	waiting = append([]apitype.UUID{waiting[9]}, waiting[:9]...)
	for len(waiting) > 0 {
		answer := f.Do(f.token, http.MethodPost, "/fundesk/v1/queue/take",
			fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":10}`, apitype.NewUUID(), apitype.NewUUID()))
		var taken apitype.Taken
		answer.Decode(&taken)
		given := callsOf(taken)
		if answer.Status != 200 || len(answer.Body) > apitype.MaxPageBytes || len(given) == 0 || len(given) > 4 {
			t.Fatalf("got %d with %d calls in %d bytes, want some within 4 MiB",
				answer.Status, len(given), len(answer.Body))
		}
		if diff := cmp.Diff(waiting[:len(given)], given); diff != "" || taken.Waiting != len(waiting)-len(given) {
			t.Errorf("got %d waiting of %d, and the order: %s", taken.Waiting, len(waiting), diff)
		}
		waiting = waiting[len(given):]
		servicetest.Same(t, "leased", 10-len(waiting), f.state("").Leased)
	}
}
