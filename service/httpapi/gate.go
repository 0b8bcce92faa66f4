package httpapi

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// gate bounds the resources that each account takes: requests a second, memory, bytes a second, and processors.
// A request passes it once, with one pass. Spec gap: S32.
type gate struct {
	// Work that occupies a processor for ten milliseconds is done in turn: much of it at once would delay all other
	// requests.
	bodies  *service.Turns // To decode large bodies.
	pages   *service.Turns // To make large pages.
	records *service.Turns // To read, make and pay for heavy records.

	perSecond rate.Limit // Requests of one account. Zero sets no limit.
	burst     int
	limit     []string // The header X-RateLimit-Limit, in whole requests. Nil without a limit.
	now       func() time.Time

	mu       sync.Mutex
	weight   int64 // Of all accounts, in bytes.
	accounts map[apitype.UUID]*share
	latest   apitype.UUID // The account that made the latest light request.
	latestAt time.Time    // When it made that.
	othersAt time.Time    // When any other account made its latest one.
}

// share holds the use of one account.
type share struct {
	requests *rate.Limiter // Nil means unlimited.
	weight   int64         // Bytes of bodies and answers in memory.
	paidAt   time.Time     // When all heavy bodies and answers so far are paid for.
}

const (
	// heavyFrom is the length from which a body or an answer is heavy, in bytes. The system buffers a shorter answer,
	// however slowly the client reads it.
	heavyFrom = 64 << 10
	// refusalPause delays each refusal. A client that sends a mebibyte after each refusal would keep a
	// processor busy with receiving them.
	refusalPause = 250 * time.Millisecond
	longestPause = 2 * time.Second // A request that had to wait longer is refused.
	atWorkFor    = 5 * time.Second // How long an account counts as at work after a light request.
)

// newGate returns a gate that lets each account make the requests of one second at once, and at least one.
func newGate(perSecond float64, now func() time.Time) *gate {
	processors := runtime.GOMAXPROCS(0)
	g := &gate{
		bodies:   service.NewTurns(max(1, processors/2)),
		pages:    service.NewTurns(2 * processors),
		records:  service.NewTurns(2),
		now:      now,
		accounts: map[apitype.UUID]*share{},
	}
	if now == nil {
		g.now = time.Now
	}
	if perSecond > 0 {
		g.perSecond = rate.Limit(perSecond)
		g.burst = max(1, int(perSecond))
		g.limit = []string{strconv.Itoa(g.burst)}
	}
	return g
}

// of returns the share of an account. The caller holds the lock.
func (g *gate) of(account apitype.UUID) *share {
	s, ok := g.accounts[account]
	if ok {
		return s
	}
	s = &share{}
	if g.perSecond > 0 {
		s.requests = rate.NewLimiter(g.perSecond, g.burst)
	}
	g.accounts[account] = s
	return s
}

// count counts one request of an account. If the account must wait, the request does not count, and count returns for
// how long. Spec gap: R2.
func (g *gate) count(account apitype.UUID) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	requests := g.of(account).requests
	if requests == nil {
		return 0
	}
	now := g.now()
	request := requests.ReserveN(now, 1)
	wait := request.DelayFrom(now)
	if wait > 0 {
		request.CancelAt(now)
	}
	return wait
}

// atWork notes a light request of an account: heavy ones of other accounts are paced from now on.
func (g *gate) atWork(account apitype.UUID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if account != g.latest {
		g.othersAt, g.latest = g.latestAt, account
	}
	g.latestAt = time.Now()
}

// isAlone reports whether no other account is at work. The caller holds the lock.
func (g *gate) isAlone(account apitype.UUID, now time.Time) bool {
	at := g.latestAt
	if account == g.latest {
		at = g.othersAt
	}
	return now.Sub(at) >= atWorkFor
}

// pass is the use of one request. It weighs its body until the answer is sent, and from then on its answer.
type pass struct {
	gate    *gate
	ctx     context.Context //nolint:containedctx // Of the one request.
	account apitype.UUID
	// isChange is set for a request whose answer is always sent: its change was made.
	isChange  bool
	isHeavy   bool   // The body is heavy.
	weight    int64  // Bytes in memory.
	endTurn   func() // Nil without a turn.
	untilPaid bool   // The turn lasts until the answer is paid for.
}

func (g *gate) pass(ctx context.Context, account apitype.UUID, isChange bool) *pass {
	return &pass{
		gate:     g,
		ctx:      ctx,
		account:  account,
		isChange: isChange,
	}
}

// admit lets a request in when its body may be read, or refuses it.
func (p *pass) admit(body int64) error {
	p.isHeavy = body >= heavyFrom
	if !p.weigh(body, false) {
		return p.refused()
	}
	return p.pay(body, false)
}

// refused returns ErrNoRoom after a pause.
func (p *pass) refused() error {
	_ = service.Pause(p.ctx, refusalPause) // The caller may have left.
	return service.ErrNoRoom
}

// take waits for a turn. The pass has one at a time.
func (p *pass) take(turns *service.Turns) error {
	if err := turns.Take(p.ctx); err != nil {
		return err
	}
	p.endTurn = func() { turns.End(p.ctx) }
	p.untilPaid = turns == p.gate.records
	return nil
}

// end gives the turn to the next request.
func (p *pass) end() {
	if p.endTurn != nil {
		p.endTurn()
		p.endTurn = nil
	}
}

// page waits for the turn to make a large page. It refuses the page if the account does not read its earlier ones: the
// work would be wasted.
func (p *pass) page() error {
	if err := p.take(p.gate.pages); err != nil {
		return err
	}
	if !p.hasRoom(apitype.MaxPageBytes) {
		return service.ErrNoRoom
	}
	return nil
}

// record waits for the turn to read a heavy record. Without room a read is refused, and a change waits for it: its
// answer is about to be sent.
func (p *pass) record() error {
	if err := p.take(p.gate.records); err != nil {
		return err
	}
	for range 1 + longestPause/refusalPause {
		if p.hasRoom(apitype.MaxPageBytes) {
			return nil
		}
		if !p.isChange {
			p.end()
			return p.refused()
		}
		if err := service.Pause(p.ctx, refusalPause); err != nil {
			return err
		}
	}
	return service.ErrNoRoom
}

// send waits until an answer may be sent, by its length and its weight before compression. The pass weighs the answer
// from then on.
func (p *pass) send(sent, weight int64) error {
	if weight < heavyFrom && !p.isHeavy {
		p.gate.atWork(p.account)
	}
	if !p.untilPaid {
		p.end() // The client may read slowly.
	}
	if sent < heavyFrom {
		sent = 0
	}
	if !p.weigh(sent, p.isChange) {
		return p.refused()
	}
	if err := p.pay(weight, p.isChange); err != nil {
		return err
	}
	p.end()
	return nil
}

// leave frees everything that the request still holds. A nil pass holds nothing.
func (p *pass) leave() {
	if p == nil {
		return
	}
	p.end()
	p.weigh(0, true)
}

// weigh replaces the weight of the pass, and reports whether there was room. With must there always is.
func (p *pass) weigh(weight int64, must bool) bool {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if !must && !p.fits(weight) {
		return false
	}
	p.gate.weight += weight - p.weight
	p.gate.of(p.account).weight += counted(weight) - counted(p.weight)
	p.weight = weight
	return true
}

func (p *pass) hasRoom(weight int64) bool {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.fits(weight)
}

// fits reports whether the pass may have a weight. The first of an account always fits into its share. The caller
// holds the lock.
func (p *pass) fits(weight int64) bool {
	if weight == 0 {
		return true
	}
	all := p.gate.weight - p.weight
	own := p.gate.of(p.account).weight - counted(p.weight)
	isInShare := own == 0 || own+counted(weight) <= apitype.MaxInFlightOfOne
	return isInShare && all+weight <= apitype.MaxInFlight
}

// counted returns the part of an account's share that a weight takes. A larger weight leaves a mebibyte for small
// bodies of colleagues.
func counted(weight int64) int64 {
	if weight > apitype.MaxInFlightOfOne {
		return apitype.MaxInFlightOfOne - 1<<20
	}
	return weight
}

// pay charges the account for a heavy body or answer, and waits until the earlier ones are paid for. So one account
// that sends and asks as much as it can does not keep the processors busy. An account alone waits for nothing. A pause
// that is too long is refused, or with must cut short.
func (p *pass) pay(weight int64, must bool) error {
	if weight < heavyFrom {
		return nil
	}
	pause, ok := p.charge(weight, must, time.Now())
	if !ok {
		return p.refused()
	}
	if pause <= 0 {
		return nil
	}
	err := service.Pause(p.ctx, min(pause, longestPause))
	if err == nil || must {
		return nil
	}
	p.giveBack(weight)
	return err
}

// charge adds a weight to the account's debt, and returns how long the earlier debt takes. It refuses the weight if
// that is too long.
func (p *pass) charge(weight int64, must bool, now time.Time) (time.Duration, bool) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.gate.isAlone(p.account, now) {
		return 0, true
	}
	own := p.gate.of(p.account)
	if own.paidAt.Before(now) {
		own.paidAt = now
	}
	pause := own.paidAt.Sub(now)
	if pause > longestPause && !must {
		return 0, false
	}
	own.paidAt = own.paidAt.Add(paced(weight))
	return pause, true
}

func (p *pass) giveBack(weight int64) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	own := p.gate.of(p.account)
	own.paidAt = own.paidAt.Add(-paced(weight))
}

// paced returns the time that an account takes for a weight in bytes.
func paced(weight int64) time.Duration {
	return time.Duration(weight) * time.Second / apitype.MaxPaced
}

// bodyWeight returns how much of a body is read at most: a larger one is refused.
func bodyWeight(r *http.Request) int64 {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength > apitype.MaxBody {
		return 0
	}
	if r.ContentLength < 0 {
		return apitype.MaxBody
	}
	return r.ContentLength
}
