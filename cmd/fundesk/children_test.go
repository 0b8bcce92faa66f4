package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// spy is a program that writes down what the system shows of it and of who started it.
const spy = `#!/bin/bash
tr '\0' '\n' < /proc/$$/environ > "$HOME/spied-environ"
tr '\0' '\n' < /proc/$$/cmdline > "$HOME/spied-cmdline"
tr '\0' '\n' < /proc/$PPID/cmdline > "$HOME/spied-parent"
`

// addSpy puts a spy that goes on with more into the home folder.
func (h home) addSpy(t *testing.T, more string) (path string) {
	t.Helper()
	path = filepath.Join(h.dir, "spy")
	servicetest.Check(t, os.WriteFile(path, []byte(spy+more), 0o700))
	return path
}

// wantHidden looks for secrets in what the spy saw.
func (h home) wantHidden(t *testing.T, secrets ...string) {
	t.Helper()
	for _, name := range []string{"environ", "cmdline", "parent"} {
		data, err := os.ReadFile(filepath.Join(h.dir, "spied-"+name))
		if err != nil {
			t.Fatalf("the child never ran: %v", err)
		}
		if len(data) == 0 {
			t.Errorf("%s of the child is empty", name)
		}
		for _, secret := range secrets {
			if strings.Contains(string(data), secret) {
				t.Errorf("got %s in the %s of the child:\n%s", secret, name, data)
			}
		}
	}
}

// The program that prints the token is not shown another service's that the environment
// holds, and nobody sees the one that it printed.
func TestTokenCommandSeesNoToken(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	h := newHome(t)
	url := h.serve(t)
	token := h.must(t, "fundeskd account add desk --all-organizations")
	servicetest.Check(t, os.WriteFile(filepath.Join(h.dir, "token"), []byte(token), 0o600))
	path := h.addSpy(t, `cat "$HOME/token"`)
	h.must(t, "fundesk profile add prod --base-url "+url+" --token-storage command --token-command "+path)
	h.env = append(h.env, "FUNDESK_BASE_URL=https://other.example", "FUNDESK_TOKEN=another")
	if out := h.must(t, "fundesk auth status --profile prod -o json"); !strings.Contains(out, `"accepted":true`) {
		t.Errorf("got %s, want an accepted token", out)
	}
	h.wantHidden(t, token, "FUNDESK_TOKEN", "another")
}
