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
		{"a cleared group", OpUpdatePerson, `{"name":null}`, `{"initials":null,"firstName":null,"lastNamePrefix":null,"lastName":null}`, 4, 0},
		{"a cleared address", OpUpdatePerson, `{"address":null}`, `{"address":null}`, 1, 0},
		{"part of an address that is not there", OpUpdatePerson, `{"address":{"city":"X"}}`, `{"address":null}`, 0, 1},
		{"an IBAN in another form", OpUpdatePerson, `{"iban":"nl91 abna"}`, `{"iban":"NL91ABNA"}`, 1, 0},
		{"a UUID in capitals", OpUpdatePledge, `{"recruiterUserUuid":"AB"}`, `{"recruiterUserUuid":"ab"}`, 1, 0},
		{"a time with an offset", OpUpdatePledge, `{"startsAt":"2026-01-02T03:04:05.000Z"}`, `{"startsAt":"2026-01-02T04:04:05+01:00"}`, 1, 0},
		{"a number in another form", OpUpdatePledge, `{"donationAmount":12.50}`, `{"donationAmount":12.5}`, 1, 0},
		{"a number as text", OpUpdatePledge, `{"donationAmount":12.5}`, `{"donationAmount":"12.5"}`, 0, 1},
		{"what answers do not show", OpUpdatePerson, `{"mandate":{"id":"7"}}`, `{"mandate":{"createdAt":"2026-01-02T03:04:05Z"}}`, 0, 0},
		{"an absent field", OpUpdatePerson, `{"socialSecurityNumber":"1234"}`, `{}`, 0, 0},
		{"metadata in another order", OpUpdatePledge, `{"externalMetadata":{"a":1,"b":2}}`, `{"externalMetadata":{"b":2,"a":1}}`, 1, 0},
		{"one of two names", OpUpdatePerson, `{"name":{"firstName":"A","lastName":"B"}}`, `{"firstName":"A","lastName":"C"}`, 1, 1},
		{"cleared opt-ins", OpUpdatePerson, `{"optIns":null}`, `{"optInEmail":null,"optInMail":true,"optInPhone":null,"optInSms":null}`, 3, 1},
		{"cleared metadata", OpUpdatePledge, `{"externalMetadata":null}`, `{"externalMetadata":{"a":1}}`, 0, 0},
		{"no metadata of a new pledge", OpCreatePledge, `{"externalMetadata":null}`, `{"externalMetadata":null}`, 1, 0},
		{"metadata of a call, field by field", OpCreateCall, `{"externalMetadata":{"referenceId":"7","additionalProperties":"{}"}}`, `{"externalMetadata":{"referenceId":"7","statusCode":"x"}}`, 1, 0},
		{"metadata of a pledge as a whole", OpUpdatePledge, `{"externalMetadata":{"a":1}}`, `{"externalMetadata":{"a":1,"b":2}}`, 0, 1},
		{"the user of an attempt", OpAddAttempt, `{"userUuid":"ab"}`, `{"userUuid":"cd"}`, 0, 1},
		{"the user of a completion", OpCompleteCall, `{"userUuid":"ab","result":{"resultCode":"ok"}}`, `{"result":{"resultCode":"ok"}}`, 1, 0},
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
