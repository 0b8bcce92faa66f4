//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// sendOnce sends a request once. Status is 0 if no answer came.
func sendOnce(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := weekClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(text)
}

// weekScript is an agent of a dialer, which knows no Desk.
type weekScript struct {
	*week
	agent string
	kept  *apitype.Lease // A call that the agent is still on.
}

// work takes a call and ends it. Some calls are kept until the next round.
func (s *weekScript) work() {
	lease := s.kept
	s.kept = nil
	if lease != nil {
		path := "/fundesk/v1/queue/leases/" + lease.LeaseUUID.String() + "/extend"
		status, _ := s.send("dialer", http.MethodPost, path, `{"leaseSeconds":900}`)
		if status != http.StatusOK {
			lease = nil
		}
	}
	if lease == nil {
		lease = s.take()
	}
	if lease == nil {
		return
	}
	call := "/api/v1/calls/" + lease.CallUUID.String() + "/actions/"
	switch luck := s.luck(20); {
	case luck < 11:
		s.attempt(call, lease)
	case luck < 15:
		s.complete(call, "reached")
	case luck < 16:
		s.complete(call, "no-more-calls")
	case luck < 17:
		s.later(lease)
	case luck < 18:
		s.release(lease, `{"notBefore":null,"userUuid":null}`)
	default:
		s.kept = lease
	}
}

func (s *weekScript) take() *apitype.Lease {
	body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":1,"leaseSeconds":900}`, apitype.NewUUID(), s.agent)
	status, answer := s.send("dialer", http.MethodPost, "/fundesk/v1/queue/take", body)
	var taken apitype.Taken
	if status != http.StatusOK || json.Unmarshal([]byte(answer), &taken) != nil || len(taken.Leases) == 0 {
		return nil
	}
	return &taken.Leases[0]
}

// attempt notes an attempt, sometimes with its reason.
func (s *weekScript) attempt(call string, lease *apitype.Lease) {
	at := apitype.NewTime(s.clock.now())
	body := fmt.Sprintf(`{"userUuid":%q,"attemptAt":%q}`, s.agent, at)
	status, _ := s.send("dialer", http.MethodPut, call+"add-attempt", body)
	if status != http.StatusOK || s.luck(3) > 0 {
		return
	}
	path := fmt.Sprintf("/fundesk/v1/calls/%s/attempts/%s", lease.CallUUID, at)
	s.send("dialer", http.MethodPut, path, `{"reason":"busy"}`)
}

func (s *weekScript) complete(call, code string) {
	note := fmt.Sprintf("note %d", s.front.next())
	body := fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":%q,"notes":%q}}`, s.agent, code, note)
	s.send("dialer", http.MethodPut, call+"complete", body)
}

// later releases a call with a callback for this agent.
func (s *weekScript) later(lease *apitype.Lease) {
	due := apitype.NewTime(s.clock.now().Add(time.Duration(60+s.luck(300)) * time.Minute))
	s.release(lease, fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, due, s.agent))
}

func (s *weekScript) release(lease *apitype.Lease, body string) {
	path := "/fundesk/v1/queue/leases/" + lease.LeaseUUID.String() + "/release"
	s.send("dialer", http.MethodPost, path, body)
}
