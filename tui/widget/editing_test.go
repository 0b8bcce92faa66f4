package widget

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"fundesk/render"
)

// editing is a page's view of either editor.
type editing interface {
	Insert(text string)
	Value() string
	SetValue(text string)
}

// press hands an editor a key by its name.
func press(e editing, name string) {
	switch e := e.(type) {
	case *TextArea:
		e.Update(keyPress(name))
	case *TextField:
		e.Update(keyPress(name))
	}
}

// keyPress returns a key by its name.
func keyPress(name string) tea.KeyPressMsg {
	keys := map[string]rune{
		"left":      tea.KeyLeft,
		"right":     tea.KeyRight,
		"up":        tea.KeyUp,
		"down":      tea.KeyDown,
		"home":      tea.KeyHome,
		"end":       tea.KeyEnd,
		"backspace": tea.KeyBackspace,
		"delete":    tea.KeyDelete,
		"enter":     tea.KeyEnter,
		"pgup":      tea.KeyPgUp,
		"pgdown":    tea.KeyPgDown,
	}
	var msg tea.KeyPressMsg
	for {
		mod, rest, found := strings.Cut(name, "+")
		if !found {
			break
		}
		msg.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "shift": tea.ModShift, "alt": tea.ModAlt}[mod]
		name = rest
	}
	msg.Code = keys[name]
	if msg.Code == 0 {
		msg.Code = []rune(name)[0]
	}
	return msg
}

const family = "👩‍👩‍👧"

func TestEditing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text []string // Typed or pasted, one after the other.
		keys []string
		then string
		want string
	}{
		{"types", []string{"a", "b"}, nil, "", "ab"},
		{"types in the middle", []string{"ac"}, []string{"left"}, "b", "abc"},
		{"erases a whole character", []string{"x" + family}, []string{"backspace"}, "", "x"},
		{"deletes a whole character", []string{family + "x"}, []string{"home", "delete"}, "", "x"},
		{"moves over a whole character", []string{"x" + family}, []string{"left"}, "y", "xy" + family},
		{"an accent joins its letter", []string{"e", "\u0301"}, []string{"backspace"}, "", ""},
		{"an accent is kept", []string{"be", "\u0301"}, nil, "l", "be\u0301l"},
		{"a skin tone joins its hand", []string{"👍", "🏽"}, []string{"backspace"}, "", ""},
		{"erases a word", []string{"one two  "}, []string{"ctrl+w"}, "", "one "},
		{"erases the first word", []string{"one"}, []string{"ctrl+w"}, "", ""},
		{"moves by words", []string{"one two"}, []string{"ctrl+left", "ctrl+left"}, "x", "xone two"},
		{"moves by words as in a shell", []string{"one two"}, []string{"home", "alt+f"}, "x", "onex two"},
		{"erases to the end", []string{"one two"}, []string{"ctrl+left", "ctrl+k"}, "", "one "},
		{"deletes ahead", []string{"abc"}, []string{"home", "delete"}, "", "bc"},
		{"nothing to erase", []string{"abc"}, []string{"home", "backspace"}, "", "abc"},
		{"no control characters", []string{"a\x1b[31mb\x00c\td"}, nil, "", "a[31mbc d"},
		{
			name: "what looks like one of ours",
			text: []string{"\U00100000\U00033480\U000fffff"},
			keys: []string{"left"},
			want: "\U00100000\U00033480\U000fffff",
		},
		{"ctrl+v is nothing", []string{"abc"}, []string{"ctrl+v"}, "", "abc"},
	}
	for _, test := range tests {
		for _, e := range []editing{&TextArea{}, &TextField{}} {
			t.Run(fmt.Sprintf("%s/%T", test.name, e), func(t *testing.T) {
				t.Parallel()
				for _, text := range test.text {
					e.Insert(text)
				}
				for _, name := range test.keys {
					press(e, name)
				}
				e.Insert(test.then)
				if got := e.Value(); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	}
}

func TestTextAreaHasLines(t *testing.T) {
	t.Parallel()
	wide := strings.TrimSpace(strings.Repeat("word ", 12)) // Three rows of twenty cells.
	tests := []struct {
		name string
		text string
		keys []string
		want string // With a bar at the place of the next character.
	}{
		{"enter", "ab", []string{"left", "enter"}, "a\n|b"},
		{"pasted lines", "a\r\nb\rc", nil, "a\nb\nc|"},
		{"to the start of the line", "one\ntwo", []string{"ctrl+u"}, "one\n|"},
		{"to the end of the line", "one\ntwo", []string{"up", "home", "ctrl+k"}, "|\ntwo"},
		{"up up in a paragraph are two rows", wide, []string{"home", "up", "up"}, "|" + wide},
		{"down in a paragraph is a row", wide, []string{"ctrl+home", "down"}, "word word word word |word" + wide[24:]},
		{
			name: "up from the next paragraph is its last row",
			text: wide + "\nx",
			keys: []string{"home", "up", "home"},
			want: "|" + wide + "\nx",
		},
		{"a page", strings.Repeat("a\n", 9) + "a", []string{"pgup"}, strings.Repeat("a\n", 6) + "a|\na\na\na"},
		{"selected text is replaced", "one two", []string{"ctrl+shift+left"}, "one |"},
		{"all is selected", "one\ntwo", []string{"ctrl+g"}, "|"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var e TextArea
			e.SetValue(test.text)
			e.Lines(20, 4, true, strings.ToUpper)
			for _, name := range test.keys {
				press(&e, name)
			}
			e.Insert("|")
			if got := e.Value(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Any text comes back as it went in, and so does one with more lines than the library
// keeps.
func TestEditingLosesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("\n", 20_000),
		strings.Repeat("a\n", 12_000) + family,
		strings.Repeat("x", 20_000),
	} {
		var e TextArea
		e.SetValue(text)
		if e.Value() != text {
			t.Errorf("got %d characters back, want %d", len(e.Value()), len(text))
		}
		for i, line := range e.Lines(20, 4, true, strings.ToUpper) {
			if render.Width(line) != 20 {
				t.Errorf("line %d: got %d cells", i, render.Width(line))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := sanitize(rapid.String().Draw(t, "text"), true)
		var area TextArea
		area.SetValue(text)
		if area.Value() != text {
			t.Errorf("got %q, want %q", area.Value(), text)
		}
		var field TextField
		field.SetValue(text)
		if want := sanitize(text, false); field.Value() != want {
			t.Errorf("one line: got %q, want %q", field.Value(), want)
		}
	})
}

// Random keys do to the text what they do to a slice of characters, and the cursor is in
// sight at any size.
func TestEditingAsAModel(t *testing.T) {
	t.Parallel()
	characters := []string{"a", "ë", " ", "世", family, "🇳🇱", "e\u0301", "\u202e", "\n"}
	mark := func(s string) string { return "\x1b[7m" + s + "\x1b[m" }
	rapid.Check(t, func(t *rapid.T) {
		var area TextArea
		var field TextField
		var want []string
		at := 0
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			e := rapid.SampledFrom([]string{
				"type", "type", "type", "left", "right", "backspace", "delete",
			}).Draw(t, "key")
			switch e {
			case "type":
				c := rapid.SampledFrom(characters).Draw(t, "character")
				area.Insert(c)
				field.Insert(c)
				want = append(want[:at:at], append([]string{c}, want[at:]...)...)
				at++
				continue
			case "left":
				at = max(at-1, 0)
			case "right":
				at = min(at+1, len(want))
			case "backspace":
				if at > 0 {
					want = append(want[:at-1:at-1], want[at:]...)
					at--
				}
			case "delete":
				if at < len(want) {
					want = append(want[:at:at], want[at+1:]...)
				}
			}
			press(&area, e)
			press(&field, e)
			width := rapid.IntRange(2, 30).Draw(t, "width")
			lines := append(area.Lines(width, rapid.IntRange(1, 4).Draw(t, "height"), true, mark),
				field.Line(width, mark))
			cursors := 0
			for _, line := range lines {
				cursors += strings.Count(line, "\x1b[7m")
				if render.Width(line) != width {
					t.Fatalf("got %d cells in %q, want %d", render.Width(line), line, width)
				}
			}
			if cursors != 2 {
				t.Fatalf("got %d cursors in %q, want one in each", cursors, lines)
			}
		}
		text := strings.Join(want, "")
		if area.Value() != text {
			t.Errorf("got %q, want %q", area.Value(), text)
		}
		if line := strings.ReplaceAll(text, "\n", " "); field.Value() != line {
			t.Errorf("one line: got %q, want %q", field.Value(), line)
		}
	})
}

// The cursor counts no style that the library puts around a selection, and shows the end of a line.
func TestCursorInAStyledLine(t *testing.T) {
	t.Parallel()
	mark := func(text string) string { return "[" + text + "]" }
	var c cells
	if got, want := c.line("\x1b[7ma\x1b[mb", 8, 1, mark), "\x1b[7ma\x1b[m[b]    "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.line("ab", 8, 5, mark), "ab[ ]   "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
