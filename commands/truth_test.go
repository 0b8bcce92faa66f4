package commands

import (
	"bytes"
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// truths is how many changes are reported. The long form is -truths 1000.
var truths = flag.Int("truths", 40, "how many changes TestEachTellsTheTruthOfEachChange makes")

// Two commands hold a change, one sends the outbox, one drops from it, and two senders run, at random times. Each
// reports the truth of each change.
func TestEachTellsTheTruthOfEachChange(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	rounds := *truths / 2 // Of two changes.
	var mu sync.Mutex
	recorded := map[string]int{}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		call, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/calls/"), "/")
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		if r.Method == http.MethodPut {
			recorded[call]++
		}
		mu.Unlock()
		status(200, "application/json", `{"uuid":"`+call+`","status":"requested","attempts":[{}]}`)(w, r)
	})
	home := t.TempDir()
	environment := homeAt(t, address, "token", "HOME", home, "FUNDESK_STATE_DIR", home)
	run := func(args ...string) (errs string, code int) {
		var stderr bytes.Buffer
		code = Run(t.Context(), args, appOf(environment, strings.NewReader(""), io.Discard, &stderr))
		return stderr.String(), code
	}
	ctx, stop := context.WithCancel(t.Context())
	var senders sync.WaitGroup
	t.Cleanup(func() { stop(); senders.Wait() })
	client, err := apiclient.New(
		apiclient.Options{
			BaseURL: address,
			Account: "profile-",
			Token:   func(context.Context) (string, error) { return "token", nil },
		},
	)
	servicetest.Check(t, err)
	for range 2 {
		box, err := outbox.Open(filepath.Join(home, "outbox"), outbox.Options{BaseURL: address, Account: "profile-"})
		servicetest.Check(t, err)
		senders.Go(func() { box.Sender(client, outbox.SenderOptions{Poll: 5 * time.Millisecond}).Run(ctx) })
	}
	random := rand.New(rand.NewPCG(7, 11))
	for round := range rounds {
		var commands sync.WaitGroup
		for range 2 {
			call, hold := apitype.NewUUID().String(), time.Duration(1+random.IntN(20))*time.Millisecond
			commands.Go(func() {
				errs, code := run("call", "attempt", call, "--yes", "--hold", hold.String())
				mu.Lock()
				times := recorded[call]
				mu.Unlock()
				isTold := code == 0 && times == 1 ||
					code == 1 && times == 0 && strings.Contains(errs, "undone and not sent") ||
					code == 10 && times <= 1
				if !isTold {
					t.Errorf("round %d: recorded %d times, and told as exit code %d, %s", round, times, code, errs)
				}
			})
		}
		sendAfter := time.Duration(random.IntN(25)) * time.Millisecond
		dropAfter := time.Duration(random.IntN(60)) * time.Millisecond
		commands.Go(func() {
			_ = apiclient.Pause(t.Context(), sendAfter)
			if errs, code := run("outbox", "send"); code != 0 {
				t.Errorf("round %d: got exit code %d from outbox send: %s", round, code, errs)
			}
		})
		commands.Go(func() {
			_ = apiclient.Pause(t.Context(), dropAfter)
			if errs, code := run("outbox", "drop", "--all", "--yes"); code != 0 && code != 1 && code != 3 && code != 9 {
				t.Errorf("round %d: got exit code %d from outbox drop: %s", round, code, errs)
			}
		})
		commands.Wait()
	}
	for call, times := range recorded {
		if times != 1 {
			t.Errorf("%s: recorded %d times", call, times)
		}
	}
	// The rounds are as random as the machine is fast. What certainly is sent, and what certainly is dropped:
	if errs, code := run("call", "attempt", testID, "--yes"); code != 0 || recorded[testID] != 1 {
		t.Errorf("sent: recorded %d times, got exit code %d, %s", recorded[testID], code, errs)
	}
	dropped := apitype.NewUUID().String()
	app := appOf(environment, strings.NewReader(""), io.Discard, io.Discard)
	app.Sleep = func(context.Context, time.Duration) error {
		if errs, code := run("outbox", "drop", "--all", "--yes"); code != 0 {
			t.Errorf("got exit code %d from outbox drop: %s", code, errs)
		}
		return nil
	}
	code := Run(t.Context(), []string{"call", "attempt", dropped, "--yes", "--hold", "1h"}, app)
	if code != 1 || recorded[dropped] != 0 {
		t.Errorf("dropped: recorded %d times, got exit code %d", recorded[dropped], code)
	}
}

// A round of sending with a refused change reports it, exits with 9, and keeps its text.
func TestOutboxSendTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	var refuses atomic.Bool
	address := serving(t, readsThen(func(w http.ResponseWriter, r *http.Request) {
		answer := status(503, "text/plain", "down")
		if refuses.Load() {
			answer = status(409, "application/problem+json", `{"title":"no","detail":"the call is completed"}`)
		}
		answer(w, r)
	}))
	l := lineAt(t, address, "secret-token")
	now := time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC)
	l.now = func() time.Time { return now }
	l.try(t, "call attempt "+testID+" --outbox").MustEnd(10)
	refuses.Store(true)
	now = now.Add(time.Hour)
	l.try(t, "outbox send").Ends(9, "the call is completed").Prints("refused\t1")
	l.try(t, "outbox list -o ndjson --jq .state").Prints("rejected")
}

// A change that is held is taken back by ctrl+c, and never sent.
func TestInterruptWhileHeld(t *testing.T) {
	t.Parallel()
	service := newCounted(t)
	l := lineAt(t, service.URL, "token")
	l.sleep = func(_ context.Context, held time.Duration) error {
		servicetest.Same(t, "hold", 30*time.Second, held)
		return context.Canceled
	}
	const other = "6c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	l.try(t, "call attempt "+testID+" "+other+" --yes --hold 30s").Ends(130, "2 of 2 changes taken back, and not sent")
	servicetest.Same(t, "requests", int64(0), service.requests.Load())
	l.try(t, "outbox list -o id").PrintsOnly("")
}

// The question before a change names donors only on the terminal.
func TestQuestionNamesPersons(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(
			w,
			`{"uuid":"`+testID+`","status":"requested","person":{"uuid":"`+testID+
				`","firstName":"Zoë","lastName":"Jansen"}}`,
		)
	}
	said, code := askedOnTerminal(t, handler, "call cancel "+testID, "n\n")
	if code != 1 || !strings.Contains(said, ": Zoë Jansen "+testID+"? [y/N]") {
		t.Errorf("got exit code %d and %q, want the donor's name in the question", code, said)
	}
	asked := reads.Load()
	_, errs, code := against(t, handler, "call cancel", testID)
	if code != 2 || strings.Contains(errs, "Jansen") || reads.Load() != asked {
		t.Errorf("got exit code %d, %q and %d reads, want an error without a name", code, errs, reads.Load()-asked)
	}
}

// askedOnTerminal answers the question of a command line on a terminal, and returns the conversation.
func askedOnTerminal(t *testing.T, handler http.HandlerFunc, args, answer string) (string, int) {
	t.Helper()
	address := serving(t, handler)
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	environment := homeAt(t, address, "token")
	ended := make(chan int, 1)
	go func() {
		ended <- Run(t.Context(), strings.Fields(args), appOf(environment, terminal, io.Discard, terminal))
		terminal.Close() // The master reads to the end of it.
	}()
	var text []byte
	buffer := make([]byte, 256)
	for answered := false; ; {
		n, err := master.Read(buffer)
		text = append(text, buffer[:n]...)
		if !answered && strings.Contains(string(text), "[y/N] ") {
			answered = true
			if _, err := io.WriteString(master, answer); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			return string(text), <-ended
		}
	}
}
