package render

// The tables are ours and short: the libraries that hold them all cost 18 ms at each
// start, or have no dates. Sources: Unicode CLDR 44, common/main (decimal, group and
// minimumGroupingDigits of the numbers; yMd and hm of the Gregorian calendar), the form
// with two digits of day and month; ITU-T E.164 and the numbering plans that the
// countries filed with it for calling codes, trunk prefixes and area codes.

// separators are the signs of a language in an amount.
type separators struct {
	decimal string
	group   string
	least   int // The number of digits from which they are grouped. Zero means four.
}

// space does not break a line. CLDR has a narrow one for French, which the fonts of many
// terminals lack.
const space = "\u00a0"

var amountForms = []localized[separators]{
	{"en es_MX es_US ja ko zh", separators{decimal: ".", group: ","}},
	{"nl fy de da it el ro tr hr sl is lb id pt en_NL en_BE en_DE en_AT", separators{decimal: ",", group: "."}},
	{"es", separators{decimal: ",", group: ".", least: 5}},
	{"fr sv nb nn no fi cs sk hu lt ru uk de_AT", separators{decimal: ",", group: space}},
	{"pl pt_PT et lv bg", separators{decimal: ",", group: space, least: 5}},
	{"de_CH de_LI it_CH en_CH rm", separators{decimal: ".", group: "’"}},
}

// signsAfter has the languages that write the sign of a currency after the amount, by the Unicode CLDR.
var signsAfter = []localized[bool]{
	{"de_AT de_CH de_LI es_MX es_US it_CH", false},
	{"de fr es it pt_PT da sv nb nn no fi is cs sk pl hu hr sl ro bg el et lv lt ru uk lb", true},
}

// dateForm is the form of a day and a time of day in a region.
type dateForm struct {
	day      string // A layout. Empty without a locale.
	halfDays bool   // 3:04 PM.
}

var dateForms = []localized[dateForm]{
	{"en_US", dateForm{day: "01/02/2006", halfDays: true}},
	{"en_AU en_NZ", dateForm{day: "02/01/2006", halfDays: true}},
	{"en_CA", dateForm{day: "2006-01-02", halfDays: true}},
	{"en_GB en_IE en_BE en_NL fr es it pt el nl_BE", dateForm{day: "02/01/2006"}},
	{"nl fy", dateForm{day: "02-01-2006"}},
	{
		"de da nb nn no fi pl cs ro bg sk hr sl tr et lv ru uk is lb rm fr_CH it_CH en_DE en_AT en_CH",
		dateForm{day: "02.01.2006"},
	},
	{"ja zh", dateForm{day: "2006/01/02"}},
	{"en sv lt fr_CA hu ko", dateForm{day: "2006-01-02"}},
}

// phoneCountry has the forms of numbers of a calling code in its own country.
type phoneCountry struct {
	code    string
	regions string // ISO 3166-1, separated by spaces.
	trunk   string // Before a national number; it is not part of E.164.
	forms   []phoneForm
}

// phoneForm groups the national numbers that begin with one of prefixes.
type phoneForm struct {
	prefixes string // With the trunk prefix, separated by spaces. Empty allows any.
	groups   []int  // Digits of each group but the last.
}

var phoneCountries = []phoneCountry{
	{"1", "US CA", "", []phoneForm{{"", []int{3, 3}}}},
	{"30", "GR", "", nil},
	{
		"31",
		"NL",
		"0",
		[]phoneForm{
			{"06", []int{2}},
			{"0800 0900 0906 0909 0970", []int{4}},
			{
				"010 013 014 015 020 023 024 026 030 033 035 036 038 040 043 045 046 050 053 055 058 07 084 085 087 " +
					"088 091",
				[]int{3},
			},
			{"", []int{4}},
		},
	},
	{"32", "BE", "0", []phoneForm{{"04", []int{4, 2, 2}}, {"02 03 09", []int{2, 3, 2}}, {"", []int{3, 2, 2}}}},
	{"33", "FR", "0", []phoneForm{{"", []int{2, 2, 2, 2}}}},
	{"34", "ES", "", []phoneForm{{"", []int{3, 3}}}},
	{"351", "PT", "", []phoneForm{{"", []int{3, 3}}}},
	{"352", "LU", "", nil},
	{"353", "IE", "0", []phoneForm{{"01", []int{2, 3}}, {"", []int{3, 3}}}},
	{"358", "FI", "0", nil},
	{"39", "IT", "", nil},
	{"40", "RO", "0", []phoneForm{{"", []int{4, 3}}}},
	{"41", "CH", "0", []phoneForm{{"", []int{3, 3, 2}}}},
	{"420", "CZ", "", []phoneForm{{"", []int{3, 3}}}},
	{"421", "SK", "0", nil},
	{"43", "AT", "0", nil},
	{"44", "GB", "0", []phoneForm{{"02", []int{3, 4}}, {"07", []int{5}}, {"", []int{4, 3}}}},
	{"45", "DK", "", []phoneForm{{"", []int{2, 2, 2}}}},
	{"46", "SE", "0", nil},
	{"47", "NO", "", []phoneForm{{"", []int{2, 2, 2}}}},
	{"48", "PL", "", []phoneForm{{"", []int{3, 3}}}},
	{"49", "DE", "0", []phoneForm{
		{"015 016 017 0180 0800 0900", []int{4}},
		{"030 040 069 089", []int{3}},
		{germanTowns, []int{4}},
		{"02 04 05 06 07 08 09", []int{5}}, // In the east (03) codes have 4 to 6 digits.
	}},
	{"61", "AU", "0", []phoneForm{{"04", []int{4, 3}}, {"", []int{2, 4}}}},
	{"64", "NZ", "0", nil},
}

// germanTowns are the area codes of four digits.
const germanTowns = "0201 0202 0203 0208 0209 0211 0212 0214 0221 0228 0231 0234 0251 0261 0271 0281 0291 0331 0335 " +
	"0340 0341 0345 0351 0355 0361 0365 0371 0375 0381 0385 0391 0395 0421 0431 0441 0451 0461 0471 0481 0491 0511 " +
	"0521 " +
	"0531 0541 0551 0561 0571 0581 0591 0611 0621 0631 0641 0651 0661 0671 0681 0691 0711 0721 0731 0741 0751 0761 " +
	"0771 0781 0791 0811 0821 0831 0841 0851 0861 0871 0881 0906 0911 0921 0931 0941 0951 0961 0971 0981 0991"
