package httpapi

import (
	"bytes"
	"flag"
	"maps"
	"net/http"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
	"fundesk/service/privacy"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

// TestOpenAPIIsGenerated compares openapi.json with what the routes, the types of apitype and openapi_notes.json make.
// The notes hold prose, examples and bounds. They can add no operation, parameter or field, and each has its place.
func TestOpenAPIIsGenerated(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi_notes.json")
	if err != nil {
		t.Fatal(err)
	}
	var notes openAPINotes
	if err := json.Unmarshal(text, &notes, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	g := &generator{
		notes:   notes,
		schemas: map[string]object{},
		unused:  notes.places(),
	}
	document, err := json.Marshal(g.document((&api{}).operations()), json.Deterministic(true),
		jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	document = append(document, '\n')
	for _, place := range slices.Sorted(maps.Keys(g.unused)) {
		t.Errorf("openapi_notes.json has %s, which no route and no type has", place)
	}
	for _, wrong := range g.wrong {
		t.Error(wrong)
	}
	if *update {
		if err := os.WriteFile("openapi.json", document, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(document, OpenAPI) {
		t.Error("openapi.json is not what is generated; run: go test ./service/httpapi -run OpenAPIIsGenerated -update")
	}
}

// openAPINotes holds the parts of openapi.json that are not in the code.
type openAPINotes struct {
	OpenAPI    string                    `json:"openapi"`
	Info       jsontext.Value            `json:"info"`
	Servers    jsontext.Value            `json:"servers"`
	Security   jsontext.Value            `json:"security"`
	Tags       jsontext.Value            `json:"tags"`
	Operations map[string]operationNotes `json:"operations"` // By method and path.
	Parameters map[string]parameterNotes `json:"parameters"` // By name.
	Schemas    map[string]schemaNotes    `json:"schemas"`    // By name.
	Components map[string]jsontext.Value `json:"components"` // But for the schemas.
}

type operationNotes struct {
	OperationID string                    `json:"operationId"`
	Tag         string                    `json:"tag"`
	Summary     string                    `json:"summary"`
	Description string                    `json:"description"`
	Parameters  map[string]parameterNotes `json:"parameters,omitzero"` // Names with another meaning here.
	Body        exampleNotes              `json:"body,omitzero"`
	Answer      answerNotes               `json:"answer"`
	Conflicts   bool                      `json:"conflicts,omitzero"`
	Refusals    map[string]jsontext.Value `json:"refusals,omitzero"` // Of their own form, by status.
}

type exampleNotes struct {
	Example  jsontext.Value `json:"example,omitzero"`
	Examples jsontext.Value `json:"examples,omitzero"`
}

type answerNotes struct {
	Schema      string   `json:"schema,omitzero"` // Empty if it has no body.
	MayBeSent   bool     `json:"mayBeSent,omitzero"`
	Description string   `json:"description"`
	Headers     []string `json:"headers,omitzero"`
	exampleNotes
}

type parameterNotes struct {
	Description string                    `json:"description"`
	Explode     *bool                     `json:"explode,omitzero"`
	Schema      map[string]jsontext.Value `json:"schema,omitzero"`
	Items       map[string]jsontext.Value `json:"items,omitzero"`
}

type schemaNotes struct {
	Description string                               `json:"description,omitzero"`
	Fields      map[string]map[string]jsontext.Value `json:"fields,omitzero"`
}

// places returns the places of the notes, each of which has to be used.
func (n openAPINotes) places() map[string]bool {
	places := map[string]bool{}
	for key, operation := range n.Operations {
		places[key] = true
		for name := range operation.Parameters {
			places[key+" ?"+name] = true
		}
	}
	for name := range n.Parameters {
		places["?"+name] = true
	}
	for name, schema := range n.Schemas {
		places[name] = true
		for field := range schema.Fields {
			places[name+"."+field] = true
		}
	}
	return places
}

// answers are the types of the answers that openapi_notes.json names.
var answers = []any{
	apitype.Person{},
	apitype.Call{},
	apitype.Pledge{},
	apitype.SentRecord{},
	apitype.ProcessedErrors{},
	apitype.Problem{},
	apitype.Extensions{},
	apitype.QueueState{},
	apitype.Leases{},
	apitype.QueueAgents{},
	apitype.Taken{},
	apitype.Lease{},
	apitype.ReleasedUser{},
	apitype.UserState{},
	apitype.QueueMessages{},
	apitype.DescribedAttempt{},
	apitype.DescribedAttempts{},
	apitype.AgentWork{},
	apitype.CallChecks{},
	apitype.Consent{},
	apitype.Consents{},
	apitype.NumberState{},
	apitype.Settings{},
	apitype.OrganizationSettings{},
	privacy.Erasure{},
	PersonExport{},
	PersonPage{},
	CallPage{},
	page[apitype.Pledge]{},
	apitype.Page[apitype.ErasedPerson]{},
	apitype.Changes{},
	apitype.Page[apitype.MissingChecks]{},
	apitype.Page[apitype.Deferral]{},
}

// page is a page with edges that may have revisions.
type page[T any] struct {
	PageInfo apitype.PageInfo `json:"pageInfo"`
	Edges    []edge[T]        `json:"edges"`
}

type edge[T any] struct {
	Node     T      `json:"node"`
	Cursor   string `json:"cursor"`
	Revision int64  `json:"revision,omitzero"`
}

// CallPage is a page with edges that may have the users of completions, too.
type CallPage struct {
	PageInfo apitype.PageInfo `json:"pageInfo"`
	Edges    []CallEdge       `json:"edges"`
}

// CallEdge is an edge of such a page.
type CallEdge struct {
	edge[apitype.Call]

	CompletedBy *apitype.UUID        `json:"completedByUserUuid,omitzero"`
	Reasons     []apitype.NotReached `json:"attemptReasons,omitzero"`
	Checks      *apitype.CallChecks  `json:"checks,omitzero"`
}

// PersonPage is a page whose edges may have consents, too.
type PersonPage struct {
	PageInfo apitype.PageInfo `json:"pageInfo"`
	Edges    []PersonEdge     `json:"edges"`
}

// PersonEdge is an edge of such a page.
type PersonEdge struct {
	edge[apitype.Person]

	Consents []apitype.Consent `json:"consents,omitzero"`
}

// PersonExport has the members of an export, which is written as it is read.
type PersonExport struct {
	Person       *apitype.Object      `json:"person"`
	ErasedAt     *apitype.Time        `json:"erasedAt,omitzero"`
	Consents     []apitype.Consent    `json:"consents"`
	Calls        []jsontext.Value     `json:"calls"`
	Pledges      []jsontext.Value     `json:"pledges"`
	Transactions []jsontext.Value     `json:"transactions"`
	Signatures   []jsontext.Value     `json:"signatures"`
	Marks        []jsontext.Value     `json:"marks"`
	Queue        jsontext.Value       `json:"queue"`
	Blocked      []jsontext.Value     `json:"blockedNumbers"`
	Audit        []jsontext.Value     `json:"audit"`
	Users        []apitype.UserName   `json:"users,omitzero"`
	Elsewhere    map[apitype.UUID]int `json:"elsewhere,omitzero"`
}

// words are the values of the types that have some.
var words = map[reflect.Type][]string{
	reflect.TypeFor[apitype.Gender]():           apitype.Texts(apitype.Genders),
	reflect.TypeFor[apitype.CallStatus]():       apitype.Texts(apitype.CallStatuses),
	reflect.TypeFor[apitype.CallType]():         apitype.Texts(apitype.CallTypes),
	reflect.TypeFor[apitype.PledgeStatus]():     apitype.Texts(apitype.PledgeStatuses),
	reflect.TypeFor[apitype.DonationInterval](): apitype.Texts(apitype.DonationIntervals),
	reflect.TypeFor[apitype.RecruitmentType]():  apitype.Texts(apitype.RecruitmentTypes),
	reflect.TypeFor[apitype.PledgeAction]():     apitype.Texts(apitype.PledgeActions),
	reflect.TypeFor[apitype.EntityName]():       apitype.Texts(apitype.EntityNames),
	reflect.TypeFor[apitype.ConsentChannel]():   apitype.Texts(apitype.ConsentChannels),
	reflect.TypeFor[apitype.ConsentBasis]():     apitype.Texts(apitype.ConsentBases),
	reflect.TypeFor[apitype.ResultEffect]():     apitype.Texts(apitype.ResultEffects),
	reflect.TypeFor[apitype.NotReached]():       apitype.Texts(apitype.NotReachedReasons),
	reflect.TypeFor[apitype.PhoneKind]():        apitype.Texts(apitype.PhoneKinds),
	reflect.TypeFor[apitype.UserStateName]():    apitype.Texts(apitype.UserStateNames),
	reflect.TypeFor[apitype.PauseReason]():      apitype.Texts(apitype.PauseReasons),
}

// named are the schemas with other names than their types. Types of one shape share a schema.
var named = map[string]string{
	"CallAttemptRequest":          "CallAttemptInput",
	"CallExternalMetadataRequest": "CallExternalMetadataInput",
	"CallResultRequest":           "CallResultInput",
	"MandatePatch":                "MandateInput",
	"MandateRequest":              "MandateInput",
	"NamePatch":                   "Name",
	"OptInsPatch":                 "OptIns",
	"OrganizationSettingsInput":   "PutSettingsRequest",
}

// side marks a type as that of a request or of an answer.
type side string

const (
	answered side = ""
	sent     side = "Input"
)

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSONTo writes the members in their order.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// with returns the object with a member, which replaces one of that name.
func (o object) with(name string, value any) object {
	for i, m := range o {
		if m.name == name {
			changed := slices.Clone(o)
			changed[i].value = value
			return changed
		}
	}
	return append(slices.Clip(o), member{name, value})
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func ref(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }

// generator makes the document. Its schemas grow while operations are described.
type generator struct {
	notes   openAPINotes
	schemas map[string]object
	unused  map[string]bool // Places of notes that were not met.
	wrong   []string
}

func (g *generator) document(routes []route) object {
	for _, r := range routes { // First: a type that has one form on both sides is as strict as what is sent.
		if r.handler.body != nil {
			g.schema(reflect.TypeOf(r.handler.body), sent)
		}
	}
	for _, answer := range answers {
		g.schema(reflect.TypeOf(answer), answered)
	}
	paths := object{}
	for _, r := range routes {
		item, _ := paths.get(r.path).(object)
		paths = paths.with(r.path, item.with(strings.ToLower(r.method), g.describe(r)))
	}
	names := []byte(extensionHeader[0])
	g.notes.Components["headers"] = bytes.ReplaceAll(g.notes.Components["headers"], []byte("{extensions}"), names)
	components := object{}
	for _, kind := range []string{"securitySchemes", "headers", "parameters", "responses", "examples"} {
		components = append(components, member{kind, g.notes.Components[kind]})
	}
	components = append(components, member{"schemas", g.allSchemas()})
	return object{
		{"openapi", g.notes.OpenAPI},
		{"info", g.notes.Info},
		{"servers", g.notes.Servers},
		{"security", g.notes.Security},
		{"tags", g.notes.Tags},
		{"paths", paths},
		{"components", components},
	}
}

// scalars returns the schemas of texts with a form of their own.
func scalars() object {
	const hex = "[0-9a-fA-F]"
	id := "^" + hex + "{8}-" + hex + "{4}-" + hex + "{4}-" + hex + "{4}-" + hex + "{12}$"
	return object{
		{"UUID", object{{"type", "string"}, {"format", "uuid"}, {"pattern", id}, {"minLength", 36}, {"maxLength", 36}}},
		{"Timestamp", object{{"type", "string"}, {"format", "date-time"}, {"maxLength", 40}}},
		{"TimestampInput", object{{"type", "string"}, {"format", "date-time"}, {"minLength", 10}, {"maxLength", 40}}},
		{"DateInput", object{{"type", "string"}, {"format", "date"}, {"minLength", 10}, {"maxLength", 40}}},
	}
}

func (g *generator) allSchemas() object {
	all := object{}
	for _, scalar := range scalars() {
		all = append(all, member{scalar.name, g.noted(scalar.name, scalar.value.(object))})
	}
	for _, name := range slices.Sorted(maps.Keys(g.schemas)) {
		all = append(all, member{name, g.schemas[name]})
	}
	return all
}

// notesOf returns the notes of a schema. A call inside its pledge has those of a call.
func (g *generator) notesOf(name string) schemaNotes {
	if name == pledgeCall {
		name = "Call"
	}
	return g.notes.Schemas[name]
}

// noted returns a schema with its description and examples, which are notes of the field "".
func (g *generator) noted(name string, schema object) object {
	delete(g.unused, name)
	if text := g.notesOf(name).Description; text != "" {
		schema = schema.with("description", text)
	}
	return g.bounded(name+".", schema, g.notesOf(name).Fields[""])
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// describe returns the operation of a route.
func (g *generator) describe(r route) object {
	key := r.method + " " + r.path
	notes, found := g.notes.Operations[key]
	if !found {
		g.wrong = append(g.wrong, "openapi_notes.json does not have "+key)
	}
	delete(g.unused, key)
	operation := object{
		{"operationId", notes.OperationID},
		{"tags", []string{notes.Tag}},
		{"summary", notes.Summary},
		{"description", notes.Description},
	}
	etag := slices.Contains(notes.Answer.Headers, "ETag")
	if parameters := g.parameters(r, key, notes, etag); len(parameters) > 0 {
		operation = append(operation, member{"parameters", parameters})
	}
	if r.handler.body != nil {
		operation = append(operation, member{"requestBody", g.body(r, notes)})
	}
	return append(operation, member{"responses", g.responses(r, notes, etag)})
}

func (g *generator) parameters(r route, key string, notes operationNotes, etag bool) []any {
	var all []any
	for _, found := range pathParameter.FindAllStringSubmatch(r.path, -1) {
		name := found[1]
		if name == "uuid" {
			all = append(all, ref("parameters", "uuid"))
			continue
		}
		var schema any = ref("schemas", g.wordSchema(reflect.TypeFor[apitype.PledgeAction]()))
		if name == "attemptAt" {
			schema = g.schema(reflect.TypeFor[apitype.Time](), sent)
		}
		all = append(all, object{
			{"name", name},
			{"in", "path"},
			{"required", true},
			{"description", g.parameterNotes(key, name, notes).Description},
			{"schema", schema},
		})
	}
	if r.handler.readsIfMatch {
		all = append(all, ref("parameters", "ifMatch"))
	}
	if r.handler.readsLeaseFor {
		all = append(all, ref("parameters", "leaseFor"))
	}
	if r.handler.readsIfNoneMatch && etag {
		all = append(all, ref("parameters", "ifNoneMatch"))
	}
	if r.handler.options == nil {
		return all
	}
	for _, p := range apitype.ParametersOf(r.handler.options) {
		if slices.Contains([]string{"before", "last", "after", "first"}, p.Name) {
			all = append(all, ref("parameters", p.Name))
			continue
		}
		all = append(all, g.parameter(p, g.parameterNotes(key, p.Name, notes)))
	}
	return all
}

func (g *generator) parameterNotes(key, name string, notes operationNotes) parameterNotes {
	if own, found := notes.Parameters[name]; found {
		delete(g.unused, key+" ?"+name)
		return own
	}
	delete(g.unused, "?"+name)
	if _, found := g.notes.Parameters[name]; !found {
		g.wrong = append(g.wrong, key+": openapi_notes.json does not describe the parameter "+name)
	}
	return g.notes.Parameters[name]
}

func (g *generator) parameter(p apitype.Parameter, notes parameterNotes) object {
	schema := g.value(p)
	if p.IsList {
		schema = object{{"type", "array"}, {"items", bound(schema, notes.Items)}, {"maxItems", 100}}
	}
	described := object{
		{"name", p.Name},
		{"in", "query"},
		{"required", false},
		{"description", notes.Description},
		{"schema", bound(schema, notes.Schema)},
	}
	if !p.IsList {
		return described
	}
	explode := notes.Explode == nil || *notes.Explode
	return append(described, member{"style", "form"}, member{"explode", explode})
}

// value returns the schema of one value of a parameter.
func (g *generator) value(p apitype.Parameter) object {
	switch p.Kind {
	case "uuid":
		return ref("schemas", "UUID")
	case "time":
		return ref("schemas", "TimestampInput")
	case "bool":
		return object{{"type", "boolean"}}
	}
	for t, values := range words {
		if slices.Equal(values, p.Values) {
			return ref("schemas", g.wordSchema(t))
		}
	}
	if p.Values != nil {
		return object{{"type", "string"}, {"enum", p.Values}}
	}
	return object{{"type", "string"}, {"minLength", 1}, {"maxLength", 1000}}
}

func (g *generator) body(r route, notes operationNotes) object {
	schema := g.schema(reflect.TypeOf(r.handler.body), sent)
	name := path.Base(schema.get("$ref").(string))
	content := object{{"schema", schema}}
	return object{
		{"required", g.schemas[name].get("required") != nil},
		{"content", object{{"application/json", withExample(content, notes.Body)}}},
	}
}

func withExample(content object, notes exampleNotes) object {
	if notes.Example != nil {
		content = append(content, member{"example", notes.Example})
	}
	if notes.Examples != nil {
		content = append(content, member{"examples", notes.Examples})
	}
	return content
}

// refusals are the responses of components by their status. Each operation has its possible ones.
var refusals = map[string]string{
	"400": "BadRequest", "401": "Unauthenticated", "403": "Forbidden", "404": "NotFound", "409": "Conflict", "410": "",
	"412": "PreconditionFailed", "413": "TooLarge", "415": "UnsupportedMediaType", "429": "TooManyRequests",
	"500": "Failure", "503": "Unavailable",
}

func (g *generator) responses(r route, notes operationNotes, etag bool) object {
	given := map[string]bool{"400": true, "401": true, "429": true, "500": true, "503": true}
	given["403"] = true // Also of a signed-in person without a role.
	given["404"] = strings.Contains(r.path, "{uuid}")
	given["409"] = notes.Conflicts
	given["412"] = r.handler.readsIfMatch
	given["413"] = r.handler.body != nil
	given["415"] = r.handler.body != nil

	headers := []string{"X-Request-Id", "X-RateLimit-Limit"}
	if strings.HasPrefix(r.path, "/fundesk/") {
		headers = append(headers, "Fundesk-Extensions")
	}
	var responses object
	answer := object{
		{"description", notes.Answer.Description},
		{"headers", headerRefs(append(slices.Clip(headers), notes.Answer.Headers...))},
	}
	status := map[int]string{http.StatusCreated: "201"}[r.handler.status]
	switch {
	case notes.Answer.Schema == "":
		status = "204"
	case status == "":
		status = "200"
	}
	if notes.Answer.Schema != "" {
		content := withExample(object{{"schema", g.answer(notes.Answer)}}, notes.Answer.exampleNotes)
		answer = append(answer, member{"content", object{{"application/json", content}}})
	}
	responses = append(responses, member{status, answer})
	if r.handler.readsIfNoneMatch && etag {
		responses = append(responses, member{"304", object{
			{"description", "Nothing has changed since the revision that If-None-Match names."},
			{"headers", headerRefs([]string{"X-Request-Id", "X-RateLimit-Limit", "Fundesk-Extensions", "ETag"})},
		}})
	}
	for _, status := range slices.Sorted(maps.Keys(refusals)) {
		own, isOwn := notes.Refusals[status]
		switch {
		case isOwn:
			responses = append(responses, member{status, own})
		case given[status]:
			responses = append(responses, member{status, ref("responses", refusals[status])})
		}
	}
	return responses
}

func headerRefs(names []string) object {
	var all object
	for _, name := range names {
		all = append(all, member{name, ref("headers", name)})
	}
	return all
}

func (g *generator) answer(notes answerNotes) object {
	if g.schemas[notes.Schema] == nil {
		g.wrong = append(g.wrong, "openapi_notes.json has the answer "+notes.Schema+", which answers lacks")
	}
	if notes.MayBeSent {
		return object{{"oneOf", []object{ref("schemas", notes.Schema), ref("schemas", "SentRecord")}}}
	}
	return ref("schemas", notes.Schema)
}

// schema returns the schema of a type, which is a reference if the type has a name.
func (g *generator) schema(t reflect.Type, s side) object {
	t, _ = unwrapped(t)
	switch t {
	case reflect.TypeFor[markRequest](): // Its entries are checked one by one.
		return g.schema(reflect.TypeFor[apitype.MarkProcessedRequest](), s)
	case reflect.TypeFor[apitype.UUID]():
		return ref("schemas", "UUID")
	case reflect.TypeFor[apitype.Time]():
		return ref("schemas", "Timestamp"+string(s))
	case reflect.TypeFor[apitype.Date]():
		if s == sent {
			return ref("schemas", "DateInput")
		}
		return object{{"type", "string"}, {"format", "date"}, {"maxLength", 10}}
	case reflect.TypeFor[apitype.Number](), reflect.TypeFor[apitype.Amount]():
		return object{{"type", "number"}, {"format", "double"}}
	case reflect.TypeFor[jsontext.Value]():
		return object{{"type", "object"}}
	case reflect.TypeFor[apitype.Object]():
		return anyObject
	case reflect.TypeFor[apitype.EncodedObject]():
		text := object{{"type", "string"}, {"maxLength", apitype.MaxBody}, {"description", "A JSON object as text."}}
		return object{{"anyOf", []object{text, anyObject}}}
	}
	switch t.Kind() {
	case reflect.Struct:
		return ref("schemas", g.structSchema(t, s))
	case reflect.Slice:
		return object{{"type", "array"}, {"items", g.schema(t.Elem(), s)}, {"maxItems", 1000}}
	case reflect.Map:
		return g.mapSchema(t, s)
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int:
		return object{{"type", "integer"}, {"format", "int32"}, {"minimum", 0}, {"maximum", 1<<31 - 1}}
	case reflect.Int64:
		return object{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"maximum", 1<<53 - 1}}
	case reflect.String:
		if t != reflect.TypeFor[string]() {
			return ref("schemas", g.wordSchema(t))
		}
		if s == sent {
			return object{{"type", "string"}, {"minLength", 1}, {"maxLength", 1000}}
		}
		return object{{"type", "string"}, {"maxLength", 1000}}
	default:
		panic("no schema for " + t.String())
	}
}

var anyObject = object{
	{"type", "object"},
	{"description", "Any JSON object; kept and answered as it was sent."},
	{"additionalProperties", true},
}

// mapSchema returns an object with free members, except for those of types of calls.
func (g *generator) mapSchema(t reflect.Type, s side) object {
	value := g.schema(t.Elem(), s)
	if t.Key() != reflect.TypeFor[apitype.CallType]() || t.Elem() != reflect.TypeFor[[]apitype.ResultChoice]() {
		return object{{"type", "object"}, {"additionalProperties", value}}
	}
	keys := object{}
	for _, kind := range append(slices.Clip(apitype.CallTypes), apitype.AllTypes) {
		keys = append(keys, member{string(kind), value})
	}
	return object{{"type", "object"}, {"properties", keys}, {"additionalProperties", false}}
}

func (g *generator) wordSchema(t reflect.Type) string {
	values, known := words[t]
	if !known {
		panic("the values of " + t.String() + " are not known")
	}
	if g.schemas[t.Name()] == nil {
		g.schemas[t.Name()] = g.noted(t.Name(), object{{"type", "string"}, {"enum", values}})
	}
	return t.Name()
}

var genericType = regexp.MustCompile(`^(\w+)\[.*?(\w+)\]$`)

// nameOf returns the name of the schema of a struct: PersonPage for Page[Person], ConsentInput for a Consent that is
// sent in another form than it is answered.
func (g *generator) nameOf(t reflect.Type, s side) string {
	name := t.Name()
	if parts := genericType.FindStringSubmatch(name); parts != nil {
		name = parts[2] + strings.ToUpper(parts[1][:1]) + parts[1][1:]
	}
	if name == "" {
		name = "EmptyRequest"
	}
	if s == sent && isAnswered(t) && form(t, sent, nil) != form(t, answered, nil) {
		name += string(sent)
	}
	if known, found := named[name]; found {
		name = known
	}
	return name
}

// isAnswered reports whether an answer has the type.
func isAnswered(t reflect.Type) bool {
	return slices.ContainsFunc(answers, func(answer any) bool { return holds(reflect.TypeOf(answer), t, nil) })
}

func holds(t, wanted reflect.Type, seen []reflect.Type) bool {
	t, _ = unwrapped(t)
	if t == wanted {
		return true
	}
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return holds(t.Elem(), wanted, seen)
	case reflect.Struct:
		return slices.ContainsFunc(fieldsOf(t), func(f field) bool { return holds(f.kind, wanted, seen) })
	default:
		return false
	}
}

// form returns what differs between the sides of a type.
func form(t reflect.Type, s side, seen []reflect.Type) string {
	t, _ = unwrapped(t)
	switch t {
	case reflect.TypeFor[apitype.Time](), reflect.TypeFor[apitype.Date]():
		return t.String() + string(s)
	}
	if slices.Contains(seen, t) {
		return ""
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return form(t.Elem(), s, seen)
	case reflect.Struct:
		var all strings.Builder
		for _, f := range fieldsOf(t) {
			all.WriteString(f.name + form(f.kind, s, seen))
			if f.isRequired(s) {
				all.WriteString("!")
			}
			if f.mayBeNull(s) {
				all.WriteString("?")
			}
		}
		return all.String()
	default:
		return ""
	}
}

// field is a field of a struct, with the members of embedded structs among its own.
type field struct {
	name    string
	kind    reflect.Type
	mayLack bool // It may be left out.
}

func fieldsOf(t reflect.Type) []field {
	var all []field
	for f := range t.Fields() {
		if f.Anonymous {
			all = append(all, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		isOurs := strings.HasPrefix(name, "_") || f.Type == reflect.TypeFor[*apitype.NewestConsents]()
		if name == "" || name == "-" || isOurs { // Exports for editing only.
			continue
		}
		all = append(all, field{name, f.Type, strings.Contains(options, "omit")})
	}
	return all
}

// isRequired reports whether the field is always there. A request may lack what may be null.
func (f field) isRequired(s side) bool {
	return !f.mayLack && (s == answered || f.kind.Kind() != reflect.Pointer && f.kind.Kind() != reflect.Map)
}

// mayBeNull reports whether the field may be null. In an answer that leaves it out, a pointer never is.
func (f field) mayBeNull(s side) bool {
	_, wrapped := unwrapped(f.kind)
	isPointer := f.kind.Kind() == reflect.Pointer
	if s == sent {
		return isPointer || wrapped || f.mayLack || f.kind.Kind() == reflect.Map
	}
	return wrapped || isPointer && !f.mayLack
}

// unwrapped returns the type of a value without pointers, Embedded and Patch, and whether it had one of the last two.
func unwrapped(t reflect.Type) (reflect.Type, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasPrefix(t.Name(), "Embedded[") || strings.HasPrefix(t.Name(), "Patch[") {
		value, _ := t.Field(0).Type.FieldByName("value")
		return value.Type.Elem(), true
	}
	return t, false
}

// structSchema describes a struct once, and returns the name of its schema.
func (g *generator) structSchema(t reflect.Type, s side) string {
	name := g.nameOf(t, s)
	if g.schemas[name] != nil {
		return name
	}
	g.describeStruct(name, t, s)
	return name
}

func (g *generator) describeStruct(name string, t reflect.Type, s side) {
	g.schemas[name] = object{{"type", "object"}} // It may hold itself.
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		if name == pledgeCall && f.name == "pledgeCase" {
			continue
		}
		isRequired := f.isRequired(s)
		if optional, found := g.notesOf(name).Fields[f.name]["optional"]; found {
			isRequired = string(optional) == "false"
		}
		if isRequired {
			required = append(required, f.name)
		}
		properties = append(properties, member{f.name, g.fieldSchema(name, f, s)})
	}
	schema := object{{"type", "object"}}
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	if len(properties) > 0 {
		schema = append(schema, member{"properties", properties})
	}
	if s == sent {
		schema = append(schema, member{"additionalProperties", false})
	}
	g.schemas[name] = g.noted(name, schema)
}

func (g *generator) fieldSchema(name string, f field, s side) object {
	bounds := g.notesOf(name).Fields[f.name]
	schema := g.schema(f.kind, s)
	if name == "Pledge" && f.name == "calls" {
		schema = schema.with("items", ref("schemas", g.pledgeCall()))
	}
	schema = g.bounded(name+"."+f.name, schema, bounds)
	if !f.mayBeNull(s) || string(bounds["null"]) == "false" {
		return schema
	}
	return nullable(schema)
}

// pledgeCall describes a call inside its pledge, which does not hold the pledge again: generators follow no circle.
func (g *generator) pledgeCall() string {
	if g.schemas[pledgeCall] == nil {
		g.describeStruct(pledgeCall, reflect.TypeFor[apitype.Call](), answered)
	}
	return pledgeCall
}

const pledgeCall = "PledgeCall"

// nullable returns a schema that also takes null.
func nullable(schema object) object {
	null := object{{"type", "null"}}
	if kind, isText := schema.get("type").(string); isText {
		return schema.with("type", []string{kind, "null"})
	}
	if one := schema.get("allOf"); one != nil {
		return append(object{{"anyOf", append(slices.Clip(one.([]object)), null)}}, schema[1:]...)
	}
	if some := schema.get("anyOf"); some != nil {
		return schema.with("anyOf", append(slices.Clip(some.([]object)), null))
	}
	return object{{"anyOf", []object{schema, null}}}
}

// bounded adds the notes of a place to a schema.
func (g *generator) bounded(place string, schema object, bounds map[string]jsontext.Value) object {
	delete(g.unused, place)
	for keyword := range bounds {
		if !slices.Contains(keywords, keyword) && !slices.Contains(structural, keyword) {
			g.wrong = append(g.wrong, "openapi_notes.json: "+place+" has the keyword "+keyword)
		}
	}
	return bound(schema, bounds)
}

// keywords are notes that are added to a value unchanged.
var keywords = []string{
	"description", "deprecated", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems",
	"maxItems", "maxProperties", "default", "examples", "enum",
}

// structural are the other notes. null is false if a value is never null, and optional marks a value that may be left
// out. Notes of items hold for the items of an array, notes of values for the members of an object.
var structural = []string{"null", "optional", "items", "values"}

// bound adds notes to a schema.
func bound(schema object, bounds map[string]jsontext.Value) object {
	for part, at := range map[string]string{"items": "items", "values": "additionalProperties"} {
		if bounds[part] == nil {
			continue
		}
		var inner map[string]jsontext.Value
		if err := json.Unmarshal(bounds[part], &inner); err != nil {
			panic(err)
		}
		if keys, found := schema.get("properties").(object); found && part == "values" {
			schema = schema.with("properties", boundAll(keys, inner))
			continue
		}
		schema = schema.with(at, bound(schema.get(at).(object), inner))
	}
	for _, keyword := range keywords {
		value, found := bounds[keyword]
		if !found {
			continue
		}
		if schema.get("$ref") != nil {
			schema = object{{"allOf", []object{schema}}}
		}
		schema = schema.with(keyword, value)
	}
	return schema
}

func boundAll(values object, bounds map[string]jsontext.Value) object {
	var all object
	for _, value := range values {
		all = append(all, member{value.name, bound(value.value.(object), bounds)})
	}
	return all
}
