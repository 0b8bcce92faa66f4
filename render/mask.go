package render

import "strings"

// MaskIBAN hides an IBAN but for its country, check digits and last four characters.
func MaskIBAN(iban string) string {
	runes := []rune(strings.ReplaceAll(iban, " ", ""))
	if len(runes) <= 8 {
		return strings.Repeat("•", len(runes))
	}
	return string(runes[:4]) + strings.Repeat("•", len(runes)-8) + string(runes[len(runes)-4:])
}

// MaskDigits hides a number such as a social security number but for its last two
// characters.
func MaskDigits(digits string) string {
	runes := []rune(digits)
	if len(runes) <= 4 {
		return strings.Repeat("•", len(runes))
	}
	return strings.Repeat("•", len(runes)-2) + string(runes[len(runes)-2:])
}
