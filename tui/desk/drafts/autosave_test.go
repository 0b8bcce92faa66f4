package drafts

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// What is typed is on disk soon after a pause, and no later than that while typing goes
// on.
func TestDraftsAreOnDiskInTime(t *testing.T) {
	t.Parallel()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	servicetest.Check(t, err)
	const key, pause, most = 100 * time.Millisecond, 200 * time.Millisecond, 1600 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		k := New(box)
		go k.Run(t.Context())
		saved := func() int {
			synctest.Wait()
			draft, _, err := box.Draft(callID(1))
			servicetest.Check(t, err)
			n, _ := strconv.Atoi(draft.Notes)
			return n
		}
		const keys = 100
		for n := range keys {
			k.Put(outbox.Draft{Call: callID(1), Notes: strconv.Itoa(n + 1)})
			time.Sleep(key) // Of the test's clock.
			if late := time.Duration(n+1-saved()) * key; late > most {
				t.Fatalf("key %d: got the draft of %s before, want of %s at most", n+1, late, most)
			}
		}
		time.Sleep(pause)
		if got := saved(); got != keys {
			t.Errorf("after a pause: got key %d, want the last, %d", got, keys)
		}
	})
}

// A draft that cannot be written is trouble, until it is written or is needed no more.
func TestTroubleEndsWithTheDraft(t *testing.T) {
	t.Parallel()
	for _, end := range []func(k *Autosave, d outbox.Draft) error{
		func(k *Autosave, _ outbox.Draft) error { return k.Flush() },
		func(k *Autosave, d outbox.Draft) error { return k.Delete(d, outbox.Draft{}) },
	} {
		dir := t.TempDir()
		box, err := outbox.Open(dir, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
		servicetest.Check(t, err)
		k := New(box)
		draft := outbox.Draft{Call: callID(1), Notes: "asks for a letter"}
		folder, away := filepath.Join(dir, "drafts"), filepath.Join(dir, "away")
		servicetest.Check(t, os.Rename(folder, away))
		servicetest.Check(t, os.WriteFile(folder, nil, 0o600))
		if err := k.Save(draft); err == nil || k.Trouble() == nil {
			t.Errorf("got %v and the trouble %v, want both", err, k.Trouble())
		}
		servicetest.Check(t, os.Remove(folder))
		servicetest.Check(t, os.Rename(away, folder))
		servicetest.Check(t, end(k, draft))
		if k.Trouble() != nil {
			t.Errorf("got the trouble %v, want none", k.Trouble())
		}
	}
}

// Two terminals of one agent save drafts of the same calls in the same moment. No note is lost.
func TestTwoTerminalsSaveAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const calls = 100
	var group sync.WaitGroup
	for _, notes := range []string{"of the first", "of the second", "of the third"} {
		box, err := outbox.Open(dir, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
		servicetest.Check(t, err)
		k := New(box)
		group.Go(func() {
			for n := range calls {
				if err := k.Save(outbox.Draft{Call: callID(n), Notes: notes}); err != nil {
					t.Errorf("save: %v", err)
				}
			}
		})
		defer func() {
			for n := range calls {
				if draft, _, err := box.Draft(callID(n)); err != nil || !strings.Contains(draft.Notes, notes) {
					t.Errorf("call %d: got %q, %v, want what was written %s", n, draft.Notes, err, notes)
				}
			}
		}()
	}
	group.Wait()
}

// A terminal saves a draft that another one has written meanwhile. Before its form shows the other's entries, the agent
// types on and sends the form. What the other terminal has stays on disk, and only that.
func TestEntriesOfAnotherTerminalAreNotSent(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"moved", "moved to Delft"} {
		dir := t.TempDir()
		open := func() (*Autosave, *outbox.Outbox) {
			box, err := outbox.Open(dir, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
			servicetest.Check(t, err)
			return New(box), box
		}
		mine, box := open()
		theirs, _ := open()
		name := map[string]string{"name/lastName": "Smit"}
		mine.Loaded(outbox.Draft{Call: callID(1)})
		servicetest.Check(t, theirs.Save(outbox.Draft{Call: callID(1), Corrections: name}))
		servicetest.Check(t, mine.Save(outbox.Draft{Call: callID(1), Notes: "moved"}))
		sent := outbox.Draft{Call: callID(1), Notes: typed}
		servicetest.Check(t, mine.Save(sent))
		draft, _, err := box.Draft(callID(1))
		servicetest.Check(t, err)
		if draft.Notes != typed || !maps.Equal(draft.Corrections, name) {
			t.Errorf("%q: on disk are %q and %v, want both", typed, draft.Notes, draft.Corrections)
		}
		if _, saved, found := mine.Joined(callID(1)); !found || !maps.Equal(saved.Corrections, name) {
			t.Errorf("%q: the form is given %+v, %t, want the name", typed, saved, found)
		}
		servicetest.Check(t, mine.Save(sent)) // The agent has taken the name back.
		draft, _, err = box.Draft(callID(1))
		servicetest.Check(t, err)
		if len(draft.Corrections) != 0 {
			t.Errorf("%q, and the name taken back: on disk is %v", typed, draft.Corrections)
		}
		servicetest.Check(t, theirs.Save(outbox.Draft{Call: callID(1), Notes: typed, Corrections: name}))
		servicetest.Check(t, mine.Save(sent))
		servicetest.Check(t, mine.Delete(sent, mine.From(callID(1))))
		draft, _, err = box.Draft(callID(1))
		servicetest.Check(t, err)
		if draft.Notes != "" || !maps.Equal(draft.Corrections, name) {
			t.Errorf("%q was sent: on disk are %q and %v, want the name alone", typed, draft.Notes, draft.Corrections)
		}
	}
}

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}
