package apiclient_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// An answer that cannot be followed is an error, not an end without changes and not an endless loop.
func TestChangesThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	const change = `{"position":"2","time":"2026-11-20T09:15:00.000Z","entity":"person","uuid":"0b7c3a54-19f6-4a9d-8a43-5f0c1d2e3f40"}`
	for answer, kind := range map[string]apiclient.Kind{
		`{"changes":[` + change + `],"next":"2","hasMore":true}`: "",
		`{"changes":[],"next":"1","hasMore":false}`:              "",
		`{"changes":[],"next":"1","hasMore":true}`:               apiclient.KindUnavailable,
		`{"changes":[` + change + `],"next":"1"}`:                apiclient.KindUnavailable,
		`{"changes":[` + change + `]}`:                           apiclient.KindUnavailable,
		`{"changes":7,"next":"2"}`:                               apiclient.KindUnavailable,
		`[]`:                                                     apiclient.KindUnavailable,
		`410`:                                                    apiclient.KindUnavailable,
		`400`:                                                    apiclient.KindRejected,
	} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Fundesk-Extensions", "changes")
			status := 0
			_, _ = fmt.Sscanf(answer, "%d", &status)
			if status > 0 && r.URL.Path == "/fundesk/v1/changes" {
				w.WriteHeader(status)
			}
			fmt.Fprint(w, answer)
		})
		page, err := client.ListChanges(t.Context(), apitype.ChangeListOptions{After: "1"})
		servicetest.Same(t, "kind of "+answer, kind, apiclient.KindOf(err))
		servicetest.Same(t, "lost after "+answer, answer == "410", errors.Is(err, apiclient.ErrLostPosition))
		if page.HasMore && page.Until.String() != "2026-11-20T09:15:00.000Z" {
			t.Errorf("%s: got changes until %s, want the time of the last one", answer, page.Until)
		}
	}
}
