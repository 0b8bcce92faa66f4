package commands

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"fundesk/service/servicetest"
)

// foreign reads files of other programs: flags may name mapping.toml, which holds the mapping.
func foreign(t *testing.T, file, mapping, flags string) (string, int) {
	t.Helper()
	const owner = "3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"
	home := t.TempDir()
	l := line{environment: map[string]string{"HOME": home}}
	if mapping != "" {
		path := filepath.Join(home, "mapping.toml")
		writeFile(t, path, mapping)
		flags += " --mapping " + path
	}
	if !strings.HasSuffix(file, ".csv") || strings.Contains(file, "\n") {
		text := file
		file = filepath.Join(home, "file.csv")
		writeFile(t, file, text)
	} else {
		file = filepath.Join("testdata", "foreign", file)
	}
	args := []string{
		"person", "import", file, "--dry-run", "--default", "owningOrganizationUuid=" + owner,
		"--default", "recruitingOrganizationUuid=" + owner,
	}
	printed, errs, code := l.run(t, "", append(args, strings.Fields(flags)...)...)
	return printed + errs, code
}

// Files of other programs, and their siblings, give the right value or a refusal that names it.
func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	civicrm := `country = "NL"
[columns]
"First Name" = "name.firstName"
"Last Name" = "name.lastName"
"Gender" = "gender"
"Birth Date" = "dateOfBirth"
"Do Not Phone" = "optIns.phone"
"Preferred Language" = "language"
"Street Address" = "address"
"City" = "address.city"
"Postal Code" = "address.zipCode"
"Country" = "address.country"
"Phone" = "phoneNumber"
"Email" = "email"
"*" = "ignore"
[values]
optIns.phone = { Yes = false, "" = true }
`
	last := "[columns]\n\"last\" = \"name.lastName\"\n"
	for name, test := range map[string]struct {
		file, mapping, flags string
		code                 int
		want                 []string
	}{
		"CiviCRM": {"civicrm.csv", civicrm, "", 0, []string{
			`"firstName":"Zoë","lastName":"Brouwer"`, `"phoneNumber":"+31612345678"`, `"phoneNumber":"+492213212383"`,
			`"phoneNumber":"+442079460000"`, `"street":"Kerkstraat","houseNumber":"12"`,
			`"houseNumber":"5","houseNumberExtension":"a"`,
			`"street":"High St","houseNumber":"1"`, `"country":"GB"`, `"gender":"other"`, `"optIns":{"phone":false}`,
			`"optIns":{"phone":true}`,
			`"language":"nl"`,
		}},
		"rows of four countries": {"row-country.csv", "", "--country NL", 0, []string{
			`"+442079460000"`, `"+492213212383"`, `"+33142685300"`,
		}},
		"phones that are too short": {"phones-too-short.csv", "", "--country NL", 2, []string{
			"line 2: phoneNumber (column 2): has 5 digits after the 0, and a number of NL has 9",
			"line 3: phoneNumber", "line 4: phoneNumber",
		}},
		"a country whose lengths are not known": {
			file:  "phoneNumber\n21 123 4567\n",
			flags: "--country PT",
			code:  2,
			want:  []string{"must begin with + and the country code"},
		},
		"days of birth": {"dates-of-birth.csv", "", "", 2, []string{
			"line 2: dateOfBirth (column 2): must be a whole day", "line 3:", "line 4:",
			"line 5: dateOfBirth (column 2): can be read as two days; --dates",
			"line 6: dateOfBirth (column 2): has a year of two digits",
			"line 7: dateOfBirth (column 2): has a year of two digits", "line 9:", "line 11:", "line 12:",
		}},
		"words for a gender": {"gender-words.csv", "", "", 0, []string{`"gender":"female"`}},
		"words of five languages": {
			file: "gender\nMevrouw\nMw.\nFrau\nMme\nSeñora\nMrs.\n",
			want: []string{`"gender":"female"`},
		},
		"a word that is none": {
			file: "gender\nThe Hon.\n",
			code: 2,
			want: []string{"gender (column 1): must be one of male, female"},
		},
		"M in Spanish": {
			file:  "gender\nM\n",
			flags: "--country ES",
			code:  2,
			want:  []string{"gender (column 1): must be a word"},
		},
		"heads with a comma and =": {
			"header-with-comma.csv",
			"[columns]\n\"Name, last\" = \"name.lastName\"\n\"Vor=name\" = \"name.firstName\"\n", "", 0,
			[]string{`"firstName":"An","lastName":"Jansen"`},
		},
		"heads with a comma and = by flags": {
			file:  "a,b;c=d\nJansen;An\n",
			flags: "--map a,b=name.lastName,c=d=name.firstName",
			want: []string{
				`"firstName":"An","lastName":"Jansen"`,
			},
		},
		"a default with a comma": {
			file:  "email\na@example.org\n",
			flags: "--default name.firstName=Jan,Piet,language=nl",
			want:  []string{`"firstName":"Jan,Piet"`, `"language":"nl"`},
		},
		"UTF-16 of the other name": {
			file:  "utf16-nobom.csv",
			flags: "--encoding utf-16be",
			code:  2,
			want:  []string{"hint: --encoding utf-16 reads it"},
		},
		"one wrong row": {
			file:  "one-wrong-row.csv",
			flags: "--country NL",
			code:  2,
			want:  []string{`line 3: dateOfBirth (column 2)`, "--skip-wrong"},
		},
		"UTF-16 without a mark": {
			file: "utf16-nobom.csv",
			code: 2,
			want: []string{"is UTF-16 without a mark", "--encoding utf-16"},
		},
		"UTF-16 by name": {
			file:    "utf16-nobom.csv",
			mapping: `encoding = "utf-16"`,
			want:    []string{`"firstName":"Zoë","lastName":"Brouwer"`},
		},
		"Raiser's Edge with a year": {
			"raisersedge.csv",
			"encoding = \"windows-1252\"\ncountry = \"NL\"\n[columns]\nCnBio_First_Name = \"name.firstName\"\n" +
				"CnBio_Birth_date = \"dateOfBirth\"\nCnAdrPrf_ContryLongDscription = \"address.country\"\nCnPh_1_01_Phone_number = \"phoneNumber\"\n\"*\" = \"ignore\"\n", "", 2,
			[]string{`line 3: dateOfBirth (column 6 "CnBio_Birth_date"): must be a whole day`},
		},
		"US days beside Dutch phones": {
			file:  "dateOfBirth,phoneNumber\n4/3/1961,0612345678\n12/31/1979,\n",
			flags: "--country NL",
			want: []string{
				`"dateOfBirth":"1961-04-03"`, `"dateOfBirth":"1979-12-31"`, `"+31612345678"`,
				`column 1 "dateOfBirth" is read as mdy, not in the order of NL`,
			},
		},
		"a stated order that is contradicted": {"dateOfBirth\n4/3/1961\n12/31/1979\n", `dates = "dmy"`, "", 2, []string{
			`column 1 "dateOfBirth" has days of another order than dmy: line 3`,
		}},
		"days of both orders": {
			file:  "dateOfBirth\n4/3/1961\n12/31/1979\n31/12/1979\n",
			flags: "--country NL",
			code:  2,
			want:  []string{"line 2: dateOfBirth (column 1): can be read as two days, and its column has both orders"},
		},
		"a column that shows its order": {"dateOfBirth\n4-3-1961\n31-12-1979\n", "", "", 0, []string{`"1961-03-04"`}},
		"the order by a flag": {
			file:    "dateOfBirth\n4/3/1961\n",
			mapping: `dates = "dmy"`,
			flags:   "--dates mdy",
			want:    []string{`"1961-04-03"`},
		},
		"years first": {"dateOfBirth\n1961/04/03\n", "", "", 0, []string{`"1961-04-03"`}},
		"a country by its column": {
			file:    "Land,phoneNumber\nDuitsland,0221 3212383\n,0612345678\n",
			mapping: "country = \"NL\"\ncountry_column = \"Land\"\n",
			want:    []string{`"+492213212383"`, `"+31612345678"`},
		},
		"the country of an address that names none": {
			file: "Land,last,address,zip,town\nDuitsland,A,Hauptstr. 5,50667,Köln\n" +
				",B,Kerkweg 1,6711 AB,Ede\n,C,,,\n",
			mapping: "country = \"NL\"\ncountry_column = \"Land\"\n" + last +
				"zip = \"address.zipCode\"\ntown = \"address.city\"\n",
			want: []string{
				`"city":"Köln","country":"DE"`,
				`"city":"Ede","country":"NL"`,
				`{"lastName":"C"}`,
			},
		},
		"a default for the country of an address": {
			file:    "last,address,zip,town\nA,Kerkweg 1,6711 AB,Ede\n",
			flags:   "--country NL --default address.country=BE",
			mapping: last + "zip = \"address.zipCode\"\ntown = \"address.city\"\n",
			want:    []string{`"country":"BE"`},
		},
		"a country that is none": {
			file:    "Land,phoneNumber\nNarnia,0221 3212383\n",
			mapping: "country_column = \"Land\"\n",
			code:    2,
			want:    []string{`line 2: column 1 "Land": is not the code or name of a country`},
		},
		"an address without a form": {
			file:  "address,address.city\nPostbus,Ede\n",
			flags: "--country NL",
			code:  2,
			want: []string{
				`line 2: address.street (column 1 "address"): cannot be split into street and house number; ` +
					`use columns of their own: "xxxxxxx"; address.houseNumber: is required`,
			},
		},
		"a whole address in one cell": {
			file: "address,address.country\n\"Dorpsstraat 12 bis, 1234 AB Utrecht\",NL\n",
			want: []string{
				`"street":"Dorpsstraat","houseNumber":"12","houseNumberExtension":"bis","zipCode":"1234 AB","city":"Utrecht"`,
			},
		},
		"a whole address beside a town": {
			file: "address,address.city,address.country\n\"Dorpsstraat 12 bis, 1234 AB Utrecht\",Ede,NL\n",
			code: 2,
			want: []string{
				`line 2: address.street (column 1 "address"): cannot be split`,
			},
		},
		"blanks": {
			file:    "last\n\u00a0Jansen\u200b \n",
			mapping: last,
			want:    []string{`"lastName":"Jansen"`, "removed spaces around 1 cell"},
		},
		"a row of blanks": {"last;email\n ;\u00a0\n;b\n", last, "", 2, []string{`line 3: email (column 2)`}},
		"a row of totals": {"last;Sum\nA;1\n;1\n", last + "Sum = \"ignore\"\n", "", 2, []string{
			`line 3: has no value in the columns that are read`,
		}},
		"a row whose empty cell has a meaning": {"last;no calls;Sum\n;;1\n", last +
			"\"no calls\" = \"optIns.phone\"\nSum = \"ignore\"\n" +
			"[values]\noptIns.phone = { \"\" = true }\n", "", 2, []string{
			`line 2: has no value in the columns that are read`,
		}},
		"errors of formulas": {
			file:    "last,email,mandate.id,initials\n#N/B,a@example.org,#¡VALOR!,#1\n",
			mapping: last + "initials = \"name.initials\"\n",
			code:    2,
			want: []string{
				`line 2: name.lastName (column 1 "last"): is the error of a formula`,
				`mandate.id (column 3): is the error of a formula`,
			},
		},
		"a rounded number": {
			file:    "last;mandate.id;phoneNumber\nA;1,23457E+11;3,16123E+10\n",
			mapping: last,
			flags:   "--country NL",
			code:    2,
			want: []string{
				`line 2: mandate.id (column 2): is a number that the spreadsheet has rounded`,
				`phoneNumber (column 3): is a number that the spreadsheet has rounded`,
			},
		},
		"texts that only look damaged": {"last,name.firstName,mandate.id\n#1 Dad!,E+11,12E+11\n", last, "", 0, []string{
			`"firstName":"E+11","lastName":"#1 Dad!"`, `"id":"12E+11"`,
		}},
		"heads that changed": {
			file:    "First name,Nachname\na,b\n",
			mapping: "[columns]\n\"Voornaam\" = \"name.firstName\"\n\"Nachname\" = \"name.lastName\"\n",
			code:    2,
			want: []string{
				`does not have: "Voornaam"; columns that the mapping does not name: column 1 "First name"`,
			},
		},
		"a wrong key": {
			file:    "a\n",
			mapping: `encodign = "utf-8"`,
			code:    2,
			want: []string{
				`there is no key "encodign"; did you mean encoding?`,
				"hint: fundesk person import FILE --guess",
			},
		},
		"a wrong kind": {"a\n", `country = 7`, "", 2, []string{"country = 7: must be a text in quotes"}},
		"a wrong order": {
			file:    "a\n",
			mapping: `dates = "us"`,
			code:    2,
			want:    []string{`dates must be one of dmy, mdy, ymd, not "us"`},
		},
		"a wrong sign": {
			file:    "a\n",
			mapping: `decimal = ";"`,
			code:    2,
			want:    []string{`decimal must be one of ",", ".", not ";"`},
		},
		"a wrong country": {
			file:    "a\n",
			mapping: `country = "Narnia"`,
			code:    2,
			want:    []string{`country must be one of `, `not "Narnia"`},
		},
		"a wrong field": {
			file:    "a\n",
			mapping: "[columns]\na = \"nonsense\"\n",
			code:    2,
			want:    []string{`columns: "a": there is no field "nonsense"`},
		},
		"a wrong default": {
			file:    "a\n",
			mapping: "[defaults]\nnonsense = 1\n",
			code:    2,
			want:    []string{`defaults: there is no field "nonsense"`},
		},
		"values without a field": {
			file:    "a\n",
			mapping: "[values]\nFrau = \"female\"\n",
			code:    2,
			want:    []string{"belongs in the table of a field"},
		},
		"no TOML": {"a\n", "country = NL\n", "", 2, []string{"--mapping"}},
		"a default and a flag": {
			file:    "last\nA\n",
			mapping: last + "[defaults]\nlanguage = \"de\"\noptIns.phone = true\n",
			flags:   "--default language=nl",
			want:    []string{`"language":"nl"`, `"phone":true`},
		},
		"a value in another case": {
			file:  "gender\nMEVR\n",
			flags: "--value gender:Mevr=female",
			want:  []string{`"gender":"female"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, code := foreign(t, test.file, test.mapping, test.flags)
			for _, want := range test.want {
				if code != test.code || !strings.Contains(out, want) {
					t.Errorf("got exit code %d and %s, want %d and %s", code, out, test.code, want)
				}
			}
		})
	}
}

// An amount that may be thousands or cents is refused until the mapping states the decimal sign.
func TestAmountsOfAMapping(t *testing.T) {
	t.Parallel()
	const id = "3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"
	row := "personUuid;owningOrganizationUuid;recruitingOrganizationUuid;recruiterUserUuid;initialDonationInterval;startsAt;initialDonationAmount\n" +
		id + ";" + id + ";" + id + ";" + id + ";monthly;2026-12-01;"
	home := t.TempDir()
	file, mapping := filepath.Join(home, "p.csv"), filepath.Join(home, "m.toml")
	l := line{environment: map[string]string{"HOME": home}}
	for _, test := range []struct{ amount, decimal, want string }{
		{"1.250", ",", `"initialDonationAmount":1250,`},
		{"1.250", ".", `"initialDonationAmount":1.25,`},
		{"1,250", ".", `"initialDonationAmount":1250,`},
		{"12,50", ",", `"initialDonationAmount":12.5,`},
		{"1,250", "", "can be read as thousands and as cents"},
	} {
		writeFile(t, file, row+test.amount+"\n")
		text := "country = \"NL\"\n"
		if test.decimal != "" {
			text += "decimal = \"" + test.decimal + "\"\n"
		}
		writeFile(t, mapping, text)
		l.try(t, "pledge import", file, "--dry-run", "--mapping", mapping).Tells(test.want)
	}
}

// A guess is a complete mapping. It names the program, and its doubts are comments.
func TestGuesses(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"civicrm.csv":     "of CiviCRM",
		"npsp.csv":        "of Salesforce NPSP",
		"raisersedge.csv": "of Raiser's Edge. Check each doubt.\n# doubt: encoding",
		"Donorbox ID,Donor First Name,Donor Email\n1,An,a@example.org\n":          "of Donorbox",
		"iRaiser ID,Civilité,Prénom,Nom,Code postal\n1,Mme,An,Dupont,75008\n":     "of iRaiser",
		"Pr\xe9nom;Nom\nC\xbdline;D'Or\n":                                         "encoding = \"iso-8859-15\"",
		"Pr\xe9nom;Nom\n\xbd;D\xb4Or\n":                                           "encoding = \"windows-1252\"",
		"Naam;Straat;Plaats\nAn;Dorpsstraat 12a;Utrecht\n":                        "\"Straat\" = \"address\"",
		"Naam;Straat;Huisnummer\nAn;Dorpsstraat;12\n":                             "\"Straat\" = \"address.street\"",
		"Voornaam;Mobiel;Iets\nAn;0612345678;x\n":                                 "# doubt: country: phone numbers",
		"last,dateOfBirth\nA,4/3/1961\n":                                          "# doubt: dates: the days of dateOfBirth fit dmy and mdy",
		"name.lastName,\"a \"\"b\"\" = \\c\",email,E-mail\nA,B,a@example.org,c\n": "doubt: email is taken by email",
	} {
		guess, code := foreign(t, file, "", "--guess")
		if code != 0 || !strings.Contains(guess, want) {
			t.Errorf("got exit code %d and %s, want %s", code, guess, want)
		}
		out, _ := foreign(t, file, guess, "")
		if strings.Contains(out, "--mapping") || strings.Contains(out, "line 1:") {
			t.Errorf("got %s with the guess %s", out, guess)
		}
	}
}

// Good rows are sent, the others are named, kept with their values, and make the exit code 9. A file without errors
// leaves none.
func TestSkipWrong(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner := h.Organization("AID").String()
	home := t.TempDir()
	l := lineAt(t, h.URL, h.Token(), "HOME", home)
	file, wrong := filepath.Join(home, "rows.csv"), filepath.Join(home, "wrong.csv")
	args := []string{
		"person", "import", file, "--yes", "--skip-wrong", "--errors", wrong, "--country", "NL",
		"--default", "owningOrganizationUuid=" + owner, "--default", "recruitingOrganizationUuid=" + owner,
	}
	writeFile(t, file, "name.lastName;dateOfBirth\nGoodRow;1990-01-01\nBadRow;32-13-1990\n")
	l.try(t, "", args...).Ends(9, "1 created, 1 failed", `line 3: dateOfBirth (column 2)`).Hides("1990")
	kept, err := os.ReadFile(wrong)
	if err != nil || !strings.Contains(string(kept), `32-13-1990""`) || !strings.Contains(string(kept), "BadRow") {
		t.Errorf("got %s, %v, want the value", kept, err)
	}
	writeFile(t, file, "name.lastName;dateOfBirth\nGoodRow;1990-01-01\nBadRow;31-12-1990\n")
	l.try(t, "", args...).Ends(0, "1 created, 0 failed")
	if _, err := os.Stat(wrong); !os.IsNotExist(err) {
		t.Errorf("got %v, want no file of errors", err)
	}
}

// A file of errors is read by the flags and the mapping of the file that it comes from, once it is corrected.
func TestErrorsComeBackInTheFormOfTheirFile(t *testing.T) {
	t.Parallel()
	rows := "name.firstName;email\r\nZoë;none\r\n"
	for name, test := range map[string]struct {
		encoding encoding.Encoding
		text     string
		mapping  string
	}{
		"Windows":                   {charmap.Windows1252, rows, `encoding = "windows-1252"`},
		"Windows, with a delimiter": {charmap.Windows1252, rows, "encoding = \"windows-1252\"\ndelimiter = \";\""},
		"Excel":                     {unicode.UTF8BOM, rows, ""},
		"UTF-16":                    {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), rows, ""},
		"UTF-16 by name": {
			encoding: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
			text:     rows,
			mapping:  `encoding = "utf-16"`,
		},
		"another delimiter": {unicode.UTF8, strings.ReplaceAll(rows, ";", "~"), `delimiter = "~"`},
		"a line for Excel":  {unicode.UTF8, "sep=~\r\n" + strings.ReplaceAll(rows, ";", "~"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			file := filepath.Join(home, "rows.csv")
			wrong := filepath.Join(home, "wrong.csv")
			mapping := filepath.Join(home, "m.toml")
			encoded := func(text string) string {
				encoded, err := test.encoding.NewEncoder().String(text)
				servicetest.Check(t, err)
				return encoded
			}
			writeFile(t, file, encoded(test.text))
			writeFile(t, mapping, test.mapping)
			l := line{environment: map[string]string{"HOME": home}}
			options := "--dry-run --errors " + wrong + " --mapping " + mapping +
				" --default owningOrganizationUuid=" + testID + " --default recruitingOrganizationUuid=" + testID
			for range 2 { // The second run replaces the file of the first.
				l.try(t, "person import "+file+" "+options).Ends(2, "email")
			}
			kept, err := os.ReadFile(wrong)
			servicetest.Check(t, err)
			text, err := test.encoding.NewDecoder().String(string(kept))
			servicetest.Check(t, err)
			writeFile(t, file, encoded(strings.ReplaceAll(text, "none", "zoe@example.org")))
			l.try(t, "person import "+file+" "+options).Ends(0).Tells(`"firstName":"Zoë"`)
		})
	}
}

// A mistake after which no row can be read is not a row that --skip-wrong leaves out: the rows after it are not wrong.
func TestSkipWrongNeedsEveryRow(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner := h.Organization("AID").String()
	for name, text := range map[string]string{
		"quote.csv": "name.lastName,email\nGood,a@example.org\nBad,\"b\"b@example.org\nLost,c@example.org\n",
		"open.csv":  "name.lastName,email\nGood,a@example.org\nBad,\"b@example.org\nLost,c@example.org\n",
		"cut.json":  `[{"name":{"lastName":"Good"}},{"name":{"lastName":}},{"name":{"lastName":"Lost"}}]`,
	} {
		home := t.TempDir()
		l := lineAt(t, h.URL, h.Token(), "HOME", home)
		file := filepath.Join(home, name)
		writeFile(t, file, text)
		args := []string{
			"--yes", "--default", "owningOrganizationUuid=" + owner, "--default", "recruitingOrganizationUuid=" + owner,
		}
		l.try(t, "person import", append(args, file, "--skip-wrong")...).Ends(2, "can be read, and nothing was sent")
		l.try(t, "person import", append(args, file)...).Ends(2,
			"can be read, and nothing was sent").Lacks("--skip-wrong")
	}
}

// 20 equal refusals end the run with 9, also with --yes; --keep-going sends the rest.
func TestEqualRefusals(t *testing.T) {
	t.Parallel()
	i := newImporting(t, "ndjson", 60)
	good := i.service.Handler
	var mutex sync.Mutex
	refused := map[string]bool{}
	i.service.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			good.ServeHTTP(w, r)
			return
		}
		line, err := io.ReadAll(r.Body)
		servicetest.Check(t, err)
		mutex.Lock()
		refused[string(line)] = true
		mutex.Unlock()
		status(http.StatusUnprocessableEntity, "application/json", `{"detail":"no such gender"}`)(w, r)
	})
	run := func(args ...string) (lines int, errs string, code int) {
		mutex.Lock()
		clear(refused)
		mutex.Unlock()
		_, errs, code = i.fundesk("person import", append([]string{i.file, "--yes"}, args...)...)
		mutex.Lock()
		defer mutex.Unlock()
		return len(refused), errs, code
	}
	lines, errs, code := run()
	if code != 9 || lines < 20 || lines > 24 || !strings.Contains(errs, "refused 20 lines alike") ||
		!strings.Contains(errs, "--keep-going") {
		t.Errorf("got exit code %d, %d lines refused and %s, want 9 after 20", code, lines, errs)
	}
	if lines, errs, code := run("--keep-going"); code != 9 || lines != 60 {
		t.Errorf("got exit code %d, %d lines refused and %s, want 9 after 60", code, lines, errs)
	}
}
