package load

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/tui/desk"
)

// donor identifies a person by name and birthday.
type donor struct {
	first, last string
	born        apitype.Date
}

// donorOf returns the name and birthday of a person. Both may be missing.
func donorOf(first, last *string, born *apitype.Date) donor {
	d := donor{first: strings.ToLower(desk.Value(first)), last: strings.ToLower(desk.Value(last))}
	if born != nil {
		d.born = *born
	}
	return d
}

// existing counts the persons that a run creates and that are there already, by name and birthday: without
// a file of results nothing else shows that a file is imported twice.
func (r *rowRun) existing(ctx context.Context, client *apiclient.Client) (n int, err error) {
	left := maps.Clone(r.asked.donors)
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	for record, err := range client.Persons.All(ctx, apitype.PersonListOptions{}, walk) {
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
