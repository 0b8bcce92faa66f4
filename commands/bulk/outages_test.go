package bulk

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient"
)

// Twenty items in a row that reach no service end a bulk operation. A refusal that concerns all of them ends it at
// once.
func TestOutages(t *testing.T) {
	t.Parallel()
	of := func(kind apiclient.Kind) error { return &apiclient.Error{Kind: kind} }
	var o outages
	for n := range 40 {
		if n == 19 && o.isHopeless(of(apiclient.KindNotFound)) {
			t.Error("a record that is not there: got that the others have no hope")
		}
		kind := []apiclient.Kind{apiclient.KindUnavailable, apiclient.KindUnknownOutcome}[n%2]
		if got, want := o.isHopeless(of(kind)), n >= 38; got != want {
			t.Errorf("%s, %d: got %t, want %t", kind, n, got, want)
		}
	}
	if o.isHopeless(nil) ||
		!o.isHopeless(of(apiclient.KindForbidden)) ||
		!o.isHopeless(of(apiclient.KindUnauthenticated)) {
		t.Error("got hope for an account that is refused, or none for one that is not")
	}
	var s Sum
	if s.UnmarshalText([]byte("01zz")) != nil || s != (Sum{}) {
		t.Errorf("a sum that is none: got %v, want nothing", s)
	}
	if s.UnmarshalText([]byte("0102030405060708090a")) != nil || s != (Sum{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("a sum of later versions: got %v, want its first bytes", s)
	}
	got := (Mistakes{Row: Row{Line: 3}, What: []string{"a", "b"}, Cause: errors.ErrUnsupported})
	if got.Error() != "line 3: a; b" || !errors.Is(got, errors.ErrUnsupported) {
		t.Errorf("got %v, want the line and both mistakes, and why", got)
	}
}

// Results that cannot be kept end a run with the reason.
func TestResultsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	results, err := OpenResults("/dev/full", 0)
	if err != nil {
		t.Skip("there is no full disk here")
	}
	client, err := apiclient.New(apiclient.Options{BaseURL: "http://127.0.0.1:1", Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	line := Line{Row: Row{Line: 1}, Change: apiclient.Change{Method: "PUT", Path: "/x"}}
	job := &Job{
		Lines:       slices.Values([]Line{line}),
		Concurrency: 1,
		Results:     results,
		Client:      client,
		Each:        func(Line, Result, error) { told++ },
	}
	for _, err := range []error{job.Plan(), job.Run(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "write the results file: ") {
			t.Errorf("got %v, want that the results cannot be written", err)
		}
	}
	if err := results.Close(); err != nil || told != 1 {
		t.Errorf("got %v and %d results, want the one of the line", err, told)
	}
	if err := WriteMistakes(t.TempDir()+"/none/wrong.csv", Form{}, nil, slices.Values([]Mistakes{})); err == nil ||
		!strings.HasPrefix(err.Error(), "write the file of mistakes: ") {
		t.Errorf("got %v, want that the mistakes cannot be written", err)
	}
}
