//go:build unix

package outbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// crashRole makes the test binary play the program that is killed.
const crashRole = "FUNDESK_TEST_CRASH"

func TestMain(m *testing.M) {
	role, rest, _ := strings.Cut(os.Getenv(crashRole), " ")
	switch role {
	case "":
		os.Exit(m.Run())
	case "add":
		crashAdd(rest)
	case "draft":
		crashDraft(rest)
	case "send":
		crashSend(rest)
	}
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crashAdd adds attempts without end and prints each durable one.
func crashAdd(dir string) {
	box, err := Open(dir, Options{BaseURL: "https://a.example", Account: "embedded"})
	die(err)
	for {
		id := apitype.NewUUID()
		change, err := apiclient.AddAttemptChange(id, apitype.AddAttemptRequest{})
		die(err)
		_, err = box.Add(Entry{Change: change})
		die(err)
		fmt.Println(id)
	}
}

// crashDraft saves one draft without end, with a growing number, and prints each durable one.
func crashDraft(rest string) {
	dir, call, _ := strings.Cut(rest, " ")
	box, err := Open(dir, Options{BaseURL: "https://a.example", Account: "embedded"})
	die(err)
	for n := 1; ; n++ {
		die(box.SaveDraft(apitype.MustParseUUID(call), Draft{Notes: strconv.Itoa(n) + strings.Repeat(" 世界", n%300)}))
		fmt.Println(n)
	}
}

// crashSend sends the outbox and prints when it begins.
func crashSend(rest string) {
	dir, base, _ := strings.Cut(rest, " ")
	box, err := Open(dir, Options{BaseURL: base, Account: "embedded"})
	die(err)
	client, err := newClient(base)
	die(err)
	fmt.Println("sending")
	box.Sender(client, SenderOptions{
		Patience: crowdPatience, Jitter: func() float64 { return 0 }, Notify: func(e Event) { fmt.Println(e.Outcome) },
	}).Run(neverDone{})
}

// crowdPatience may be short: the service answers no look-up before all that was sent
// earlier has come.
const crowdPatience = 600 * time.Millisecond

// neverDone is a context of a process that ends by being killed.
type neverDone struct{}

func (neverDone) Deadline() (time.Time, bool) { return time.Time{}, false }
func (neverDone) Done() <-chan struct{}       { return nil }
func (neverDone) Err() error                  { return nil }
func (neverDone) Value(any) any               { return nil }

// killAfter runs the test binary in a role and reads its lines until there are enough, or until it pauses. Then it
// kills the process and returns all lines, at least one.
func killAfter(t *testing.T, role string, lines int) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), crashRole+"="+role)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, command.Start())
	var said []string
	// A process that prints nothing more is killed as well. Its start may take longer.
	timer := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		timer.Reset(2 * time.Second)
		said = append(said, scanner.Text())
		if len(said) == lines {
			servicetest.Check(t, command.Process.Kill())
		}
	}
	_ = command.Wait()
	if len(said) == 0 {
		t.Error("the program said nothing")
	}
	return said
}

func TestKilledWhileAddingLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said []string
	for round := range 6 {
		said = append(said, killAfter(t, "add "+dir, 3+round*5)...)
	}
	got := map[string]bool{}
	for _, e := range list(t, open(t, dir, "https://a.example")) {
		got[e.UUID.String()] = true
	}
	for _, id := range said {
		if !got[id] {
			t.Errorf("entry %s was said to be durable and is lost", id)
		}
	}
}

func TestKilledWhileSavingDraftsKeepsTheLatest(t *testing.T) {
	t.Parallel()
	dir, call := t.TempDir(), apitype.NewUUID()
	for round := range 6 {
		said := killAfter(t, "draft "+dir+" "+call.String(), 2+round*7)
		if len(said) == 0 {
			return
		}
		last, _ := strconv.Atoi(said[len(said)-1])
		draft, found, err := open(t, dir, "https://a.example").Draft(call)
		if err != nil || !found {
			t.Fatalf("draft: got %v %v, want one", found, err)
		}
		number, _, _ := strings.Cut(draft.Notes, " ")
		if n, _ := strconv.Atoi(number); n != last && n != last+1 {
			t.Errorf("draft: got %d, want %d or the one after it", n, last)
		}
	}
}

// Several programs are killed again and again, and a service loses answers. Each change takes effect once, and those of
// a call in their order.
func TestCrowd(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	server := newService(t)
	server.flapping = []fault{
		faultResetBefore, faultResetAfter, faultCut, fault502After, fault503, fault429, faultHTML,
		faultGarbage,
	}
	dir := t.TempDir()
	var ids []apitype.UUID
	var crowd sync.WaitGroup
	for worker := range 3 {
		crowd.Go(func() {
			for round := range 5 {
				killAfter(t, "send "+dir+" "+server.URL, 1+(worker*3+round*2)%7)
			}
		})
	}
	for range 20 {
		box := open(t, dir, server.URL)
		ids = append(ids, apitype.NewUUID())
		add(t, box, attempt(t, ids[len(ids)-1]))
		add(t, box, completion(t, ids[len(ids)-1]))
	}
	crowd.Wait()
	server.mu.Lock()
	server.flapping = nil
	server.mu.Unlock()
	finishCrowd(t, open(t, dir, server.URL), server)
	for _, id := range ids {
		if n, m := server.count(id, "add-attempt"), server.count(id, "complete"); n != 1 || m != 1 {
			t.Errorf("call %s: got %d attempts and %d completions, want 1 and 1", id, n, m)
		}
		if slices.Index(server.applied, id.String()+
			" add-attempt") > slices.Index(server.applied, id.String()+" complete") {
			t.Errorf("call %s: completed before its attempt", id)
		}
	}
}

// finishCrowd sends until nothing is left.
func finishCrowd(t *testing.T, box *Outbox, server *fakeService) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sender := box.Sender(server.client(t), SenderOptions{
		Patience: crowdPatience,
		Jitter:   func() float64 { return 0 },
		Notify: func(Event) {
			if entries, _, err := box.List(); err == nil && len(entries) == 0 {
				cancel()
			}
		},
	})
	// What is in other hands is given back when they are dead; begin with one round,
	// which also finds that nothing is left at all.
	if report, err := sender.SendDue(ctx); err != nil || report.Waiting == 0 {
		return
	}
	sender.Run(ctx)
	if left := list(t, box); len(left) != 0 {
		t.Fatalf("left: got %d entries, want none: %+v", len(left), left[0])
	}
}
