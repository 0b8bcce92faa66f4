package commands

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/durable/powercut"
	"fundesk/commands/profile"
	"fundesk/service/servicetest"
)

// A position of a pull that a power cut leaves is the one before or the one after: never one
// beyond what was printed, and none that cannot be read.
func TestPowerCutLeavesAPosition(t *testing.T) {
	t.Parallel()
	home, demo := t.TempDir(), t.TempDir()
	servicetest.Check(t, CopyDemo(demo))
	disk := powercut.Record(t, home)
	place := filepath.Join("state", "calls")
	positions := []string{""} // After each pull.
	done := []int{0}
	for range 3 {
		out, errs, code := runIn(t, demo, "", "pull", "call", "--state", filepath.Join(home, place), "-o", "ndjson")
		if code != 0 || len(done) == 1 && strings.Count(out, "\n") == 0 {
			t.Fatalf("got exit code %d and %q", code, errs)
		}
		text, err := os.ReadFile(filepath.Join(home, place))
		servicetest.Check(t, err)
		positions, done = append(positions, string(text)), append(done, disk.Now())
	}
	disk.Replay(t, func(t *testing.T, left string, moment int) {
		text, _ := os.ReadFile(filepath.Join(left, place)) // One that is not there is the first.
		last := 0
		for last+1 < len(done) && moment >= done[last+1] {
			last++
		}
		isNext := last+1 < len(done) && string(text) == positions[last+1]
		if string(text) != positions[last] && !isNext {
			t.Errorf("got %q after %d pulls", text, last)
		}
		if len(text) > 0 && !json.Valid(bytes.TrimSpace(text)) {
			t.Errorf("got %q, want a position", text)
		}
	})
}

// What a power cut leaves of a profile and its token is what was said last; and a token that
// was taken away does not come back without the service that it is for.
func TestPowerCutLeavesTheLogin(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, ".config", "fundesk")
	disk := powercut.Record(t, home)
	ours := profile.Profile{BaseURL: "http://127.0.0.1:1", TokenStorage: profile.StorageFile}
	if _, errs, code := runIn(t, home, "", "profile", "add", "prod", "--base-url", ours.BaseURL, "--token-storage", "file"); code != 0 {
		t.Fatalf("got exit code %d and %q", code, errs)
	}
	added := disk.Now()
	tokens := profile.Tokens{Dir: config}
	if _, err := tokens.Set("prod", ours, "secret", true); err != nil {
		t.Fatal(err)
	}
	stored := disk.Now()
	servicetest.Check(t, tokens.Delete("prod", ours))
	deleted := disk.Now()
	elsewhere := profile.Profile{BaseURL: "http://127.0.0.1:2", TokenStorage: profile.StorageFile}
	disk.Replay(t, func(t *testing.T, left string, moment int) {
		config := filepath.Join(left, ".config", "fundesk")
		kept, err := (profile.Store{Dir: config}).Load()
		if _, isThere := kept.Profiles["prod"]; err != nil || moment >= added && !isThere {
			t.Errorf("got %+v, %v, want the profile", kept, err)
		}
		tokens := profile.Tokens{Dir: config}
		if token, err := tokens.Get(t.Context(), "prod", elsewhere); moment >= stored && err == nil {
			t.Errorf("another service is sent %q", token)
		}
		token, err := tokens.Get(t.Context(), "prod", ours)
		if moment == stored && token != "secret" || moment >= deleted && err == nil {
			t.Errorf("got %q, %v", token, err)
		}
	})
}
