package outbox

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// inProcess answers requests without a socket.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// Whatever crashes and others left in the folders of an outbox, no attempt is sent twice,
// and what was typed is sent, or listed, or set aside: three attempts, of each of which
// placed says in which folders a copy is, damaged which of them is torn, and how, and junk
// what else lies there.
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
