package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

func open(t *testing.T, dir, baseURL string) *Outbox {
	t.Helper()
	box, err := Open(dir, Options{BaseURL: baseURL, Account: "embedded"})
	servicetest.Check(t, err)
	return box
}

func attempt(t *testing.T, id apitype.UUID) Entry {
	t.Helper()
	change, err := apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{
		AttemptAt: new(apitype.NewTime(time.Now())),
	})
	servicetest.Check(t, err)
	return Entry{Change: change}
}

func completion(t *testing.T, id apitype.UUID) Entry {
	t.Helper()
	change, err := apiclient.CompleteCallChange(id, apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{
		CompletedAt: new(apitype.NewTime(time.Now())), ResultCode: new("reached"), Notes: new("spoke with her"),
	}})
	servicetest.Check(t, err)
	return Entry{Change: change}
}

func add(t *testing.T, box *Outbox, e Entry) Entry {
	t.Helper()
	e, err := box.Add(e)
	servicetest.Check(t, err)
	return e
}

func list(t *testing.T, box *Outbox) []Entry {
	t.Helper()
	entries, damaged, err := box.List()
	servicetest.Check(t, err)
	if len(damaged) > 0 {
		t.Fatalf("damaged: got %v, want none", damaged)
	}
	return entries
}

// settleAll sends until nothing waits; the waits after failures are skipped.
func settleAll(t *testing.T, box *Outbox, client *apiclient.Client) Report {
	t.Helper()
	sender := box.Sender(client, SenderOptions{Patience: time.Millisecond})
	var report Report
	for range 10 {
		var err error
		report, err = sender.SendDue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if report.Waiting == 0 {
			break
		}
	}
	return report
}

func TestEntryIsKeptAsItWasMade(t *testing.T) {
	t.Parallel()
	box := open(t, t.TempDir(), "https://a.example")
	made := completion(t, apitype.NewUUID())
	made.NotBefore = time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	added := add(t, box, made)
	if added.State != StateHeld {
		t.Errorf("state: got %s, want %s", added.State, StateHeld)
	}
	got, err := box.Show(added.ID)
	servicetest.Check(t, err)
	servicetest.Same(t, "entry differs (-added +read)", added, got)
	if string(got.Body) != string(made.Body) {
		t.Errorf("body: got %s, want %s", got.Body, made.Body)
	}
	info, err := os.Stat(filepath.Join(box.dir, dirQueued, added.ID+".json"))
	servicetest.Check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %o, want 600", info.Mode().Perm())
	}
}

func TestRecallDropRequeue(t *testing.T) {
	t.Parallel()
	server := newService(t, faultRefused)
	box := open(t, t.TempDir(), server.URL)
	held := attempt(t, apitype.NewUUID())
	held.NotBefore = time.Now().Add(time.Hour)
	held = add(t, box, held)
	if _, err := box.Recall(held.ID); err != nil {
		t.Errorf("recall of a held entry: got %v, want none", err)
	}
	if _, err := box.Recall(held.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("second recall: got %v, want %v", err, ErrNotFound)
	}
	refused := add(t, box, completion(t, apitype.NewUUID()))
	if report := settleAll(t, box, server.client(t)); report.Rejected != 1 {
		t.Fatalf("refused: got %+v, want one rejected", report)
	}
	e, err := box.Show(refused.ID)
	if err != nil || e.State != StateRejected || !strings.Contains(e.LastError, "the call is cancelled") {
		t.Fatalf("refused entry: got %+v, %v, want rejected with the service's text", e, err)
	}
	if _, err := box.Recall(refused.ID); !errors.Is(err, ErrSent) {
		t.Errorf("recall of a refused entry: got %v, want %v", err, ErrSent)
	}
	servicetest.Check(t, box.Requeue(refused.ID))
	settleAll(t, box, server.client(t))
	if n := server.count(refused.UUID, "complete"); n != 1 {
		t.Errorf("applied after requeue: got %d, want 1", n)
	}
	if left := list(t, box); len(left) != 0 {
		t.Errorf("left: got %v, want none", left)
	}
}

func TestLostAttemptIsNotRepeatedBeforePatienceEnds(t *testing.T) {
	t.Parallel()
	server := newService(t, faultResetBefore)
	box := open(t, t.TempDir(), server.URL)
	e := add(t, box, attempt(t, apitype.NewUUID()))
	sender := box.Sender(server.client(t), SenderOptions{Patience: time.Hour})
	for range 3 {
		if _, err := sender.SendDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.count(e.UUID, "add-attempt"); n != 0 {
		t.Errorf("applied: got %d, want 0", n)
	}
	if left := list(t, box); len(left) != 1 || left[0].State != StateUnsure {
		t.Errorf("left: got %+v, want one unsure entry", left)
	}
}

func TestChangesOfOneCallGoInOrderAndOthersOvertake(t *testing.T) {
	t.Parallel()
	server := newService(t)
	box := open(t, t.TempDir(), server.URL)
	slow, quick := apitype.NewUUID(), apitype.NewUUID()
	first := attempt(t, slow)
	first.NotBefore = time.Now().Add(time.Hour)
	first = add(t, box, first)
	add(t, box, completion(t, slow))
	add(t, box, completion(t, quick))
	sender := box.Sender(server.client(t), SenderOptions{})
	if _, err := sender.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := server.applied; len(got) != 1 || got[0] != quick.String()+" complete" {
		t.Fatalf("applied: got %v, want the other call alone", got)
	}
	servicetest.Check(t, box.Release())
	if _, err := sender.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{quick.String() + " complete", slow.String() + " add-attempt", slow.String() + " complete"}
	servicetest.Same(t, "order", want, server.applied)
	_ = first
}

func TestSeveralSendersSendEachOnce(t *testing.T) {
	t.Parallel()
	server := newService(t)
	dir := t.TempDir()
	ids := make([]apitype.UUID, 24)
	for i := range ids {
		ids[i] = apitype.NewUUID()
		add(t, open(t, dir, server.URL), attempt(t, ids[i]))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 4)
	for range 4 {
		sender := open(t, dir, server.URL).Sender(server.client(t), SenderOptions{})
		go func() {
			_, err := sender.SendDue(ctx)
			done <- err
		}()
	}
	for range 4 {
		servicetest.Report(t, <-done)
	}
	for _, id := range ids {
		if n := server.count(id, "add-attempt"); n != 1 {
			t.Errorf("attempts of %s: got %d, want 1", id, n)
		}
	}
	if server.most > 8 {
		t.Errorf("in flight: got %d, want at most 2 a sender", server.most)
	}
}

func TestEntriesOfOthersAreNeverSent(t *testing.T) {
	t.Parallel()
	server := newService(t)
	dir := t.TempDir()
	add(t, open(t, dir, "https://elsewhere.example"), attempt(t, apitype.NewUUID()))
	other, err := Open(dir, Options{BaseURL: server.URL, Account: "somebody else"})
	servicetest.Check(t, err)
	add(t, other, attempt(t, apitype.NewUUID()))
	box := open(t, dir, server.URL)
	if report := settleAll(t, box, server.client(t)); report != (Report{}) {
		t.Errorf("report: got %+v, want nothing done", report)
	}
	if len(server.applied) != 0 {
		t.Errorf("applied: got %v, want none", server.applied)
	}
	all, err := Open(dir, Options{})
	servicetest.Check(t, err)
	if n := len(list(t, all)); n != 2 {
		t.Errorf("all entries: got %d, want 2", n)
	}
}

// Another account logged in while the program ran.
func TestNothingGoesOutWithAnotherAccountsToken(t *testing.T) {
	t.Parallel()
	server := newService(t)
	box, err := Open(t.TempDir(), Options{BaseURL: server.URL, Account: "the account of before"})
	servicetest.Check(t, err)
	add(t, box, attempt(t, apitype.NewUUID()))
	report, err := box.Sender(server.client(t), SenderOptions{}).SendDue(t.Context())
	servicetest.Check(t, err)
	if apiclient.KindOf(report.Err) != apiclient.KindUnauthenticated ||
		report.Waiting != 1 ||
		len(server.applied) != 0 {
		t.Errorf("got %+v and %v applied, want it to wait, unauthenticated", report, server.applied)
	}
}

// An open program asks for another account's token once a minute, not at every look into the outbox. Its command may
// print it, or ask the user.
func TestTokenOfAnotherAccountIsAskedForOnceAMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	box, err := Open(t.TempDir(), Options{
		BaseURL: "http://127.0.0.1:1",
		Account: "the account of before",
		Now:     func() time.Time { return now },
	})
	servicetest.Check(t, err)
	asked := 0
	client, err := apiclient.New(apiclient.Options{
		BaseURL: "http://127.0.0.1:1",
		Token: func(context.Context) (string, error) {
			asked++
			return "", nil
		},
	})
	servicetest.Check(t, err)
	sender := box.Sender(client, SenderOptions{})
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {time.Second, 2}} {
		now = now.Add(step.after)
		if _, err := sender.round(t.Context(), &turns{box: box}, &Report{}); err != nil || asked != step.want {
			t.Errorf("%s: got %v, and the token asked for %d times, want %d",
				now.Format("15:04:05"), err, asked, step.want)
		}
	}
	sender.Resume()
	if _, err := sender.round(t.Context(), &turns{box: box}, &Report{}); err != nil || asked != 3 {
		t.Errorf("after a login: got %v, and the token asked for %d times, want 3", err, asked)
	}
}

func TestWaitsGrowAndTheServiceMayAskForMore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	box, err := Open(t.TempDir(), Options{Now: func() time.Time { return now }})
	servicetest.Check(t, err)
	tests := []struct {
		name   string
		tries  int
		jitter float64
		err    *apiclient.Error
		want   time.Duration
	}{
		{"first", 1, 1, nil, time.Second},
		{"first with all jitter", 1, 0, nil, time.Second / 2},
		{"fourth", 4, 1, nil, 8 * time.Second},
		{"at most a minute", 40, 1, nil, time.Minute},
		{"as the service asks", 1, 1, &apiclient.Error{RetryAfter: 90 * time.Second}, 90 * time.Second},
		{"as nobody can mean it", 1, 1, &apiclient.Error{RetryAfter: 24 * time.Hour}, 15 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sender := box.Sender(nil, SenderOptions{Jitter: func() float64 { return test.jitter }})
			c := &claim{Entry: Entry{Tries: test.tries}}
			sender.delay(c, test.err)
			if got := c.NotBefore.Sub(now); got != test.want {
				t.Errorf("wait: got %s, want %s", got, test.want)
			}
		})
	}
}

func TestDamagedFilesAreSetAside(t *testing.T) {
	t.Parallel()
	server := newService(t)
	box := open(t, t.TempDir(), server.URL)
	torn, altered := add(t, box, attempt(t, apitype.NewUUID())), add(t, box, attempt(t, apitype.NewUUID()))
	good := add(t, box, attempt(t, apitype.NewUUID()))
	path := box.path(dirQueued, torn.ID)
	content, err := os.ReadFile(path)
	servicetest.Check(t, err)
	servicetest.Check(t, os.WriteFile(path, content[:len(content)/2], 0o600))
	path = box.path(dirQueued, altered.ID)
	content, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-3] ^= 1
	servicetest.Check(t, os.WriteFile(path, content, 0o600))
	settleAll(t, box, server.client(t))
	if n := server.count(good.UUID, "add-attempt"); n != 1 {
		t.Errorf("the whole entry: got %d sent, want 1", n)
	}
	if len(server.applied) != 1 {
		t.Errorf("applied: got %v, want the whole entry alone", server.applied)
	}
	entries, damaged, err := box.List()
	if err != nil || len(entries) != 0 || len(damaged) != 2 {
		t.Errorf("got %v, %v, %v, want two damaged files", entries, damaged, err)
	}
}

// A change that the system does not let us read is not set aside: it is sent once it can be read.
func TestUnreadFilesAreLeft(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	server := newService(t)
	box := open(t, t.TempDir(), server.URL)
	path := box.path(dirQueued, add(t, box, attempt(t, apitype.NewUUID())).ID)
	servicetest.Check(t, os.Chmod(path, 0))
	settleAll(t, box, server.client(t))
	if _, damaged, err := box.List(); err != nil || len(damaged) != 1 || damaged[0].Path != path {
		t.Errorf("got %v, %v, want the file where it was", damaged, err)
	}
	servicetest.Check(t, os.Chmod(path, 0o600))
	settleAll(t, box, server.client(t))
	servicetest.Same(t, "changes", 1, len(server.applied))
}

func TestLinksAndOpenFoldersAreRefusedOrClosed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	target := filepath.Join(root, "target")
	servicetest.Check(t, os.Mkdir(target, 0o755))
	link := filepath.Join(root, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := Open(link, Options{}); err == nil {
		t.Error("a linked folder: got no error, want one")
	}
	if _, err := Open(target, Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode: got %v %v, want 700", info.Mode(), err)
	}
}

func TestCrashBetweenTwoFoldersKeepsTheCautiousCopy(t *testing.T) {
	t.Parallel()
	server := newService(t)
	box := open(t, t.TempDir(), server.URL)
	e := attempt(t, apitype.NewUUID())
	e.SentAt = time.Now().Add(-time.Hour)
	e = add(t, box, e)
	// The sender wrote its copy to sending/ and died before it erased the other,
	// after the service had applied the change.
	e.SentAt = time.Now().Add(-time.Hour)
	servicetest.Check(t, writeSealed(box.path(dirSending, e.ID), e))
	server.apply(e.UUID.String(), "add-attempt", e.Body)
	settleAll(t, box, server.client(t))
	if n := server.count(e.UUID, "add-attempt"); n != 1 {
		t.Errorf("applied: got %d, want 1", n)
	}
	if left := list(t, box); len(left) != 0 {
		t.Errorf("left: got %+v, want none", left)
	}
}

func TestEntryRoundTripsThroughJSON(t *testing.T) {
	t.Parallel()
	e := completion(t, apitype.NewUUID())
	e.Seen = json.RawMessage(`{"status":"requested"}`)
	path := filepath.Join(t.TempDir(), "entry")
	servicetest.Check(t, writeSealed(path, e))
	var got Entry
	servicetest.Check(t, readSealed(path, &got))
	servicetest.Same(t, "entry differs (-made +read)", e, got)
}

// A service that answers a mark with JSON of its own is asked twice, and then believed.
func TestMarkAnsweredWithJSONEnds(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"processed":1}`)
	}))
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL})
	servicetest.Check(t, err)
	change, err := apiclient.MarkProcessedChange([]apitype.ProcessedEntry{
		{EntityName: apitype.EntityCall, EntityUUID: apitype.NewUUID(), ProcessedAt: apitype.NewTime(time.Now())},
	})
	servicetest.Check(t, err)
	box := open(t, t.TempDir(), server.URL)
	add(t, box, Entry{Change: change})
	settleAll(t, box, client)
	if left := list(t, box); len(left) != 0 || asked != 2 {
		t.Errorf("left: got %v after %d requests, want none after 2", left, asked)
	}
}
