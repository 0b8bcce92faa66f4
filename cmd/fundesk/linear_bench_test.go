//go:build unix

package main

import (
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// BenchmarkLinear prints the processor time of work on many records: changes into the outbox while the service is away,
// sending them, and an import. Ten times as many should take ten times as long. It fails at 15 times.
//
//	go test ./cmd/fundesk -run '^$' -bench Linear -benchtime 1x
func BenchmarkLinear(b *testing.B) {
	for b.Loop() {
		fmt.Println("| records | into the outbox | sent | imported |\n|---|---|---|---|")
		var few [3]time.Duration
		for _, n := range []int{*linearMost / 10, *linearMost} {
			times := linear(b, n)
			fmt.Printf("| %d | %.2f s | %.2f s | %.2f s |\n",
				n, times[0].Seconds(), times[1].Seconds(), times[2].Seconds())
			for i, took := range few {
				if took > 0 && times[i] > 15*took {
					b.Errorf("ten times as many took %.1f times as long, want 15 at most",
						times[i].Seconds()/took.Seconds())
				}
			}
			few = times
		}
	}
}

var linearMost = flag.Int("linear", 16_000, "how many records BenchmarkLinear does something to, after a tenth of them")

// linear holds the processor time of each of the three.
func linear(b *testing.B, n int) [3]time.Duration {
	b.Helper()
	h := servicetest.New(b)
	dir := b.TempDir()
	owner, at := h.Organization("Sea Rescue"), apitype.NewTime(h.Clock.Now().Add(-time.Hour))
	var records []service.LoadRecord
	var calls, donors strings.Builder
	for range n {
		person := service.LoadedPerson{OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner}
		person.UUID, person.CreatedAt = apitype.NewUUID(), at
		var call service.LoadedCall
		call.UUID = apitype.NewUUID()
		call.PersonUUID = person.UUID
		call.Status = apitype.CallRequested
		call.Type = apitype.CallVerification
		call.RequestedAt, call.LastUpdatedAt = at, at
		records = append(records, service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{
			Kind: service.LoadCall,
			Data: call,
		})
		fmt.Fprintln(&calls, call.UUID)
		fmt.Fprintf(&donors, `{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`+"\n", owner, owner)
	}
	h.Load(records...)
	file := filepath.Join(dir, "donors.ndjson")
	servicetest.Check(b, os.WriteFile(file, []byte(donors.String()), 0o600))
	server := httptest.NewUnstartedServer(h.Handler)
	home := home{
		dir: dir,
		env: append(os.Environ(), "HOME="+dir, "FUNDESK_BASE_URL=http://"+server.Listener.Addr().String(),
			"FUNDESK_TOKEN="+h.Token()),
	}
	var times [3]time.Duration
	for i, step := range []struct {
		in, line string
		code     int
	}{
		{calls.String(), "call attempt - --outbox --yes -q", 9},
		{"", "outbox send -q", 0},
		{"", "person import " + file + " --yes -q", 0},
	} {
		if i == 0 {
			_ = server.Listener.Close() // It is away.
		}
		if i == 1 {
			listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", server.Listener.Addr().String())
			servicetest.Check(b, err)
			server.Listener = listener
			server.Start()
			defer server.Close()
		}
		times[i] = home.processorTime(b, step.in, step.code, strings.Fields(step.line)...)
	}
	return times
}

// processorTime returns the processor time of a command that ends with a code.
func (h home) processorTime(b *testing.B, in string, code int, args ...string) time.Duration {
	b.Helper()
	command := h.program(b, args...)
	command.Stdin = strings.NewReader(in)
	out, _ := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != code {
		b.Fatalf("fundesk %s: got exit code %d, want %d: %.2000s", strings.Join(args, " "), got, code, out)
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}
