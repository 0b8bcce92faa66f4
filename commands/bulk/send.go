package bulk

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"fundesk/apiclient"
)

// Line is one row of a file, checked and ready to be sent.
type Line struct {
	Row     Row              `json:"row"`
	Planned bool             `json:"planned"` // Its uuid is in the results file already.
	Change  apiclient.Change `json:"change"`
	// After are further changes of the record, which follow if the change took effect. A repeat of one is harmless.
	After []apiclient.Change `json:"after,omitempty"`
}

// Job sends the lines of a file and stores their results.
type Job struct {
	Lines       iter.Seq[Line]
	Concurrency int
	Results     *Results
	Client      *apiclient.Client
	Service     string                    // As the results name it.
	Each        func(Line, Result, error) // Called for every tried line, in order.
	// GoesOn reports whether to go on after that many refusals for one reason. No line is sent meanwhile. Nil always
	// goes on.
	GoesOn func(ctx context.Context, n int, reason string) bool
}

// mostAlike is the number of equal refusals after which a run asks whether to go on.
const mostAlike = 20

// AlikeError ends a run after many refusals for one reason.
type AlikeError struct{ Reason string }

// Error returns the number and the reason.
func (e *AlikeError) Error() string {
	return "the service refused " + strconv.Itoa(mostAlike) + " lines alike: " + e.Reason
}

// refusals counts the refusals of a run by their reason, without the identifiers in it.
type refusals struct {
	mutex  sync.Mutex
	counts map[string]int
}

var identifiers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
})

// wait returns when no question is open.
func (r *refusals) wait() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
}

// note counts a refusal, and returns an error if the run is to end.
func (r *refusals) note(ctx context.Context, err error, goesOn func(context.Context, int, string) bool) error {
	kind := apiclient.KindOf(err)
	isRefusal := kind == apiclient.KindRejected || kind == apiclient.KindConflict || kind == apiclient.KindNotFound
	if !isRefusal || goesOn == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	reason := identifiers().ReplaceAllString(Reasons(err), "UUID")
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[reason]++
	if r.counts[reason] != mostAlike || goesOn(ctx, mostAlike, reason) {
		return nil
	}
	return &AlikeError{Reason: reason}
}

// Run sends the lines. It stops early when the rest would fail alike: the results cannot be
// kept, or the service takes nothing from this account; the error is why.
func (j *Job) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var why atomic.Pointer[error]
	stop := func(err error) {
		why.CompareAndSwap(nil, &err)
		cancel()
	}
	var outages outages
	var refusals refusals
	send := func(ctx context.Context, line Line) (int, error) {
		refusals.wait()
		if err := ctx.Err(); err != nil { // Not even begun.
			return 0, err
		}
		answer, err := j.Client.Send(ctx, line.Change)
		if err == nil {
			err = j.sendAfter(ctx, line)
		}
		// Here, and not in the order of the lines: a slow one must not let many more be sent.
		if outages.isHopeless(err) {
			stop(err)
		}
		if err != nil {
			if end := refusals.note(ctx, err, j.GoesOn); end != nil {
				stop(end)
			}
			return 0, err
		}
		return answer.Status, nil
	}
	for outcome := range InOrder(ctx, j.Concurrency, j.Lines, send) {
		if apiclient.KindOf(outcome.Err) == apiclient.KindInterrupted || errors.Is(outcome.Err, context.Canceled) {
			continue // The next run looks after it.
		}
		r := resultOf(outcome.Item, outcome.Value, outcome.Err)
		if err := j.Results.Write(r); err != nil {
			stop(err)
		}
		j.Each(outcome.Item, r, outcome.Err)
	}
	if err := j.Results.Sync(); err != nil {
		stop(err)
	}
	if first := why.Load(); first != nil {
		return *first
	}
	return nil
}

// sendAfter sends the changes that follow the one of a line.
func (j *Job) sendAfter(ctx context.Context, line Line) error {
	for _, change := range line.After {
		_, err := j.Client.Send(ctx, change)
		if err != nil {
			return &PartError{Change: line.Change, Err: err}
		}
	}
	return nil
}

func resultOf(line Line, status int, err error) Result {
	r := Result{
		Line:   line.Row.Line,
		UUID:   line.Change.UUID.String(),
		Sum:    line.Row.Sum,
		State:  StateDone,
		OK:     new(true),
		Status: status,
	}
	if err == nil {
		return r
	}
	r.State, r.OK, r.Error = StateFailed, new(false), new(Reasons(err))
	if known, ok := errors.AsType[*apiclient.Error](err); ok {
		r.Status = known.Status
	}
	return r
}

// Plan writes the uuids of the lines that have none in the file yet. They are on disk when
// it returns.
func (j *Job) Plan() error {
	if j.Results.file == nil {
		return nil
	}
	for line := range j.Lines {
		if line.Planned {
			continue
		}
		if err := j.Results.Write(
			Result{
				Line:    line.Row.Line,
				UUID:    line.Change.UUID.String(),
				Sum:     line.Row.Sum,
				State:   StatePlanned,
				Service: j.Service,
			},
		); err != nil {
			return err
		}
	}
	return j.Results.Sync()
}
