package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// modelPerson has a field that answers show, one that they hide, a third writer, and a connection that loses an answer.
type modelPerson struct {
	id            apitype.UUID
	email, hidden string
	version       int
	revisions     bool // The service sends revisions, and keeps to them.

	requests, thirdAt int    // The third writer comes before that request is worked on.
	third             string // Which field it writes.
	thirdAfterRead    bool   // It came after the last reading.
	puts, lostAt      int
	lostBefore        bool // The request that is lost does not arrive.

	overwritten bool // A third value that could have been seen.
	applied     int
}

// RoundTrip implements http.RoundTripper.
func (m *modelPerson) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.requests++; m.requests == m.thirdAt {
		if m.third == "email" {
			m.email = "third@example.org"
		} else {
			m.hidden = "third"
		}
		m.version++
		m.thirdAfterRead = true
	}
	if r.Method == http.MethodGet {
		m.thirdAfterRead = false
		return m.answer(http.StatusOK), nil
	}
	m.puts++
	isLost := m.puts == m.lostAt
	if isLost && m.lostBefore {
		return nil, io.ErrUnexpectedEOF
	}
	if match := r.Header.Get("If-Match"); m.revisions && match != "" && match != m.etag() {
		return m.answer(http.StatusPreconditionFailed), nil
	}
	var sent map[string]string
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, err
	}
	email, changesEmail := sent["email"]
	hidden, changesHidden := sent["socialSecurityNumber"]
	if changesEmail {
		m.overwritten = m.overwritten || m.email == "third@example.org" && (m.revisions || !m.thirdAfterRead)
		m.email = email
	}
	if changesHidden {
		m.overwritten = m.overwritten || m.hidden == "third" && m.revisions
		m.hidden = hidden
	}
	m.version++
	m.applied++
	if isLost {
		return nil, io.ErrUnexpectedEOF
	}
	return m.answer(http.StatusOK), nil
}

func (m *modelPerson) etag() string { return strconv.Quote(strconv.Itoa(m.version)) }

func (m *modelPerson) answer(status int) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if m.revisions {
		header.Set("ETag", m.etag())
	}
	body := fmt.Sprintf(`{"uuid":%q,"email":%q}`, m.id, m.email)
	return &http.Response{
		StatusCode:    status,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// Answers get lost, and others write, at any step. An update that is reported as done was done, and it overwrites no
// visible value of another writer.
func TestUpdatesBesideAThirdWriter(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	bodies := []string{
		`{"email":"mine@example.org"}`, `{"socialSecurityNumber":"mine"}`,
		`{"email":"mine@example.org","socialSecurityNumber":"mine"}`,
		`{"email":"before@example.org","socialSecurityNumber":"mine"}`, // What is shown is so already.
	}
	for _, body := range bodies {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			playBesideAThirdWriter(t, body, body == bodies[0])
		})
	}
}

// playBesideAThirdWriter sends an update in each way. If all of it is visible, its outcome is always known.
func playBesideAThirdWriter(t *testing.T, body string, isVisible bool) {
	t.Helper()
	for thirdAt := range 5 {
		for _, third := range []string{"email", "hidden"} {
			for lostAt := range 3 {
				for flags := range 16 {
					// There is no third writer, or nothing is lost.
					isSame := thirdAt == 0 && third == "hidden" || lostAt == 0 && flags&1 != 0
					if isSame {
						continue
					}
					m := &modelPerson{
						id:         apitype.NewUUID(),
						email:      "before@example.org",
						hidden:     "before",
						thirdAt:    thirdAt,
						third:      third,
						lostAt:     lostAt,
						lostBefore: flags&1 != 0,
						revisions:  flags&2 != 0,
					}
					isQueued, isShown := flags&4 != 0, flags&8 != 0
					err := m.play(t, body, isQueued, isShown)
					name := fmt.Sprintf("%s, %s at %d, lost %d (before %t), revisions %t, queued %t, shown %t",
						body, third, thirdAt, lostAt, m.lostBefore, m.revisions, isQueued, isShown)
					if err == nil && m.applied == 0 {
						t.Errorf("%s: told as done, and never done", name)
					}
					// The first value is the one that was shown, unless more was known.
					isNews := thirdAt > 1 || isShown && third == "email"
					if m.overwritten && isNews {
						t.Errorf("%s: overwrote what somebody else wrote (%v)", name, err)
					}
					if thirdAt == 0 && err != nil && isVisible { // Of the others it may not be known.
						t.Errorf("%s: got %v, and nobody else wrote", name, err)
					}
				}
			}
		}
	}
}

// play sends an update and returns its outcome. With isShown it carries the value that was shown.
func (m *modelPerson) play(t *testing.T, body string, isQueued, isShown bool) error {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: m,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	ch := apiclient.Change{
		Op:     apiclient.OpUpdatePerson,
		UUID:   m.id,
		Method: http.MethodPut,
		Path:   "/api/v1/persons/" + m.id.String() + "/actions/update",
		Body:   []byte(body),
	}
	if isShown {
		ch.Seen = apiclient.SeenOf(ch, map[string]string{"email": m.email})
	}
	if !isQueued {
		_, err := client.Send(t.Context(), ch)
		return err
	}
	box := open(t, folderInMemory(t), "https://a.example")
	add(t, box, Entry{Change: ch})
	last := errors.New("it was never sent")
	sender := box.Sender(client, SenderOptions{Notify: func(e Event) {
		last = e.Err
		if e.Outcome == OutcomeAccepted {
			last = nil
		}
	}})
	for range 4 {
		if _, err := sender.SendDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// inProcess answers requests without a socket.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// Crashes may leave three attempts in any folders of an outbox. None is sent twice, and each typed text is sent,
// listed, or set aside. placed names the folders of a copy, damaged the torn ones, and junk other files.
func FuzzFolders(f *testing.F) {
	f.Add([]byte{1, 1, 1}, []byte{0, 0, 0}, []byte("junk"))
	f.Add([]byte{3, 5, 15}, []byte{0, 0, 0}, []byte(""))
	f.Add([]byte{2, 4, 8}, []byte{17, 0, 0}, []byte("{}"))
	f.Add([]byte{9, 12, 6}, []byte{33, 130, 255}, []byte("\x00"))
	folders := []string{"queued", "sending", "unsure", "rejected"}
	f.Fuzz(func(t *testing.T, placed, damaged, junk []byte) {
		dir := filepath.Join(t.TempDir(), "outbox")
		base := "http://127.0.0.1:1"
		box := open(t, dir, base)
		service := &fakeService{attempts: map[string][]map[string]any{}, result: map[string]map[string]any{}}
		whole, torn := map[apitype.UUID]bool{}, 0
		for i := range min(len(placed), 3) {
			entry := add(t, box, attempt(t, apitype.NewUUID()))
			queued := filepath.Join(dir, "queued", entry.ID+".json")
			content, err := os.ReadFile(queued)
			servicetest.Check(t, err)
			servicetest.Check(t, os.Remove(queued))
			for n, folder := range folders {
				if placed[i]&(1<<n) == 0 {
					continue
				}
				text := content
				if i < len(damaged) && damaged[i] != 0 && int(damaged[i])%len(folders) == n {
					text = slices.Concat(content[:int(damaged[i])%len(content)], junk)
				}
				if bytes.Equal(text, content) {
					whole[entry.UUID] = true
				} else {
					torn++
				}
				servicetest.Check(t, os.WriteFile(filepath.Join(dir, folder, entry.ID+".json"), text, 0o600))
			}
		}
		servicetest.Check(t, os.WriteFile(filepath.Join(dir, "queued", "0000-other.json"), junk, 0o600))
		client, err := apiclient.New(apiclient.Options{BaseURL: base, Transport: inProcess{service}})
		servicetest.Check(t, err)
		for range 2 { // By the next program, too.
			box = open(t, dir, base)
			if _, err := box.Sender(client, SenderOptions{}).SendDue(t.Context()); err != nil {
				t.Fatalf("send: %v", err)
			}
		}
		entries, aside, err := box.List()
		servicetest.Check(t, err)
		for id := range whole {
			sent := len(service.attempts[id.String()])
			listed := slices.ContainsFunc(entries, func(e Entry) bool { return e.UUID == id })
			if sent > 1 || sent == 0 && !listed {
				t.Errorf("got %d attempts of %s, in the outbox %t; want one, or none and the entry", sent, id, listed)
			}
		}
		if torn > 0 && len(aside) == 0 && len(whole) < min(len(placed), 3) {
			t.Errorf("got nothing set aside of %d torn files", torn)
		}
	})
}
