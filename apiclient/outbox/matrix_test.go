//go:build unix

package outbox

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

var matrixSeeds = flag.Int("seeds", 2, "how many variants of each fault are tried with each operation")

// matrixTimeout is when the client gives up on an answer. A slow machine makes it do so
// without a fault; it then finds what it has sent.
const matrixTimeout = 400 * time.Millisecond

// matrixRounds is how often a change is tried or looked up at most: some may be in vain.
const matrixRounds = 40

// operation makes the change of one case, and says what it has left at the service.
type operation struct {
	op   string
	make func(m *matrixCase) (apiclient.Change, error)
	// effects is how often the change shows in the records.
	effects func(m *matrixCase) int
}

// matrixCase is one operation and one fault, with records of its own.
type matrixCase struct {
	*testing.T
	h                    *servicetest.Harness
	client               *apiclient.Client // Reaches the service through the fault.
	patient              *apiclient.Client // Of the test itself.
	organization         apitype.UUID
	person, call, pledge apitype.UUID
	fresh                apitype.UUID // Of what is created.
	faulty               *servicetest.Faulty
}

// The time that the changes speak of.
var matrixTime = apitype.NewTime(servicetest.Start.Add(-time.Minute))

func operations() []operation {
	ended := func(status apitype.CallStatus) func(*matrixCase) int {
		return func(m *matrixCase) int { return count(m.readCall(m.call).Status == status) }
	}
	return []operation{
		{apiclient.OpCreatePerson, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.CreatePersonChange(apitype.CreatePersonRequest{
				OwningOrganizationUUID: m.organization, RecruitingOrganizationUUID: m.organization, Email: new("new@example.org"),
			})
		}, func(m *matrixCase) int {
			p, found := there(apiclient.Decoded(m.patient.Persons.Get(m.Context(), m.fresh)))
			return count(found && p.Email != nil && *p.Email == "new@example.org")
		}},
		{apiclient.OpUpdatePerson, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.UpdatePersonChange(m.person, apitype.UpdatePersonRequest{Email: apitype.Set("changed@example.org")})
		}, func(m *matrixCase) int {
			p, _ := there(apiclient.Decoded(m.patient.Persons.Get(m.Context(), m.person)))
			return count(p.Email != nil && *p.Email == "changed@example.org")
		}},
		{apiclient.OpCreateCall, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.CreateCallChange(apitype.CreateCallRequest{
				RequestedAt: matrixTime, PersonUUID: m.person, Type: new(apitype.CallWinback), Notes: new("Ask again."),
			})
		}, func(m *matrixCase) int {
			c, found := there(apiclient.Decoded(m.patient.Calls.Get(m.Context(), m.fresh)))
			return count(found && c.Type == apitype.CallWinback)
		}},
		{apiclient.OpAddAttempt, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.AddAttemptChange(m.call, apitype.AddAttemptRequest{AttemptAt: &matrixTime})
		}, func(m *matrixCase) int { return len(m.readCall(m.call).Attempts.Value()) }},
		{apiclient.OpCompleteCall, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.CompleteCallChange(m.call, apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{
				CompletedAt: &matrixTime, ResultCode: new("reached"), Notes: new("typed with care"),
			}})
		}, func(m *matrixCase) int {
			notes := m.readCall(m.call).Result.Value().Notes
			return count(notes != nil && *notes == "typed with care")
		}},
		{apiclient.OpCancelCall, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.CancelCallChange(m.call, apitype.CancelCallRequest{CancelledAt: &matrixTime})
		}, ended(apitype.CallCancelled)},
		{apiclient.OpExpireCall, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.ExpireCallChange(m.call, apitype.ExpireCallRequest{ExpiredAt: &matrixTime})
		}, ended(apitype.CallExpired)},
		{apiclient.OpCreatePledge, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.CreatePledgeChange(apitype.CreatePledgeRequest{
				PersonUUID: m.person, CreatedAt: matrixTime, OwningOrganizationUUID: m.organization, RecruitingOrganizationUUID: m.organization,
				InitialDonationInterval: "monthly", InitialDonationAmount: apitype.Cents(700), RecruiterUserUUID: m.person, StartsAt: matrixTime,
			})
		}, func(m *matrixCase) int {
			_, found := there(apiclient.Decoded(m.patient.Pledges.Get(m.Context(), m.fresh)))
			return count(found)
		}},
		{apiclient.OpUpdatePledge, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.UpdatePledgeChange(m.pledge, apitype.UpdatePledgeRequest{DonationAmount: apitype.Set(apitype.Cents(4321))})
		}, func(m *matrixCase) int {
			p, _ := there(apiclient.Decoded(m.patient.Pledges.Get(m.Context(), m.pledge)))
			return count(p.DonationAmount == apitype.Cents(4321))
		}},
		{apiclient.OpPledgeAction, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.PledgeActionChange(m.pledge, "cancel", ""), nil
		}, func(m *matrixCase) int {
			p, _ := there(apiclient.Decoded(m.patient.Pledges.Get(m.Context(), m.pledge)))
			return count(p.Status == apitype.PledgeCancelled)
		}},
		{apiclient.OpMarkProcessed, func(m *matrixCase) (apiclient.Change, error) {
			return apiclient.MarkProcessedChange([]apitype.ProcessedEntry{{EntityName: apitype.EntityCall, EntityUUID: m.call, ProcessedAt: matrixTime}})
		}, func(m *matrixCase) int { return min(m.faulty.Applied(), 1) }}, // Nothing shows marks; each replaces the one before.
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// there is a record that may not be there.
func there[T any](record T, err error) (T, bool) { return record, err == nil }

func (m *matrixCase) readCall(id apitype.UUID) apitype.Call {
	m.Helper()
	call, err := apiclient.Decoded(m.patient.Calls.Get(m.Context(), id))
	if err != nil {
		m.Fatal(err)
	}
	return call
}

// Every changing operation, through every fault, takes effect exactly once, or was
// refused and is kept.
func TestMatrix(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	owner := h.Organization("Sea Rescue")
	token := h.Token()
	cases := servicetest.NewCases(t, 8) // The time-outs are of one service that is not overrun.
	defer cases.Wait()
	for _, op := range operations() {
		for _, fault := range servicetest.Faults {
			for seed := range *matrixSeeds {
				cases.Run(fmt.Sprintf("%s/%s/%d", op.op, fault, seed), func(t *testing.T) {
					m := newMatrixCase(t, h, owner, token)
					m.play(op, fault, seed)
				})
			}
		}
	}
}

func newMatrixCase(t *testing.T, h *servicetest.Harness, owner apitype.UUID, token string) *matrixCase {
	t.Helper()
	m := &matrixCase{
		T: t, h: h, organization: owner, faulty: &servicetest.Faulty{Inner: h.Handler},
		person: apitype.NewUUID(), call: apitype.NewUUID(), pledge: apitype.NewUUID(),
	}
	at := apitype.NewTime(servicetest.Start.Add(-24 * time.Hour))
	h.Load(
		service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
			Person:                 apitype.Person{UUID: m.person, PersonUUID: m.person, CreatedAt: at, Email: new("old@example.org")},
			OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner,
		}},
		service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: apitype.Pledge{
			UUID: m.pledge, Status: apitype.PledgeActive, StartsAt: at, CreatedAt: at, UpdatedAt: at, Person: apitype.Embed(apitype.Person{UUID: m.person}),
			OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner, RecruiterUserUUID: m.person,
			InitialDonationAmount: apitype.Cents(1250), DonationAmount: apitype.Cents(1250), InitialDonationInterval: "monthly", DonationInterval: "monthly",
		}}},
		service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID: m.call, Status: apitype.CallRequested, RequestedAt: at, LastUpdatedAt: at, PersonUUID: m.person, Type: apitype.CallVerification,
		}}},
	)
	address := serveFaulty(t, m.faulty)
	var err error
	withToken := func(context.Context) (string, error) { return token, nil }
	if m.patient, err = apiclient.New(apiclient.Options{BaseURL: h.URL, Token: withToken, Transport: h.Transport()}); err != nil {
		t.Fatal(err)
	}
	m.client, err = apiclient.New(apiclient.Options{
		BaseURL: "http://service.example", Timeout: matrixTimeout, Token: withToken,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address)
		}},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	return m
}

// serveFaulty serves on a socket; a kill ends the server and all connections, and the
// next one stands there at once.
func serveFaulty(t *testing.T, faulty *servicetest.Faulty) (address string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fd") // A socket's path is short.
	servicetest.Check(t, err)
	address = filepath.Join(dir, "s")
	var mu sync.Mutex
	var server *http.Server
	serve := func() {
		listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", address)
		if err != nil {
			t.Error(err)
			return
		}
		server = &http.Server{Handler: faulty, ReadHeaderTimeout: time.Minute}
		servicetest.InOrder(server)
		go func(s *http.Server) { _ = s.Serve(listener) }(server)
	}
	serve()
	faulty.Kill = func() {
		mu.Lock()
		defer mu.Unlock()
		_ = server.Close()
		serve()
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		_ = server.Close()
		_ = os.RemoveAll(dir)
	})
	return address
}

// play sends the change with the fault on its way until nothing is left to do.
func (m *matrixCase) play(op operation, fault servicetest.Fault, seed int) {
	now := time.Now()
	account, err := m.client.Identity(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	box, err := Open(m.TempDir(), Options{BaseURL: m.client.BaseURL(), Account: account, Now: func() time.Time { return now }})
	if err != nil {
		m.Fatal(err)
	}
	change, err := op.make(m)
	if err != nil {
		m.Fatal(err)
	}
	m.fresh = change.UUID
	add(m.T, box, Entry{Change: change})
	sender := box.Sender(m.client, SenderOptions{Patience: time.Minute})
	m.faulty.Arm(fault, seed)
	for round := range matrixRounds {
		if _, err := sender.SendDue(m.Context()); err != nil {
			m.Fatal(err)
		}
		left := list(m.T, box)
		if len(left) == 0 || left[0].State == StateRejected {
			break
		}
		if got := string(left[0].Body); got != string(change.Body) {
			m.Fatalf("body in the outbox: got %s, want %s", got, change.Body)
		}
		if round == seed%2 { // Before or after it was looked up once.
			m.faulty.DeliverLate()
		}
		now = now.Add(20 * time.Second)
	}
	m.faulty.DeliverLate()
	m.judge(op, fault, box)
}

func (m *matrixCase) judge(op operation, fault servicetest.Fault, box *Outbox) {
	left := list(m.T, box)
	want := 1
	switch {
	case fault == servicetest.FaultRefused:
		want = 0
		if len(left) != 1 || left[0].State != StateRejected || !strings.Contains(left[0].LastError, "not today") {
			m.Errorf("outbox: got %+v, want the refused change with its reason", left)
		}
	case len(left) != 0:
		m.Errorf("outbox: got %+v, want none", left)
	}
	if op.op == apiclient.OpAddAttempt && fault == servicetest.FaultDuplicated {
		want = 2 // Attempts are never recognised as repeats, whoever repeats them. Spec gap: C4.
	}
	if got := op.effects(m); got != want {
		m.Errorf("effects: got %d, want %d", got, want)
	}
}

// An update whose record cannot be read at first waits for it: sent unseen, a lost answer could not be told from
// somebody else's change.
func TestMatrixOfUpdatesThatCannotBeReadAtFirst(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	owner, token := h.Organization("Sea Rescue"), h.Token()
	cases := servicetest.NewCases(t, 8)
	defer cases.Wait()
	for _, op := range operations() {
		if op.op != apiclient.OpUpdatePerson && op.op != apiclient.OpUpdatePledge {
			continue
		}
		for seed, fault := range slices.Repeat(servicetest.Faults, 2) {
			cases.Run(fmt.Sprintf("%s/%s/%d", op.op, fault, seed), func(t *testing.T) {
				m := newMatrixCase(t, h, owner, token)
				var once sync.Once
				m.faulty.Inner = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					isFirst := false
					if r.Method == http.MethodGet {
						once.Do(func() { isFirst = true })
					}
					if isFirst {
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					h.Handler.ServeHTTP(w, r)
				})
				m.play(op, fault, seed)
			})
		}
	}
}

// The matrix leaves out no operation.
func TestMatrixIsWhole(t *testing.T) {
	t.Parallel()
	if got := len(operations()); got != 11 {
		t.Errorf("operations: got %d, want 11", got)
	}
	if got := len(slices.Compact(slices.Sorted(slices.Values(servicetest.Faults)))); got != 14 {
		t.Errorf("faults: got %d, want 14", got)
	}
}
