package apiclient

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Record is one record as the service sent it: the exact bytes, if they are UTF-8, decoded when asked.
type Record[T any] struct {
	Raw    json.RawMessage // The bytes of the object; not to be changed.
	Cursor string          // Its place in the list; list nodes only.
	// CompletedBy is the user of a call's completion; list nodes have it only if it was asked for. Nil if it has none.
	CompletedBy *apitype.UUID
	// Reasons are the reasons of a call's attempts; list nodes have them only if they were asked for.
	Reasons []apitype.NotReached
	// Checks are the checks of a call, and Consents those of a person; list nodes have them only if they were asked
	// for.
	Checks   *apitype.CallChecks
	Consents []apitype.Consent
	ETag     string // Its revision; list nodes have it only if it was asked for.

	omitted func(record, place string) // Called for parts that it was decoded without. May be nil.
	decoded *T                         // Nil if it was not decoded yet.
}

// Decode reads the record, without the embedded objects in it that are not what the
// interface promises. Its error is of kind unavailable: the record is not what
// the interface promises.
func (r Record[T]) Decode() (T, error) {
	if r.decoded != nil {
		return *r.decoded, nil
	}
	var value T
	// Repeated names and bad UTF-8 are the service's fault and no reason to fail.
	err := jsonv2.Unmarshal(r.Raw, &value, tolerant)
	if err == nil {
		return value, nil
	}
	value, omitted, err := decodeWithout[T](r.Raw, err)
	if err != nil {
		return value, &Error{
			Kind:    KindUnavailable,
			Message: r.name() + " is not what the interface promises: " + decodeProblem(err),
			Err:     errors.Join(err, ErrUnreadable),
		}
	}
	for _, place := range omitted {
		if r.omitted != nil {
			r.omitted(r.name(), place)
		}
	}
	return value, nil
}

// version returns a text that differs when the record or its details do. Times are not enough: a service keeps whole
// seconds, or gives one time to all changes after its clock was set back.
func (r Record[T]) version() string {
	hash := sha256.New()
	_, _ = hash.Write(r.Raw)
	_ = json.NewEncoder(hash).Encode([]any{r.CompletedBy, r.Reasons, r.Checks, r.Consents})
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:12])
}

// Revision returns the text in the quotes of the record's entity tag, or "" if it has none.
func (r Record[T]) Revision() string { return RevisionOf(r.ETag) }

// RevisionOf returns the text in the quotes of an entity tag, or an empty text.
func RevisionOf(etag string) string { return strings.Trim(strings.TrimPrefix(etag, "W/"), `"`) }

// name returns the name of the record in a message.
func (r Record[T]) name() string {
	id, err := apitype.RecordUUID(r.Raw)
	if err != nil {
		return "a record"
	}
	return "the record " + id.String()
}

// decodeProblem names the place of a wrong value and never the value.
func decodeProblem(err error) string {
	if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok && semantic.JSONPointer != "" {
		return "the field " + string(semantic.JSONPointer) + " is of another kind"
	}
	return "it cannot be decoded"
}

// record returns the record of a checked answer.
func record[T any](c *Client, answer *Response) Record[T] {
	return Record[T]{Raw: answer.Body, ETag: answer.Header.Get("ETag"), omitted: c.options.Omitted}
}

// checkObject wants a whole JSON object.
func checkObject(answer *Response) error {
	value := jsontext.Value(answer.Body)
	if !answer.isJSON() {
		return broken(answer, "it is not JSON")
	}
	if !value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return broken(answer, "it is not complete JSON")
	}
	if value.Kind() != '{' {
		return broken(answer, "it is not one record")
	}
	if bytes.Count(value, []byte{','}) > apitype.MaxRecordValues && countValues(value) > apitype.MaxRecordValues {
		return broken(answer, "it holds too many values")
	}
	answer.Body = bytes.TrimSpace(answer.Body)
	return nil
}

// checkRecord checks that the answer is a complete JSON object with the record id. A proxy may answer with its own
// JSON.
func checkRecord(answer *Response, id apitype.UUID) error {
	if err := checkObject(answer); err != nil {
		return err
	}
	if got, err := apitype.RecordUUID(answer.Body); err != nil || got != id {
		return broken(answer, "it is not the record that was asked for")
	}
	return nil
}

// countValues returns about how many values a JSON text has: its commas outside of strings.
func countValues(data []byte) int {
	count, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == ',' && !inString:
			count++
		}
	}
	return count
}

// Decoded turns a record and its error into a value and an error.
func Decoded[T any](r Record[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return r.Decode()
}

// ifMatch returns the header of a change that requires the revision etag. No record matches a weak one.
func ifMatch(etag string) http.Header {
	if etag == "" || strings.HasPrefix(etag, "W/") {
		return nil
	}
	return http.Header{"If-Match": {etag}}
}
