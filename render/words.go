package render

import (
	"strings"
	"time"
)

// Words is a value of the interface as a person says it: wants_to_stop is "wants to stop".
// A value that nobody knows is said likewise.
func Words(code string) string {
	if code == "winback" {
		return "win-back"
	}
	return strings.ReplaceAll(code, "_", " ")
}

// Ago is how long ago a time was, in words.
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Plural(int(d.Minutes()), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return Plural(int(d.Hours()), "hour", "hours") + " ago"
	default:
		return Plural(int(d.Hours()/24), "day", "days") + " ago"
	}
}

// Language is the name of an ISO 639-1 code, the code itself where it is a rare one.
func Language(code string) string {
	if i := strings.Index(languages, " "+strings.ToLower(code)+" "); i >= 0 {
		name, _, _ := strings.Cut(languages[i+4:], " ")
		return name
	}
	return code
}

// languages are codes with their names; one that is not among them is shown as it is.
const languages = " ar Arabic bg Bulgarian ca Catalan cs Czech da Danish de German el Greek en English es Spanish et Estonian " +
	"fa Persian fi Finnish fr French fy Frisian he Hebrew hi Hindi hr Croatian hu Hungarian id Indonesian it Italian ja Japanese " +
	"ko Korean lb Luxembourgish lt Lithuanian lv Latvian nl Dutch no Norwegian nb Norwegian pl Polish pt Portuguese ro Romanian " +
	"ru Russian sk Slovak sl Slovenian so Somali sq Albanian sr Serbian sv Swedish ti Tigrinya tr Turkish uk Ukrainian ur Urdu " +
	"vi Vietnamese zh Chinese "
