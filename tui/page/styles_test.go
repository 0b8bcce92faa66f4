package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// A role has the same colour in every terminal. NO_COLOR has none, and a warning stands out in each theme.
func TestThemes(t *testing.T) {
	t.Parallel()
	ofTerminal := regexp.MustCompile(`^\x1b\[(?:[147]|[34]8;5;[0-9]+|;)*m`)
	colour := regexp.MustCompile(`\x1b\[[0-9;]*\b(?:3[0-9]|9[0-9]|38|48)\b`)
	for _, theme := range Themes {
		s, plain := NewStyles(theme, false, false), NewStyles(theme, true, false)
		for name, role := range map[string]paint{
			"warn":   s.Warn,
			"bad":    s.Bad,
			"key":    s.Key,
			"accent": s.accent,
			"chosen": s.chosen,
		} {
			if got := role("x"); !ofTerminal.MatchString(got) || got == "x" {
				t.Errorf("%s, %s: got %q, want one of the 256 colours", theme, name, got)
			}
		}
		for name, role := range map[string]paint{
			"warn": plain.Warn,
			"bad":  plain.Bad,
			"key":  plain.Key,
			"good": plain.Good,
		} {
			if got := role("x"); colour.MatchString(got) {
				t.Errorf("%s without colour, %s: got %q", theme, name, got)
			}
		}
		if s.Warn("x") == s.plain("x") || s.Bad("x") == s.Dim("x") {
			t.Errorf("%s: a warning looks like any text", theme)
		}
	}
	if got := NewStyles("high-contrast", false, false).Dim("x"); got != "x" {
		t.Errorf("high contrast: got %q, want nothing faint", got)
	}
}

// Coloured text has a contrast of at least 4.5 on the grounds of the usual terminals, and white text on our own
// grounds.
func TestContrast(t *testing.T) {
	t.Parallel()
	grounds := map[string]map[string]string{
		"default": {"xterm": "#000000", "GNOME": "#171421", "iTerm2": "#101421", "Terminal.app": "#1e1e1e"},
		"light":   {"xterm": "#ffffff", "iTerm2": "#fefffe", "Terminal.app": "#ffffff", "Solarized": "#fdf6e3"},
	}
	ink, onGround := regexp.MustCompile(`38;5;(\d+)`), regexp.MustCompile(`48;5;(\d+)`)
	for theme, of := range grounds {
		s := NewStyles(theme, false, false)
		for terminal, ground := range of {
			for name, role := range map[string]paint{
				"warn": s.Warn, "bad": s.Bad, "good": s.Good, "held": s.Held, "key": s.Key, "accent": s.accent,
				"marked": s.marked, "band": s.band, "tab": s.Tab, "sending": s.sending, "alarm": s.alarm,
			} {
				codes, behind := role("x"), ground
				if own := onGround.FindStringSubmatch(codes); own != nil {
					behind = ofCube(t, own[1])
				}
				text := ofCube(t, ink.FindStringSubmatch(codes)[1])
				if got := contrast(t, text, behind); got < 4.5 {
					t.Errorf("%s, %s, %s: got a contrast of %.1f, want 4.5", theme, terminal, name, got)
				}
			}
		}
	}
}

// ofCube returns one of the 256 colours that are the same in every terminal, in hexadecimal.
func ofCube(t *testing.T, number string) string {
	t.Helper()
	n, err := strconv.Atoi(number)
	if err != nil || n < 16 || n > 231 {
		t.Fatalf("got the colour %s, want one of the cube", number)
	}
	levels := []int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", levels[n/36], levels[n/6%6], levels[n%6])
}

// contrast returns the ratio of the luminance of two colours, as WCAG 2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		total := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			part, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			v := float64(part) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			total += weight * v
		}
		return total
	}
	high, low := luminance(a), luminance(b)
	if low > high {
		high, low = low, high
	}
	return (high + 0.05) / (low + 0.05)
}
