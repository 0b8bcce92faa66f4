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
)

// PersonSelection are the filters of persons that the interface does not have. They look at retrieved records. A
// service that can search retrieves those with the end of the phone number.
type PersonSelection struct{ phone, email, name string }

// Register declares the flags.
func (p *PersonSelection) Register(cmd *cobra.Command) {
	const here = "; filtered on your computer"
	cmd.Flags().StringVar(&p.phone, "phone", "", "only persons with this phone number, or this end of it"+
		"; filtered on your computer, unless the service can search")
	cmd.Flags().StringVar(&p.email, "email", "", "only persons with this in their e-mail address"+here)
	cmd.Flags().StringVar(&p.name, "name", "", "only persons with these words in their name"+here)
}

// Passes returns the filter, or nil.
func (p *PersonSelection) Passes(cmd *cobra.Command) (func(apitype.Person) bool, error) {
	for flag, text := range map[string]string{"phone": p.phone, "email": p.email, "name": p.name} {
		if cmd.Flags().Changed(flag) && strings.TrimSpace(text) == "" {
			return nil, cli.UsageError("--" + flag + " must not be empty")
		}
	}
	if len(strings.Fields(p.email)) > 1 {
		return nil, cli.UsageError("--email has a blank, and no e-mail address has one")
	}
	p.email = strings.TrimSpace(p.email)
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
			strings.Contains(strings.ToLower(apitype.TextOf(person.Email)), strings.ToLower(p.email)) &&
			!slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, word) })
	}, nil
}

// WarnOfIBAN warns of an IBAN that no account can have. Services may have stored one anyway.
func WarnOfIBAN(s *cli.Session, o apitype.PersonListOptions) {
	if o.IBAN == "" {
		return
	}
	if problem := apitype.IBANProblem(o.IBAN); problem != "" {
		s.Warn("--iban %s", problem)
	}
}

// LeaveToService refuses a search that the service does not have. A service that can search chooses the persons with
// the end of the phone number. A note names what fundesk applies to all persons.
func (p *PersonSelection) LeaveToService(
	ctx context.Context,
	s *cli.Session,
	client *apiclient.Client,
	o *apitype.PersonListOptions,
) error {
	if o.Search != "" {
		err := NeedSearch(ctx, client, "this service cannot search persons",
			"among all of them: fundesk person list --all --name, --phone or --email")
		if err != nil {
			return err
		}
	}
	if *p == (PersonSelection{}) {
		return nil
	}
	has, err := client.Has(ctx, apitype.ExtensionSearch)
	canSearch := err == nil && has && o.Search == "" // The list reports the error.
	end := searchedEnd(digitsOf(p.phone))
	switch {
	case canSearch && end != "":
		o.Search = end
	case canSearch && p.phone == "":
		s.Note("--email and --name also find parts of words, so fundesk reads all persons and applies them; " +
			"the service finds beginnings of words: --search")
	default:
		s.Note(
			"the service does not filter by --phone, --email and --name; fundesk filters the donors on this computer",
		)
	}
	return nil
}

// minPhoneDigits is the least number of digits that identifies a number.
const minPhoneDigits = 6

// A search by the end of a number needs digits without leading zeros and without the country code. A number has at
// least seven digits.
const (
	leastSearchedEnd = 4
	leastPhoneDigits = 7
	mostCountryCode  = 3
)

// searchedEnd returns the longest end of a number by which a search finds all numbers that end in these digits. It is
// empty without one.
func searchedEnd(digits string) string {
	longest := min(len(digits), max(len(digits), leastPhoneDigits)-mostCountryCode)
	for length := longest; length >= leastSearchedEnd; length-- {
		if end := digits[len(digits)-length:]; end[0] != '0' {
			return end
		}
	}
	return ""
}

// digitsOf returns the digits of a number without the prefix of a national one.
func digitsOf(number string) string {
	return strings.TrimLeft(apitype.Digits(strings.Replace(number, "(0)", "", 1)), "0")
}

// hasNumber reports whether a number ends in the digits that were typed: its country may have
// been left out.
func hasNumber(number *string, digits string) bool {
	return number != nil && strings.HasSuffix(digitsOf(*number), digits)
}

// NeedSearch refuses a request that only a service with the search can answer. wayOut is the alternative without it.
func NeedSearch(ctx context.Context, client *apiclient.Client, what, wayOut string) error {
	has, err := client.Has(ctx, apitype.ExtensionSearch)
	if err != nil || has {
		return err
	}
	return cli.WithHint(cli.UsageError(what), wayOut)
}

// PersonsOfPledges refuses a list of pledges with persons if the service has none.
func PersonsOfPledges(o *apitype.PledgeListOptions) func(context.Context, *apiclient.Client) error {
	return func(ctx context.Context, client *apiclient.Client) error {
		if !slices.Contains(o.Include, apitype.IncludePerson) {
			return nil
		}
		return NeedSearch(ctx, client, "this service lists pledges without their persons",
			"each pledge with its person: fundesk pledge list -o id | fundesk pledge get -")
	}
}

// batches gathers records, to work on several at a time. It copies their text, because a page's memory is reused. An
// error comes after the records before it.
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
			batch = append(batch, record)
			if len(batch) == size {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		yield(batch, nil)
	}
}

// WithMember returns an object with one more member at its end. The rest stays as it was sent.
func WithMember(raw json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	text := strings.TrimRight(string(raw), " \t\r\n")
	separator := ","
	if strings.TrimSpace(text) == "{}" {
		separator = ""
	}
	return json.RawMessage(strings.TrimSuffix(text, "}") + separator + `"` + name + `":` + string(value) + "}")
}
