package apitype_test

import (
	"testing"

	"fundesk/apiclient/apitype"
)

// Every spelling of an address gives the same one, and no path becomes another.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://api.example.org":       "https://api.example.org",
		"HTTPS://API.example.org//":     "https://api.example.org",
		"https://API.example.org:8443/": "https://api.example.org:8443",
		"http://[::1]:8080/":            "http://[::1]:8080",
		"https://h/Org%2FOne/":          "https://h/Org%2FOne",
		"embedded:demo":                 "embedded:demo",
		"embedded:/tmp/A/":              "embedded:/tmp/A",
		"":                              "",
		"api.example.org/":              "api.example.org",
		"https://a b/":                  "https://a b",
	} {
		if got := apitype.BaseURL(given); got != want {
			t.Errorf("got %q for %q, want %q", got, given, want)
		}
	}
}
