package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/service/servicetest"
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
	d.enter("c", "1", "8")
	d.sees("address Kerkstraat 61a, 8094 RA Zwolle, NL") // In the line before sending.
	d.enter("ctrl+s", "y")
	want := `"address":{"street":"Kerkstraat","houseNumber":"61","houseNumberExtension":"a","zipCode":"8094 RA","city":"Zwolle"`
	if got := w.sentUpdate(t); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The lines of a pasted address are its parts.
func TestPastedAddressOfSeveralLines(t *testing.T) {
	t.Parallel()
	for pasted, want := range map[string]string{
		"Kerkstraat 61a\n8094 RA Zwolle\n":                               "Kerkstraat 61a, 8094 RA Zwolle, NL",
		"Flat 3, 10 High Street,\r\nOxford\r\nOX1 4BJ\r\nUnited Kingdom": "High Street 10 Flat 3, OX1 4BJ Oxford, GB",
		"Mariahilfer Straße 12/3/4\n1060 Wien\nÖsterreich":               "Mariahilfer Straße 12 3/4, 1060 Wien, AT",
	} {
		_, d := opened(t)
		d.enter("n", "f", "6")
		d.send(tea.PasteMsg{Content: pasted})
		d.enter("enter", "esc", "c", "1", "8")
		d.sees("address " + want) // In the line before sending.
	}
}

// What is more than a street, and no address of the country, is refused in words, and stays typed.
func TestAddressOfAnotherForm(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("n", "f", "6")
	d.typing("Hauptstr. 12, Köln")
	d.sees("is more than a street, and no address in NL: type the street alone")
	d.enter("enter", "esc", "esc")
	if len(d.app.Day.Form().Corrections) > 0 || len(w.entries(t)) > 0 {
		t.Errorf("got %v, want nothing corrected", d.app.Day.Form().Corrections)
	}
}

// An address of another country moves there once the agent has named the country, or typed it behind the address.
func TestAddressOfAnotherCountry(t *testing.T) {
	t.Parallel()
	for typed, keys := range map[string][]string{
		"Hauptstr. 14 b, 50667 Köln":            {"enter", "1", "esc"},
		"Hauptstr. 14 b, 50667 Köln, Duitsland": {"enter", "esc"},
	} {
		w, d := opened(t)
		d.enter("n", "f", "6")
		d.typing(typed)
		d.enter(keys...)
		d.sees("→ Hauptstr.")
		d.enter("c", "1", "8", "ctrl+s", "y")
		want := `"address":{"street":"Hauptstr.","houseNumber":"14","houseNumberExtension":"b","zipCode":"50667","city":"Köln","country":"DE"`
		if got := w.sentUpdate(t); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", typed, got, want)
		}
	}
}

// After a new street Enter goes on to the number, its addition, the postcode and the town. A house number behind the
// street is taken from it, so that the old number does not stay. A year belongs to the street.
func TestNewStreetGoesOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed                    []string // Of which an empty one takes what is there.
		street, number, addition string
	}{
		{[]string{"Kade", "3", "b"}, "Kade", "3", "b"},
		{[]string{"Lange Kade 3b", "", ""}, "Lange Kade", "3", "b"},
		{[]string{"Plein 1944", "7", "b"}, "Plein 1944", "7", "b"},
	} {
		t.Run(test.typed[0], func(t *testing.T) {
			t.Parallel()
			_, d := opened(t)
			d.enter("n", "f", "6")
			for _, part := range append(test.typed, "1011 AB", "Amsterdam") {
				d.typing(part)
				d.press("enter")
			}
			d.press("esc")
			d.sees("→ " + test.street + " " + test.number + test.addition + ", 1011")
			servicetest.Same(t, "corrections", map[string]string{
				"address/street":               test.street,
				"address/houseNumber":          test.number,
				"address/houseNumberExtension": test.addition,
				"address/zipCode":              "1011 AB",
				"address/city":                 "Amsterdam",
			}, d.app.Day.Form().Corrections)
		})
	}
}
