package tui

import (
	"strings"
	"testing"
)

// The terminal's cursor is behind the typed text, in the notes and in a dialog. Elsewhere it is hidden.
func TestCursorOfTheTerminal(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n")
	if d.app.View().Cursor != nil {
		t.Error("got a cursor where nothing is typed")
	}
	behind := func(text string) {
		t.Helper()
		cursor := d.app.View().Cursor
		if cursor == nil {
			t.Fatalf("got no cursor:\n%s", d.text())
		}
		line := []rune(strings.Split(d.text(), "\n")[cursor.Y])
		if got := string(line[:cursor.X]); !strings.HasSuffix(got, text) {
			t.Errorf("got the cursor behind %q, want it behind %q", got, text)
		}
	}
	d.enter("i", "h", "i")
	behind("hi")
	d.press("left")
	behind("h")
	d.enter("esc", "/", "b", "o")
	behind("bo")
	if d.press("esc"); d.app.View().Cursor != nil {
		t.Error("got a cursor after the dialog")
	}
	if strings.Contains(d.app.View().Content, "777;cursor") {
		t.Error("the mark reaches the terminal")
	}
}
