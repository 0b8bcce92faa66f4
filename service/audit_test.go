package service

import (
	"strconv"
	"testing"
)

// TestChanged compares documents whose values look like the end of others.
func TestChanged(t *testing.T) {
	t.Parallel()
	tests := []struct{ before, after, want string }{
		{``, `{}`, ``},
		{``, `{"uuid":"1","personUuid":"1","a":"x","b":null,"c":[],"d":{}}`, `a,c,d`},
		{`{"a":1,"b":"2"}`, `{"a":1,"b":"2"}`, ``},
		{`{"a":"x\\","b":"\"c\":1,"}`, `{"a":"x\\\"","b":"\"c\":1,"}`, `a`},
		{`{"a":[1,{"b":"]}"}],"c":1}`, `{"a":[1,{"b":"]}"}],"c":2}`, `c`},
		{`{"a":1}`, `{}`, `a`},
		{`{"c":1,"a":1,"b":1}`, `{"a":1,"b":2,"c":1}`, `b`},
		{`{"address":{"street":"S","city":"C"}}`, `{"address":null}`, `address.street,address.city`},
		{`{"address":null}`, `{"address":{"street":"S","city":null}}`, `address.street`},
		{`{"address":{"city":"C"},"city":1}`, `{"address":{"city":"D"},"city":1}`, `address.city`},
		{`{"result":null}`, `{"result":{"notes":"}"}}`, `result.notes`},
		{`{"externalMetadata":{"a@b.nl":1}}`, `{"externalMetadata":{"a@b.nl":2}}`, `externalMetadata`},
	}
	for i, test := range tests {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			if got := changed([]byte(test.before), []byte(test.after)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
