package render

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
)

// Words returns a value of the interface in words: wants_to_stop is "wants to stop". It treats unknown values alike.
func Words(code string) string {
	if code == "winback" {
		return "win-back"
	}
	return strings.ReplaceAll(code, "_", " ")
}

// Recruitment returns the kind of a recruitment in a word, or an empty text if it is unknown.
func Recruitment(p apitype.Pledge) string {
	won := text(p.RecruitmentType)
	if won == "d2d" {
		return "door"
	}
	return Words(won)
}

// Plural returns a count with the singular or plural of a noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Ago returns how long ago a time was, in words.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < time.Minute {
		return "just now"
	}
	if d < time.Hour {
		return Plural(int(d.Minutes()), "minute", "minutes") + " ago"
	}
	if d < 48*time.Hour {
		return Plural(int(d.Hours()), "hour", "hours") + " ago"
	}
	return Plural(int(d.Hours()/24), "day", "days") + " ago"
}

// Language returns the name of an ISO 639-1 code, or the code of a rare one.
func Language(code string) string {
	if i := strings.Index(languages, " "+strings.ToLower(code)+" "); i >= 0 {
		name, _, _ := strings.Cut(languages[i+4:], " ")
		return name
	}
	return code
}

// languages has the names of codes. Other codes are shown as they are.
const languages = " ar Arabic bg Bulgarian ca Catalan cs Czech da Danish de German el Greek en English es Spanish " +
	"et Estonian " +
	"fa Persian fi Finnish fr French fy Frisian he Hebrew hi Hindi hr Croatian hu Hungarian id Indonesian it " +
	"Italian ja Japanese " +
	"ko Korean lb Luxembourgish lt Lithuanian lv Latvian nl Dutch no Norwegian nb Norwegian pl Polish pt Portuguese " +
	"ro Romanian " +
	"ru Russian sk Slovak sl Slovenian so Somali sq Albanian sr Serbian sv Swedish ti Tigrinya tr Turkish uk " +
	"Ukrainian ur Urdu " +
	"vi Vietnamese zh Chinese "

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

// YesNo returns the value in words, or an empty text if it is unknown.
func YesNo(said *bool) string {
	if said == nil {
		return ""
	}
	if *said {
		return "yes"
	}
	return "no"
}

// ShortID returns enough of an identifier to distinguish records on a screen.
func ShortID(id apitype.UUID) string { return string(AppendShortID(nil, id)) }

// AppendShortID appends ShortID to a line that is being put together.
func AppendShortID(b []byte, id apitype.UUID) []byte { return hex.AppendEncode(b, id[:4]) }

// AddressLine returns an address on one line, or an empty text.
func AddressLine(a *apitype.Address) string {
	if a == nil {
		return ""
	}
	number := HouseNumber(a.HouseNumber, apitype.TextOf(a.HouseNumberExtension))
	return a.Street + " " + number + ", " + a.ZipCode + " " + a.City + ", " + a.Country
}

// HouseNumber returns a house number with its addition as people write them: 61a, 61-2, 61 bis, and 61 3.
func HouseNumber(number, addition string) string {
	isDigit := addition != "" && addition[0] >= '0' && addition[0] <= '9'
	first, length := utf8.DecodeRuneInString(addition)
	isWord := unicode.IsLetter(first) && length < len(addition)
	if isDigit || isWord {
		return number + " " + addition
	}
	return number + addition
}
