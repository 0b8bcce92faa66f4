package apitype

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ExtensionSearch announces the search parameter of the person list, and that the pledge list includes persons.
const ExtensionSearch = "search"

// The bounds of a search text.
const (
	MaxSearch      = 200 // Characters.
	MaxSearchWords = 10
)

var errNoWord = errors.New("must have a letter or a digit")

// CheckSearch refuses a text that persons cannot be searched by.
func CheckSearch(text string) error {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	if utf8.RuneCountInString(text) > MaxSearch {
		return fmt.Errorf("must have %d characters at most", MaxSearch)
	}
	if len(strings.Fields(text)) > MaxSearchWords {
		return fmt.Errorf("must have %d words at most", MaxSearchWords)
	}
	if !strings.ContainsFunc(text, isPart) {
		return errNoWord
	}
	return nil
}

func searchField(value *string) field {
	f := textField(value)
	f.set = func(text string, _ time.Time) error {
		*value = text
		return CheckSearch(text)
	}
	f.read = func(q *queryReader, name string) {
		*value = q.text(name)
		if *value == "" {
			return
		}
		if err := CheckSearch(*value); err != nil {
			q.violations.addParameter(name, "%s", err)
		}
	}
	return f
}
