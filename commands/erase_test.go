package commands

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// An erasure that leaves tables to the operator names the operator's task. So does one whose files could not be cleaned
// at all.
func TestPersonEraseTellsWhatIsNotClean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status       int
		answer, want string
		code         int
	}{
		{
			status: 200,
			answer: `{"scrubbed":{"rewritten":["persons"],"later":["calls","audit"]}}`,
			want:   "(calls, audit) until its next cleaning: fundeskd clean",
		},
		{200, `{"scrubbed":{"rewritten":["persons"],"later":[]}}`, "", 0},
		{
			status: 503,
			answer: `{"title":"Unavailable","status":503,"detail":"it is erased, but the files could not be cleaned; ask for the same again"}`,
			want:   "ask for the same again",
			code:   10,
		},
	} {
		_, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
			answer := status(200, "application/json", `{"uuid":"`+testID+`","extensions":["erase"]}`)
			if r.Method == http.MethodPost {
				answer = status(test.status, "application/json", test.answer)
			}
			answer(w, r)
		}, "person erase", testID, "--reason", "request 17", "--yes")
		if code != test.code || !strings.Contains(errs, test.want) || test.want == "" && errs != "" {
			t.Errorf("%d %s: got %d %q, want %d %q", test.status, test.answer, code, errs, test.code, test.want)
		}
	}
}

// A change that was sent during the question of an erasure does not stop the rest of the erasure.
func TestErasureOfWhatIsBeingSent(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	box, err := outbox.Open(filepath.Join(state, "outbox"), outbox.Options{
		BaseURL: "https://a.example",
		Account: "agent",
	})
	servicetest.Check(t, err)
	var first outbox.Entry
	for range 2 {
		change, err := apiclient.UpdatePersonChange(apitype.MustParseUUID(testID), apitype.UpdatePersonRequest{
			Email: apitype.Set("a@example.org"),
		})
		servicetest.Check(t, err)
		entry, err := box.Add(outbox.Entry{Change: change, NotBefore: time.Now().Add(time.Hour)})
		servicetest.Check(t, err)
		if first.ID == "" {
			first = entry
		}
	}
	master, terminal, err := pty.Open()
	servicetest.Check(t, err)
	defer master.Close()
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_STATE_DIR": state}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(t.Context(), strings.Fields("person erase "+testID+" --local"),
			appOf(environment, terminal, io.Discard, terminal))
		terminal.Close()
	}()
	text, buffer := "", make([]byte, 256)
	for !strings.Contains(text, "[y/N] ") {
		n, err := master.Read(buffer)
		servicetest.Check(t, err)
		text += string(buffer[:n])
	}
	servicetest.Check(t, box.Drop(first.ID)) // As if it was sent.
	_, err = io.WriteString(master, "y\n")
	servicetest.Check(t, err)
	rest, _ := io.ReadAll(master) // The end of a terminal is an error.
	entries, _, err := box.List()
	code := <-ended
	if err != nil || len(entries) != 0 || code != 0 || !strings.Contains(string(rest), "erased 1 file") {
		t.Errorf("got %d left, %v, exit code %d and %q, want the other one erased", len(entries), err, code, rest)
	}
}
