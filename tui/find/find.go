// Package find finds typed words in texts, in spite of accents and slips of the finger.
package find

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Fold returns a text as it is searched: in lower case, without accents, and with one letter for ij
// and y, so that Muller finds Müller and Meyer finds Meijer.
func Fold(text string) string {
	return strings.ReplaceAll(Unaccented(strings.ToLower(text)), "ij", "y")
}

// Unaccented returns a text in lower case without its accents.
func Unaccented(lower string) string {
	if !strings.ContainsFunc(lower, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return lower
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1 // A separate accent.
		}
		return r
	}, letters().Replace(lower))
}

// letters are the accented letters of the languages of Europe, without their accents.
var letters = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for plain, accented := range map[string]string{
		"a": "àáâãäåāăąǎ", "ae": "æ", "c": "çćĉċč", "d": "ďđð", "e": "èéêëēĕėęěẽ", "g": "ĝğġģ", "h": "ĥħ",
		"i": "ìíîïĩīĭįı",
		"j": "ĵ", "k": "ķ", "l": "ĺļľŀł", "n": "ñńņňŋ", "o": "òóôõöøōŏőǒ", "oe": "œ", "r": "ŕŗř", "s": "śŝşšșſ",
		"ss": "ß",
		"t":  "ţťŧț", "th": "þ", "u": "ùúûüũūŭůűųǔ", "w": "ŵ", "y": "ýÿŷ", "z": "źżž", "ij": "ĳ",
	} {
		for _, r := range accented {
			pairs = append(pairs, string(r), plain)
		}
	}
	return strings.NewReplacer(pairs...)
})

// Terms returns a search taken apart, ready for [In].
func Terms(search string) []string { return strings.Fields(Fold(search)) }

// In reports whether a text has all of the words: whole or in part, and words of letters
// with a slip of the finger, two in a long one.
func In(text string, terms []string) bool {
	if len(terms) == 0 {
		return true
	}
	folded := Fold(text)
	for _, term := range terms {
		if !strings.Contains(folded, term) && !hasNearly(folded, term) {
			return false
		}
	}
	return true
}

// The lengths of words from which one slip is forgiven, and two.
const (
	oneSlip  = 4
	twoSlips = 8
)

// hasNearly reports whether a word of the text begins nearly like another word. A number is
// meant as it is.
func hasNearly(text, word string) bool {
	if len(word) < oneSlip || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	slips := 1
	if len(word) >= twoSlips {
		slips = 2
	}
	want := []rune(word)
	for token := range strings.FieldsSeq(text) {
		have := []rune(token)
		for n := max(len(want)-slips, 1); n <= min(len(want)+slips, len(have)); n++ {
			if slipsBetween(want, have[:n]) <= slips {
				return true
			}
		}
	}
	return false
}

// slipsBetween returns how many letters were left out, added, mistaken or swapped with the next.
func slipsBetween(a, b []rune) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range a {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && slices.Equal(a[i-1:i+1], []rune{b[j], b[j-1]}) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
