package service

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"fundesk/apiclient/apitype"
)

// Persons are found by terms. A term is a word or number of the person in one spelling, behind a letter that names its
// class. The store keeps the terms of each person and finds those that begin with a text. When terms are made in
// another way, a migration has to make those of all persons again. Spec gap: S83.
const (
	nameTerm    = "n" // A word of the name.
	pairTerm    = "x" // The first letters of two words of the name: what two short beginnings have in common.
	phoneTerm   = "p" // The international number without a sign, for its beginning.
	endTerm     = "r" // The national number backwards, then + and the code of the country: for its end.
	emailTerm   = "e"
	addressTerm = "a" // Postcode, house number and addition, each followed by a slash.
	ibanTerm    = "i"
	payerTerm   = "t" // The IBAN of a payment for a pledge. It stays when the person changes.
)

const (
	maxTerm      = 60 // Characters. A longer word is found by its beginning.
	maxNameTerms = 20 // Words of one name.
)

// Search has the parts of a search. Each part lists beginnings of terms, and a person must have a term with one of
// them. A person has to match all parts.
type Search [][]string

// The bits of Letters: one for each first letter, one for all other first characters, the rest for longer beginnings.
const (
	otherBit     = 'z' - 'a' + 1
	longerBits   = 63 - otherBit - 1
	lettersOfBit = 3  // The longest beginning that has a bit.
	bitFactor    = 31 // Spreads beginnings over their bits.
)

// Letters returns bits of the first letters of words among terms. A person who has a word that begins as another text
// has all bits of the text.
func Letters(terms ...string) int64 {
	var bits int64
	for _, term := range terms {
		word, isName := strings.CutPrefix(term, nameTerm)
		if !isName {
			continue
		}
		beginning := 0
		for i, r := range []rune(word[:min(len(word), lettersOfBit*utf8.UTFMax)]) {
			if i == lettersOfBit {
				break
			}
			beginning = beginning*bitFactor + int(r)
			bit := int(otherBit)
			if i > 0 {
				bit = otherBit + 1 + beginning%longerBits
			} else if 'a' <= r && r <= 'z' {
				bit = int(r - 'a')
			}
			bits |= 1 << bit
		}
	}
	return bits
}

// IsFirstLetter reports whether a text is one letter of a word that has a bit of its own. A person with all bits of the
// text has such a word.
func IsFirstLetter(term string) bool {
	letter, isName := strings.CutPrefix(term, nameTerm)
	return isName && len(letter) == 1 && 'a' <= letter[0] && letter[0] <= 'z'
}

// TermsOf returns the terms of a person, sorted. A term that another one begins with is left out.
func TermsOf(p apitype.Person) []string {
	var terms []string
	add := func(class, text string) {
		if text != "" {
			terms = append(terms, class+cutTerm(text))
		}
	}
	for _, word := range nameWords(p) {
		add(nameTerm, word)
	}
	names := slices.Clone(withoutBeginnings(terms))
	terms = slices.Clone(names)
	for i, name := range names {
		for _, other := range names[i+1:] {
			add(pairTerm, firstLetters(name, other))
		}
	}
	for _, number := range phoneNumbers(p) {
		terms = append(terms, beginningTerm(number), numberTerm(number))
	}
	if p.Email != nil {
		add(emailTerm, emailText(*p.Email))
	}
	if p.IBAN != nil {
		terms = append(terms, IBANTerm(*p.IBAN))
	}
	if address := p.Address.Pointer(); address != nil {
		extension := ""
		if address.HouseNumberExtension != nil {
			extension = *address.HouseNumberExtension
		}
		add(addressTerm, addressText(address.ZipCode, address.HouseNumber+" "+extension))
	}
	return withoutBeginnings(terms)
}

// DecodedTerms returns the terms of a person's document. That of an erased person is empty, and has none.
func DecodedTerms(doc []byte) ([]string, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	var person apitype.Person
	if err := decode("person", doc, &person); err != nil {
		return nil, err
	}
	return TermsOf(person), nil
}

// PayerTerm returns the term of the document of a payment, or "" if it has no IBAN.
func PayerTerm(doc []byte) (string, error) {
	var payment struct {
		IBAN string `json:"iban"`
	}
	if len(doc) == 0 {
		return "", nil
	}
	if err := decode("transaction", doc, &payment); err != nil {
		return "", err
	}
	text := plainText(payment.IBAN)
	if text == "" {
		return "", nil
	}
	return payerTerm + cutTerm(text), nil
}

// firstLetters returns the first letters of the words of two terms, in order.
func firstLetters(a, b string) string {
	first, _ := utf8.DecodeRuneInString(a[len(nameTerm):])
	second, _ := utf8.DecodeRuneInString(b[len(nameTerm):])
	return string(min(first, second)) + string(max(first, second))
}

// IBANTerm returns the term of a person's IBAN.
func IBANTerm(iban string) string { return ibanTerm + cutTerm(plainText(iban)) }

// IsPayerTerm reports whether a term comes from a payment.
func IsPayerTerm(term string) bool { return strings.HasPrefix(term, payerTerm) }

// PayerIBAN returns the IBAN of a term that comes from a payment, in lower case.
func PayerIBAN(term string) string { return strings.TrimPrefix(term, payerTerm) }

// nameWords returns the words by which a name is found.
func nameWords(p apitype.Person) []string {
	var words []string
	for _, part := range []*string{p.FirstName, p.LastNamePrefix, p.LastName, p.AcademicTitle} {
		if part == nil {
			continue
		}
		for text := range strings.FieldsSeq(*part) {
			pieces := splitWords(text)
			words = append(words, pieces...)
			if len(pieces) > 1 { // Anne-Marie is also found as Annemarie.
				words = append(words, strings.Join(pieces, ""))
			}
			words = append(words, splitWords(withoutUmlauts(text))...)
		}
	}
	if p.Initials != nil {
		initials := splitWords(*p.Initials)
		words = append(words, strings.Join(initials, ""))
		words = append(words, initials...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), maxNameTerms)]
}

// beginningTerm returns the term by which the beginning of a phone number is found.
func beginningTerm(number string) string {
	national, country := splitNumber(apitype.Digits(number))
	return phoneTerm + cutTerm(country+national)
}

// numberTerm returns the term of a whole phone number, by which its end is found, too.
func numberTerm(number string) string {
	national, country := splitNumber(apitype.Digits(number))
	return endTerm + cutTerm(reversed(national)+"+"+country)
}

func cutTerm(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), maxTerm)])
}

// withoutBeginnings sorts terms, and leaves out those that another one begins with.
func withoutBeginnings(terms []string) []string {
	slices.Sort(terms)
	kept := terms[:0]
	for i, term := range terms {
		if i+1 == len(terms) || !strings.HasPrefix(terms[i+1], term) {
			kept = append(kept, term)
		}
	}
	return kept
}

// letters are the ones that Unicode does not decompose into a plain letter and an accent.
var letters = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "þ", "th", "ħ", "h", "ı", "i", "ŋ", "n")

// plain returns a text in lower case, without accents.
func plain(text string) string {
	isASCII := !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
	if isASCII {
		return strings.ToLower(text)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	return letters.Replace(text)
}

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// withoutUmlauts returns a text with ae, oe, ue and ss for the German letters.
func withoutUmlauts(text string) string {
	return umlauts.Replace(norm.NFC.String(strings.ToLower(text)))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// splitWords returns the words of a text, plain.
func splitWords(text string) []string {
	return strings.FieldsFunc(plain(text), func(r rune) bool { return !isWordRune(r) })
}

// plainText returns the letters and digits of a text, plain.
func plainText(text string) string { return strings.Join(splitWords(text), "") }

// emailText returns an e-mail address, plain, without what would need quotes in a term.
func emailText(text string) string {
	return strings.Map(func(r rune) rune {
		needsQuotes := r == '"' || r == '\\'
		if needsQuotes || unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, plain(text))
}

// addressText returns the text by which an address is found: its postcode, house number and extension.
func addressText(postcode, number string) string {
	number = strings.Join(splitWords(number), " ")
	digits := number
	if at := strings.IndexFunc(number, func(r rune) bool { return r < '0' || '9' < r }); at > 0 {
		digits = number[:at]
	}
	text := plainText(postcode) + "/" + plainText(digits) + "/"
	if extension := plainText(number[len(digits):]); extension != "" {
		text += extension + "/"
	}
	return text
}

func reversed(text string) string {
	bytes := []byte(text)
	slices.Reverse(bytes)
	return string(bytes)
}

// shortCodes are the codes of countries with two digits; 1 and 7 have one, others three.
var shortCodes = strings.Fields(
	"20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 " +
		"90 91 92 93 94 95 98",
)

// nationalCodes are the codes of countries in which the beginning of a national number is looked for: those with
// calling hours of their own, and their neighbours.
var nationalCodes = strings.Fields("31 32 33 34 39 41 43 44 45 48 49 352 353")

// splitNumber splits the digits of an international number into those of the country, and those after it without zeros
// in front.
func splitNumber(digits string) (national, country string) {
	length := 3
	if strings.HasPrefix(digits, "1") || strings.HasPrefix(digits, "7") {
		length = 1
	} else if len(digits) > 1 && slices.Contains(shortCodes, digits[:2]) {
		length = 2
	}
	length = min(length, len(digits))
	return strings.TrimLeft(digits[length:], "0"), digits[:length]
}
