package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// --match finds the record of a row without a uuid by other fields. One pass over the file collects what is looked for,
// and one over all persons finds it: memory grows with the file, not with the persons.

// matchFields are the values of --match.
var matchFields = []string{"email", "iban", "phone", "name+born"}

// Why a row is left out.
var (
	errAmbiguous = errors.New("the row matches several records")
	errTwice     = errors.New("another row is for the same record")
	errNotThere  = errors.New("there is no record for the row")
	errNoMatch   = errors.New("the record of the row was changed meanwhile, and no longer matches")
)

// isLeftOut reports whether a row is left out alone: it stops no other row.
func isLeftOut(cause error) bool {
	for _, why := range []error{errOvertaken, errAmbiguous, errTwice, errNotThere, errNoMatch} {
		if errors.Is(cause, why) {
			return true
		}
	}
	return false
}

// mostMatches limits the records of one value that are kept. More do not help.
const mostMatches = 8

// matcher finds the persons of rows.
type matcher struct {
	fields []string                                // Of --match, in their order.
	found  map[string]map[string][]apitype.UUID    // By field and value. The file has each value.
	read   func(w wanted) map[string]matchedValues // The values of a row, by field.
}

// matchedValues are the values of a field by which a row or a person is found.
type matchedValues []string

// checkMatch refuses a --match of other fields.
func (f *rowFlags) checkMatch(record string) error {
	if f.planOnly && len(f.match) == 0 {
		return cli.UsageError("--plan-only needs --match; --dry-run shows the changes of rows with a uuid")
	}
	if len(f.match) > 0 && record != "person" {
		return cli.UsageError("--match finds persons only")
	}
	for _, field := range f.match {
		if !slices.Contains(matchFields, field) {
			return cli.NotOneOf("--match", field, matchFields)
		}
	}
	return nil
}

// findMatches reads all persons, and notes those that rows of the file look for.
func (r *rowRun) findMatches(ctx context.Context) error {
	if len(r.match) == 0 {
		return nil
	}
	m := &matcher{fields: r.match, found: map[string]map[string][]apitype.UUID{}, read: r.matchedOf}
	for _, field := range m.fields {
		m.found[field] = map[string][]apitype.UUID{}
	}
	blanks := r.reader.blanks
	for row := range r.all.All() {
		values := m.read(r.reader.want(r.source.Header, row))
		for _, field := range m.fields {
			for _, value := range values[field] {
				m.found[field][value] = nil
			}
		}
	}
	r.reader.blanks = blanks // The rows are read once more.
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	for record, err := range r.client.Persons.All(ctx, apitype.PersonListOptions{}, walk) {
		if err != nil {
			return err
		}
		person, err := record.Decode()
		if err != nil {
			return err
		}
		m.note(person)
	}
	r.matcher = m
	return r.all.Err()
}

// note notes a person under the values that rows look for.
func (m *matcher) note(p apitype.Person) {
	values := valuesOfPerson(p)
	for _, field := range m.fields {
		known := m.found[field]
		for _, value := range values[field] {
			ids, isWanted := known[value]
			if isWanted && len(ids) < mostMatches && !slices.Contains(ids, p.PersonUUID) {
				known[value] = append(ids, p.PersonUUID)
			}
		}
	}
}

// add notes a person that the row creates, so that no other row creates it again.
func (m *matcher) add(w wanted, id apitype.UUID) {
	values := m.read(w)
	for _, field := range m.fields {
		for _, value := range values[field] {
			m.found[field][value] = append(m.found[field][value], id)
		}
	}
}

// recordOf returns the person of a row, or none. Each field of --match settles what the ones before leave open.
func (m *matcher) recordOf(w wanted) (apitype.UUID, error) {
	values := m.read(w)
	var open []apitype.UUID
	for _, field := range m.fields {
		var found []apitype.UUID
		for _, value := range values[field] {
			for _, id := range m.found[field][value] {
				if !slices.Contains(found, id) {
					found = append(found, id)
				}
			}
		}
		both := slices.DeleteFunc(slices.Clone(open), func(id apitype.UUID) bool { return !slices.Contains(found, id) })
		if len(open) == 0 {
			open = found
		} else if len(both) > 0 {
			open = both
		}
		if len(open) == 1 {
			return open[0], nil
		}
	}
	var id apitype.UUID
	if len(open) > 1 {
		return id, errAmbiguous
	}
	return id, nil
}

// matchedOf returns the values of a row by which its person may be found.
func (r *rowRun) matchedOf(w wanted) map[string]matchedValues {
	if w.problem != "" {
		return nil
	}
	w.fields = slices.Clone(w.fields)
	r.reader.settle(&w, "")
	value := func(path string) string {
		for _, f := range w.fields {
			if f.field.Path == path && f.err == nil && f.value != nil {
				return fmt.Sprint(f.value)
			}
		}
		return ""
	}
	return matchedBy(
		value("email"), value("iban"), []string{value("mobilePhoneNumber"), value("phoneNumber")},
		value("name.firstName"), value("name.lastName"), value("dateOfBirth"),
	)
}

// valuesOfPerson returns the values by which rows may find a person.
func valuesOfPerson(p apitype.Person) map[string]matchedValues {
	text := func(of *string) string {
		if of == nil {
			return ""
		}
		return *of
	}
	born := ""
	if p.DateOfBirth != nil {
		born = p.DateOfBirth.String()
	}
	phones := []string{text(p.MobilePhoneNumber), text(p.PhoneNumber)}
	return matchedBy(text(p.Email), text(p.IBAN), phones, text(p.FirstName), text(p.LastName), born)
}

// matchedBy returns values in the form in which they are compared, by the fields of --match.
func matchedBy(email, iban string, phones []string, first, last, born string) map[string]matchedValues {
	values := map[string]matchedValues{}
	add := func(field, value string) {
		if value != "" && !slices.Contains(values[field], value) {
			values[field] = append(values[field], value)
		}
	}
	add("email", strings.ToLower(strings.TrimSpace(email)))
	add("iban", strings.ToUpper(strings.ReplaceAll(iban, " ", "")))
	for _, phone := range phones {
		add("phone", strings.ReplaceAll(phone, " ", ""))
	}
	if last != "" && born != "" {
		add("name+born", strings.ToLower(first+"|"+last)+"|"+born)
	}
	return values
}

// matched finds the record of a row without a uuid. It returns why the row is left out.
func (r *rowRun) matched(w *wanted) error {
	id, err := r.matcher.recordOf(*w)
	if err != nil {
		return err
	}
	if id.IsZero() && !r.create {
		return errNotThere
	}
	if id.IsZero() {
		created := apitype.NewUUID() // It stands for the record, which gets its own uuid.
		r.claim(created, w.Line)
		r.matcher.add(*w, created)
		return nil
	}
	if r.claim(id, w.Line) != "" {
		return errTwice
	}
	w.id, w.isMatched = id, true
	return nil
}

// stillMatches reports whether a row would find its record as it is now. All persons were read before it.
func (m *matcher) stillMatches(w wanted, raw json.RawMessage) bool {
	var person apitype.Person
	err := apitype.DecodeExact(raw, &person)
	if err != nil {
		return false
	}
	values, known := m.read(w), valuesOfPerson(person)
	for _, field := range m.fields {
		isKnown := func(value string) bool { return slices.Contains(known[field], value) }
		if slices.ContainsFunc(values[field], isKnown) {
			return true
		}
	}
	return false
}

// planText returns how many rows are new, changed, the same, and left out.
func (r *rowRun) planText() string {
	text := fmt.Sprintf("%d new, %d changed, %d same, %d ambiguous",
		r.asked.creates+r.leftOut[errNotThere], r.asked.changes, r.unchanged, r.leftOut[errAmbiguous])
	if n := r.leftOut[errTwice]; n > 0 {
		text += fmt.Sprintf(", %d for a record of another row", n)
	}
	return text
}
