package render

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"

	"fundesk/apiclient/apitype"
)

// Query is a jq expression. Numbers keep their text; the environment and other files
// are out of its reach.
type Query struct {
	code   *gojq.Code
	values []any // Of its variables.
}

// Variable is a text that an expression finds under $ and its name.
type Variable struct{ Name, Value string }

// QueryError is an expression that failed on the data.
type QueryError struct{ cause error }

// Error returns jq's error without the values in it, which may be a donor's. An error that the expression raises by
// error(…) is unchanged.
func (e *QueryError) Error() string {
	text := e.cause.Error()
	if _, raised := errors.AsType[gojq.ValueError](e.cause); !raised {
		for _, value := range []string{" (", ` "`} {
			text, _, _ = strings.Cut(text, value)
		}
	}
	return "jq: " + Clean(text)
}

// ParseQuery compiles an expression.
func ParseQuery(expression string, variables ...Variable) (*Query, error) {
	names := make([]string, len(variables))
	values := make([]any, len(variables))
	for i, v := range variables {
		names[i], values[i] = "$"+v.Name, v.Value
	}
	parsed, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("jq expression %q: %s", Clean(expression), Clean(err.Error()))
	}
	code, err := gojq.Compile(parsed, gojq.WithVariables(names))
	if err != nil {
		return nil, fmt.Errorf("jq expression %q: %s", Clean(expression), Clean(err.Error()))
	}
	return &Query{code: code, values: values}, nil
}

// run writes the results of the expression for a value, one a line, and returns their number. There may be infinitely
// many, so it writes each one at once.
func (q *Query) run(w io.Writer, value any, o Options) (int, error) {
	var count int
	var err error
	for results := q.code.Run(value, q.values...); ; count++ {
		result, ok := results.Next()
		if !ok {
			return count, nil
		}
		var line []byte
		text, isText := result.(string)
		if isText && (o.Format == ID || o.Format == TSV) {
			if o.Terminal {
				text = CleanLines(text)
			}
			line = []byte(text)
		} else {
			if err, failed := result.(error); failed {
				if halt, halts := errors.AsType[*gojq.HaltError](err); halts && halt.Value() == nil {
					return count, nil
				}
				return count, &QueryError{cause: err}
			}
			line, err = gojq.Marshal(result)
			if err != nil {
				return count, &QueryError{cause: err}
			}
			if o.Terminal && o.Format == JSON {
				line = indent(line)
			} else if o.Terminal {
				line = CleanJSON(line)
			}
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return count, err
		}
	}
}

// maxQueried is about how many values a document may have: each takes a hundred bytes in memory.
const maxQueried = 500_000

var errTooLarge = errors.New("the answer holds too many values for --jq")

// read returns a record as the query sees it.
func (q *Query) read(raw []byte) (any, error) {
	if bytes.Count(raw, []byte{','}) > maxQueried {
		return nil, errTooLarge
	}
	var value any
	if err := apitype.DecodeExact(raw, &value); err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	return value, nil
}

// Print runs the query over one JSON document.
func (q *Query) Print(out io.Writer, o Options, raw []byte) error {
	value, err := q.read(raw)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	_, err = q.run(w, value, o)
	return cmp.Or(err, w.Flush())
}
