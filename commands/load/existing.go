package load

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// donorName identifies a person by name and birthday.
type donorName struct {
	first, last string
	born        apitype.Date
}

// donorOf returns the name and birthday of a person. Both may be missing.
func donorOf(first, last *string, born *apitype.Date) donorName {
	d := donorName{first: strings.ToLower(apitype.TextOf(first)), last: strings.ToLower(apitype.TextOf(last))}
	if born != nil {
		d.born = *born
	}
	return d
}

// mostSearched limits the donors that a run searches one by one. To find more, it reads all persons.
const mostSearched = 100

// existing counts the persons that a run creates and that are there already, by name and birthday: without
// a file of results nothing else shows that a file is imported twice.
func (r *rowRun) existing(ctx context.Context, client *apiclient.Client) (int, error) {
	texts, isSearchable := searchesOf(r.asked.donors)
	var err error
	if isSearchable {
		isSearchable, err = client.Has(ctx, apitype.ExtensionSearch)
	}
	if err != nil || !isSearchable {
		return countExisting(ctx, client, "", r.asked.donors)
	}
	var n int
	for donor, text := range texts {
		found, err := countExisting(ctx, client, text, map[donorName]int{donor: r.asked.donors[donor]})
		if err != nil {
			return 0, err
		}
		n += found
	}
	return n, nil
}

// searchesOf returns a text for each donor that finds all persons of the name. There is none if donors are many, or a
// name has more than words.
func searchesOf(donors map[donorName]int) (map[donorName]string, bool) {
	const mostWords = 4 // A service finds persons by so many at least.
	isOdd := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" -'.", r) }
	texts := map[donorName]string{}
	for donor := range donors {
		text := strings.TrimSpace(donor.first + " " + donor.last)
		isLong := len(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })) > mostWords
		if isLong || strings.ContainsFunc(text, isOdd) || apitype.CheckSearch(text) != nil {
			return nil, false
		}
		texts[donor] = text
	}
	return texts, len(texts) <= mostSearched
}

// countExisting counts the donors among the persons of a search, or among all without one.
func countExisting(
	ctx context.Context,
	client *apiclient.Client,
	search string,
	donors map[donorName]int,
) (int, error) {
	left := maps.Clone(donors)
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	var n int
	for record, err := range client.Persons.All(ctx, apitype.PersonListOptions{Search: search}, walk) {
		if err != nil {
			return 0, err
		}
		person, err := record.Decode()
		if err != nil {
			return 0, err
		}
		known := donorOf(person.FirstName, person.LastName, person.DateOfBirth)
		if lines := left[known]; lines > 0 {
			n += lines
			if delete(left, known); len(left) == 0 {
				break
			}
		}
	}
	return n, nil
}

// ask asks before anything is sent. A file that seems to have been imported before is part of the question.
func (r *rowRun) ask(ctx context.Context, client *apiclient.Client) error {
	question := r.asked.text(r.reader.shape.Record)
	if len(r.asked.donors) > 0 && !r.yes {
		n, err := r.existing(ctx, client)
		if err != nil {
			return err
		}
		if n > 0 {
			question = fmt.Sprintf(
				"%d of these %s by name and birthday; %s",
				n,
				cli.Count(r.asked.creates, "person")+" exist",
				question,
			)
		}
	}
	return r.session.AskChange(ctx, r.yes, question, cli.RefsOf(r.asked.first), r.asked.changes)
}
