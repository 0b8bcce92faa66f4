package read

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/tui/desk"
)

// PersonSelection are the filters of persons that the interface does not have: they look at
// what was retrieved.
type PersonSelection struct{ phone, email, name string }

// Register declares the flags.
func (p *PersonSelection) Register(cmd *cobra.Command) {
	const here = "; applied after the download"
	cmd.Flags().StringVar(&p.phone, "phone", "", "only persons with this phone number, however it is written"+here)
	cmd.Flags().StringVar(&p.email, "email", "", "only persons with this in their e-mail address"+here)
	cmd.Flags().StringVar(&p.name, "name", "", "only persons with these words in their name"+here)
}

// Passes is the filter, nil when there is none.
func (p *PersonSelection) Passes(cmd *cobra.Command) (func(apitype.Person) bool, error) {
	for flag, text := range map[string]string{"phone": p.phone, "email": p.email, "name": p.name} {
		if cmd.Flags().Changed(flag) && strings.TrimSpace(text) == "" {
			return nil, cli.UsageError("--" + flag + " must not be empty")
		}
	}
	digits := digitsOf(p.phone)
	if p.phone != "" && len(digits) < minPhoneDigits {
		return nil, cli.UsageError("--phone " + cli.Quote(p.phone) + " must have six digits at least")
	}
	if *p == (PersonSelection{}) {
		return nil, nil
	}
	words := strings.Fields(strings.ToLower(p.name))
	return func(person apitype.Person) bool {
		name := strings.ToLower(render.PersonName(person))
		return (digits == "" || hasNumber(person.PhoneNumber, digits) || hasNumber(person.MobilePhoneNumber, digits)) &&
			strings.Contains(strings.ToLower(desk.Value(person.Email)), strings.ToLower(p.email)) &&
			!slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, word) })
	}, nil
}

// minPhoneDigits is how many digits tell a number from others.
const minPhoneDigits = 6

// digitsOf are the digits of a number without what stands before a national one.
func digitsOf(number string) string {
	return strings.TrimLeft(apitype.Digits(strings.Replace(number, "(0)", "", 1)), "0")
}

// hasNumber reports whether a number ends in the digits that were typed: its country may have
// been left out.
func hasNumber(number *string, digits string) bool {
	return number != nil && strings.HasSuffix(digitsOf(*number), digits)
}

// IncludePersons has the flag --include of pledges take person, too, which is not of the interface and is
// added here.
func IncludePersons(cmd *cobra.Command, person *bool) {
	flag := cmd.Flags().Lookup("include")
	flag.Usage = "embedded objects: person, transactions (repeatable); persons are read one by one where the list has none"
	others := flag.Value
	flag.Value = &cli.Value{Word: others.Type(), Text: others.String, Read: func(text string) error {
		names := strings.Split(text, ",")
		left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.TrimSpace(name) == apitype.IncludePerson })
		*person = *person || len(left) < len(names)
		if len(left) == 0 {
			return nil
		}
		return others.Set(strings.Join(left, ","))
	}, Choice: func() []string { return []string{apitype.IncludePerson, apitype.IncludeTransactions} }}
}

// EmbedPersons puts into each pledge the person that the list of the service leaves out. Of
// one person's pledges it is read once, else with each pledge, several at a time.
func EmbedPersons(of *apitype.UUID) func(context.Context, *apiclient.Client, iter.Seq2[apiclient.Record[apitype.Pledge], error]) iter.Seq2[apiclient.Record[apitype.Pledge], error] {
	type pledge = apiclient.Record[apitype.Pledge]
	return func(ctx context.Context, client *apiclient.Client, records iter.Seq2[pledge, error]) iter.Seq2[pledge, error] {
		var known json.RawMessage
		embed := func(ctx context.Context, record pledge) (pledge, error) {
			var err error
			person := known
			var members map[string]json.RawMessage
			_ = json.Unmarshal(record.Raw, &members) // What is no object has none.
			if _, has := members["person"]; has {
				return record, nil
			}
			if person == nil {
				person, err = personOfPledge(ctx, client, record)
			}
			record.Raw = withMember(record.Raw, "person", person)
			return record, err
		}
		return func(yield func(pledge, error) bool) {
			if of != nil {
				if person, err := client.Persons.Get(ctx, *of); err == nil {
					known = person.Raw
				}
			}
			embedInBatches(ctx, records, embed)(yield)
		}
	}
}

// batches gathers records, whose text may lie in a page that is used again, to work on
// several at a time; an error comes with those before it.
func batches[T any](records iter.Seq2[apiclient.Record[T], error]) iter.Seq2[[]apiclient.Record[T], error] {
	const size = 20
	return func(yield func([]apiclient.Record[T], error) bool) {
		var batch []apiclient.Record[T]
		for record, err := range records {
			if err != nil {
				yield(batch, err)
				return
			}
			record.Raw = slices.Clone(record.Raw)
			if batch = append(batch, record); len(batch) == size {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		yield(batch, nil)
	}
}

// personOfPledge reads a pledge for the person that it shows alone; null for none.
func personOfPledge(ctx context.Context, client *apiclient.Client, record apiclient.Record[apitype.Pledge]) (json.RawMessage, error) {
	id, err := apitype.RecordUUID(record.Raw)
	if err != nil {
		return nil, cli.Failure(apiclient.KindUnavailable, "a pledge has no uuid")
	}
	whole, err := client.Pledges.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var members struct {
		Person json.RawMessage `json:"person"`
	}
	if json.Unmarshal(whole.Raw, &members) != nil || members.Person == nil {
		return json.RawMessage("null"), nil
	}
	return members.Person, nil
}

// withMember is an object with a member more, at its end; the rest stays as it was sent.
func withMember(raw json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	text := strings.TrimRight(string(raw), " \t\r\n")
	separator := ","
	if strings.TrimSpace(text) == "{}" {
		separator = ""
	}
	return json.RawMessage(strings.TrimSuffix(text, "}") + separator + `"` + name + `":` + string(value) + "}")
}
