package apitype

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNotes is the longest text of notes, in code points. Spec gap: R8.
const MaxNotes = 20000

// The longest other texts. Spec gap: R8.
const (
	maxText    = 1000
	maxAddress = 200
)

// CheckName returns the problem with a name of at most 1000 code points, or an empty text. A command line may have
// text that is not UTF-8, which no answer could contain. Spec gap: R8.
func CheckName(text string) string { return checkText(text, maxText) }

// checkText returns the problem with a text, or an empty text. Spec gap: R8.
func checkText(text string, limit int) string {
	if text == "" {
		return "must not be empty; use null for no value"
	}
	if strings.ContainsRune(text, 0) {
		return "must not contain a NUL character"
	}
	if !utf8.ValidString(text) {
		return "must be valid UTF-8"
	}
	if utf8.RuneCountInString(text) > limit {
		return "is too long"
	}
	return ""
}

// requireText checks a text that must be there.
func requireText(v *Violations, pointer, text string, limit int) {
	if text == "" {
		v.Add(pointer, "is required")
		return
	}
	optionalText(v, pointer, &text, limit)
}

// optionalText checks a text that may be nil.
func optionalText(v *Violations, pointer string, text *string, limit int) {
	if text == nil {
		return
	}
	if problem := checkText(*text, limit); problem == "is too long" {
		v.Add(pointer, "must have at most %d characters", limit)
	} else if problem != "" {
		v.Add(pointer, "%s", problem)
	}
}

// A normalizer checks a text and returns the form that is stored, or what is wrong
// with it.
type normalizer func(text string) (stored, problem string)

// normalizeField checks a text that may be nil and replaces it by the stored form.
func normalizeField(v *Violations, pointer string, text **string, normalize normalizer) {
	if *text == nil {
		return
	}
	stored, problem := normalize(**text)
	if problem != "" {
		v.Add(pointer, "%s", problem)
		return
	}
	*text = &stored
}

// givenField is a field of a body, and whether it is there.
type givenField struct {
	name  string
	given bool
}

// refuse adds a violation for each of some fields that are there.
func refuse(v *Violations, message string, fields ...givenField) {
	for _, field := range fields {
		if field.given {
			v.Add("/"+field.name, "%s", message)
		}
	}
}

// requireUUID checks an identifier that must be there.
func requireUUID(v *Violations, pointer string, id UUID) {
	if id.IsZero() {
		v.Add(pointer, "is required")
	}
}

// newUUID checks the identifier that a caller chose for a new record. Spec gap: R4.
func newUUID(v *Violations, pointer string, id *UUID) {
	if id != nil && !id.IsNew() {
		v.Add(pointer, "must be a version 4 UUID")
	}
}

// requireTime checks a time that must be there.
func requireTime(v *Violations, pointer string, t Time) {
	if t.IsZero() {
		v.Add(pointer, "is required")
	}
}

// requireEnum checks an enumerated value that must be there.
func requireEnum[T ~string](v *Violations, pointer string, value T, allowed []T) {
	if value == "" {
		v.Add(pointer, "is required")
		return
	}
	optionalEnum(v, pointer, &value, allowed)
}

// optionalEnum checks an enumerated value that may be nil.
func optionalEnum[T ~string](v *Violations, pointer string, value *T, allowed []T) {
	if value != nil && !slices.Contains(allowed, *value) {
		v.Add(pointer, "must be one of %s", strings.Join(Texts(allowed), ", "))
	}
}

// IBANProblem returns why no account can have an IBAN, or an empty text. Spec gap: R9.
func IBANProblem(iban string) string {
	_, problem := checkIBAN(iban)
	return problem
}

// NormalizeIBAN removes spaces and writes capitals; it checks nothing. Spec gap: R9.
func NormalizeIBAN(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text))
}

// checkIBAN wants the length of the country and check digits by ISO 7064 mod 97-10.
func checkIBAN(text string) (stored, problem string) {
	if problem := checkText(text, maxText); problem != "" {
		return "", problem
	}
	iban := NormalizeIBAN(text)
	if len(iban) < 4 {
		return "", "is not a valid IBAN: too short"
	}
	length, known := ibanLengths[iban[:2]]
	if !known {
		return "", "is not a valid IBAN: the first two letters are not a country that has them"
	}
	if len(iban) != length {
		return "", "is not a valid IBAN: wrong length for its country"
	}
	remainder := 0
	for _, c := range []byte(iban[4:] + iban[:4]) {
		switch {
		case c >= '0' && c <= '9':
			remainder = (remainder*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		default:
			return "", "is not a valid IBAN: letters and digits only"
		}
	}
	if remainder != 1 || iban[2] > '9' || iban[3] > '9' {
		return "", "is not a valid IBAN: its check digits do not match"
	}
	return iban, ""
}

// checkPhone wants E.164: plus, no leading zero, 7 to 15 digits. Spec gap: R9.
func checkPhone(text string) (stored, problem string) {
	digits, hasPlus := strings.CutPrefix(text, "+")
	isNumber := strings.Trim(digits, "0123456789") == "" && !strings.HasPrefix(digits, "0")
	isLong := len(digits) >= 7 && len(digits) <= 15
	if !hasPlus || !isNumber || !isLong {
		return "", "must be in international format, such as +31612345678"
	}
	return text, ""
}

// checkEmail wants one mailbox with a dotted domain. Spec gap: R9.
func checkEmail(text string) (stored, problem string) {
	const wrong = "must be one e-mail address, such as name@example.org"
	if problem := checkText(text, maxText); problem != "" {
		return "", problem
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || address.Name != "" {
		return "", wrong
	}
	domain := text[strings.LastIndexByte(text, '@')+1:]
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return "", wrong
		}
	}
	if !strings.Contains(domain, ".") || strings.ContainsAny(domain, "[]") {
		return "", wrong
	}
	return text, ""
}

// checkLanguage wants an ISO 639-1 code, stored in lower case. Spec gap: R9.
func checkLanguage(text string) (stored, problem string) {
	if code := strings.ToLower(text); len(code) == 2 && inTable(languageCodes, code) {
		return code, ""
	}
	return "", "must be an ISO 639-1 language code, such as nl"
}

// checkCountry wants an ISO 3166-1 alpha-2 code, stored in upper case. Spec gap: R9.
func checkCountry(text string) (stored, problem string) {
	if code := strings.ToUpper(text); len(code) == 2 && inTable(countryCodes, code) {
		return code, ""
	}
	return "", "must be an ISO 3166-1 country code of two letters, such as NL"
}

// checkSocialSecurityNumber wants 4 to 15 digits. Spec gap: R9.
func checkSocialSecurityNumber(text string) (stored, problem string) {
	if len(text) < 4 || len(text) > 15 || strings.Trim(text, "0123456789") != "" {
		return "", "must be 4 to 15 digits without separators"
	}
	return text, ""
}

// LanguageCodes returns the languages that a person may have.
func LanguageCodes() []string { return strings.Fields(languageCodes) }

// CountryCodes returns the countries that an address may be in.
func CountryCodes() []string { return strings.Fields(countryCodes) }

// inTable reports whether a table of two-letter codes holds the code.
func inTable(table, code string) bool {
	for i := 0; i < len(table); i += 3 {
		if table[i:i+2] == code {
			return true
		}
	}
	return false
}

// languageCodes are the codes of ISO 639-1.
const languageCodes = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy " +
	"da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz " +
	"ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv " +
	"mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw " +
	"sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty " +
	"ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"

// countryCodes are the officially assigned codes of ISO 3166-1 alpha-2.
const countryCodes = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ " +
	"BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ " +
	"CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ " +
	"EC EE EG EH ER ES ET FI FJ FK FM FO FR " +
	"GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU " +
	"ID IE IL IM IN IO IQ IR IS IT JE JM JO JP " +
	"KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY " +
	"MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ " +
	"NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW " +
	"SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ " +
	"UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"

// ibanLengths are the lengths of the IBAN registry by country.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
	"BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
	"ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
	"HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20,
	"LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
	"MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29,
	"PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24,
	"SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
	"YE": 30,
}
