package load

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"fundesk/commands/cli"
	"fundesk/render"
)

// A mapping describes the files of another program: a TOML file of --mapping, whose lines --map, --value, --default and
// --country replace for one run.

// The orders of day, month and year in dates.
const (
	dayFirst   = "dmy"
	monthFirst = "mdy"
	yearFirst  = "ymd"
)

// dateOrders are the values of --dates.
var dateOrders = []string{dayFirst, monthFirst, yearFirst}

// others is the name of a column that stands for all unnamed ones.
const others = "*"

// mapping is the content of a mapping file.
type mapping struct {
	encoding, delimiter string
	decimal             string // A comma or a point. Empty if the country decides.
	dates               string // One of dateOrders. Empty if the column or the country decides.
	country             string // Of rows that name none.
	countryColumn       string // The name of the column with a row's country.
	columns             map[string]string
	values              map[string]map[string]string // By field.
	defaults            map[string]string
}

// mappingKeys are the keys of a mapping, in the order of an example.
const mappingKeys = "encoding delimiter decimal dates country country_column columns values defaults"

// readMapping reads a mapping file. An empty path gives an empty mapping.
func readMapping(path string) (mapping, error) {
	m := mapping{columns: map[string]string{}, values: map[string]map[string]string{}, defaults: map[string]string{}}
	if path == "" {
		return m, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return m, cli.UsageError("--mapping: " + err.Error())
	}
	var all map[string]any
	if _, err := toml.Decode(string(text), &all); err != nil {
		reason := strings.TrimPrefix(err.Error(), "toml: ")
		if strings.Contains(reason, "already been defined") || strings.Contains(reason, "already defined") {
			reason += "; each key stands once"
		}
		return m, cli.WithHint(cli.UsageError("--mapping "+path+": "+reason), mappingExample)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := m.set(key, all[key]); err != nil {
			return m, cli.WithHint(cli.UsageError("--mapping "+path+": "+err.Error()), mappingExample)
		}
	}
	return m, nil
}

const mappingExample = "fundesk person import FILE --guess prints a mapping that can be edited"

// set reads one key of a mapping.
func (m *mapping) set(key string, value any) error {
	switch key {
	case "columns":
		return m.setColumns(value)
	case "values":
		return m.setValues(value)
	case "defaults":
		return eachText(key, value, func(path, text string) error {
			m.defaults[path] = text
			return nil
		})
	}
	texts := map[string]*string{
		"encoding": &m.encoding, "delimiter": &m.delimiter, "decimal": &m.decimal, "dates": &m.dates,
		"country": &m.country, "country_column": &m.countryColumn,
	}
	to, isKnown := texts[key]
	if !isKnown {
		return fmt.Errorf("there is no key %s%s", cli.Quote(key), didYouMean(key, strings.Fields(mappingKeys)))
	}
	text, isText := value.(string)
	if !isText {
		return fmt.Errorf("%s = %v: must be a text in quotes", key, value)
	}
	*to = text
	return nil
}

// setColumns reads the fields of columns.
func (m *mapping) setColumns(value any) error {
	columns, isTable := value.(map[string]any)
	if !isTable {
		return errors.New("columns is a table: [columns], with a line \"Its name\" = \"FIELD\" for each")
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		field, isText := columns[name].(string)
		if !isText {
			return fmt.Errorf(
				"columns: %s = %v: must be the name of a field in quotes; a name with a dot needs quotes, too",
				cli.Quote(name),
				columns[name],
			)
		}
		m.columns[strings.TrimSpace(name)] = asIgnored(field)
	}
	return nil
}

// setValues reads the meanings of texts.
func (m *mapping) setValues(value any) error {
	if _, isTable := value.(map[string]any); !isTable {
		return errors.New(
			"values is a table for each field: [values.gender], with a line \"Frau\" = \"female\" for each",
		)
	}
	return eachText("values", value, func(path, text string) error {
		return fmt.Errorf(
			"values: %s = %s belongs in the table of a field, such as [values.gender]",
			cli.Quote(path),
			cli.Quote(text),
		)
	}, func(field, cell, text string) {
		if m.values[field] == nil {
			m.values[field] = map[string]string{}
		}
		m.values[field][cell] = text
	})
}

// eachText calls one for each text of a table and its tables, with its dotted name. If inTable is given, it gets the
// texts within tables, with the dotted name of the table.
func eachText(
	key string,
	value any,
	one func(path, text string) error,
	inTable ...func(table, name, text string),
) error {
	table, isTable := value.(map[string]any)
	if !isTable {
		return fmt.Errorf("%s is a table: [%s], with a line FIELD = \"VALUE\" for each", key, key)
	}
	var walk func(above string, table map[string]any) error
	walk = func(above string, table map[string]any) error {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			path := strings.TrimPrefix(above+"."+name, ".")
			var text string
			switch v := table[name].(type) {
			case map[string]any:
				if err := walk(path, v); err != nil {
					return err
				}
				continue
			case string:
				text = v
			case bool, int64, float64:
				text = fmt.Sprint(v)
			default:
				return fmt.Errorf("%s: %s: must be a text, a number, true or false", key, cli.Quote(path))
			}
			if len(inTable) > 0 && above != "" {
				inTable[0](above, name, text)
				continue
			}
			if err := one(path, text); err != nil {
				return err
			}
		}
		return nil
	}
	return walk("", table)
}

// asIgnored returns a field as it is written in a mapping. "ignore" and "-" leave a column out.
func asIgnored(field string) string {
	field = strings.TrimSpace(field)
	if field == "ignore" {
		return ignored
	}
	return field
}

// check refuses values that no mapping can have.
func (m *mapping) check(where string) error {
	if m.decimal != "" && m.decimal != "," && m.decimal != "." {
		return cli.NotOneOf(where+": decimal", m.decimal, []string{`","`, `"."`})
	}
	if m.dates != "" && !slices.Contains(dateOrders, m.dates) {
		return cli.NotOneOf(where+": dates", m.dates, dateOrders)
	}
	if m.country == "" {
		return nil
	}
	code := countryOf(m.country)
	if code == "" || !slices.Contains(render.PhoneCountries(), code) {
		return cli.NotOneOf(where+": country", m.country, render.PhoneCountries())
	}
	m.country = code
	return nil
}

// didYouMean returns the nearest names as the end of a message.
func didYouMean(name string, names []string) string {
	if near := cli.Nearest(name, names); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "; there are " + strings.Join(names, ", ")
}

// changedHeads compares the columns that a mapping names with the header of a file. It returns nil if the file has all
// of them that matter.
func (m *mapping) changedHeads(path string, header []string, isKnown func(string) bool) error {
	if header == nil {
		return nil
	}
	heads := map[string]bool{}
	var unknown []string
	for i, text := range header {
		head := trimmed(text)
		heads[head] = true
		_, isColumn := m.columns[head]
		isNamed := isColumn || head == m.countryColumn
		if !isNamed && head != "" && !isKnown(text) {
			unknown = append(unknown, fmt.Sprintf("column %d %s", i+1, cli.Quote(head)))
		}
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(m.columns)) {
		if !heads[name] && name != others && m.columns[name] != ignored {
			missing = append(missing, cli.Quote(name))
		}
	}
	if m.countryColumn != "" && !heads[m.countryColumn] {
		missing = append(missing, cli.Quote(m.countryColumn)+" (country_column)")
	}
	if len(missing) == 0 {
		return nil
	}
	message := "line 1: the mapping names columns that the file does not have: " + strings.Join(missing, ", ")
	if len(unknown) > 0 {
		message += "; columns that the mapping does not name: " + strings.Join(unknown, ", ")
	}
	return cli.WithHint(cli.UsageError(message), "write the names of the file into "+path)
}
