package tui

import (
	"bytes"
	"strings"
	"testing"
)

// The log names each message, and has nothing of what an agent typed or a donor is called.
func TestLogNamesMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log bytes.Buffer
	w.options.Log = &log
	d := newDriver(t, w.options)
	d.press("n")
	d.enter("i", "wants to be rung after choir")
	for _, want := range []string{"message: call read\n", "message: outbox read\n", "message: tea.KeyPressMsg\n"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("got no %q in:\n%s", want, log.String())
		}
	}
	for _, private := range []string{"choir", "Jansen"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("got %q in:\n%s", private, log.String())
		}
	}
}
