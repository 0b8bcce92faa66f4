package bulk

import (
	"context"
	"errors"

	"fundesk/apiclient"
)

// Line is one line of a file, checked and ready to be sent.
type Line struct {
	Number int
	Sum    string // Of the line as it is written; it tells one that was edited since.
	Change apiclient.Change
}

// Job sends the lines of a file and keeps what became of them.
type Job struct {
	Lines       []Line
	Concurrency int
	Results     *Results
	Client      *apiclient.Client
	Each        func(Result, error) // Told of every line that was tried, in their order.
}

// Run sends the lines. It stops early when the rest would fail alike: the results cannot be
// kept, or the service takes nothing from this account; the error is why.
func (j *Job) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := &Stopper{}
	send := func(ctx context.Context, line Line) (int, error) {
		if err := ctx.Err(); err != nil { // Not even begun.
			return 0, err
		}
		answer, err := j.Client.Send(ctx, line.Change)
		if stop.Watch(err) { // Here, and not in the order of the lines: a slow one must not let many more be sent.
			cancel()
		}
		if err != nil {
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
			stop.Fail(err)
			cancel()
		}
		j.Each(r, outcome.Err)
	}
	if err := j.Results.Sync(); err != nil {
		stop.Fail(err)
	}
	return stop.Err()
}

func resultOf(line Line, status int, err error) Result {
	r := Result{Line: line.Number, UUID: line.Change.UUID.String(), Sum: line.Sum, State: StateDone, OK: new(true), Status: status}
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
func (j *Job) Plan(known Earlier) error {
	var planned []Result
	for _, line := range j.Lines {
		if _, before := known[line.Number]; !before {
			planned = append(planned, Result{Line: line.Number, UUID: line.Change.UUID.String(), State: StatePlanned})
		}
	}
	if err := j.Results.Write(planned...); err != nil {
		return err
	}
	return j.Results.Sync()
}
