package doctor

import (
	"net/http"
	"testing"
	"time"

	"fundesk/commands/cli"
)

// doctor reports how far a wrong clock is off.
func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := cli.NewSession(cli.App{Now: func() time.Time { return now }}, nil)
	clock := func(ahead time.Duration) string {
		return checkClock(s, http.Header{"Date": {now.Add(ahead).Format(http.TimeFormat)}})
	}
	for _, test := range []struct{ got, want string }{
		{checkClock(s, nil), "the service sends no time"},
		{clock(0), "differs from the service by 0s"},
		{clock(time.Minute), "differs from the service by -1m0s"},
		{clock(-time.Minute), "differs from the service by 1m0s"},
		{clock(61 * time.Second), "this machine differs from the service by -1m1s; check its clock"},
		{clock(-61 * time.Second), "this machine differs from the service by 1m1s; check its clock"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
