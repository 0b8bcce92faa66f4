package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Good entries beside a bad one are accepted in the end, by a request without the bad one.
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
			client, err := apiclient.New(apiclient.Options{
				BaseURL: server.URL,
				Token:   func(context.Context) (string, error) { return token, nil },
			})
			servicetest.Check(t, err)
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
			case len(accepted.Entries) != 2 ||
				accepted.Entries[0].EntityUUID != s.call ||
				accepted.Entries[1].EntityUUID != s.person:
				t.Errorf("got %v accepted, want the two good entries", accepted.Entries)
			}
		})
	}
}

func TestMarkProcessedConverges(t *testing.T) {
	t.Parallel()
	for _, savesGood := range []bool{true, false} {
		t.Run(fmt.Sprintf("good ones saved %v", savesGood), func(t *testing.T) {
			t.Parallel()
			marked := map[apitype.UUID]bool{}
			var bad []apitype.UUID
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var request apitype.MarkProcessedRequest
				decode(t, r.Body, &request)
				if len(request.Entries) > 500 {
					t.Errorf("got %d entries in a request", len(request.Entries))
				}
				var failed []string
				for _, entry := range request.Entries {
					if slices.Contains(bad, entry.EntityUUID) {
						failed = append(
							failed,
							fmt.Sprintf(`{"entityName":"call","entityUuid":%q,"errorMessage":"unknown"}`,
								entry.EntityUUID),
						)
					}
				}
				for _, entry := range request.Entries {
					if (savesGood || len(failed) == 0) && !slices.Contains(bad, entry.EntityUUID) {
						marked[entry.EntityUUID] = true
					}
				}
				if len(failed) > 0 {
					answer(w, 400, `{"errors":[`+join(failed)+`]}`)
					return
				}
				w.WriteHeader(204)
			})
			var entries []apitype.ProcessedEntry
			for i := range 1200 {
				id := apitype.NewUUID()
				entries = append(entries, apitype.ProcessedEntry{
					EntityName:  apitype.EntityCall,
					EntityUUID:  id,
					ProcessedAt: apitype.NewTime(servicetest.Start),
				})
				if i%400 == 0 {
					bad = append(bad, id)
				}
			}
			err := client.EntityAccess.MarkProcessed(t.Context(), entries)
			var refused *apiclient.MarkError
			if !errors.As(err, &refused) || len(refused.Failed) != len(bad) || len(marked) != len(entries)-len(bad) {
				t.Errorf("got %v and %d marked, want %d failed and all others marked", err, len(marked), len(bad))
			}
		})
	}
}

func copyAnswer(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}
