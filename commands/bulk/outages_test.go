package bulk

import (
	"errors"
	"testing"

	"fundesk/apiclient"
)

// Twenty items in a row that find no service end a bulk operation, and one that is refused for
// all of them does at once.
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
	if o.isHopeless(nil) || !o.isHopeless(of(apiclient.KindForbidden)) || !o.isHopeless(of(apiclient.KindUnauthenticated)) {
		t.Error("got hope for an account that is refused, or none for one that is not")
	}
	var s Sum
	if s.UnmarshalText([]byte("01zz")) != nil || s != (Sum{}) {
		t.Errorf("a sum that is none: got %v, want nothing", s)
	}
	if s.UnmarshalText([]byte("0102030405060708090a")) != nil || s != (Sum{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("a sum of later versions: got %v, want its first bytes", s)
	}
	if got := (Mistakes{Row: Row{Line: 3}, What: []string{"a", "b"}, Cause: errors.ErrUnsupported}); got.Error() != "line 3: a; b" || !errors.Is(got, errors.ErrUnsupported) {
		t.Errorf("got %v, want the line and both mistakes, and why", got)
	}
}
