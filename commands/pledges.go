package commands

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/completions"
	"fundesk/render"
)

func pledgeCommand(s *session) *cobra.Command {
	return group(s, "pledge", "Pledges are persons' commitments to donate, once or at an interval.",
		"  fundesk pledge list --status lead\n  fundesk pledge action activate 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --yes",
		verb{"list", pledgeList}, verb{"get", pledgeGet}, verb{"create", pledgeCreate}, verb{"update", pledgeUpdate}, verb{"action", pledgeAction},
		verb{"watch", pledgeWatch}, verb{"stats", pledgeStats},
		verb{"import", func(s *session) *cobra.Command { return importCommand(s, s.pledgeRows()) }},
		verb{"apply", func(s *session) *cobra.Command { return applyCommand(s, s.pledgeRows()) }})
}

// pledgeRows are the rows of a file of pledges.
func (s *session) pledgeRows() rowShape {
	return rowShape{record: "pledge", creates: pledgeFields(), create: s.newPledge, updates: pledgeUpdateFields, update: changePledge, read: readerOf(pledgesOf)}
}

// pledgesOf are the pledges of a service.
func pledgesOf(c *apiclient.Client) *apiclient.Collection[apitype.Pledge, apitype.PledgeListOptions] {
	return c.Pledges
}

func pledgeList(s *session) *cobra.Command {
	flags, o, person := &listFlags{}, apitype.PledgeListOptions{}, false
	cmd := &cobra.Command{
		Use: "list", Short: "List pledges, newest first", Args: noArgs,
		Long: "List pledges. The filters are those of the service; a list that ends at its limit says so on stderr. Columns\n" +
			"of the person imply --include person.",
		Example: "  fundesk pledge list --status active\n  fundesk pledge list --released-after 7d --all -o csv > released.csv\n" +
			"  fundesk pledge list --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --include transactions -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseParameters(o.Validate()); err != nil {
				return err
			}
			person = person || slices.ContainsFunc(s.wantedColumns(), func(name string) bool { return strings.HasPrefix(name, "person.") })
			l := lister[apitype.Pledge, apitype.PledgeListOptions]{
				columns: filledColumns(s, render.PledgeColumns(), func(string) bool { return person }),
				options: &o, at: func(p apitype.Paging) { o.Paging = p }, of: pledgesOf,
			}
			if person {
				l.embed = embedPersons(o.PersonUUID)
			}
			return runList(s, cmd, flags, l)
		},
	}
	flags.register(s, cmd)
	flags.registerBackwards(cmd)
	registerFilters(s, cmd, apitype.PledgeFilters(), &o)
	include := cmd.Flags().Lookup("include")
	include.Value, include.Usage = pledgeInclude{include.Value, &person}, "embedded objects: person, transactions (repeatable); persons are read one by one where the list has none"
	return cmd
}

func pledgeGet(s *session) *cobra.Command {
	return getCommand(s, "pledges", "Show pledges with everything that the service knows: person, calls, transactions and a link to the\n"+
		"signature. One pledge is one object, several are a list; - reads UUIDs or NDJSON from stdin.",
		"  fundesk pledge get 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90\n  fundesk pledge get 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 -o json --jq .signatureSignedUrl",
		render.PledgeColumns(), pledgesOf)
}

// pledgeFields are the fields of a pledge's creation.
func pledgeFields() []bodyField {
	return []bodyField{
		{"uuid", "uuid", textField, "UUID (version 4) of the new pledge; chosen when omitted"},
		{"personUuid", "person", textField, "person who pledges"},
		{"owningOrganizationUuid", "owning-organization", textField, "organization that owns the pledge (default: the profile's)"},
		{"recruitingOrganizationUuid", "recruiting-organization", textField, "organization that recruited the donor (default: the profile's)"},
		{"recruiterUserUuid", "recruiter-user", textField, "user who recruited the donor"},
		{"recruitingLocationLabel", "recruiting-location-label", textField, "where the donor was recruited"},
		{"initialDonationAmount", "initial-donation-amount", numberField, "Euros"},
		{"initialDonationInterval", "initial-donation-interval", textField, "once, monthly, quarterly, half-yearly or yearly"},
		{"startsAt", "starts-at", timeField, "start of the pledge"},
		{"endsAt", "ends-at", timeField, "end of the pledge"},
		{"createdAt", "created-at", timeField, "time of the pledge (default: now)"},
		{"recruitmentType", "recruitment-type", textField, "d2d or street"},
		{"preferredPaymentDay", "preferred-payment-day", numberField, "day of the month, 1 to 28"},
		{"focusAreaUuids", "focus-areas", listField, "focus areas of the organization"},
		{"externalMetadata", "external-metadata", objectField, "properties of an external system, a JSON object"},
		{"externalSource.name", "external-source-name", textField, "name of the external system; makes the pledge external"},
		{"externalSource.identifier", "external-source-identifier", textField, "identifier in the external system; makes the pledge external"},
		{"status", "status", textField, "external pledges: lead, active, dropped, cancelled or fulfilled"},
		{"donationAmount", "donation-amount", numberField, "external pledges: current amount in Euros"},
		{"donationInterval", "donation-interval", textField, "external pledges: current interval"},
		{"cancelledAt", "cancelled-at", timeField, "external pledges: time of the cancellation"},
		{"droppedAt", "dropped-at", timeField, "external pledges: time of the drop"},
		{"releasedAt", "released-at", timeField, "external pledges: time of the release"},
	}
}

func pledgeCreate(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create", Short: "Create a pledge of a person", Args: noArgs,
		Long: "Create a pledge. With an external source it is managed in an external system: the service then\napplies no rules of its own to it.",
		Example: "  fundesk pledge create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --initial-donation-amount 12.50 \\\n" +
			"    --initial-donation-interval monthly --starts-at 2026-12-01 --recruiter-user 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk pledge create --file pledge.json",
	}
	return creation(s, cmd, pledgeFields(), render.PledgeColumns(), s.newPledge)
}

// newPledge is the creation of a pledge from its body; the profile fills in what it
// knows.
func (s *session) newPledge(object map[string]any) (apiclient.Change, error) {
	p := s.defaults()
	setDefault(object, "owningOrganizationUuid", p.OwningOrganization)
	setDefault(object, "recruitingOrganizationUuid", p.RecruitingOrganization)
	setDefault(object, "createdAt", apitype.NewTime(s.app.Now()).String())
	r, err := readRequest(object, func(r *apitype.CreatePledgeRequest) apitype.Violations { return r.Validate(s.app.Now()) })
	if err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.CreatePledgeChange(r)
}

func pledgeUpdate(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update UUID… | -", Short: "Change fields of pledges", Args: needArgs(1),
		Long: "Change the fields that are named; all others stay as they are. --clear empties a field. Amount, interval\n" +
			"and end of an external pledge are its own system's, and the service refuses them. Several pledges get the\n" +
			"same values; apply gives each its own.",
		Example: "  fundesk pledge update 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --donation-amount 15\n" +
			"  fundesk pledge update 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90 --clear endsAt",
	}
	return updating(s, cmd, pledgeUpdateFields, render.PledgeColumns(), changePledge)
}

// pledgeUpdateFields are the fields of a pledge that can be changed.
var pledgeUpdateFields = []bodyField{
	{"recruitingLocationLabel", "recruiting-location-label", textField, "where the donor was recruited"},
	{"donationInterval", "donation-interval", textField, "once, monthly, quarterly, half-yearly or yearly"},
	{"donationAmount", "donation-amount", numberField, "Euros"},
	{"recruiterUserUuid", "recruiter-user", textField, "user who recruited the donor"},
	{"startsAt", "starts-at", timeField, "start of the pledge"},
	{"endsAt", "ends-at", timeField, "end of the pledge"},
	{"externalMetadata", "external-metadata", objectField, "properties of an external system, a JSON object"},
}

// changePledge is the update of a pledge; what its mode forbids is told where it is known.
func changePledge(id apitype.UUID, object map[string]any, raw json.RawMessage) (apiclient.Change, error) {
	r, err := readRequest(object, func(r *apitype.UpdatePledgeRequest) apitype.Violations {
		violations := r.Validate()
		if pledge, err := (apiclient.Record[apitype.Pledge]{Raw: raw}).Decode(); err == nil && raw != nil {
			violations = append(violations, r.ValidateFor(pledge, pledge.ExternalSource.Pointer() != nil)...)
		}
		return violations
	})
	if err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.UpdatePledgeChange(id, r)
}

// isActionName reports whether a text can be an action's name: it stands in the path.
func isActionName(name string) bool {
	other := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	return name != "" && !strings.ContainsFunc(name, other)
}

func pledgeAction(s *session) *cobra.Command {
	flags := &changeFlags{}
	cmd := &cobra.Command{
		Use: "action ACTION UUID… | -", Short: "Move pledges to another state", Args: needArgs(2),
		Long: "Execute a status action on pledges: activate, drop, cancel or fulfill. Another service may know\nothers: any name is sent.",
		Example: "  fundesk pledge action cancel 8d7c2f1a-0b7e-4c55-9f0e-7f1f3a3f2b90\n" +
			"  fundesk pledge list --all --status lead --released-after 1d -o id | fundesk pledge action activate - --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			action := apitype.PledgeAction(args[0])
			if args[0] == "update" || !isActionName(args[0]) {
				return usageError(quote(args[0]) + " is not a status action")
			}
			return runTargets(s, cmd, flags, args[1:], render.PledgeColumns(), args[0], func(id apitype.UUID) (apiclient.Change, error) {
				return apiclient.PledgeActionChange(id, action), nil
			})
		},
	}
	flags.register(cmd, true)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return s.records(completions.Source.Pledges)(cmd, args[1:], toComplete)
		}
		actions := s.defaults().PledgeActions
		if len(actions) == 0 {
			return values(apitype.PledgeActions)(cmd, args, toComplete)
		}
		return actions, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
