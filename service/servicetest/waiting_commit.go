package servicetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
)

// WaitingCommit shows lists as a service does while one commit waits for its standby: its call is not in them, and the
// settled time is before it.
type WaitingCommit struct {
	http.RoundTripper
	Call    apitype.UUID
	Settled time.Time // Zero if no commit waits.
}

// RoundTrip implements http.RoundTripper.
func (w *WaitingCommit) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err != nil || w.Settled.IsZero() || r.URL.Path != "/api/v1/calls" {
		return answer, err
	}
	var page struct {
		PageInfo json.RawMessage `json:"pageInfo"`
		Edges    []struct {
			Cursor string `json:"cursor"`
			Node   map[string]any
		} `json:"edges"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return nil, err
	}
	for i := range page.Edges {
		if page.Edges[i].Node["uuid"] == w.Call.String() {
			page.Edges = slices.Delete(page.Edges, i, i+1)
			break
		}
	}
	body, err := json.Marshal(page)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set(apitype.SettledHeader, apitype.NewTime(w.Settled).String())
	answer.Header.Del("Content-Length")
	return answer, err
}
