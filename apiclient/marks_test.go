package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Whatever a service does with the good entries beside a bad one, in the end the good
// ones were accepted by a request without it.
func TestMarksUnderPersonalities(t *testing.T) {
	t.Parallel()
	for _, p := range servicetest.Personalities() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			handler := s.h.As(p)
			var accepted apitype.MarkProcessedRequest
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, r)
				if recorder.Code == http.StatusNoContent {
					decode(t, bytes.NewReader(body), &accepted)
				}
				copyAnswer(w, recorder)
			}))
			defer server.Close()
			token := s.h.Token()
			client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil }})
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			unknown := apitype.NewUUID()
			entries := []apitype.ProcessedEntry{
				{EntityName: apitype.EntityCall, EntityUUID: s.call, ProcessedAt: *s.at()},
				{EntityName: apitype.EntityCall, EntityUUID: unknown, ProcessedAt: *s.at()},
				{EntityName: apitype.EntityPerson, EntityUUID: s.person, ProcessedAt: *s.at()},
			}
			err = client.EntityAccess.MarkProcessed(t.Context(), entries)
			refused, named := errors.AsType[*apiclient.MarkError](err)
			switch {
			case !named || len(refused.Failed) != 1 || refused.Failed[0].EntityUUID != unknown.String():
				t.Errorf("got %v, want the unknown call refused", err)
			case len(accepted.Entries) != 2 || accepted.Entries[0].EntityUUID != s.call || accepted.Entries[1].EntityUUID != s.person:
				t.Errorf("got %v accepted, want the two good entries", accepted.Entries)
			}
		})
	}
}
