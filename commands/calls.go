package commands

import (
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

func callCommand(s *session) *cobra.Command {
	return group(s, "call", "Calls are requested to persons. An agent records attempts and ends a call: completed, cancelled or\nexpired.",
		"  fundesk call list --status requested\n  fundesk call complete 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --result-code reached --rating 8",
		verb{"list", callList}, verb{"get", callGet}, verb{"create", callCreate}, verb{"attempt", callAttempt}, verb{"complete", callComplete},
		verb{"cancel", callCancel}, verb{"expire", callExpire}, verb{"watch", callWatch}, verb{"stats", callStats},
		verb{"import", func(s *session) *cobra.Command {
			return importCommand(s, rowShape{record: "call", creates: callFields(), create: s.newCall})
		}})
}

// callsOf are the calls of a service.
func callsOf(c *apiclient.Client) *apiclient.Collection[apitype.Call, apitype.CallListOptions] {
	return c.Calls
}

func callList(s *session) *cobra.Command {
	flags, filters := &listFlags{}, &callFilters{}
	cmd := &cobra.Command{
		Use: "list", Short: "List calls, most recently requested first", Args: noArgs,
		Long: "List calls. The interface has no filter for status, type and person: --status, --type and --person\n" +
			"filter what was retrieved, and --limit counts what passes. A service that offers a filter on the status\n" +
			"is asked for that.",
		Example: "  fundesk call list --status requested\n  fundesk call list --updated-after 36h --all -o ndjson\n" +
			"  fundesk call list --include person --columns uuid,status,person.lastName",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := filters.check(); err != nil {
				return err
			}
			if err := flags.check(cmd); err != nil {
				return err
			}
			filters.leaveToService(cmd.Context(), s)
			o := &filters.options
			return runList(s, cmd, flags, lister[apitype.Call, apitype.CallListOptions]{
				columns: filters.columns(s), options: o, at: func(p apitype.Paging) { o.Paging = p }, of: callsOf, passes: filters.passes(),
			})
		},
	}
	flags.register(s, cmd)
	flags.registerBackwards(cmd)
	filters.register(s, cmd)
	return cmd
}

func callGet(s *session) *cobra.Command {
	return getCommand(s, "calls", "Show calls with everything that the service knows: person, pledge, attempts and result. One call is one\n"+
		"object, several are a list; - reads UUIDs or NDJSON from stdin.",
		"  fundesk call get 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n  fundesk call get 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 -o json --jq .result",
		render.CallColumns(), callsOf)
}

// callFields are the fields of a call's creation.
func callFields() []bodyField {
	return []bodyField{
		{"uuid", "uuid", textField, "UUID (version 4) of the new call; chosen when omitted"},
		{"personUuid", "person", textField, "person to call"},
		{"type", "type", textField, "verification, happy_call or winback"},
		{"requestedAt", "requested-at", timeField, "time of the request (default: now)"},
		{"requestedByUserUuid", "requested-by-user", textField, "user who requests the call"},
		{"relatedCaseUuid", "related-case", textField, "pledge that the call is about"},
		{"callingOrganizationUuid", "calling-organization", textField, "organization that performs the call"},
		{"notes", "notes", textField, "notes for the agent"},
		{"status", "status", textField, "external calls: requested, completed, cancelled or expired"},
		{"cancelledAt", "cancelled-at", timeField, "external calls: time of the cancellation"},
		{"completedAt", "completed-at", timeField, "external calls: time of the completion"},
		{"externalMetadata.applicationName", "application-name", textField, "external system that handles the call; makes it external"},
		{"externalMetadata.referenceId", "reference-id", textField, "identifier in the external system; makes the call external"},
		{"externalMetadata.agentReferenceId", "agent-reference-id", textField, "agent in the external system"},
		{"externalMetadata.statusCode", "status-code", textField, "status code in the external system"},
		{"externalMetadata.statusDescription", "status-description", textField, "status in the external system in words"},
		{"externalMetadata.additionalProperties", "additional-properties", objectField, "further properties, a JSON object"},
		{"externalSource.name", "external-source-name", textField, "external calls: name of the source"},
		{"externalSource.identifier", "external-source-identifier", textField, "external calls: identifier at the source"},
		{"attempts", "attempts", objectField, `external calls: attempts, JSON such as [{"createdAt":"…"}]`},
		{"result.resultCode", "result-code", textField, "external calls: result code"},
		{"result.completedAt", "result-completed-at", timeField, "external calls: time of the result"},
		{"result.notes", "result-notes", textField, "external calls: notes of the result"},
		{"result.donorRetentionRating", "donor-retention-rating", numberField, "external calls: rating, 0 to 10"},
	}
}

func callCreate(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create", Short: "Request a call to a person", Args: noArgs,
		Long: "Request a call. With external metadata the call is managed in an external system: the service then\napplies no rules of its own to it.",
		Example: "  fundesk call create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --type happy_call\n" +
			"  fundesk call create --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --application-name dialler --reference-id 77 --status completed\n" +
			"  fundesk call create --file call.json",
	}
	return creation(s, cmd, callFields(), render.CallColumns(), s.newCall)
}

// newCall is the creation of a call from its body.
func (s *session) newCall(object map[string]any) (apiclient.Change, error) {
	setDefault(object, "requestedAt", apitype.NewTime(s.app.Now()).String())
	r, err := readRequest(object, (*apitype.CreateCallRequest).Validate)
	if err != nil {
		return apiclient.Change{}, err
	}
	return apiclient.CreateCallChange(r)
}
