package tui

import (
	"strings"
	"testing"
)

// sentUpdate returns the body of the correction that waits in the outbox.
func (w *world) sentUpdate(t *testing.T) string {
	t.Helper()
	entries, _, err := w.box.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Op == "person.update" {
			return string(e.Body)
		}
	}
	return ""
}

// A pasted address is split into all its parts, and the card shows one line of what was and what is to be. Nothing of
// the old address stays.
func TestPastedAddress(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("n", "f", "6")
	d.typing("Kerkstraat 61a, 8094 RA Zwolle")
	d.enter("enter", "esc")
	d.sees("Dorpsstraat 12, 1234 AB Utrecht, NL → Kerkstraat")
	d.enter("c", "1", "8", "ctrl+s", "y")
	want := `"address":{"street":"Kerkstraat","houseNumber":"61","houseNumberExtension":"a","zipCode":"8094 RA","city":"Zwolle"`
	if got := w.sentUpdate(t); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is more than a street, and no address of the country, is refused in words, and stays typed.
func TestAddressOfAnotherForm(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("n", "f", "6")
	d.typing("Hauptstr. 12, 50667 Köln")
	d.sees("is more than a street, and no address in NL: type the street alone")
	d.enter("enter", "esc", "esc")
	if len(d.app.Day.Form.Corrections) > 0 || len(w.entries(t)) > 0 {
		t.Errorf("got %v, want nothing corrected", d.app.Day.Form.Corrections)
	}
}

// After a new street Enter goes on to the number, its addition, the postcode and the town.
func TestNewStreetGoesOn(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "f", "6")
	for _, part := range []string{"Kade", "3", "b", "1011 AB", "Amsterdam"} {
		d.typing(part)
		d.press("enter")
	}
	d.press("esc")
	d.sees("→ Kade 3b, 1011 AB")
	want := map[string]string{
		"address/street": "Kade", "address/houseNumber": "3", "address/houseNumberExtension": "b",
		"address/zipCode": "1011 AB", "address/city": "Amsterdam",
	}
	for key, value := range want {
		if got := d.app.Day.Form.Corrections[key]; got != value {
			t.Errorf("%s: got %q, want %q", key, got, value)
		}
	}
}
