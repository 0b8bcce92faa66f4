package commands_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/commands"
	"fundesk/service"
	"fundesk/service/servicetest"
)

var killRounds = flag.Int("kills", 6, "moments at which a pull is killed")

// puller is a program that pulls calls for one home folder.
type puller struct {
	program string
	env     []string
}

func newPuller(t *testing.T, h *servicetest.Harness, token string) puller {
	t.Helper()
	programs, err := commands.Programs()
	servicetest.Check(t, err)
	return puller{filepath.Join(programs, "fundesk"), []string{
		"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "FUNDESK_BASE_URL=" + h.URL, "FUNDESK_TOKEN=" + token,
	}}
}

// pull reads that many lines and then kills the program as nothing can be killed more;
// a negative number lets it end.
func (p puller) pull(t *testing.T, lines int) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program, "pull", "call", "-q")
	cmd.Env = p.env
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, cmd.Start())
	if lines == 0 {
		cancel()
	}
	reader := bufio.NewReader(out)
	var uuids []string
	for {
		line, err := reader.ReadString('\n')
		if err != nil { // Lines that were written before the end. A cut line does not count.
			break
		}
		var record struct{ UUID string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("got %q, want a record: %v", line, err)
		}
		uuids = append(uuids, record.UUID)
		if len(uuids) == lines {
			cancel()
		}
	}
	if err := cmd.Wait(); err != nil && lines < 0 {
		t.Fatalf("pull: %v\n%s", err, problem.String())
	}
	return uuids
}

// A pull that is killed at any moment loses nothing: what it printed and what the next
// one prints is everything.
func TestKilledPullLosesNothing(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(60)
	token := h.Token()
	want := newPuller(t, h, token).pull(t, -1)
	if len(want) < 40 {
		t.Fatalf("got %d calls, want more than fit a pipe", len(want))
	}
	rounds := []int{0, 1, len(want) / 2, len(want)}
	random := rand.New(rand.NewPCG(5, 8))
	for len(rounds) < *killRounds {
		rounds = append(rounds, random.IntN(len(want)))
	}
	for round, lines := range rounds {
		t.Run(fmt.Sprintf("%d/%d", round, lines), func(t *testing.T) {
			t.Parallel()
			p := newPuller(t, h, token)
			got := map[string]bool{}
			next := rand.New(rand.NewPCG(uint64(round), 8)).IntN(len(want))
			for _, n := range []int{lines, next, -1} {
				for _, id := range p.pull(t, n) {
					got[id] = true
				}
			}
			for _, id := range want {
				if !got[id] {
					t.Errorf("call %s was lost", id)
				}
			}
			if again := p.pull(t, -1); len(again) != 0 {
				t.Errorf("got %d calls from a pull after the whole, want none", len(again))
			}
		})
	}
}

// A program that takes a page of changes kills or interrupts the pull before the position is kept. A pull that was
// killed hands the page over again. An interrupted one does so only if the program did not end with 0.
func TestPullOfChangesIsCutShort(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token := h.Token(servicetest.May(append(slices.Clone(service.Permissions), service.ChangesRead)...))
	owner := h.Organization("AID")
	for range 3 {
		body := fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[1]q}`, owner)
		servicetest.Same(t, "status", http.StatusCreated, h.Do(token, http.MethodPost, "/api/v1/persons", body).Status)
	}
	h.Clock.Advance(time.Minute)
	// Pulls at the same time share one question for the settled time, and may get the earlier answer.
	for tries := 0; !strings.Contains(string(h.Do(token, http.MethodGet, "/fundesk/v1/changes", "").Body), `"changes":[{`); tries++ {
		if tries == 1000 {
			t.Fatal("the changes are never settled")
		}
	}
	for what, test := range map[string]struct {
		end   string
		taken int // Changes in all, of three.
	}{
		"killed":                             {"kill -9 $PPID", 6},
		"interrupted, and the program ended": {"trap '' INT; kill -INT $PPID; exit 0", 3},
		"interrupted, and the program too":   {"kill -INT $PPID; exit 3", 6},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPuller(t, h, token)
			program := filepath.Join(t.TempDir(), "take")
			script := "#!/bin/sh\ncat >> \"$0.taken\"\ntest -e \"$0.again\" && exit 0\ntouch \"$0.again\"\n" +
				test.end + "\n"
			servicetest.Check(t, os.WriteFile(program, []byte(script), 0o700))
			for pull, isCut := range []bool{true, false, false} {
				cmd := exec.CommandContext(t.Context(), p.program, "pull", "changes", "--exec", program)
				cmd.Env = p.env
				if out, err := cmd.CombinedOutput(); (err != nil) != isCut && test.taken > 3 {
					t.Errorf("pull %d: got %v and %s", pull, err, out)
				}
			}
			taken, err := os.ReadFile(program + ".taken")
			servicetest.Check(t, err)
			servicetest.Same(t, "changes", test.taken, strings.Count(string(taken), "\n"))
		})
	}
}
