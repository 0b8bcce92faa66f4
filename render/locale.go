package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// Locale is how the person at the terminal writes amounts, dates and phone numbers. It
// is for terminals alone: what programs read, and what is copied, stays exact. The zero
// value changes nothing.
//
//	l := render.LocaleFrom(os.Getenv) // LANG=nl_NL.UTF-8
//	l.Amount(apitype.Cents(123450))   // 1.234,50
//	l.Phone("+31627084034")           // 06 27084034
type Locale struct {
	amounts separators
	isAfter bool // The sign of the currency follows the amount: 12,50 €.
	dates   dateForm
	country string // ISO 3166-1 alpha-2, of the phone numbers.
}

// LocaleFrom reads the locale of an environment: LC_ALL, else the variable of the
// category (LC_MONETARY or LC_NUMERIC for amounts, LC_TIME for dates, LC_TELEPHONE for
// phone numbers), else LANG. C, POSIX, unset and unknown languages change nothing.
func LocaleFrom(getenv func(string) string) Locale {
	of := func(categories ...string) tag { return localeOf(getenv, categories...) }
	var l Locale
	money := of("LC_MONETARY", "LC_NUMERIC")
	l.amounts, l.isAfter = pick(amountForms, money), pick(signsAfter, money)
	l.dates = pick(dateForms, of("LC_TIME"))
	l.country = of("LC_TELEPHONE").region
	return l
}

// TextLanguage returns the language of texts in an environment, as an ISO 639-1 code, or an empty text.
func TextLanguage(getenv func(string) string) string { return localeOf(getenv, "LC_MESSAGES").language }

// localeOf returns the locale of a category, of which the variables are named: of a POSIX name such as nl_NL.UTF-8,
// de_CH@euro, en.
func localeOf(getenv func(string) string, categories ...string) tag {
	for _, name := range append([]string{"LC_ALL"}, append(categories, "LANG")...) {
		value := getenv(name)
		if value == "" {
			continue
		}
		value, _, _ = strings.Cut(value, ".")
		value, _, _ = strings.Cut(value, "@")
		if value == "C" || value == "POSIX" {
			return tag{}
		}
		language, region, _ := strings.Cut(strings.ReplaceAll(value, "-", "_"), "_")
		return tag{strings.ToLower(language), strings.ToUpper(region)}
	}
	return tag{}
}

// tag is a language and, if known, a region.
type tag struct{ language, region string }

// localized is a value of a table of languages; a region has its own or its language's.
type localized[T any] struct {
	names string // Separated by spaces: de de_CH.
	value T
}

// pick returns the value of a language, or the zero value if the table has none.
func pick[T any](table []localized[T], t tag) T {
	var value T
	if t.language == "" {
		return value
	}
	for _, name := range []string{t.language + "_" + t.region, t.language} {
		for _, row := range table {
			if slices.Contains(strings.Fields(row.names), name) {
				return row.value
			}
		}
	}
	return value
}

// Amount returns an amount of Euros with two decimals, without its currency.
func (l Locale) Amount(a apitype.Amount) string {
	whole, fraction, _ := strings.Cut(a.Fixed(), ".")
	digits := strings.TrimPrefix(whole, "-")
	// A number that is not a count of cents is shown as it was sent (1e-7).
	if _, isCents := a.Cents(); l.amounts == (separators{}) || !isCents {
		return a.Fixed()
	}
	sign := whole[:len(whole)-len(digits)]
	if least := max(l.amounts.least, 4); len(digits) >= least {
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + l.amounts.group + digits[i:]
		}
	}
	return sign + digits + l.amounts.decimal + fraction
}

// Grouped returns Amount with grouped thousands, in the English way without a locale.
func (l Locale) Grouped(a apitype.Amount) string {
	if l.amounts == (separators{}) {
		l.amounts = pick(amountForms, tag{language: "en"})
	}
	return l.Amount(a)
}

// Euros returns Grouped with the sign of the currency where the region writes it: "€ 12.50", in German "12,50 €".
func (l Locale) Euros(a apitype.Amount) string { return l.InEuros(l.Grouped(a)) }

// InEuros returns an amount as it was written, with the sign of the currency.
func (l Locale) InEuros(amount string) string {
	if l.isAfter {
		return amount + " €"
	}
	return "€ " + amount
}

// Count returns a number of records with grouped thousands, in the English way without a locale.
func (l Locale) Count(n int) string {
	text := l.Grouped(apitype.Cents(int64(n) * 100))
	return text[:len(text)-len(".00")]
}

// Decimal returns a number with the decimal sign of the region.
func (l Locale) Decimal(number string) string {
	return strings.Replace(number, ".", cmp.Or(l.amounts.decimal, "."), 1)
}

// Date returns the calendar day of t in the order of the region; plain is the layout where
// no locale is set.
func (l Locale) Date(t time.Time, plain string) string {
	return t.Format(cmp.Or(l.dates.day, plain))
}

// DateTime returns t in the order and with the clock of the region. plain is the layout where
// no locale is set, and tells whether seconds and the zone are shown.
func (l Locale) DateTime(t time.Time, plain string) string {
	if l.dates.day == "" {
		return t.Format(plain)
	}
	layout, half := "15:04", ""
	if l.dates.halfDays {
		layout, half = "3:04", " PM"
	}
	if strings.Contains(plain, ":05") {
		layout += ":05"
	}
	layout += half
	if strings.Contains(plain, "MST") {
		layout += " MST"
	}
	return t.Format(l.dates.day + " " + layout)
}

// Phone returns a number in E.164 as it is dialled in the region: +31627084034 is 06 27084034
// in the Netherlands and +31 627084034 elsewhere. Numbers of other forms, and of
// countries that our table lacks, stay as they are.
func (l Locale) Phone(number string) string {
	country, national, ok := splitPhone(number)
	if l.country == "" || !ok {
		return number
	}
	if !country.has(l.country) {
		return "+" + country.code + " " + national
	}
	return country.grouped(national)
}

// Spoken groups a number in E.164 for reading from a screen and dialling: +31627084034 is
// 06 27 08 40 34 in the Netherlands and +31 6 27 08 40 34 where the region is another one or
// not known. What [Locale.Phone] leaves as it is stays so here.
func (l Locale) Spoken(number string) string {
	country, national, ok := splitPhone(number)
	if !ok {
		return number
	}
	text := country.grouped(national)
	if !country.has(l.country) {
		text = "+" + country.code + " " + strings.TrimPrefix(text, country.trunk)
	}
	groups := strings.Fields(text)
	for i, group := range groups {
		if len(group) > maxSpoken {
			first := 2 + len(group)%2 // Then two and two.
			groups[i] = grouped(group, append([]int{first}, slices.Repeat([]int{2}, (len(group)-first)/2)...))
		}
	}
	return strings.Join(groups, " ")
}

// maxSpoken is the length of the longest group of digits.
const maxSpoken = 4

// splitPhone splits a number in E.164 into its country and the national number, without the trunk prefix.
func splitPhone(number string) (country phoneCountry, national string, ok bool) {
	digits, isInternational := strings.CutPrefix(number, "+")
	if !isInternational || len(digits) < 7 || strings.Trim(digits, "0123456789") != "" {
		return country, "", false
	}
	// No calling code is the beginning of another one.
	i := slices.IndexFunc(phoneCountries, func(c phoneCountry) bool { return strings.HasPrefix(digits, c.code) })
	if i < 0 {
		return country, "", false
	}
	return phoneCountries[i], digits[len(phoneCountries[i].code):], true
}

// has reports whether the numbers of a region begin with the calling code.
func (c phoneCountry) has(region string) bool {
	return region != "" && slices.Contains(strings.Fields(c.regions), region)
}

// grouped returns a national number in the form for dialling within its country.
func (c phoneCountry) grouped(national string) string {
	national = c.trunk + national
	for _, form := range c.forms {
		isOfForm := func(prefix string) bool { return strings.HasPrefix(national, prefix) }
		if form.prefixes == "" || slices.ContainsFunc(strings.Fields(form.prefixes), isOfForm) {
			return grouped(national, form.groups)
		}
	}
	return national
}

// International returns a number as typed in a country in E.164: 06 27 08 40 34 is +31627084034 in the Netherlands,
// and so are +31 (0)6 27084034 and +31 06 27084034. An unknown form is returned without its spaces.
func International(typed, country string) string {
	number := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -./()\u00a0", r) {
			return -1
		}
		return r
	}, strings.Replace(typed, "(0)", "", 1))
	if after, ok := strings.CutPrefix(number, "00"); ok {
		number = "+" + after
	}
	// No number has this zero after the code of its country.
	if of, national, ok := splitPhone(number); ok && of.trunk == "0" {
		return "+" + of.code + strings.TrimPrefix(national, of.trunk)
	}
	for _, c := range phoneCountries {
		if !c.has(country) || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		national, isNational := strings.CutPrefix(number, c.trunk)
		if (!isNational || c.trunk == "") && c.isWithoutPlus(number) {
			return "+" + number
		}
		if isNational || len(number) >= 8 { // A spreadsheet drops the zero that it begins with.
			return "+" + c.code + national
		}
	}
	return number
}

// isWithoutPlus reports whether digits are a number in E.164 whose + a spreadsheet dropped. In Italy national numbers
// of ten digits begin with its code, too.
func (c phoneCountry) isWithoutPlus(digits string) bool {
	least := len(c.code) + 8
	if c.code == "39" {
		least += 2
	}
	if c.code == "1" { // As it is dialled between the states, too.
		return len(digits) == 11 && digits[0] == '1'
	}
	return strings.HasPrefix(digits, c.code) && len(digits) >= least
}

// PhoneCountries returns the countries with numbers that [International] reads.
func PhoneCountries() []string {
	var all []string
	for _, c := range phoneCountries {
		all = append(all, strings.Fields(c.regions)...)
	}
	slices.Sort(all)
	return all
}

// HasDecimalComma reports whether amounts are written with a comma in a country.
func HasDecimalComma(country string) bool {
	return !slices.Contains(strings.Fields("AU CA CH EN GB IE NZ US"), country)
}

// grouped puts a space after each group of digits; the last one takes the rest.
func grouped(digits string, groups []int) string {
	var b strings.Builder
	for _, n := range groups {
		if n >= len(digits) {
			break
		}
		b.WriteString(digits[:n] + " ")
		digits = digits[n:]
	}
	return b.String() + digits
}

// Relative returns RelativeTime, or the date of the region for older times.
func (l Locale) Relative(t, now time.Time) string {
	if now.Sub(t).Abs() >= 60*24*time.Hour {
		return l.Date(t, time.DateOnly)
	}
	return distance(t, now)
}
