package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// The answer to a change never shows less than the change: not if another change comes before the answer is read, and
// not if nothing can be read any more. Spec gap: S32.
func TestAnswersShowTheChange(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		w := newWorldOn(t, f.Harness)
		var between func() error
		plain := w.Handler
		w.Serve(w.On(hooked{w.Store, next(func() error { return between() })}))
		meddled := w.Handler
		w.Handler = plain
		call, pledge := callPath(w.a.call), pledgePath(w.a.pledge)
		attempt, update := call+"/actions/add-attempt", pledge+"/actions/update"
		n := 0 // Of the changes, each of which is another one.
		for _, test := range []struct{ record, path, body, between, betweenBody, want string }{
			{call, attempt, `{"attemptAt":"2026-11-20T08:%02d:00Z"}`, attempt, `{}`, "requested"},
			{pledge, update, `{"externalMetadata":{"a":%d}}`, update, `{"externalMetadata":{"b":1}}`, "lead"},
			{"", "/api/v1/calls", w.callBody(w.a), update, `{"externalMetadata":{"c":1}}`, "requested"},
			{call, call + "/actions/complete", `{}`, update, `{"externalMetadata":{"d":1}}`, "completed"},
		} {
			for _, refusal := range []error{service.ErrNoRow, service.ErrBusy, nil} {
				if test.want == "completed" && refusal != nil {
					continue // A repeat changes nothing.
				}
				method, body, revision := http.MethodPost, test.body, int64(1)
				if test.record != "" {
					n++
					method, revision = http.MethodPut, w.revision(t, test.record)+1
				}
				if strings.Contains(body, "%") {
					body = fmt.Sprintf(body, n)
				}
				between = func() error {
					if refusal != nil {
						return refusal
					}
					w.Handler = plain
					w.Want(http.StatusOK, w.all, http.MethodPut, test.between, test.betweenBody)
					return nil
				}
				w.Handler = meddled
				got := w.Do(w.all, method, test.path, body)
				w.Handler = plain
				var shown apitype.SentRecord
				err := json.Unmarshal(got.Body, &shown)
				if err != nil ||
					got.Status/100 != 2 ||
					!strings.Contains(string(got.Body), `"status":"`+test.want+`"`) {
					t.Errorf("%s, then %v: got %d %s, want what was changed", test.path, refusal, got.Status, got.Body)
				}
				if want := fmt.Sprintf(`"%d"`, revision); got.Header.Get("Etag") != want {
					t.Errorf("%s, then %v: got ETag %s, want %s", test.path, refusal, got.Header.Get("Etag"), want)
				}
				if isSent := got.Header.Get(apitype.SentHeader) != ""; isSent != (refusal != nil) {
					t.Errorf("%s, then %v: got %s: %t", test.path, refusal, apitype.SentHeader, isSent)
				}
			}
		}
	})
}

// revision returns the revision of a record.
func (w *world) revision(t *testing.T, path string) int64 {
	t.Helper()
	tag := w.get(path).Header.Get("Etag")
	revision, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
	servicetest.Check(t, err)
	return revision
}
