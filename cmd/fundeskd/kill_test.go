package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// kills is how often the program is killed. A long run has -kills 1000.
var kills = flag.Int("kills", 3, "how often TestKill kills the program")

// beFundeskd makes the test program run as fundeskd.
const beFundeskd = "FUNDESKD_TEST_RUN"

func TestMain(m *testing.M) {
	_ = os.Unsetenv("GOGC") // .ci/run sets it for tests. fundeskd has a setting of its own.
	if os.Getenv(beFundeskd) != "" {
		watchDisk()
		sqlstore.ProbePause = 0
		main()
		return
	}
	if os.Getenv(beHostile) != "" {
		hostile()
		return
	}
	sqlstore.ProbePause = 0
	flag.Parse()
	os.Exit(m.Run())
}

// child is fundeskd in a process of its own.
type child struct {
	command *exec.Cmd
	url     string
}

// child starts it with more environment.
func (e environment) child(more ...string) child {
	e.t.Helper()
	return e.childOf(os.Args[0], more...)
}

// childOf starts a program, which may be an earlier one.
func (e environment) childOf(path string, more ...string) child {
	e.t.Helper()
	command := exec.CommandContext(e.t.Context(), path, "serve", "--listen", "127.0.0.1:0")
	command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
	command.Env = append(command.Env, more...)
	out, err := command.StdoutPipe()
	servicetest.Check(e.t, err)
	servicetest.Check(e.t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	servicetest.Check(e.t, err)
	return child{command: command, url: strings.TrimSuffix(line, "\n")}
}

// end ends a program as a power cut does.
func (c child) end(t *testing.T) {
	t.Helper()
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// TestKill kills the program under eight writers: what it had acknowledged is there
// when it runs again, and what it had not is whole or absent.
func TestKill(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	e := newEnvironment(t)
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	for round := range *kills {
		running := e.child()
		acknowledged, sent := running.write(t, organization.UUID, account.Token, 40+round)
		running = e.child()
		for id := range sent {
			status, body := get(t, http.DefaultClient, running.url+"/api/v1/persons/"+id, account.Token)
			var person apitype.Person
			switch {
			case status == http.StatusOK &&
				json.Unmarshal([]byte(body), &person) == nil &&
				person.LastName != nil &&
				*person.LastName == id:
			case status == http.StatusNotFound && !acknowledged[id]:
			default:
				t.Errorf("round %d: got %d for a person that was acknowledged: %v", round, status, acknowledged[id])
			}
		}
		servicetest.Report(t, running.command.Process.Signal(os.Interrupt))
		servicetest.Report(t, running.command.Wait())
	}
	e.try("check").Ends(exitDone)
}

// write creates persons by eight writers until some were acknowledged, then kills the
// program in the middle of it.
func (c child) write(t *testing.T, organization, token string, enough int) (acknowledged, sent map[string]bool) {
	t.Helper()
	acknowledged, sent = map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				id := apitype.NewUUID().String()
				mu.Lock()
				sent[id] = true
				mu.Unlock()
				if !c.create(t, id, organization, token) {
					return
				}
				mu.Lock()
				acknowledged[id] = true
				if len(acknowledged) == enough {
					_ = c.command.Process.Kill() // kill -9. Wait reports whether it worked.
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if err := c.command.Wait(); err == nil {
		t.Error("the program ended by itself")
	}
	return acknowledged, sent
}

// create reports whether the creation was acknowledged.
func (c child) create(t *testing.T, id, organization, token string) bool {
	t.Helper()
	body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":%q}}`, id, organization, organization, id)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/api/v1/persons",
		strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // Killed.
	}
	_, err = io.Copy(io.Discard, response.Body)
	if closed := response.Body.Close(); closed != nil {
		t.Error(closed)
	}
	servicetest.Same(t, "d", http.StatusCreated, response.StatusCode)
	return err == nil
}
