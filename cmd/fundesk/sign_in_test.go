//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/service/signin/signintest"
)

// signInHome is the computer of agents who sign in. The token is that of a program, which looks at what they did.
type signInHome struct {
	home

	provider *signintest.Provider
	url      string
	token    string
}

// tokenLife is so short that a Desk renews its access token at each poll.
const tokenLife = 2 * time.Second

func newSignInHome(t *testing.T, persons int) *signInHome {
	t.Helper()
	h := &signInHome{home: newHome(t), provider: signintest.Start(t)}
	h.provider.TokenLife = tokenLife
	h.provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "groups": "agents"})
	h.provider.AddUser("joost", map[string]any{"name": "Joost Bakker", "groups": "agents"})
	table := filepath.Join(h.dir, "map.toml")
	servicetest.Check(t, os.WriteFile(table,
		[]byte("[[map]]\nclaim = \"groups\"\nvalue = \"agents\"\nrole = \"agent\"\nall_organizations = true\n"), 0o600))
	if servicetest.OnPostgres() {
		h.env = append(h.env, "FUNDESKD_DATABASE="+servicetest.PostgresDatabase(t))
	}
	h.must(t, fmt.Sprintf("fundeskd sample --persons %d", persons))
	h.url = nextLine(t, h.start(t, "serve", "--listen", "127.0.0.1:0", "--oidc-issuer", h.provider.URL,
		"--oidc-audience", signintest.Audience, "--oidc-map", table, "--oidc-client-id", signintest.ClientID,
		"--oidc-scopes", "openid,offline_access"))
	h.token = h.must(t, "fundeskd account add looks --all-organizations")
	for status := http.StatusServiceUnavailable; status == http.StatusServiceUnavailable; { // It reads the provider.
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/calls?first=1",
			http.NoBody)
		servicetest.Check(t, err)
		request.Header.Set("Authorization", "Bearer "+h.provider.Token(t, "anneke", nil))
		answer, err := http.DefaultClient.Do(request)
		servicetest.Check(t, err)
		servicetest.Report(t, answer.Body.Close())
		status = answer.StatusCode
	}
	return h
}

var codeToEnter = regexp.MustCompile(`enter the code (\S+)`)

// signIn signs a person in, as from another terminal.
func (h *signInHome) signIn(t *testing.T, subject string) {
	t.Helper()
	cmd := h.program(t, "auth", "login", "--insecure-storage", "--no-browser", "--base-url", h.url)
	out, err := cmd.StderrPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, cmd.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if found := codeToEnter.FindStringSubmatch(lines.Text()); found != nil {
			servicetest.Check(t, h.provider.Approve(found[1], subject))
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "signed in to "+h.url) {
		t.Fatalf("sign in as %s: %v\n%s", subject, err, said.String())
	}
}

// look returns a call as the account of a program sees it.
func (h *signInHome) look(t *testing.T, id string) apitype.Call {
	t.Helper()
	line := "FUNDESK_BASE_URL=" + h.url + " FUNDESK_TOKEN=" + h.token + " fundesk call get " + id + " -o json"
	var call apitype.Call
	servicetest.Check(t, json.Unmarshal([]byte(h.must(t, line)), &call))
	return call
}

// userNames returns the names of the service's users by their uuids.
func (h *signInHome) userNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	var known []struct{ UUID, Name string }
	servicetest.Check(t, json.Unmarshal([]byte(h.must(t, "fundeskd user list -o json")), &known))
	for _, u := range known {
		names[u.UUID] = u.Name
	}
	return names
}

// did returns the names of the users in the audit lines of an operation on a call, one for each line.
func (h *signInHome) did(t *testing.T, operation, call string) []string {
	t.Helper()
	names := h.userNames(t)
	var users []string
	for text := range strings.Lines(h.must(t, "fundeskd audit list -o ndjson")) {
		var line struct{ User, Operation, Record string }
		servicetest.Check(t, json.Unmarshal([]byte(text), &line))
		if line.Operation == operation && line.Record == call {
			users = append(users, names[line.User])
		}
	}
	return users
}

// changedBy reports whether the audit has a line of a user of this name.
func (h *signInHome) changedBy(t *testing.T, name string) bool {
	t.Helper()
	for id, known := range h.userNames(t) {
		if known == name {
			return h.must(t, "fundeskd audit list --user "+id) != ""
		}
	}
	return false
}

// openDesk opens the Desk with a card, and returns the call.
func (h *signInHome) openDesk(t *testing.T) (*terminal, string) {
	t.Helper()
	term := h.openTerminal(t, 120, 36)
	term.write("fundesk tui")
	term.send("Enter")
	term.waitFor("take the next call")
	term.waitFor("default · Anneke de Vries · ") // The settings were not read yet.
	return term, term.take()
}

// fill types notes and chooses a result, without sending them.
func (term *terminal) fill(notes string) {
	term.t.Helper()
	term.send("i")
	term.write(notes)
	term.waitFor(notes)
	term.send("Escape", "c")
	term.waitFor("/ another")
	term.send("1")
	term.waitFor("0 to 9")
	term.send("7")
	term.lookAtCall()
}

// lose ends all sessions, and waits until the Desk says so.
func (h *signInHome) lose(term *terminal) {
	term.t.Helper()
	h.provider.EndSessions()
	term.wait("that the session has ended", func(screen string) bool {
		words := strings.Join(strings.Fields(screen), " ")
		return strings.Contains(words, "your session at "+h.provider.URL+" has ended") &&
			strings.Contains(words, "Log in from another terminal: fundesk auth login --profile default")
	})
}

// wantOnce waits until a call is completed, and checks that this was done once, by one person.
func (h *signInHome) wantOnce(term *terminal, call, notes, name string) {
	t := term.t
	t.Helper()
	for deadline := time.Now().Add(patience); h.look(t, call).Status != apitype.CallCompleted; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the call was not completed after the new sign-in:\n%s", term.screen())
		}
	}
	if result := h.look(t, call).Result.Pointer(); result == nil || result.Notes == nil || *result.Notes != notes {
		t.Errorf("got the result %+v, want the notes %q", result, notes)
	}
	if by := h.did(t, "call.complete", call); !slices.Equal(by, []string{name}) {
		t.Errorf("the completion was done by %q, want once by %s", by, name)
	}
}

// A session that is lost while a card is open keeps the call and every word. After a new sign-in in another terminal
// the Desk goes on, and what was typed is sent once.
func TestLostSessionKeepsTheCard(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newSignInHome(t, 60)
	h.signIn(t, "anneke")
	term, call := h.openDesk(t)
	h.lose(term)
	const notes = "She asks for a letter, Grüße"
	term.fill(notes)
	card := cardOnScreen.FindString(term.screen())
	if card == "" {
		t.Fatalf("the card is gone:\n%s", term.screen())
	}
	term.send("C-s")
	term.waitFor("change is kept")
	h.must(t, "until fundesk outbox list -o json | grep -q 'has ended'; do sleep 0.1; done") // A send was tried.
	if got := h.look(t, call); got.Status != apitype.CallRequested {
		t.Errorf("got the call %s while the session is lost, want it requested", got.Status)
	}
	h.signIn(t, "anneke")
	h.wantOnce(term, call, notes, "Anneke de Vries")
	if next := term.take(); next == call {
		t.Error("the completed call came again")
	}
}

// The same for a session that is lost between the key and the answer: the change is held for five seconds.
func TestLostSessionAfterTheKey(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newSignInHome(t, 60)
	h.signIn(t, "anneke")
	term, call := h.openDesk(t)
	const notes = "moves in May"
	term.fill(notes)
	held := h.provider.Hold() // A renewal hangs until the sessions are gone.
	term.send("C-s")
	<-held
	h.provider.EndSessions()
	h.provider.Release()
	h.lose(term)
	if got := h.look(t, call); got.Status != apitype.CallRequested {
		t.Errorf("got the call %s while the session is lost, want it requested", got.Status)
	}
	h.signIn(t, "anneke")
	h.wantOnce(term, call, notes, "Anneke de Vries")
}

// Another person who signs in from the other terminal stops the Desk: nothing of the first person is sent in their
// name, neither by the Desk nor from the outbox, until the first person is back.
func TestAnotherPersonStopsTheDesk(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newSignInHome(t, 60)
	h.signIn(t, "anneke")
	term, call := h.openDesk(t)
	const notes = "told her about the harbour"
	h.lose(term)
	h.signIn(t, "joost")
	term.waitFor("belongs to another account: you get no calls and nothing is")
	term.fill(notes)
	term.send("C-s")
	term.waitFor("change is kept")
	for range 3 { // Each tries to send.
		term.send("R")
		term.waitFor("belongs to another account")
	}
	term.send("q")
	term.wait("the shell", func(screen string) bool { return !strings.Contains(screen, "Desk") })
	if out, errs, _ := h.run(t, "fundesk outbox send"); strings.Contains(out+errs, notes) {
		t.Errorf("got %s%s, want nothing of another person", out, errs)
	}
	if got := h.look(t, call); got.Status != apitype.CallRequested || h.changedBy(t, "Joost Bakker") {
		t.Errorf("got the call %s, changed by Joost: %v; want nothing sent", got.Status, h.changedBy(t, "Joost Bakker"))
	}
	h.signIn(t, "anneke")
	h.must(t, "fundesk outbox send")
	h.wantOnce(term, call, notes, "Anneke de Vries")
}

// A change that waits in the outbox is refused by a lost session, stays, and is sent once by its own person.
func TestLostSessionKeepsTheOutbox(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := newSignInHome(t, 60)
	h.signIn(t, "anneke")
	call := h.must(t, "fundesk call list --limit 1 -q -o id --status requested")
	before := len(h.look(t, call).Attempts.Value())
	h.provider.EndSessions()
	for ; ; time.Sleep(100 * time.Millisecond) { // The access token ends.
		_, errs, code := h.run(t, "fundesk auth status")
		if code == 4 && strings.Contains(errs, "sign in again: fundesk auth login --profile default") {
			break
		}
		if code != 0 {
			t.Fatalf("got %d %s, want how to sign in again", code, errs)
		}
	}
	h.run(t, "fundesk call attempt "+call+" --outbox")
	_, errs, code := h.run(t, "fundesk outbox send")
	if code != 4 || !strings.Contains(errs, "has ended") {
		t.Errorf("got %d %s, want 4 and how to sign in again", code, errs)
	}
	h.signIn(t, "joost")
	h.run(t, "fundesk outbox send")
	if len(h.look(t, call).Attempts.Value()) != before || h.changedBy(t, "Joost Bakker") {
		t.Error("a change of Anneke was sent in the name of Joost")
	}
	h.signIn(t, "anneke")
	h.must(t, "fundesk outbox send && fundesk outbox send")
	if got := len(h.look(t, call).Attempts.Value()); got != before+1 {
		t.Errorf("got %d attempts more, want one", got-before)
	}
	if by := h.did(t, "call.add-attempt", call); !slices.Equal(by, []string{"Anneke de Vries"}) {
		t.Errorf("the attempt was made by %q, want Anneke once", by)
	}
}

// A session that is lost in the middle of a pull leaves the position where it was: after a new sign-in the pull brings
// everything, and the next one nothing.
func TestLostSessionDuringAPull(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash")
	h := newSignInHome(t, 1600) // Four pages.
	h.signIn(t, "anneke")
	all := strings.Fields(h.must(t, "fundesk person list --all -o id"))
	h.env = append(h.env, "GO="+filepath.Join(h.dir, "go"))
	servicetest.Check(t, os.WriteFile(filepath.Join(h.dir, "take.sh"),
		[]byte("cat >> taken\ntouch began\nuntil [ -e \"$GO\" ]; do sleep 0.05; done\n"), 0o700))
	pulled := make(chan struct {
		errs string
		code int
	}, 1)
	go func() {
		_, errs, code := h.run(t, "fundesk pull person --exec 'bash take.sh'")
		pulled <- struct {
			errs string
			code int
		}{errs, code}
	}()
	h.must(t, "until [ -e began ]; do sleep 0.05; done")
	h.provider.EndSessions()
	h.must(t, "while fundesk auth status > status 2>&1; do sleep 0.1; done; touch go") // The access token ends.
	first := <-pulled
	if first.code != 4 || !strings.Contains(first.errs, "sign in again: fundesk auth login --profile default") {
		t.Errorf("got %d %s, want 4 and how to sign in again", first.code, first.errs)
	}
	h.signIn(t, "anneke")
	h.must(t, "fundesk pull person --exec 'bash take.sh'")
	if more := h.must(t, "fundesk pull person"); more != "" {
		t.Errorf("got %.100q after all was pulled, want nothing", more)
	}
	var got []string
	for text := range strings.Lines(h.must(t, "cat taken")) {
		var person struct{ UUID string }
		servicetest.Check(t, json.Unmarshal([]byte(text), &person))
		got = append(got, person.UUID)
	}
	slices.Sort(got)
	slices.Sort(all)
	if len(all) != 1600 || !slices.Equal(slices.Compact(got), all) {
		t.Errorf("got %d persons in two pulls, want all %d", len(slices.Compact(got)), len(all))
	}
}
