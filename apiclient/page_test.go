package apiclient

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/google/go-cmp/cmp/cmpopts"

	"fundesk/apiclient/apitype"
)

// A page is read whole or refused: each record is one whole object, and the cursor that
// is found early is the one that the page has.
func FuzzReadPage(f *testing.F) {
	for _, seed := range []string{
		`{"pageInfo":{"startCursor":"a","endCursor":"b","hasPreviousPage":false,"hasNextPage":true},"edges":[{"cursor":"a","node":{"uuid":"x"}},{"node":{},"cursor":"b"}]}`,
		`[{"uuid":"x"},{"node":{"a":[1,2]},"cursor":"c"}]`, `{"data":[{}],"total":1}`, `{"edges":[{"node":null}]}`,
		`{"edges":[],"edges":[{"a":1}]}`, `{"pageInfo":{"hasNextPage":false},"edges":[{"a":1},2]}`, `{"pageInfo":null,"edges":[]}`, `[ {"a" : "\ud800"} ] `, `{"edges":{}}`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := readPage[struct{}](data)
		asked, fault := readAsAsked(data)
		if (err == nil) != (fault == nil) || err == nil && !cmp.Equal(page.Records, asked, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Record[struct{}]{})) {
			t.Errorf("got %d records and %v as they are asked for, want %d and %v", len(asked), fault, len(page.Records), err)
		}
		cursor, done := peekCursor(data)
		if err != nil {
			return
		}
		if !done {
			t.Errorf("a whole page is not enough to look for its cursor")
		}
		if cursor != "" && cursor != page.EndCursor {
			t.Errorf("got %q early, want %q", cursor, page.EndCursor)
		}
		for _, record := range page.Records {
			if len(record.Raw) == 0 || record.Raw[0] != '{' || record.Raw[len(record.Raw)-1] != '}' {
				t.Errorf("got record %q, want one object", record.Raw)
			}
		}
	})
}

// readAsAsked reads the records of a page one by one.
func readAsAsked(data []byte) (records []Record[struct{}], err error) {
	page, err := openPage[struct{}](data, nil)
	if err != nil {
		return nil, err
	}
	for record, err := range page.records() {
		if err != nil {
			return records, err
		}
		if record.Raw != nil {
			records = append(records, record)
		}
	}
	return records, nil
}

// An element of a list that holds no record is an error, not an empty line: one in the place of
// a record is named beside the others, and of a list that holds anything else nothing is read.
func TestElementsWithoutRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`{"edges":[{"node":null}]}`:                           ErrUnreadable,
		`{"edges":[null]}`:                                    ErrUnreadable,
		`[{"uuid":"x"},null]`:                                 ErrUnreadable,
		`{"edges":[{"node":{"uuid":"x"}},{"node":["y"]}]}`:    ErrUnreadable,
		`{"edges":[{"node":"x","cursor":"c"}]}`:               ErrUnreadable,
		`{"edges":[7]}`:                                       errNoRecord,
		`{"edges":[{"node":{}}],"edges":[]}`:                  errTwoEdges,
		`{"edges":[{"node":["y"}]}`:                           errNotWhole,
		`{"edges":[{"uuid":"x"}]}`:                            nil,
		`[{"uuid":"x","node":"a field of its own"}]`:          nil,
		`{"data":[{"uuid":"x","node":"a field of its own"}]}`: nil,
	} {
		page, err := readPage[struct{}]([]byte(text))
		if err == nil {
			err = page.Err()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
}

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
		{"the user of a completion", OpCompleteCall, `{"userUuid":"ab","result":{"resultCode":"ok"}}`, `{"result":{"resultCode":"ok"}}`, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var sent, record map[string]any
			if err := apitype.DecodeExact([]byte(test.sent), &sent); err != nil {
				t.Fatal(err)
			}
			if err := apitype.DecodeExact([]byte(test.record), &record); err != nil {
				t.Fatal(err)
			}
			equal, differ := OperationOf(test.op).compareSent(sent, record)
			if diff := cmp.Diff([2]int{test.equal, test.differ}, [2]int{equal, differ}); diff != "" {
				t.Errorf("equal and differing values (-want +got):\n%s", diff)
			}
		})
	}
}

// No text reaches a trace unless it is an identifier, a word of an enumeration, a time or
// an amount.
func FuzzMaskBody(f *testing.F) {
	f.Add("NL91ABNA0417164300")
	f.Add("1980-05-17")
	f.Add("requested")
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil || len(text) < 4 || isPlain("", text) || text == masked {
			t.Skip()
		}
		body := `{"notes":` + string(quoted) + `,"dateOfBirth":` + string(quoted) + `,"new":[{"type":{"field":` + string(quoted) + `}}]}`
		if got := maskBody([]byte(body)); strings.Contains(got, string(quoted)) {
			t.Errorf("got %s, want the text masked", got)
		}
	})
}

// readPage reads a page whole.
func readPage[T any](data []byte) (Page[T], error) {
	r, err := openPage[T](data, nil)
	if err != nil {
		return Page[T]{}, err
	}
	err = r.readWhole()
	return r.Page, err
}
