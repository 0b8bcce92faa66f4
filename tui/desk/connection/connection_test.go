package connection

import (
	"errors"
	"net/http"
	"testing"

	"fundesk/apiclient"
)

// After a login the sender begins at once, whichever way the token was lost: refused by the service, a session that the
// identity provider has ended, or another account's.
func TestSendsAgainAfterALogin(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]error{
		"refused by the service": &apiclient.Error{
			Kind:   apiclient.KindUnauthenticated,
			Status: http.StatusUnauthorized,
		},
		"ended at the provider": &apiclient.Error{
			Kind:    apiclient.KindUnauthenticated,
			Message: "your session has ended",
		},
		"of another account": &apiclient.Error{
			Kind: apiclient.KindUnauthenticated,
			Err:  apiclient.ErrOtherAccount,
		},
		"of a service that fails": &apiclient.Error{Kind: apiclient.KindUnavailable, Err: errors.New("down")},
	} {
		var c State
		c.note(lost)
		_, again := c.note(nil)
		if want := apiclient.KindOf(lost) == apiclient.KindUnauthenticated; again != want {
			t.Errorf("%s: got again %v after the next answer, want %v", name, again, want)
		}
	}
}
