package apiclient

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

func TestCompareSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, op, sent, record string
		equal, differ          int
	}{
		{"a name is shown flat", OpUpdatePerson, `{"name":{"firstName":"A"}}`, `{"firstName":"A"}`, 1, 0},
		{"another name", OpUpdatePerson, `{"name":{"firstName":"A"}}`, `{"firstName":"B"}`, 0, 1},
		{
			name:   "a cleared group",
			op:     OpUpdatePerson,
			sent:   `{"name":null}`,
			record: `{"initials":null,"firstName":null,"lastNamePrefix":null,"lastName":null}`,
			equal:  4,
		},
		{"a cleared address", OpUpdatePerson, `{"address":null}`, `{"address":null}`, 1, 0},
		{"part of an address that is not there", OpUpdatePerson, `{"address":{"city":"X"}}`, `{"address":null}`, 0, 1},
		{"an IBAN in another form", OpUpdatePerson, `{"iban":"nl91 abna"}`, `{"iban":"NL91ABNA"}`, 1, 0},
		{"a UUID in capitals", OpUpdatePledge, `{"recruiterUserUuid":"AB"}`, `{"recruiterUserUuid":"ab"}`, 1, 0},
		{
			name:   "a time with an offset",
			op:     OpUpdatePledge,
			sent:   `{"startsAt":"2026-01-02T03:04:05.000Z"}`,
			record: `{"startsAt":"2026-01-02T04:04:05+01:00"}`,
			equal:  1,
		},
		{"a number in another form", OpUpdatePledge, `{"donationAmount":12.50}`, `{"donationAmount":12.5}`, 1, 0},
		{"a number as text", OpUpdatePledge, `{"donationAmount":12.5}`, `{"donationAmount":"12.5"}`, 0, 1},
		{
			name:   "what answers do not show",
			op:     OpUpdatePerson,
			sent:   `{"mandate":{"id":"7"}}`,
			record: `{"mandate":{"createdAt":"2026-01-02T03:04:05Z"}}`,
		},
		{"an absent field", OpUpdatePerson, `{"socialSecurityNumber":"1234"}`, `{}`, 0, 0},
		{
			name:   "metadata in another order",
			op:     OpUpdatePledge,
			sent:   `{"externalMetadata":{"a":1,"b":2}}`,
			record: `{"externalMetadata":{"b":2,"a":1}}`,
			equal:  1,
		},
		{
			name:   "one of two names",
			op:     OpUpdatePerson,
			sent:   `{"name":{"firstName":"A","lastName":"B"}}`,
			record: `{"firstName":"A","lastName":"C"}`,
			equal:  1,
			differ: 1,
		},
		{
			name:   "cleared opt-ins",
			op:     OpUpdatePerson,
			sent:   `{"optIns":null}`,
			record: `{"optInEmail":null,"optInMail":true,"optInPhone":null,"optInSms":null}`,
			equal:  3,
			differ: 1,
		},
		{"cleared metadata", OpUpdatePledge, `{"externalMetadata":null}`, `{"externalMetadata":{"a":1}}`, 0, 0},
		{"no metadata of a new pledge", OpCreatePledge, `{"externalMetadata":null}`, `{"externalMetadata":null}`, 1, 0},
		{
			name:   "metadata of a call, field by field",
			op:     OpCreateCall,
			sent:   `{"externalMetadata":{"referenceId":"7","additionalProperties":"{}"}}`,
			record: `{"externalMetadata":{"referenceId":"7","statusCode":"x"}}`,
			equal:  1,
		},
		{
			name:   "metadata of a pledge as a whole",
			op:     OpUpdatePledge,
			sent:   `{"externalMetadata":{"a":1}}`,
			record: `{"externalMetadata":{"a":1,"b":2}}`,
			differ: 1,
		},
		{"the user of an attempt", OpAddAttempt, `{"userUuid":"ab"}`, `{"userUuid":"cd"}`, 0, 1},
		{
			name:   "the user of a completion",
			op:     OpCompleteCall,
			sent:   `{"userUuid":"ab","result":{"resultCode":"ok"}}`,
			record: `{"result":{"resultCode":"ok"}}`,
			equal:  1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var sent, record map[string]any
			servicetest.Check(t, apitype.DecodeExact([]byte(test.sent), &sent))
			servicetest.Check(t, apitype.DecodeExact([]byte(test.record), &record))
			got := (&judge{op: OperationOf(test.op), sent: sent, record: record}).tally()
			if diff := cmp.Diff([2]int{test.equal, test.differ}, [2]int{got.equal, len(got.foreign)}); diff != "" {
				t.Errorf("equal and differing values (-want +got):\n%s", diff)
			}
		})
	}
}
