package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// No page shows a code of the interface where people have words for it, nor a part of a word.
func TestScreensSpeakInWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "gives_more", Label: "raised the amount"}}}
	for n, kind := range []apitype.CallType{apitype.CallHappy, apitype.CallWinback, apitype.CallHappy} {
		c := apitype.Call{
			UUID: callID(7 + n), Status: apitype.CallRequested, RequestedAt: w.ago(70 * 24 * time.Hour), LastUpdatedAt: w.ago(5 * time.Hour),
			PersonUUID: personID(1), RelatedCaseUUID: new(pledgeID(1)), Type: kind,
		}
		if n < 2 {
			c.Status, c.CompletedAt = apitype.CallCompleted, new(w.ago(5*time.Hour))
			c.Result = apitype.Embed(apitype.CallResult{ResultCode: new([]string{"gives_more", "wants_to_stop"}[n])})
		} else {
			c.AttemptsCount = 1
			c.Attempts = apitype.Embed([]apitype.CallAttempt{{AttemptAt: w.ago(30 * time.Hour), CreatedAt: w.ago(30 * time.Hour)}})
		}
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: c}})
	}
	d := newDriver(t, w.options)
	sawn := regexp.MustCompile(`[a-z]_[a-z]|winback|\b(veri|happ|winb|Age|Lang)\b|age try`)
	all := ""
	for _, keys := range []string{"", "n", "2", "2 G enter", "3", "3 G enter", "4", "4 G enter", "5", "6", "6 j j j"} {
		for _, width := range []int{80, 100, 120, 200} {
			d.send(tea.WindowSizeMsg{Width: width, Height: 50})
			d.enter(append([]string{"esc"}, strings.Fields(keys)...)...)
			all += d.text()
			for line := range strings.Lines(d.text()) {
				if found := sawn.FindString(line); found != "" {
					t.Errorf("%s at %d cells: got %q in %q", fmt.Sprintf("%q", keys), width, found, line)
				}
			}
		}
	}
	for _, want := range []string{"· happy ", "· happy call    70d", "HAPPY CALL · asked 70 days ago", "raised the amount", "wants to stop", "win-back", "Asked", "Language", "Dutch"} {
		if !strings.Contains(all, want) {
			t.Errorf("got no screen with %q", want)
		}
	}
}
