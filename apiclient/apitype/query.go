package apitype

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// queryReader reads parameters and collects their violations: an unknown one, one given twice, an empty value, a value
// of another form. Spec gap: R13.
type queryReader struct {
	values     url.Values
	known      []string
	violations Violations
}

// one returns the only value of a parameter. ok is false if it is absent or wrong.
func (q *queryReader) one(name string) (value string, ok bool) {
	q.known = append(q.known, name)
	values, given := q.values[name]
	if !given {
		return "", false
	}
	if len(values) > 1 {
		q.violations.addParameter(name, "must be given once")
		return "", false
	}
	if values[0] == "" {
		q.violations.addParameter(name, "must not be empty")
		return "", false
	}
	if problem := checkText(values[0], maxText); problem != "" {
		q.violations.addParameter(name, "%s", problem)
		return "", false
	}
	return values[0], true
}

func (q *queryReader) text(name string) string {
	value, _ := q.one(name)
	return value
}

// list returns the values of an array parameter, repeated or separated by commas. Spec gap: L7.
func (q *queryReader) list(name string) []string {
	q.known = append(q.known, name)
	var all []string
	for _, value := range q.values[name] {
		for part := range strings.SplitSeq(value, ",") {
			if part == "" {
				q.violations.addParameter(name, "must not be empty")
				return nil
			}
			all = append(all, part)
		}
	}
	return all
}

// MaxIdentifiers bounds the identifiers of one parameter.
const MaxIdentifiers = 500

func (q *queryReader) uuids(name string) []UUID {
	var ids []UUID
	texts := q.list(name)
	if len(texts) > MaxIdentifiers {
		q.violations.addParameter(name, "must have %d items at most", MaxIdentifiers)
		return nil
	}
	for _, text := range texts {
		id, err := ParseUUID(text)
		if err != nil {
			q.violations.addParameter(name, "%s", err.Error())
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// pageSize returns a number of records. Spec gap: L1.
func (q *queryReader) pageSize(name string) *int {
	value, ok := q.one(name)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(value)
	isWhole := err == nil && !strings.HasPrefix(value, "+")
	if !isWhole || n < 0 || n > MaxPageSize {
		q.violations.addParameter(name, "must be a whole number from 0 to %d", MaxPageSize)
		return nil
	}
	return &n
}

// parsed reads a parameter with parse. Its error is the violation.
func parsed[T any](q *queryReader, name string, parse func(string) (T, error)) *T {
	value, ok := q.one(name)
	if !ok {
		return nil
	}
	result, err := parse(value)
	if err != nil {
		q.violations.addParameter(name, "%s", err.Error())
		return nil
	}
	return &result
}

// finish adds a violation for each unknown parameter, and returns all.
func (q *queryReader) finish() Violations {
	for name := range q.values {
		if !slices.Contains(q.known, name) {
			q.violations.addParameter(
				name,
				"is not a parameter of this list; there are %s",
				strings.Join(q.known, ", "),
			)
		}
	}
	slices.SortStableFunc(q.violations, func(a, b Violation) int { return strings.Compare(a.Parameter, b.Parameter) })
	return q.violations
}

var errBool = errors.New("must be true or false")

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errBool
	}
	return text == "true", nil
}
