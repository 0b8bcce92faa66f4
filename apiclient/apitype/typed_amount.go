package apitype

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// AmbiguousAmount is a text such as 1.250, whose point or comma may separate thousands or cents.
type AmbiguousAmount struct {
	Text             string
	Thousands, Cents Amount // The amount if the sign separates thousands, and if it separates cents.
}

// Error names both meanings.
func (a *AmbiguousAmount) Error() string {
	return fmt.Sprintf(
		"%q can be read as %s or %s: write which one is meant",
		a.Text,
		a.Thousands.Fixed(),
		a.Cents.Fixed(),
	)
}

// amountForms are compiled at their first use.
var amountForms = sync.OnceValue(func() (f struct{ plain, parted, long, grouped *regexp.Regexp }) {
	f.plain = regexp.MustCompile(`^[0-9]+([.,][0-9]{1,2}|[.,][0-9]{4,})?$`)
	f.parted = regexp.MustCompile(`^[1-9][0-9]{0,2}[.,][0-9]{3}$`)
	f.long = regexp.MustCompile(`^(0|[0-9]{4,})[.,][0-9]{3}$`)
	f.grouped = regexp.MustCompile(
		`^[0-9]{1,3}(([.][0-9]{3})+(,[0-9]{1,2})?|(,[0-9]{3})+([.][0-9]{1,2})?|` +
			`([ '’\x{a0}][0-9]{3})+([.,][0-9]{1,2})?)$`,
	)
	return f
})

// ParseTypedAmount reads an amount of Euros as people write it: 12.50, 12,5, € 30, 30,-, 1.250,00. The sign before the
// cents is a comma or a point. If it is 0, the sign is unknown, and 1.250 is an [AmbiguousAmount]. An exponent is
// refused.
func ParseTypedAmount(text string, sign byte) (Amount, error) {
	number := strings.TrimSpace(text)
	for _, before := range []string{"€", "EUR", "eur"} {
		number = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(number, before), before))
	}
	for _, none := range []string{",-", ",--", ".-", ",–", ",—"} {
		number = strings.TrimSuffix(number, none)
	}
	minus := ""
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		minus, number = "-", rest
	}
	cents := func(mark string) string { // With a point before the cents.
		whole, fraction, _ := strings.Cut(number, mark)
		whole = Digits(whole)
		if fraction != "" {
			whole += "." + fraction
		}
		return minus + trimZeros(whole)
	}
	last := strings.LastIndexAny(number, ".,")
	if amountForms().parted.MatchString(number) {
		thousands, _ := ParseAmount(minus + Digits(number))
		fraction, _ := ParseAmount(cents(number[last : last+1]))
		if sign == 0 {
			return Amount{}, &AmbiguousAmount{text, thousands, fraction}
		}
		if number[last] == sign {
			return fraction, nil
		}
		return thousands, nil
	}
	if amountForms().plain.MatchString(number) || amountForms().long.MatchString(number) {
		if last < 0 {
			return ParseAmount(minus + trimZeros(number))
		}
		isPoint := number[last] == '.'
		if sign == ',' && isPoint && len(number)-last > 3 {
			return Amount{}, errAmount
		}
		return ParseAmount(cents(number[last : last+1]))
	}
	if amountForms().grouped.MatchString(number) {
		mark := "\x00" // None: all signs part thousands.
		if last >= 0 && len(number)-last <= 3 {
			mark = number[last : last+1]
			if sign != 0 && number[last] != sign {
				return Amount{}, errAmount
			}
		}
		return ParseAmount(cents(mark))
	}
	return Amount{}, errAmount
}

var errAmount = errors.New("is not an amount in euros: write 12.50")

// Digits returns the digits of a number, however it is written.
func Digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// trimZeros leaves out the zeros before a number, which JSON does not have.
func trimZeros(number string) string {
	trimmed := strings.TrimLeft(number, "0")
	if trimmed == "" || trimmed[0] == '.' {
		return "0" + trimmed
	}
	return trimmed
}
