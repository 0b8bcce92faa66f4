package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// An error about an unknown name lists the known names, as many as a person reads, or suggests the UUID if there are
// none.
func TestHintOfAnUnknownUser(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0:  "give the UUID",
		2:  "users: user 00, user 01",
		25: "user 19 and 5 more",
	} {
		var users []apitype.UserName
		for i := range n {
			users = append(users, apitype.UserName{UUID: apitype.NewUUID(), Name: fmt.Sprintf("user %02d", i)})
		}
		_, err := UserNamed(users, "completed-by", "nobody")
		hinted, _ := errors.AsType[Hinted](err)
		if !strings.Contains(hinted.hint, want) || strings.Contains(hinted.hint, "user 20") {
			t.Errorf("%d users: got %q, want %q", n, hinted.hint, want)
		}
	}
}
