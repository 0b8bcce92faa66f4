package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// Field is one field of a request body with its flag.
type Field struct {
	Path    string // Dotted, as in the interface.
	Shown   string // Its path in answers. Empty if answers do not have it in a comparable form.
	Kind    apitype.FieldKind
	Example string
	values  []string // The known values. Nil allows any.
	flag    string   // Empty if only a file carries it.
	usage   string
}

// Fields returns the fields of a record that some bodies carry.
func Fields[T any](of []apitype.Field[T], in apitype.FieldUse) []Field {
	var fields []Field
	for _, f := range of {
		if f.In&in != 0 {
			example := f.Example
			if in == apitype.Created && f.In&apitype.OfExternal != 0 {
				example = "" // An example creates no values that others recorded.
			}
			flag := f.FlagName()
			if f.NoFlag {
				flag = ""
			}
			fields = append(fields, Field{f.Path(), f.ShownAt(), f.Kind, example, f.Values, flag, f.Help})
		}
	}
	return fields
}

// Body is the flags of a request body.
type Body struct {
	session *cli.Session
	Fields  []Field
	values  map[string]*[]string // By flag.
	file    string
	clear   []string
	update  bool
	isShown func(path string) bool // Reports whether answers show a path. Nil for an update.
}

// newBody declares the flags of a body on a command; an update has --clear too.
func newBody(s *cli.Session, cmd *cobra.Command, update bool, fields []Field) *Body {
	b := &Body{
		session: s,
		Fields:  fields,
		values:  map[string]*[]string{},
		update:  update,
	}
	for _, field := range fields {
		if field.flag == "" {
			continue
		}
		values := new([]string)
		b.values[field.flag] = values
		read := func(text string) error {
			if field.Kind != apitype.UUIDsField { // The last one wins if one is wanted.
				*values = nil
			}
			*values = append(*values, text)
			return nil
		}
		text := func() string { return strings.Join(*values, ",") }
		value := &cli.Value{
			Word:   wordOf(field.Kind),
			Text:   text,
			Read:   read,
			Choice: func() []string { return field.values },
		}
		flag := cmd.Flags().VarPF(value, field.flag, "", field.usage)
		if field.Kind == apitype.YesNoField {
			value.Choice = func() []string { return []string{"true", "false"} }
			flag.NoOptDefVal = "true"
			flag.Usage += " (=false: may not)"
		}
	}
	cmd.Flags().StringVar(&b.file, "file", "", "read the body from a JSON file, - for stdin; flags win")
	if update {
		cmd.Flags().StringSliceVar(&b.clear, "clear", nil, "fields to clear, by their JSON names (repeatable)")
		cli.RegisterFlag(cmd, "clear", cli.Parts(b.Paths))
	}
	return b
}

// wordOf returns the word for a kind in the help.
func wordOf(kind apitype.FieldKind) string {
	switch kind {
	case apitype.DateField, apitype.TimeField:
		return "time"
	case apitype.NumberField, apitype.AmountField:
		return "number"
	case apitype.YesNoField:
		return "bool"
	case apitype.UUIDsField:
		return "uuids"
	case apitype.ObjectField:
		return "json"
	default:
		return "text"
	}
}

// object returns the body from the command line and the file.
func (b *Body) object(ctx context.Context) (map[string]any, error) {
	object := map[string]any{}
	if b.file != "" {
		data, err := b.session.ReadInput(ctx, b.file)
		if err != nil {
			return nil, err
		}
		object, err = DecodeObject(data)
		if err != nil {
			name := "--file " + cli.Quote(b.file)
			if b.file == "-" {
				name = "stdin"
			}
			return nil, cli.UsageError(name + " " + err.Error())
		}
		if !b.update {
			if left := AsCreation(object, b.Fields, b.isShown); len(left) > 0 {
				b.session.Note("%s", LeftOut(left))
			}
		}
	}
	for _, name := range b.clear {
		isNamed := func(f Field) bool { return f.Path == name || strings.HasPrefix(f.Path, name+".") }
		if !slices.ContainsFunc(b.Fields, isNamed) {
			return nil, cli.UsageError(
				"--clear: there is no field "+cli.Quote(name),
				"fields: "+strings.Join(b.Paths(), ", "),
			)
		}
		if !b.isCleared(objectOf(name)) { // Otherwise the rest of the object would stay.
			SetPath(object, name, nil)
		}
	}
	for _, field := range b.Fields {
		values := b.values[field.flag]
		if values == nil || len(*values) == 0 {
			continue
		}
		texts := *values
		if err := b.checkRest(field, object); err != nil {
			return nil, err
		}
		value, err := FieldJSON(b.session, field, texts)
		if err != nil {
			what := err.Error()
			if field.Kind == apitype.TimeField || errors.Is(err, errNumber) ||
				errors.Is(err, errBool) { // They contain no data of a donor.
				what += ", not " + cli.Quote(texts[len(texts)-1])
			}
			return nil, cli.UsageError("--" + field.flag + " " + what)
		}
		SetPath(object, field.Path, value)
	}
	return object, nil
}

// isCleared reports whether --clear names a field.
func (b *Body) isCleared(path string) bool { return slices.Contains(b.clear, path) }

// objectOf returns the object of a dotted field, or "".
func objectOf(path string) string {
	name, _, nested := strings.Cut(path, ".")
	if !nested {
		return ""
	}
	return name
}

// checkRest refuses the flag of a field that is cleared, or whose object is: the rest of the object would stay as it
// is in the record.
func (b *Body) checkRest(field Field, object map[string]any) error {
	around := objectOf(field.Path)
	for _, path := range []string{field.Path, around} {
		if b.isCleared(path) {
			return cli.UsageError("--" + field.flag + " and --clear " + path + " cannot be combined")
		}
	}
	value, isGiven := object[around]
	_, isObject := openObject(value)
	isLost := value != nil || b.update // A creation has no rest.
	if isGiven && !isObject && isLost {
		return cli.UsageError("--" + field.flag + " and " + around + " of the file cannot be combined")
	}
	return nil
}

// Paths returns the JSON names of the fields.
func (b *Body) Paths() []string {
	paths := make([]string, len(b.Fields))
	for i, field := range b.Fields {
		paths[i] = field.Path
	}
	return paths
}

var (
	errBool    = errors.New("must be true or false")
	errNumber  = errors.New("must be a number")
	ErrUTF8    = errors.New("must be valid UTF-8")
	errJSON    = errors.New("must be JSON")
	errTwoDays = errors.New("can be read as two days: write YYYY-MM-DD")
	errObject  = errors.New("must hold one JSON object")
)

// FieldJSON returns the JSON value of a flag or of a CSV cell.
func FieldJSON(s *cli.Session, field Field, texts []string) (any, error) {
	text := texts[len(texts)-1]
	if !utf8.ValidString(text) { // As from a spreadsheet; encoding it would replace letters.
		return nil, ErrUTF8
	}
	switch field.Kind {
	case apitype.DateField:
		day, err := apitype.ParseDate(text)
		if at, other := apitype.ParseTypedTime(text, s.App.Now()); err != nil && other == nil {
			// Its own day, in any zone.
			day, err = apitype.ParseDate(text[:min(len(text), len(time.DateOnly))])
			if err != nil {
				day, err = apitype.DateOf(at.In(time.Local)), nil
			}
		} else if _, hasTwo := errors.AsType[*apitype.AmbiguousTime](other); hasTwo {
			err = errTwoDays // Without the day: it is a donor's.
		}
		if err != nil {
			return nil, err
		}
		return day.String(), nil
	case apitype.TimeField:
		t, err := apitype.ParseBodyTime(text, s.App.Now())
		if err != nil {
			return nil, err
		}
		return t.String(), nil
	case apitype.NumberField, apitype.AmountField:
		if _, err := apitype.ParseNumber(text); err != nil {
			return nil, errNumber
		}
		return json.Number(text), nil
	case apitype.YesNoField:
		if text != "true" && text != "false" {
			return nil, errBool
		}
		return text == "true", nil
	case apitype.UUIDsField:
		ids := strings.Split(strings.Join(texts, ","), ",")
		for i, id := range ids {
			ids[i] = strings.TrimSpace(id)
		}
		return ids, nil
	case apitype.ObjectField:
		if !jsontext.Value(text).IsValid() {
			return nil, errJSON
		}
		return json.RawMessage(text), nil
	default:
		return text, nil
	}
}

// SetPath sets a dotted field of an object.
func SetPath(object map[string]any, path string, value any) {
	name, below, nested := strings.Cut(path, ".")
	if !nested {
		object[name] = value
		return
	}
	inner, ok := openObject(object[name])
	if !ok {
		inner = map[string]any{}
	}
	object[name] = inner
	SetPath(inner, below, value)
}

// openObject returns a value of a body as an object, if it is one.
func openObject(value any) (map[string]any, bool) {
	if raw, isRaw := value.(json.RawMessage); isRaw {
		object, err := DecodeObject(raw)
		return object, err == nil
	}
	object, ok := value.(map[string]any)
	return object, ok
}

// SetDefault sets a field that neither the flags nor the file gave.
func SetDefault(object map[string]any, name string, value any) {
	if text, isText := value.(string); isText && text == "" {
		return
	}
	if existing, given := object[name]; !given || existing == nil {
		object[name] = value
	}
}

// DecodeObject reads one JSON object; repeated names are refused. Objects and arrays in
// it stay as they were written: the order of their names and every digit.
func DecodeObject(data []byte) (map[string]any, error) {
	data = bytes.TrimSpace(bulk.WithoutMark(data))
	if !utf8.Valid(data) {
		return nil, ErrUTF8
	}
	if value := jsontext.Value(data); !value.IsValid() || value.Kind() != '{' {
		return nil, errObject
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return nil, errObject
	}
	object := make(map[string]any, len(members))
	for name, raw := range members {
		if kind := jsontext.Value(raw).Kind(); kind == '{' || kind == '[' {
			object[name] = raw
			continue
		}
		var value any
		if apitype.DecodeExact(raw, &value) != nil {
			return nil, errObject
		}
		object[name] = value
	}
	return object, nil
}

// Make makes a change of a body. It checks the body as strictly as the service, and its error has all mistakes: it sets
// unreadable parts aside to check the rest.
func Make[R any](
	object map[string]any,
	check func(*R) apitype.Violations,
	of func(R) (apiclient.Change, error),
) (apiclient.Change, error) {
	var r R
	var unread apitype.Violations
	for {
		r = *new(R)
		wrong, err := decodeRequest(object, &r)
		if err != nil {
			return apiclient.Change{}, err
		}
		if wrong == nil {
			break
		}
		unread = append(unread, *wrong)
		if !removePointer(object, wrong.Pointer) {
			return apiclient.Change{}, Refuse(unread)
		}
	}
	checked := slices.DeleteFunc(check(&r), func(v apitype.Violation) bool { // Of the parts that were set aside.
		return slices.ContainsFunc(unread, func(u apitype.Violation) bool { return u.Pointer == v.Pointer })
	})
	if err := Refuse(append(unread, checked...)); err != nil {
		return apiclient.Change{}, err
	}
	return of(r)
}

// removePointer removes a value from an object. If it cannot be removed alone, it removes the object around it.
func removePointer(object map[string]any, pointer string) bool {
	name, below, nested := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if _, there := object[name]; !there {
		return false
	}
	inner, ok := openObject(object[name])
	object[name] = inner
	if !nested || !ok || !removePointer(inner, below) {
		delete(object, name)
	}
	return true
}

// decodeRequest reads a body as a request; wrong is the first value that it cannot have.
func decodeRequest(object map[string]any, request any) (wrong *apitype.Violation, err error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, cli.UsageError("the body cannot be written as JSON")
	}
	err = jsonv2.Unmarshal(data, request, jsonv2.RejectUnknownMembers(true), apitype.StrictDecoding())
	if err == nil {
		return nil, nil
	}
	where, what := "", err
	if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		where = string(semantic.JSONPointer)
		if semantic.Err != nil {
			what = semantic.Err
		}
	}
	message := what.Error()
	if errors.Is(err, jsonv2.ErrUnknownName) {
		message = "is not a field of this request"
	} else if errors.Is(what, err) {
		message = "has a value of another kind"
	}
	return &apitype.Violation{Pointer: where, Message: message}, nil
}

// openEnums are the fields with values that another service may have extended. The service decides about them. Spec
// gaps: R9, G4.
var openEnums = []string{"/gender", "/donationInterval", "/initialDonationInterval"}

// Refuse turns violations into a usage error.
func Refuse(violations apitype.Violations) error {
	violations = slices.DeleteFunc(violations, func(v apitype.Violation) bool {
		return slices.Contains(openEnums, v.Pointer) && strings.HasPrefix(v.Message, "must be one of")
	})
	if len(violations) == 0 {
		return nil
	}
	detail := make([]string, len(violations))
	for i, violation := range violations {
		detail[i] = strings.TrimPrefix(violation.Where()+": "+violation.Message, ": ")
	}
	message := "the request has values that cannot be sent"
	if len(detail) == 1 {
		message = violations.Error()
	}
	return &apiclient.Error{
		Kind:    apiclient.KindUsage,
		Message: message,
		Detail:  detail,
		Err:     violations,
	}
}

// ofFlag returns the problem of a flag's value, without the advice for JSON: after a flag, null is a text.
func ofFlag(message string) string { return strings.TrimSuffix(message, "; use null for no value") }

// byFlags replaces field names by flags in an error about values. With a file it replaces the given flags only.
func (b *Body) byFlags(err error) error {
	violations, found := errors.AsType[apitype.Violations](err)
	if !found {
		return err
	}
	var flags, detail, hints []string
	for _, v := range violations {
		i := slices.IndexFunc(b.Fields, func(f Field) bool {
			isItem := f.Kind == apitype.UUIDsField && strings.HasPrefix(v.Where(), f.Path+".")
			return f.Path == v.Where() || isItem
		})
		if i < 0 || b.Fields[i].flag == "" {
			return err
		}
		flag := b.Fields[i].flag
		given := *b.values[flag]
		if len(given) > 0 && slices.Contains([]string{"", "null"}, given[len(given)-1]) && b.update {
			hints = append(hints, "--clear "+v.Where()+" leaves it without a value")
		} else if len(given) == 0 && strings.HasSuffix(flag, "ing-organization") && flag != "calling-organization" {
			hints = append(
				hints,
				"add --"+flag+" UUID"+b.session.SettingHint(strings.ReplaceAll(flag, "-", "_"), "UUID"),
			)
		}
		detail = append(detail, v.Where()+": "+ofFlag(v.Message))
		if b.file == "" || len(given) > 0 {
			flags = append(flags, "--"+flag+" "+ofFlag(v.Message))
		}
	}
	if len(flags) == len(detail) {
		err = cli.UsageError(strings.Join(flags, "; "), detail...)
	}
	return cli.WithHint(err, strings.Join(hints, "; "))
}
