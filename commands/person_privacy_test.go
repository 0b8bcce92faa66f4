package commands

import (
	"net/http"
	"strings"
	"testing"
)

// An erasure after which tables wait for their operator is told with what the operator does;
// so is one whose files could not be cleaned at all.
func TestPersonEraseTellsWhatIsNotClean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status       int
		answer, want string
		code         int
	}{
		{200, `{"scrubbed":{"rewritten":["persons"],"later":["calls","audit"]}}`, "(calls, audit) until its next cleaning: fundeskd clean", 0},
		{200, `{"scrubbed":{"rewritten":["persons"],"later":[]}}`, "", 0},
		{503, `{"title":"Unavailable","status":503,"detail":"it is erased, but the files could not be cleaned; ask for the same again"}`, "ask for the same again", 10},
	} {
		_, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
			answer := status(200, "application/json", `{"uuid":"`+testID+`","extensions":["erase"]}`)
			if r.Method == http.MethodPost {
				answer = status(test.status, "application/json", test.answer)
			}
			answer(w, r)
		}, "person", "erase", testID, "--reason", "request 17", "--yes")
		if code != test.code || !strings.Contains(errs, test.want) || test.want == "" && errs != "" {
			t.Errorf("%d %s: got %d %q, want %d %q", test.status, test.answer, code, errs, test.code, test.want)
		}
	}
}
