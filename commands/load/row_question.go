package load

import (
	"encoding/json"
	"strconv"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// rowQuestion counts the changes for the question before they are sent.
type rowQuestion struct {
	changes, creates int
	fields           map[string]int // In how many records each changes.
	first            []apiclient.Change
	donors           map[donorName]int // How many persons of each name and birthday are created.
}

func (q *rowQuestion) add(line plannedLine) {
	if line.Change.Operation().Creates {
		q.creates++
		var person apitype.CreatePersonRequest
		if q.donors != nil && json.Unmarshal(line.Change.Body, &person) == nil && person.Name != nil {
			q.donors[donorOf(person.Name.FirstName, person.Name.LastName, person.DateOfBirth)]++
		}
		return // Its uuid is new, and does not help the reader.
	}
	q.changes++
	if len(q.first) < cli.NamedRecords {
		q.first = append(q.first, line.Change)
	}
	for _, change := range line.Changes {
		q.fields[change.Field]++
	}
}

// text returns the question about records of a name.
func (q *rowQuestion) text(record string) string {
	if q.changes == 0 {
		return "create " + cli.Count(q.creates, record)
	}
	question := "change " + cli.Count(q.changes, record) + " (" + tally(q.fields) + ")"
	if q.creates > 0 {
		question += " and create " + strconv.Itoa(q.creates)
	}
	return question
}
