package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
)

// program is another program with exports that are known by their heads.
type program struct {
	name  string
	signs string            // Folded heads that its exports alone have.
	heads map[string]string // Fields by folded heads.
}

// programs are the known programs. A head that a program does not have is looked up in commonHeads.
var programs = sync.OnceValue(func() []program {
	return []program{
		{
			"CiviCRM",
			"contacttype individualprefix nobulkemailsuseroptout donotphone",
			map[string]string{
				"individualprefix":  "ignore",
				"phone":             "phoneNumber",
				"streetaddress":     "address",
				"preferredlanguage": "language",
				"donotphone":        "!optIns.phone",
				"donotemail":        "!optIns.email",
				"donotmail":         "!optIns.mail",
				"donotsms":          "!optIns.sms",
			},
		},
		{
			"Salesforce NPSP",
			"mailingstreet mailingcity mailingzippostalcode emailoptout donotcall",
			map[string]string{
				"salutation":           "gender",
				"mobile":               "mobilePhoneNumber",
				"homephone":            "phoneNumber",
				"mailingstreet":        "address",
				"mailingcity":          "address.city",
				"mailingzippostalcode": "address.zipCode",
				"mailingcountry":       "address.country",
				"emailoptout":          "!optIns.email",
				"donotcall":            "!optIns.phone",
			},
		},
		{
			"Raiser's Edge",
			"cnbioid cnbiofirstname cnbiolastname",
			map[string]string{
				"cnbiofirstname":                 "name.firstName",
				"cnbiolastname":                  "name.lastName",
				"cnbiogender":                    "gender",
				"cnbiobirthdate":                 "dateOfBirth",
				"cnadrprfaddrline1":              "address",
				"cnadrprfcity":                   "address.city",
				"cnadrprfzip":                    "address.zipCode",
				"cnadrprfcontrylongdscription":   "address.country",
				"cnadrprfcountrylongdescription": "address.country",
				"cnph101phonenumber":             "phoneNumber",
				"cnbnk101iban":                   "iban",
			},
		},
		{"Donorbox", "donorboxid donatedat donoremail donorfirstname", map[string]string{
			"donorfirstname": "name.firstName", "donorlastname": "name.lastName", "donoremail": "email",
			"zipcode": "address.zipCode", "donatedat": "ignore",
		}},
		{
			"iRaiser",
			"iraiserid civilite codepostal optinemail",
			map[string]string{
				"civilite":        "gender",
				"prenom":          "name.firstName",
				"nom":             "name.lastName",
				"datedenaissance": "dateOfBirth",
				"codepostal":      "address.zipCode",
				"ville":           "address.city",
				"pays":            "address.country",
				"adresse":         "address",
				"adresse1":        "address",
				"telephone":       "phoneNumber",
				"portable":        "mobilePhoneNumber",
				"optinemail":      "optIns.email",
			},
		},
	}
})

// commonHeads are the fields of heads that many programs have.
var commonHeads = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"firstname":     "name.firstName",
		"lastname":      "name.lastName",
		"gender":        "gender",
		"sex":           "gender",
		"birthdate":     "dateOfBirth",
		"dateofbirth":   "dateOfBirth",
		"email":         "email",
		"emailaddress":  "email",
		"phone":         "phoneNumber",
		"mobile":        "mobilePhoneNumber",
		"mobilephone":   "mobilePhoneNumber",
		"iban":          "iban",
		"city":          "address.city",
		"country":       "address.country",
		"postalcode":    "address.zipCode",
		"zip":           "address.zipCode",
		"address":       "address",
		"street":        "address.street",
		"language":      "language",
		"initials":      "name.initials",
		"voornaam":      "name.firstName",
		"achternaam":    "name.lastName",
		"tussenvoegsel": "name.lastNamePrefix",
		"geboortedatum": "dateOfBirth",
		"geslacht":      "gender",
		"mobiel":        "mobilePhoneNumber",
		"telefoon":      "phoneNumber",
		"postcode":      "address.zipCode",
		"woonplaats":    "address.city",
		"plaats":        "address.city",
		"land":          "address.country",
		"adres":         "address", //nolint:misspell // Dutch.
		"straat":        "address.street",
		"huisnummer":    "address.houseNumber",
		"vorname":       "name.firstName",
		"nachname":      "name.lastName",
		"geburtsdatum":  "dateOfBirth",
		"geschlecht":    "gender",
		"anrede":        "gender",
		"telefon":       "phoneNumber",
		"plz":           "address.zipCode",
		"ort":           "address.city",
		"prenom":        "name.firstName",
		"nom":           "name.lastName",
		"nombre":        "name.firstName",
		"apellidos":     "name.lastName",
	}
})

// foldHead returns the letters and digits of a head in lower case, without accents.
func foldHead(head string) string {
	var folded strings.Builder
	for _, r := range strings.ToLower(head) {
		if unicode.IsDigit(r) {
			folded.WriteRune(r)
		} else if unicode.IsLetter(r) {
			folded.WriteString(foldName(string(r)))
		}
	}
	return folded.String()
}

// programOf returns the program with the heads of a file, or nil.
func programOf(header []string) *program {
	for _, p := range programs() {
		signs := 0
		for _, head := range header {
			if slices.Contains(strings.Fields(p.signs), foldHead(head)) {
				signs++
			}
		}
		if signs >= 2 {
			return &p
		}
	}
	return nil
}

// westernEncoding returns the likely encoding of a text of one byte for each letter, and the other one. Between two
// letters, some signs of Windows make no sense, such as ½, and the letters that ISO-8859-15 has there do, such as œ.
func westernEncoding(text []byte) (likely, other string) {
	const lettersOf15 = "\xa6\xa8\xb8\xbc\xbd\xbe" // Š š ž Œ œ Ÿ
	isLetter := func(b byte) bool { return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= 0xc0 }
	for i := 1; i < len(text)-1; i++ {
		if strings.IndexByte(lettersOf15, text[i]) >= 0 && isLetter(text[i-1]) && isLetter(text[i+1]) {
			return "iso-8859-15", "windows-1252"
		}
	}
	return "windows-1252", "iso-8859-15"
}

// guess prints a mapping of a file, with a comment for each doubt.
func (f *rowFlags) guess(ctx context.Context, s *cli.Session, shape Rows, name string) error {
	in := s.App.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return cli.UsageError(err.Error())
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(cli.UntilInterrupted(ctx, in))
	if err != nil {
		return cli.RefusedInput(err)
	}
	r, err := f.reader(s, shape)
	if err != nil {
		return err
	}
	g := &guesses{reader: r}
	isMarked := bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff})
	if f.format.Encoding == "" && !isMarked && !utf8.Valid(text) {
		var others string
		f.format.Encoding, others = westernEncoding(text)
		g.doubt("encoding: the file is not UTF-8; %s and latin1 are other encodings of the west", others)
	}
	f.format.Name = name
	rows, err := bulk.ReadRows(bytes.NewReader(text), f.format)
	if err != nil {
		return cli.RefusedInput(err)
	}
	if rows.Header == nil {
		return cli.UsageError("--guess reads the header of a CSV file, and this file is JSON or empty")
	}
	if len(rows.Header) > 1 && isRecord(rows.Header) {
		return cli.UsageError("line 1 has values of a record; --guess needs a header")
	}
	g.columns(rows.Header)
	for row, err := range rows.All {
		if err != nil {
			return cli.RefusedInput(err)
		}
		r.survey(rows.Header, row)
		g.look(rows.Header, row)
	}
	_, err = io.WriteString(s.App.Out, g.text(f.format, rows.Header))
	return err
}

// guesses is a mapping that is being made of a file.
type guesses struct {
	reader                              *rowReader
	program                             *program
	doubts                              []string // Above the mapping.
	lines                               []string // Of the columns.
	negated                             []string // Fields with the opposite meaning of their column.
	localPhone, openAmount, openAddress bool
}

func (g *guesses) doubt(format string, args ...any) {
	g.doubts = append(g.doubts, fmt.Sprintf(format, args...))
}

// columns finds a field for each head.
func (g *guesses) columns(header []string) {
	g.program = programOf(header)
	taken := map[string]string{}
	seen := map[string]bool{}
	paths := (&change.Body{Fields: g.reader.shape.Creates}).Paths()
	for _, text := range header {
		head := trimmed(text)
		if seen[head] {
			g.doubt("two columns are called %s; rename one", head)
			continue
		}
		seen[head] = true
		field, isSure := g.fieldOf(head)
		if field == streetField && head != streetField && !g.hasHouseNumbers(header) {
			field = wholeAddress
		}
		comment := ""
		opposite := strings.HasPrefix(field, "!")
		field = strings.TrimPrefix(field, "!")
		switch {
		case field == "":
			field = "ignore"
			comment = "doubt: no field is known for it" + nearestField(head, paths)
		case field == "ignore":
			comment = "has no field"
		case taken[field] != "":
			comment = "doubt: " + field + " is taken by " + taken[field]
			field = "ignore"
		case opposite:
			g.negated = append(g.negated, field)
			comment = "says the opposite; see values below"
		case field == wholeAddress:
			comment = "is split by the form of the row's country"
		case !isSure:
			comment = "doubt: known by its name alone"
		}
		if field != "ignore" {
			taken[field] = head
		}
		line := quoteTOML(head) + " = " + quoteTOML(field)
		if comment != "" {
			line += " # " + comment
		}
		g.lines = append(g.lines, line)
		g.reader.names[head] = asIgnored(field)
	}
	clear(g.reader.columns)
}

// streetField is the field of a street whose house number is in another one.
const streetField = wholeAddress + ".street"

// hasHouseNumbers reports whether a column has the house numbers. Without one, they are in the cells of the street.
func (g *guesses) hasHouseNumbers(header []string) bool {
	return slices.ContainsFunc(header, func(text string) bool {
		field, _ := g.fieldOf(trimmed(text))
		return field == wholeAddress+".houseNumber" || field == wholeAddress
	})
}

// fieldOf returns the field of a head, and whether its program is known. ! marks a field with the opposite meaning.
func (g *guesses) fieldOf(head string) (string, bool) {
	folded := foldHead(head)
	if g.reader.columnOf(head).isName() {
		return head, true
	}
	var field string
	var isSure bool
	if g.program != nil {
		field, isSure = g.program.heads[folded]
	}
	if field == "" {
		field, isSure = commonHeads()[folded], g.program != nil
	}
	name := strings.TrimPrefix(field, "!")
	if name != "ignore" && !g.isField(name) {
		return "", false
	}
	return field, isSure
}

// isField reports whether creations have a field, or the parts of an address.
func (g *guesses) isField(name string) bool {
	if name == wholeAddress {
		name = streetField
	}
	return g.reader.columnOf(name).creates
}

// look records the doubts that the cells of a row leave.
func (g *guesses) look(header []string, row bulk.Row) {
	for i, cell := range row.Cells {
		c := g.reader.column(header[i])
		text := trimmed(cell)
		switch {
		case c.creates && c.field.Kind == apitype.PhoneField && text != "":
			isLocal := !strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "00")
			g.localPhone = g.localPhone || isLocal
		case c.creates && c.field.Kind == apitype.AmountField:
			g.openAmount = g.openAmount || isThousandsOrCents(text)
		case c.isWholeAddress() && text != "":
			g.openAddress = true
		}
	}
}

// text returns the mapping.
func (g *guesses) text(format bulk.Format, header []string) string {
	var b strings.Builder
	from := "an unknown program"
	if g.program != nil {
		from = g.program.name
	}
	fmt.Fprintf(&b, "# A guess for a file of %s. Check each doubt.\n", from)
	takesCountry := slices.ContainsFunc(
		g.reader.shape.Creates,
		func(f change.Field) bool { return f.Path == "address.country" },
	)
	isCountry := func(head string) bool { return g.reader.column(head).name == "address.country" }
	hasCountry := g.reader.country != "" || takesCountry && slices.ContainsFunc(header, isCountry)
	needsCountry := g.localPhone || g.openAddress
	if needsCountry && !hasCountry {
		g.doubt("country: phone numbers and addresses need it, such as country = \"NL\"")
	}
	if g.openAmount {
		g.doubt("decimal: an amount has three digits after its only sign; decimal = \",\" or \".\"")
	}
	order := ""
	for _, head := range header {
		e := g.reader.evidence[head]
		if e == nil {
			continue
		}
		switch found, _ := e.order("", ""); {
		case found == mixedOrder:
			g.doubt("dates: %s has days of both orders", trimmed(head))
		case found == "" && e.isOpen:
			g.doubt("dates: the days of %s fit dmy and mdy; dates = \"dmy\" or \"mdy\"", trimmed(head))
		case found != "" && order != "" && found != order:
			g.doubt("dates: columns have different orders; each is read by its own")
		case found != "":
			order = found
		}
	}
	for _, doubt := range g.doubts {
		fmt.Fprintf(&b, "# doubt: %s\n", doubt)
	}
	for _, line := range [][2]string{
		{"encoding", format.Encoding}, {"delimiter", format.Delimiter}, {"country", g.reader.country},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s = %s\n", line[0], quoteTOML(line[1]))
		}
	}
	fmt.Fprintf(&b, "\n[columns]\n%s\n", strings.Join(g.lines, "\n"))
	for _, field := range g.negated {
		fmt.Fprintf(&b, "\n[values.%q] # doubt: an empty cell is not read as an opt-in\n", field)
		b.WriteString(
			"\"Yes\" = \"false\"\n\"True\" = \"false\"\n\"1\" = \"false\"\n\"No\" = \"\"\n\"False\" = \"\"\n" +
				"\"0\" = \"\"\n",
		)
	}
	return b.String()
}

// quoteTOML quotes a text as TOML does.
func quoteTOML(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return `""`
	}
	return string(quoted)
}
