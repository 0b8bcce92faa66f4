package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// LoadKind is the kind of a record that comes in from outside the interface.
type LoadKind string

// The kinds of records that can be loaded.
const (
	LoadOrganization LoadKind = "organization"
	LoadUser         LoadKind = "user"
	LoadFocusArea    LoadKind = "focusArea"
	LoadPerson       LoadKind = "person"
	LoadPledge       LoadKind = "pledge"
	LoadCall         LoadKind = "call"
	LoadTransaction  LoadKind = "transaction"

	// Of a dump, which has everything as the database holds it.
	LoadKey     LoadKind = "key"
	LoadSetting LoadKind = "setting"
	LoadAccount LoadKind = "account"
	LoadToken   LoadKind = "token"
	LoadRow     LoadKind = "row"
	LoadEnd     LoadKind = "end"
)

type loadKind struct {
	kind   LoadKind
	table  string // The table of its records. Empty if the record names it, or there is none.
	isRow  bool   // Its data is a row of the table, as the database holds it.
	decode func(data jsontext.Value) (any, error)

	// Of records that come in from outside the interface: their identifier, what else they name, and what
	// checks one and makes its row.
	id    func(data any) apitype.UUID
	names func(data any, n naming)
	load  func(l *loader, data any) error
}

// of returns a kind whose data is a T.
func of[T any](
	kind LoadKind,
	table string,
	id func(T) apitype.UUID,
	names func(T, naming),
	load func(*loader, T) error,
) loadKind {
	return loadKind{
		kind:   kind,
		table:  table,
		decode: decodeLoaded[T],
		id:     func(data any) apitype.UUID { return id(data.(T)) },
		names: func(data any, n naming) {
			if names != nil {
				names(data.(T), n)
			}
		},
		load: func(l *loader, data any) error { return load(l, data.(T)) },
	}
}

// ofTable returns a kind whose data is a row of a table.
func ofTable(kind LoadKind, table string) loadKind {
	return loadKind{
		kind:  kind,
		table: table,
		isRow: true,
		decode: func(text jsontext.Value) (any, error) {
			data, err := decodeLoaded[map[string]json.RawMessage](text)
			if err != nil {
				return nil, err
			}
			return LoadedRow{table, data.(map[string]json.RawMessage)}, nil
		},
	}
}

// loadKinds returns all kinds, each after the kinds that it refers to.
var loadKinds = []loadKind{
	{kind: LoadKey, decode: decodeLoaded[LoadedKey]},
	ofTable(LoadSetting, "settings"),
	ofTable(LoadAccount, "accounts"),
	ofTable(LoadToken, "tokens"),
	{kind: LoadRow, decode: decodeLoaded[LoadedRow]},
	{kind: LoadEnd, decode: decodeLoaded[LoadedEnd]},
	of(
		LoadOrganization,
		"organizations",
		func(o LoadedOrganization) apitype.UUID { return o.UUID },
		nil,
		(*loader).organization,
	),
	of(LoadUser, "users", func(u LoadedUser) apitype.UUID { return u.UUID }, nil, (*loader).user),
	of(LoadFocusArea, "focus_areas", func(a LoadedFocusArea) apitype.UUID { return a.UUID }, nil, (*loader).focusArea),
	of(LoadPerson, "persons", func(p LoadedPerson) apitype.UUID { return p.UUID }, nil, (*loader).person),
	of(LoadPledge, "pledges", func(p LoadedPledge) apitype.UUID { return p.UUID },
		func(p LoadedPledge, n naming) { n.persons[p.person()] = true }, (*loader).pledge),
	of(LoadCall, "calls", func(c LoadedCall) apitype.UUID { return c.UUID }, LoadedCall.names, (*loader).call),
	of(LoadTransaction, "transactions", func(t LoadedTransaction) apitype.UUID { return t.UUID },
		func(t LoadedTransaction, n naming) { n.pledges[t.PledgeUUID] = true }, (*loader).transaction),
}

// LoadKinds returns the names of all kinds, each after the kinds that it refers to.
var LoadKinds = mapped(loadKinds, func(k loadKind) LoadKind { return k.kind })

// kindNamed returns the kind of a name, or nil.
func kindNamed(name LoadKind) *loadKind {
	if at := slices.Index(LoadKinds, name); at >= 0 {
		return &loadKinds[at]
	}
	return nil
}

// LoadedOrganization is an organization with its settings.
type LoadedOrganization struct {
	apitype.OrganizationReference
	MaxCallAttempts *int    `json:"maxCallAttempts,omitzero"` // None by default. Spec gap: C5.
	CoolingOff      *string `json:"coolingOff,omitzero"`      // A duration such as 336h, the default. Spec gap: G2.
	// Settings for its agents. Nil leaves them empty.
	Settings *apitype.OrganizationSettings `json:"settings,omitzero"`
}

// LoadedUser is a user, such as a recruiter.
type LoadedUser = apitype.RecruiterUser

// LoadedFocusArea is a focus area with its organization.
type LoadedFocusArea struct {
	apitype.FocusArea
	OrganizationUUID apitype.UUID `json:"organizationUuid"`
}

// LoadedPerson is a person as it is answered, with what answers do not show.
type LoadedPerson struct {
	apitype.Person
	OwningOrganizationUUID     apitype.UUID   `json:"owningOrganizationUuid"`
	RecruitingOrganizationUUID apitype.UUID   `json:"recruitingOrganizationUuid"`
	Mandate                    *LoadedMandate `json:"mandate,omitzero"` // In place of the person's own.
}

// LoadedMandate is a mandate with its identifier.
type LoadedMandate struct {
	ID        *string      `json:"id,omitzero"`
	CreatedAt apitype.Time `json:"createdAt"`
}

// LoadedPledge is a pledge as it is answered, with what answers do not show. With
// ExternalSource it is external. ReleasedAt may lie in the future.
type LoadedPledge struct {
	apitype.Pledge
	PersonUUID     *apitype.UUID  `json:"personUuid,omitzero"` // Or the uuid of Person.
	FocusAreaUUIDs []apitype.UUID `json:"focusAreaUuids,omitzero"`
	Signature      []byte         `json:"signature,omitzero"` // The signature file; base64 in JSON.
}

// LoadedCall is a call as it is answered. With ExternalMetadata it is external.
type LoadedCall struct {
	apitype.Call
	ExternalSource *apitype.ExternalSource `json:"externalSource,omitzero"`
	DeferredUntil  *apitype.Time           `json:"deferredUntil,omitzero"` // In the queue.
	DeferredFor    *apitype.UUID           `json:"deferredForUserUuid,omitzero"`
	CompletedBy    *apitype.UUID           `json:"completedByUserUuid,omitzero"`
}

// LoadedTransaction is a transaction with its pledge.
type LoadedTransaction struct {
	apitype.Transaction
	PledgeUUID apitype.UUID `json:"pledgeUuid"`
}

// LoadedKey is the signing key of a database, which signs for all of its accounts.
type LoadedKey struct {
	Seed   []byte `json:"seed"`            // Base64 in JSON.
	HasEnd bool   `json:"hasEnd,omitzero"` // The last line of the dump is of the kind end.
}

// LoadedEnd is the last line of a dump. Without it the dump was cut short.
type LoadedEnd struct{}

// LoadedRow is a row of a table as a database holds it: values by the names of the columns.
type LoadedRow struct {
	Table  string                     `json:"table"`
	Values map[string]json.RawMessage `json:"values"`
}

// KindOfTable returns the kind of the rows of a table in a dump.
func KindOfTable(table string) LoadKind {
	if at := slices.IndexFunc(loadKinds, func(k loadKind) bool { return k.isRow && k.table == table }); at >= 0 {
		return loadKinds[at].kind
	}
	return LoadRow
}

// Encode returns the line of a record, with JSON that the database holds as it is.
func (r LoadRecord) Encode() ([]byte, error) {
	if row, ok := r.Data.(LoadedRow); ok && r.Kind != LoadRow {
		r.Data = row.Values
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return text.Bytes(), err
}

// LoadRecord is one line of a load: a kind and one of the Loaded types.
type LoadRecord struct {
	Kind LoadKind `json:"kind"`
	Data any      `json:"data"`
	// Line is the line of the record in its file, for an error. Zero means unknown.
	Line int `json:"-"`
}

// DecodeLoadRecord reads one line of a load. Unknown fields are refused.
func DecodeLoadRecord(text []byte) (LoadRecord, error) {
	var line struct {
		Kind LoadKind       `json:"kind"`
		Data jsontext.Value `json:"data"`
	}
	v := DecodeStrict(text, &line)
	for i := range v { // An error names the line, or else the data.
		if field, inside := strings.CutPrefix(v[i].Pointer, "/data/"); inside {
			v[i].Pointer = "/" + field
		}
	}
	var record LoadRecord
	if len(v) > 0 {
		return record, v
	}
	kind := kindNamed(line.Kind)
	if kind == nil {
		return record, errors.New("kind must be one of " + joined(LoadKinds))
	}
	record.Kind = line.Kind
	var err error
	record.Data, err = kind.decode(line.Data)
	return record, err
}

// decodeLoaded reads the data of a line strictly; its errors hold no value of it.
func decodeLoaded[T any](text jsontext.Value) (any, error) {
	if text.Kind() != jsontext.KindBeginObject {
		return nil, errors.New("data must be a JSON object")
	}
	var data T
	if v := DecodeStrict(text, &data); len(v) > 0 {
		return nil, v
	}
	return data, nil
}
