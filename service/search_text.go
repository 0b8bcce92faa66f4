package service

import (
	"slices"
	"strings"
	"unicode"

	"fundesk/apiclient/apitype"
)

const (
	leastEnd        = 4 // Digits by which the end of a number is found.
	leastAbroad     = 8 // Digits of a number that may begin with the code of a country, without a sign for it.
	longestAddition = 3 // Letters of an addition to a house number, such as "bis".
	dutchDigits     = 4 // Of a postcode, followed by two letters.
	dutchPostcode   = 6
	ibanBlock       = 4 // Characters of a group of an IBAN, as it is written.
)

// ParseSearch reads what an agent types: words of a name, a phone number, an e-mail address, a postcode with a house
// number, or an IBAN, or several of these. Zero parts find no one.
func ParseSearch(text string) Search {
	var search Search
	words := joinPostcodes(strings.Fields(text))
	for len(words) > 0 {
		length := numberLength(words)
		if length == 0 {
			search = append(search, wordParts(words[0])...)
			words = words[1:]
			continue
		}
		number := words[:length]
		words = words[length:]
		search = append(search, numberPart(number))
		if len(words) == 1 && isAddition(number, words[0]) {
			part := wordParts(words[0])[0]
			search = append(search, append(part, begins(addressTerm, numberedAddress(append(number, words[0])))))
			words = nil
		}
	}
	return append(search, pairPart(search)...)
}

// withoutPayers returns the search without the meanings that find a person by the IBAN of a payment.
func (s Search) withoutPayers() Search {
	return mapped(s, func(part []string) []string { return slices.DeleteFunc(slices.Clone(part), IsPayerTerm) })
}

// pairPart returns a part that matches persons who match two parts of a search, if the parts are different words of a
// name.
func pairPart(search Search) Search {
	for i, part := range search {
		for _, other := range search[i+1:] {
			if pairs := pairsOf(part, other); len(pairs) > 0 {
				return Search{pairs}
			}
		}
	}
	return nil
}

// pairsOf returns the pairs of two parts. It returns no pairs if one word may match both.
func pairsOf(part, other []string) []string {
	var pairs []string
	for _, a := range part {
		for _, b := range other {
			isOfNames := strings.HasPrefix(a, nameTerm) && strings.HasPrefix(b, nameTerm)
			if !isOfNames || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				return nil
			}
			pairs = append(pairs, begins(pairTerm, firstLetters(a, b)))
		}
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

func begins(class, text string) string { return class + cutTerm(text) }

// wordParts returns the parts of a word that has no digit.
func wordParts(word string) Search {
	if strings.Contains(word, "@") {
		return Search{{begins(emailTerm, emailText(word))}}
	}
	var parts Search
	german := splitWords(withoutUmlauts(word))
	for i, piece := range splitWords(word) {
		spellings := []string{
			piece,
			german[i],
			strings.ReplaceAll(piece, "ij", "y"),
			strings.ReplaceAll(piece, "y", "ij"),
		}
		slices.Sort(spellings)
		var part []string
		for _, spelling := range slices.Compact(spellings) {
			part = append(part, begins(nameTerm, spelling))
		}
		parts = append(parts, part)
	}
	return parts
}

// joinPostcodes joins 1234 and AB where they end a text or a house number follows.
func joinPostcodes(words []string) []string {
	var joined []string
	for i := 0; i < len(words); i++ {
		isSplit := i+1 < len(words) && len(words[i]) == dutchDigits && isDigits(words[i]) &&
			len(words[i+1]) == dutchPostcode-dutchDigits && isLetters(words[i+1])
		if isSplit && (i+2 == len(words) || hasDigit(words[i+2])) {
			joined = append(joined, words[i]+words[i+1])
			i++
			continue
		}
		joined = append(joined, words[i])
	}
	return joined
}

// numberLength returns how many words a text begins with that are one number: of a phone, a house or an account.
func numberLength(words []string) int {
	length := 0
	for length < len(words) && isNumeric(words[length]) {
		length++
	}
	if length != 1 || !beginsIBAN(words[0]) {
		return length
	}
	// NL91 ABNA 0417 1643 00
	if len(words) < 2 || len(words[1]) != ibanBlock || !isLetters(words[1]) {
		return length
	}
	return 2 + numberLength(words[2:])
}

// numberPart returns the possible meanings of a number.
func numberPart(words []string) []string {
	text := strings.Join(words, "")
	whole := plainText(text)
	terms := append(phoneTerms(text), begins(addressTerm, whole))
	if len(words) > 1 {
		terms = append(terms, begins(addressTerm, numberedAddress(words)))
	} else if isDutchAddress(whole) {
		terms = append(terms, begins(addressTerm, addressText(whole[:dutchPostcode], whole[dutchPostcode:])))
	}
	if len(words) == 1 {
		terms = append(terms, begins(nameTerm, whole))
	}
	if beginsIBAN(whole) {
		terms = append(terms, begins(ibanTerm, whole), begins(payerTerm, whole))
	}
	return terms
}

// numberedAddress returns the address of a postcode, a house number and perhaps an addition.
func numberedAddress(words []string) string {
	last := len(words) - 1
	if last > 1 && isLetters(words[last]) {
		return addressText(strings.Join(words[:last-1], ""), words[last-1]+" "+words[last])
	}
	return addressText(strings.Join(words[:last], ""), words[last])
}

// isAddition reports whether a word may belong to the house number before it.
func isAddition(number []string, word string) bool {
	return len(number) > 1 && len(word) <= longestAddition && isLetters(word)
}

// phoneTerms returns the numbers that a text may begin, or end. It returns no terms if the text is not a phone number.
func phoneTerms(text string) []string {
	if strings.Trim(text, "+0123456789-/.()") != "" {
		return nil
	}
	digits := apitype.Digits(strings.ReplaceAll(text, "(0)", ""))
	significant, isAbroad := strings.CutPrefix(digits, "00")
	isAbroad = isAbroad || strings.HasPrefix(strings.TrimLeft(text, "("), "+")
	home := strings.TrimLeft(digits, "0")
	isPlain := !isAbroad && digits == home
	var terms []string
	if !isAbroad && home != "" && !isPlain {
		terms = append(terms, endTerm+reversed(home)+"+")
		for _, country := range nationalCodes {
			terms = append(terms, phoneTerm+country+home)
		}
	}
	if !isAbroad && len(digits) >= leastEnd {
		terms = append(terms, endTerm+reversed(digits))
	}
	if isAbroad || isPlain && len(digits) >= leastAbroad {
		national, country := splitNumber(significant)
		if national != "" {
			terms = append(terms, phoneTerm+country+national)
		}
	}
	return terms
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func hasDigit(word string) bool { return strings.ContainsFunc(word, isDigit) }

func isDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !isDigit(r) })
}

func isLetters(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

func isNumeric(word string) bool { return hasDigit(word) && !strings.Contains(word, "@") }

// beginsIBAN reports whether a word begins with two letters and two digits.
func beginsIBAN(word string) bool {
	return len(word) >= ibanBlock && isLetters(word[:2]) && isDigits(word[2:ibanBlock])
}

// isDutchAddress reports whether a plain text is a Dutch postcode with a house number.
func isDutchAddress(text string) bool {
	return len(text) > dutchPostcode && isDigits(text[:dutchDigits]) && isLetters(text[dutchDigits:dutchPostcode]) &&
		isDigit(rune(text[dutchPostcode]))
}
