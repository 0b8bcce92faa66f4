package commands

import (
	"encoding/csv"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// spreadsheet shows and saves a file like Excel of a country.
type spreadsheet struct {
	country, delimiter, day string
	words                   map[string]string // Of truth values.
}

var spreadsheets = []spreadsheet{
	{"NL", ";", "2-1-2006", map[string]string{"true": "WAAR", "false": "ONWAAR"}},
	{"BE", ";", "2/01/2006", map[string]string{"true": "WAAR", "false": "ONWAAR"}},
	{"DE", ";", "02.01.2006", map[string]string{"true": "WAHR", "false": "FALSCH"}},
	{"FR", ";", "02/01/2006", map[string]string{"true": "VRAI", "false": "FAUX"}},
	{"EN", ",", "02/01/2006", map[string]string{"true": "TRUE", "false": "FALSE"}},
}

var (
	asText  = regexp.MustCompile(`^="(.*)"$`)
	number  = regexp.MustCompile(`^[-+]?0*([0-9]+[.,]?[0-9]*)$`)
	hasMark = "\ufeff"
)

// saved returns the file as the spreadsheet saves it: texts that are marked as such stay, numbers lose zeros and
// signs, days and words take the form of the country.
func (s spreadsheet) saved(t *testing.T, file string) string {
	t.Helper()
	text, marked := strings.CutPrefix(file, hasMark)
	if !marked {
		t.Fatalf("%s: got no byte order mark in %.20q", s.country, file)
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = rune(s.delimiter[0])
	rows, err := reader.ReadAll()
	servicetest.Check(t, err)
	var out strings.Builder
	out.WriteString(hasMark)
	w := csv.NewWriter(&out)
	w.Comma = reader.Comma
	for _, row := range rows {
		for i, cell := range row {
			day, err := time.Parse(time.DateOnly, cell)
			switch m := asText.FindStringSubmatch(cell); {
			case m != nil:
				row[i] = m[1]
			case err == nil:
				row[i] = day.Format(s.day)
			case s.words[cell] != "":
				row[i] = s.words[cell]
			default:
				row[i] = number.ReplaceAllString(cell, "$1")
			}
		}
		servicetest.Check(t, w.Write(row))
	}
	w.Flush()
	return out.String()
}

// A file for Excel of a country, opened and saved there, still has the values of the records.
func TestSpreadsheetsComeBack(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := plain(t)
	h.Sample(40)
	l := lineAt(t, h.URL, h.Token())
	for _, s := range spreadsheets {
		for _, noun := range []string{"person", "pledge"} {
			out, errs, code := l.run(t, "", noun, "list", "--all", "-o", "csv", "--for-excel", s.country)
			if code != 0 || strings.Count(out, "\n") < 5 {
				t.Fatalf("%s: got exit code %d and %s", s.country, code, errs)
			}
			file := filepath.Join(t.TempDir(), "saved.csv")
			for _, text := range []string{out, s.saved(t, out)} {
				writeFile(t, file, text)
				_, errs, code = l.run(
					t, "", noun, "apply", file, "--yes", "--country", s.country,
				)
				if code != 0 || !strings.Contains(errs, "nothing differs") {
					t.Errorf("%s in %s: got exit code %d and %.600s, want that nothing differs",
						noun, s.country, code, errs)
				}
			}
		}
	}
}

var wantLibreOffice = flag.Bool("libreoffice", false, "start LibreOffice, which takes a minute")

// LibreOffice opens what is written for a country, and saves it as CSV and as a workbook: apply finds that nothing
// differs.
func TestLibreOfficeSavesWhatWasWritten(t *testing.T) {
	t.Parallel()
	if !*wantLibreOffice {
		t.Skip("LibreOffice takes a minute: -libreoffice starts it, and .ci/nightly installs it")
	}
	h := plain(t)
	h.Sample(40)
	l := lineAt(t, h.URL, h.Token())
	folder := t.TempDir()
	for country, language := range map[string]string{"NL": "1043", "DE": "1031", "FR": "1036", "EN": "2057"} {
		delimiter := "59"
		if country == "EN" {
			delimiter = "44"
		}
		text := delimiter + ",34,76,1,," + language + ",false,true,false"
		convert := func(file, to, filter string) string {
			into := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "soffice", "-env:UserInstallation=file://"+folder, "--headless",
				"--infilter=CSV:"+text,
				"--convert-to", to+":"+filter, "--outdir", into, file)
			if filepath.Ext(file) == ".xlsx" {
				cmd.Args = slices.Delete(cmd.Args, 3, 4)
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return filepath.Join(into, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+"."+to)
		}
		for _, noun := range []string{"person", "pledge"} {
			out, errs, code := l.run(t, "", noun, "list", "--all", "-o", "csv", "--for-excel", country)
			file := filepath.Join(t.TempDir(), noun+".csv")
			if err := os.WriteFile(file, []byte(out), 0o600); err != nil || code != 0 {
				t.Fatalf("got exit code %d, %v, %s", code, err, errs)
			}
			asText := "Text - txt - csv (StarCalc):" + text
			for _, saved := range []string{
				convert(file, "csv", asText),
				convert(convert(file, "xlsx", "Calc MS Excel 2007 XML"), "csv", asText),
			} {
				if _, errs, code := l.run(
					t, "", noun, "apply", saved, "--yes", "--country", country,
				); code != 0 || !strings.Contains(errs, "nothing differs") {
					got, _ := os.ReadFile(saved)
					t.Errorf("%s in %s: got exit code %d and %.600s, want that nothing differs; saved was %.600s",
						noun, country, code, errs, got)
				}
			}
		}
	}
}

// Each form of a cell is read, or named with its line, its column, its value and a hint.
func TestCellsOfSpreadsheets(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner := h.Organization("AID").String()
	l := lineAt(t, h.URL, h.Token())
	for _, test := range []struct{ flags, text, want string }{
		{
			flags: "--country NL",
			text:  "phoneNumber;gender;optIns.phone\n31612345678;V;WAAR\n",
			want:  `"gender":"female","phoneNumber":"+31612345678","optIns":{"phone":true}`,
		},
		{"--country NL", "phoneNumber;gender\n612345678;m\n", `"gender":"male","phoneNumber":"+31612345678"`},
		{
			flags: "--country DE",
			text:  "gender;optIns.mail;optIns.phone\nW;WAHR;FALSCH\n",
			want:  `"gender":"female","optIns":{"mail":true,"phone":false}`,
		},
		{"--country FR", "optIns.mail;optIns.phone\nVRAI;FAUX\n", `"optIns":{"mail":true,"phone":false}`},
		{"--value gender:Mevr=female", "gender\nMevr\n", `"gender":"female"`},
		{
			text: "Achternaam;lastname;gender\na;b;male\n",
			want: `line 1: not the name of a field: column 1 "Achternaam", column 2 "lastname" (name.lastNamePrefix or name.lastName?)`,
		},
		{
			text: "phoneNumber\n31612345678\n",
			want: `line 2: phoneNumber (column 1): must be in international format, such as +31612345678, not "99999999999"`,
		},
		{"", "gender\nV\n", `line 2: gender (column 1): must be a word; --country NL reads the letter`},
		{"", "Achternaam;Naam\na;b\n", `column 1 "Achternaam", column 2 "Naam"`},
		{"", "optIns.phone\nmaybe\n", `, not "xxxxx"`},
		{"", "dateOfBirth\n3-4-1990\n", `: "9-9-9999"`},
		{"--value V=female", "gender\nV\n", "is not FIELD:TEXT=VALUE"},
		{"--value sex:V=female", "gender\nV\n", `--value: there is no field "sex"`},
		{"", "PK\x03\x04\x00\xff", "hint: save it as CSV"},
	} {
		l.stdin = test.text
		args := []string{
			"person", "import", "-", "--dry-run", "--default", "owningOrganizationUuid=" + owner,
			"--default", "recruitingOrganizationUuid=" + owner,
		}
		l.try(t, "", append(args, strings.Fields(test.flags)...)...).Tells(test.want)
	}
	for flags, want := range map[string]string{
		"--for-excel NL":            "--for-excel needs -o csv",
		"--for-excel Narnia -o csv": `--for-excel must be one of `,
	} {
		l.try(t, "person list "+flags).Ends(2, want)
	}
}

// An export that was not edited changes nothing, whatever the values look like in a spreadsheet.
func TestAnExportWithoutEditsChangesNothing(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner := h.Organization("AID").String()
	l := lineAt(t, h.URL, h.Token())
	file := filepath.Join(t.TempDir(), "export.csv")
	for _, name := range []string{
		"A\r\nB", "A\nB", "'=x", "=x", "'t Hooft", `="0612"`, `="a"`, "0612", "-5", "1E5",
		"1,23457E+11", "#N/A", "True", "\ttab",
	} {
		l.must(t, "person create --last-name Meer --owning-organization "+owner+" --recruiting-organization "+owner,
			"--first-name", name)
	}
	for _, flags := range []string{"", "--for-edit", "--for-excel NL", "--for-excel EN"} {
		out, _, _ := l.run(t, "person list --all -q -o csv "+flags)
		writeFile(t, file, out)
		l.try(t, "person apply", file, "--dry-run", "--country", "NL").Ends(0).Lacks("firstName")
	}
}

// Excel gets numbers as numbers, so that it can add them up, and every text as text.
func TestNumbersForExcel(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	l.try(t, "query -o csv --for-excel NL",
		"SELECT 30 AS n, 12.5 AS d, '0612' AS t, 1234567890123456 AS long, NULL AS none").Ends(0).Tells(
		"\n30;\"12,5\";\"=\"\"0612\"\"\";\"=\"\"1234567890123456\"\"\";\r\n",
	)
	for _, words := range []string{
		"call stats --by type,result", "pledge stats --by status", "person stats --by language",
		"call list --include pledge --columns uuid,pledgeCase.donationAmount,attemptsCount",
		"pledge list --columns uuid,donationAmount",
	} {
		l.try(t, words+" -q -o csv --for-excel NL").Ends(0).Tells(";").Omits("=\"")
	}
}

// At a terminal a message has the wrong value, and the names of all unknown columns.
func TestWrongCellsOnATerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"phoneNumber\n06-1234\n":    `not "06-1234"`,
		"Achternaam;Voornam\na;b\n": `column 1 "Achternaam", column 2 "Voornam"`,
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeFile(t, file, text)
		said, code := askedOnTerminal(t, status(500, "", ""), "person import "+file, "")
		if code != 2 || !strings.Contains(said, want) {
			t.Errorf("got exit code %d and %s, want %s", code, said, want)
		}
	}
}
