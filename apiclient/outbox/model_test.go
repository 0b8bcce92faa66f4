package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// modelPerson is a person with a field that answers show and one that they do not, a third writer,
// and a connection that loses an answer.
type modelPerson struct {
	id            apitype.UUID
	email, hidden string
	version       int
	revisions     bool // The service tells revisions, and keeps to them.

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
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

// Whatever is lost and whoever else writes, at whatever step: an update that is told as done was
// done, and nothing is overwritten that somebody else wrote and that could be seen.
func TestUpdatesBesideAThirdWriter(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{"email":"mine@example.org"}`, `{"socialSecurityNumber":"mine"}`, `{"email":"mine@example.org","socialSecurityNumber":"mine"}`,
		`{"email":"before@example.org","socialSecurityNumber":"mine"}`, // What is shown is so already.
	}
	for _, body := range bodies {
		for thirdAt := range 5 {
			for _, third := range []string{"email", "hidden"} {
				for lostAt := range 3 {
					for flags := range 16 {
						m := &modelPerson{
							id: apitype.NewUUID(), email: "before@example.org", hidden: "before", thirdAt: thirdAt, third: third, lostAt: lostAt,
							lostBefore: flags&1 != 0, revisions: flags&2 != 0,
						}
						isQueued, isShown := flags&4 != 0, flags&8 != 0
						err := m.play(t, body, isQueued, isShown)
						name := fmt.Sprintf("%s, %s at %d, lost %d (before %t), revisions %t, queued %t, shown %t", body, third, thirdAt, lostAt, m.lostBefore, m.revisions, isQueued, isShown)
						if err == nil && m.applied == 0 {
							t.Errorf("%s: told as done, and never done", name)
						}
						// What was there before anything was read is what was shown, unless more was known.
						isNews := thirdAt > 1 || isShown && third == "email"
						if m.overwritten && isNews {
							t.Errorf("%s: overwrote what somebody else wrote (%v)", name, err)
						}
						if thirdAt == 0 && err != nil && body == bodies[0] { // Of the others it may not be known.
							t.Errorf("%s: got %v, and nobody else wrote", name, err)
						}
					}
				}
			}
		}
	}
}

// play sends an update, and says how that ends; with isShown it carries what was shown before.
func (m *modelPerson) play(t *testing.T, body string, isQueued, isShown bool) error {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: m, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	ch := apiclient.Change{Op: apiclient.OpUpdatePerson, UUID: m.id, Method: http.MethodPut, Path: "/api/v1/persons/" + m.id.String() + "/actions/update", Body: []byte(body)}
	if isShown {
		ch.Seen = apiclient.SeenOf(ch, map[string]string{"email": m.email})
	}
	if !isQueued {
		_, err := client.Send(t.Context(), ch)
		return err
	}
	box := open(t, t.TempDir(), "https://a.example")
	add(t, box, NewEntry(ch))
	last := errors.New("it was never sent")
	sender := box.Sender(client, SenderOptions{Notify: func(e Event) {
		if last = e.Err; e.Outcome == OutcomeAccepted {
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
