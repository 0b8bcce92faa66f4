package commands

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

func personCommand(s *session) *cobra.Command {
	return group(s, "person", "Persons are donors. Each belongs to an organization; calls and pledges refer to them.",
		"  fundesk person list --created-after 7d\n  fundesk person get 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11",
		verb{"list", personList}, verb{"get", personGet}, verb{"create", personCreate}, verb{"update", personUpdate},
		verb{"export", personExport}, verb{"erase", personErase},
		verb{"watch", personWatch}, verb{"stats", personStats},
		verb{"import", func(s *session) *cobra.Command { return importCommand(s, s.personRows()) }},
		verb{"apply", func(s *session) *cobra.Command { return applyCommand(s, s.personRows()) }})
}

// personRows are the rows of a file of persons.
func (s *session) personRows() rowShape {
	return rowShape{record: "person", creates: personCreateFields(), create: s.newPerson, updates: personFields, update: s.changePerson, read: readerOf(personsOf)}
}

// personsOf are the persons of a service.
func personsOf(c *apiclient.Client) *apiclient.Collection[apitype.Person, apitype.PersonListOptions] {
	return c.Persons
}

func personList(s *session) *cobra.Command {
	flags, o, selection := &listFlags{}, apitype.PersonListOptions{}, &personSelection{}
	cmd := &cobra.Command{
		Use: "list", Short: "List persons, newest first", Args: noArgs,
		Long: "List persons. The service filters by organization, time and IBAN; --phone, --email and --name look at what was\n" +
			"retrieved, and --limit counts what passes. A list that ends at its limit says so on stderr.",
		Example: "  fundesk person list --created-after yesterday\n  fundesk person list --all --phone 06-12345678\n" +
			"  fundesk person list --iban \"$IBAN\" -o json --jq '.[].uuid'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			passes, err := selection.passes(cmd)
			if err != nil {
				return err
			}
			if passes != nil {
				s.note("--phone, --email and --name look at what was retrieved: the service does not filter by them")
			}
			return runList(s, cmd, flags, lister[apitype.Person, apitype.PersonListOptions]{
				columns: render.PersonColumns(), options: &o, at: func(p apitype.Paging) { o.Paging = p }, of: personsOf, passes: passes,
			})
		},
	}
	flags.register(s, cmd)
	flags.registerBackwards(cmd)
	registerFilters(s, cmd, apitype.PersonFilters(), &o)
	selection.register(cmd)
	return cmd
}

func personGet(s *session) *cobra.Command {
	return getCommand(s, "persons", "Show persons with everything that the service knows. One person is one object, several are a list; - reads\n"+
		"UUIDs or NDJSON from stdin.",
		"  fundesk person get 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11\n  fundesk call list --limit 10 --jq '.[].personUuid' | fundesk person get - -o ndjson",
		render.PersonColumns(), personsOf)
}

// personFields are the fields that both a creation and an update take.
var personFields = []bodyField{
	{"academicTitle", "academic-title", textField, "academic title"},
	{"name.initials", "initials", textField, "initials"},
	{"name.firstName", "first-name", textField, "first name"},
	{"name.lastNamePrefix", "last-name-prefix", textField, "what stands before the last name, such as van der"},
	{"name.lastName", "last-name", textField, "last name"},
	{"dateOfBirth", "date-of-birth", timeField, "date of birth, YYYY-MM-DD"},
	{"socialSecurityNumber", "social-security-number", textField, "social security number, digits only"},
	{"gender", "gender", textField, "gender: male, female, other or unknown"},
	{"phoneNumber", "phone-number", textField, "phone number, international format"},
	{"mobilePhoneNumber", "mobile-phone-number", textField, "mobile phone number, international format"},
	{"email", "email", textField, "e-mail address"},
	{"language", "language", textField, "ISO 639-1 code of the language"},
	{"iban", "iban", textField, "IBAN"},
	{"address.street", "street", textField, "street"},
	{"address.houseNumber", "house-number", textField, "house number"},
	{"address.houseNumberExtension", "house-number-extension", textField, "extension of the house number"},
	{"address.zipCode", "zip-code", textField, "zip code"},
	{"address.city", "city", textField, "city"},
	{"address.country", "country", textField, "two-letter code of the country"},
	{"optIns.email", "opt-in-email", boolField, "may be e-mailed"},
	{"optIns.mail", "opt-in-mail", boolField, "may be sent letters"},
	{"optIns.phone", "opt-in-phone", boolField, "may be called"},
	{"optIns.sms", "opt-in-sms", boolField, "may be sent text messages"},
	{"mandate.id", "mandate-id", textField, "identifier of the mandate"},
	{"mandate.createdAt", "mandate-created-at", timeField, "time of the mandate"},
}

// personCreateFields are those of a creation.
func personCreateFields() []bodyField {
	return append([]bodyField{
		{"uuid", "uuid", textField, "UUID (version 4) of the new person; chosen when omitted"},
		{"owningOrganizationUuid", "owning-organization", textField, "organization that owns the person (default: the profile's)"},
		{"recruitingOrganizationUuid", "recruiting-organization", textField, "organization that recruited the person (default: the profile's)"},
	}, personFields...)
}

func personCreate(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create", Short: "Create a person", Args: noArgs,
		Long: "Create a person from flags, a JSON file, or both. A UUID is chosen here when none is given, so\nthat the creation is safe to repeat when its answer is lost.",
		Example: "  fundesk person create --first-name Anna --last-name Jansen --email a.jansen@example.org\n" +
			"  fundesk person create --file person.json\n  fundesk person create --file - --dry-run < person.json",
	}
	return creation(s, cmd, personCreateFields(), render.PersonColumns(), s.newPerson)
}

// newPerson is the creation of a person from its body; the profile fills in what it
// knows.
func (s *session) newPerson(object map[string]any) (apiclient.Change, error) {
	p := s.defaults()
	setDefault(object, "owningOrganizationUuid", p.OwningOrganization)
	setDefault(object, "recruitingOrganizationUuid", p.RecruitingOrganization)
	r, err := readRequest(object, func(r *apitype.CreatePersonRequest) apitype.Violations { return r.Validate(s.app.Now()) })
	if err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.CreatePersonChange(r)
}

func personUpdate(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update UUID… | -", Short: "Change fields of persons", Args: needArgs(1),
		Long: "Change the named fields of persons; all others stay as they are. --clear empties fields, and so\ndoes null in a file. Several persons get the same values; apply gives each its own.",
		Example: "  fundesk person update 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --email new@example.org\n" +
			"  fundesk person update 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --clear iban,name.initials\n" +
			"  fundesk person list --created-after 1d --all -o id | fundesk person update - --language nl --yes",
	}
	return updating(s, cmd, personFields, render.PersonColumns(), s.changePerson)
}

// changePerson is the update of a person.
func (s *session) changePerson(id apitype.UUID, object map[string]any, _ json.RawMessage) (apiclient.Change, error) {
	r, err := readRequest(object, func(r *apitype.UpdatePersonRequest) apitype.Violations { return r.Validate(s.app.Now()) })
	if err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.UpdatePersonChange(id, r)
}
