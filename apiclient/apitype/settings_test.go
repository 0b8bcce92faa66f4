package apitype

import "testing"

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Span{"09:00-21:00": {540, 1260}, "9:30 - 12:15": {570, 735}, "-": {}} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: got %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "9-21", "21:00-09:00", "09:00-09:00", "09:00-24:00", "09:00"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
