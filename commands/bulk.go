package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
)

// defaultConcurrency is how many requests of a bulk operation run at a time.
const defaultConcurrency = 4

// maxConcurrency keeps one user from taking a service down.
const maxConcurrency = 64

// maxLine is the longest line of bulk input, in bytes.
const maxLine = 16 << 20

// allowEmptyFlag declares the flag of a command that reads identifiers from stdin.
func allowEmptyFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-empty", false, "with -: stdin may name nothing")
}

// targets are the identifiers of the arguments, or of stdin for "-". All are checked
// before the first request.
func (s *session) targets(ctx context.Context, args []string, allowEmpty bool) ([]apitype.UUID, error) {
	if len(args) == 0 {
		return nil, usageError("no UUID is given")
	}
	if len(args) == 1 && args[0] == "-" {
		ids, err := unlessInterrupted(ctx, func() ([]apitype.UUID, error) { return readTargets(s.app.In) })
		if err == nil && len(ids) == 0 && !allowEmpty {
			// As kubectl does: an empty pipe is more often a command that failed before than
			// a wish to change nothing.
			err = withHint(usageError("stdin named no record; nothing was done"), "add --allow-empty where that is fine")
		}
		return ids, err
	}
	ids := make([]apitype.UUID, len(args))
	for i, arg := range args {
		id, err := parseID(arg)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// distinct is every identifier once, in the order of the first: a record that is named
// twice, by a list that was put together from two, must not get two attempts.
func distinct(ids []apitype.UUID) []apitype.UUID {
	seen := make(map[apitype.UUID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id apitype.UUID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// readTargets reads one identifier a line: bare, as a JSON string, or as a JSON object
// with a uuid.
func readTargets(in io.Reader) ([]apitype.UUID, error) {
	var ids []apitype.UUID
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), byteOrderMark))
		if len(line) == 0 {
			continue
		}
		id, err := lineTarget(line)
		if err != nil {
			return nil, usageError("stdin line " + strconv.Itoa(number) + " " + err.Error())
		}
		ids = append(ids, id)
	}
	if err := lines.Err(); err != nil {
		return nil, usageError("read stdin: " + lineFault(err).Error())
	}
	return ids, nil
}

// byteOrderMark is what programs of Windows begin a file with.
var byteOrderMark = []byte("\ufeff")

// lineFault is why no further line can be read.
func lineFault(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return errors.New("a line is longer than 16 MiB")
	}
	return err
}

func lineTarget(line []byte) (apitype.UUID, error) {
	text := string(line)
	switch line[0] {
	case '{':
		if !json.Valid(line) {
			return apitype.UUID{}, errJSON
		}
		return apitype.RecordUUID(line)
	case '"':
		if json.Unmarshal(line, &text) != nil {
			return apitype.UUID{}, errJSON
		}
	}
	return apitype.ParseUUID(strings.TrimSpace(text))
}

// inOrder runs do for each item, several at a time, and yields the results in the
// order of the items. When the caller stops, or the context ends, no further one is
// started, and those that run are waited for.
func inOrder[I, V any](ctx context.Context, concurrency int, items []I, do func(context.Context, I) (V, error)) iter.Seq[ordered[I, V]] {
	return func(yield func(ordered[I, V]) bool) {
		slots := make(chan struct{}, max(1, concurrency))
		pending := make(chan chan ordered[I, V], len(items))
		stop := make(chan struct{})
		go func() {
			defer close(pending)
			for _, item := range items {
				select {
				case slots <- struct{}{}:
				case <-stop:
					return
				}
				answer := make(chan ordered[I, V], 1)
				pending <- answer
				go func() {
					defer func() { <-slots }()
					value, err := do(ctx, item)
					answer <- ordered[I, V]{id: item, value: value, err: err}
				}()
			}
		}()
		stopped := false
		for answer := range pending {
			outcome := <-answer
			if !stopped && !yield(outcome) {
				stopped = true
				close(stop)
			}
		}
	}
}

// ordered is the result for one item.
type ordered[I, V any] struct {
	id    I
	value V
	err   error
}
