package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestNotesForTheNextAgent leaves notes with a call that goes on waiting: whoever takes or opens it next
// reads them, and no list shows them.
// Promise S65: a note is given with the next lease, in no list, and goes with its call.
func TestNotesForTheNextAgent(t *testing.T) { onEngines(t, testNotesForTheNextAgent) }

func testNotesForTheNextAgent(t *testing.T, f *floor) {
	donor := f.person(`"nl"`)
	call := f.call(donor, time.Hour, "happy_call")
	anneke, joost := apitype.NewUUID(), apitype.NewUUID()
	path := "/api/v1/calls/" + call.String() + "/actions/add-attempt"
	notes := "/fundesk/v1/queue/calls/" + call.String() + "/notes"
	leave := func(text string) {
		t.Helper()
		f.want(204, "POST", notes, `{"text":`+quoted(text)+`}`)
	}
	if taken := f.take(anneke, ""); len(taken.Leases) != 1 || taken.Leases[0].Note != nil {
		t.Fatalf("got %+v before any note", taken)
	}
	f.want(200, "PUT", path, `{}`)
	leave("wife says: call Tuesday 18:00")
	leave("wife says: call Tuesday 18:00") // The answer was lost: it is sent again.
	f.Clock.Advance(5 * time.Hour)

	request := apitype.NewUUID()
	taken := f.takeAs(request, joost, "")
	if len(taken.Leases) != 1 || noteOf(taken.Leases[0]) != "wife says: call Tuesday 18:00" {
		t.Fatalf("got %+v for the next agent", taken)
	}
	if again := f.takeAs(request, joost, ""); len(again.Leases) != 1 || noteOf(again.Leases[0]) != noteOf(taken.Leases[0]) {
		t.Errorf("got %+v for the same request", again)
	}
	if list := string(f.Do(f.token, "GET", "/fundesk/v1/queue/leases", "").Body); strings.Contains(list, "wife") {
		t.Errorf("the list of leases shows the note: %s", list)
	}
	f.want(200, "PUT", path, `{}`)
	leave("answering machine")
	both := "wife says: call Tuesday 18:00\nanswering machine"
	if _, lease, _ := f.choose(anneke, call); noteOf(lease) != both {
		t.Errorf("got %q for an agent who opens the call", noteOf(lease))
	}
	officer := f.Token(servicetest.May(service.PersonsErase))
	export := func() string {
		return string(f.Do(officer, "GET", "/fundesk/v1/persons/"+donor.String()+"/export", "").Body)
	}
	if got := export(); !strings.Contains(got, quoted(both)) {
		t.Errorf("the export has no note: %s", got)
	}
	tooLong := f.Do(f.token, "POST", notes, `{"text":"`+strings.Repeat("x", apitype.MaxNotes+1)+`"}`)
	if tooLong.Status != 400 || !strings.Contains(string(tooLong.Body), "/text") {
		t.Errorf("got %d %s for a note that is too long", tooLong.Status, tooLong.Body)
	}
	f.want(200, "POST", "/fundesk/v1/queue/release", `{"userUuid":"`+anneke.String()+`"}`)
	f.want(200, "PUT", "/api/v1/calls/"+call.String()+"/actions/complete", `{}`)
	if got := export(); !strings.Contains(got, `"notes":[]`) {
		t.Errorf("a note outlives its call: %s", got)
	}
}

// TestOldestNotesGo fills the notes of a call: those that do not fit any more are the oldest lines.
func TestOldestNotesGo(t *testing.T) { onEngines(t, testOldestNotesGo) }

func testOldestNotesGo(t *testing.T, f *floor) {
	call := f.call(f.person("null"), time.Hour, "happy_call")
	notes := "/fundesk/v1/queue/calls/" + call.String() + "/notes"
	long := strings.Repeat("é", apitype.MaxNotes-6)
	for _, text := range []string{"first", long, "last"} {
		f.want(204, "POST", notes, `{"text":`+quoted(text)+`}`)
	}
	if _, lease, _ := f.choose(apitype.NewUUID(), call); noteOf(lease) != long+"\nlast" {
		t.Errorf("got %d bytes of notes, want those of the last two", len(noteOf(lease)))
	}
}

func noteOf(lease apitype.Lease) string {
	if lease.Note == nil {
		return ""
	}
	return *lease.Note
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}
