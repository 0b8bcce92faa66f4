package service

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	a, b, c := apitype.UUID{1}, apitype.UUID{2}, apitype.UUID{3}
	tests := []struct {
		name   string
		scope  Scope
		filter []apitype.UUID
		want   Scope
		ok     bool
	}{
		{"all", Scope{All: true}, nil, Scope{All: true}, true},
		{"all, filtered", Scope{All: true}, []apitype.UUID{b, a, b}, Scope{Organizations: []apitype.UUID{a, b}}, true},
		{"some", Scope{Organizations: []apitype.UUID{b, a}}, nil, Scope{Organizations: []apitype.UUID{a, b}}, true},
		{"some, filtered", Scope{Organizations: []apitype.UUID{b, a}}, []apitype.UUID{c, b}, Scope{Organizations: []apitype.UUID{b}}, true},
		{"only foreign ones", Scope{Organizations: []apitype.UUID{a}}, []apitype.UUID{c}, Scope{}, false},
		{"none", Scope{}, nil, Scope{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := Scope{All: test.scope.All, Organizations: append([]apitype.UUID(nil), test.scope.Organizations...)}
			got, ok := test.scope.narrow(test.filter)
			if diff := cmp.Diff(test.want, got); diff != "" || ok != test.ok {
				t.Errorf("got ok %v, want %v; %s", ok, test.ok, diff)
			}
			if diff := cmp.Diff(before, test.scope); diff != "" {
				t.Errorf("the account's own scope changed: %s", diff)
			}
		})
	}
}
