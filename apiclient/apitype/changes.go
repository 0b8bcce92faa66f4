package apitype

import "net/url"

// ExtensionChanges announces the feed of changes.
const ExtensionChanges = "changes"

// ChangeListOptions are the parameters of the feed of changes.
// GET /fundesk/v1/changes
type ChangeListOptions struct {
	First *int   // 0 to MaxPageSize; DefaultPageSize when nil.
	After string // A position. Empty begins with the oldest change.
}

func changeParameters() []Filter[ChangeListOptions] {
	return []Filter[ChangeListOptions]{
		{Name: "first", field: func(o *ChangeListOptions) field { return sizeField(&o.First) }},
		{Name: "after", field: func(o *ChangeListOptions) field { return textField(&o.After) }},
	}
}

// Query returns the options as query parameters.
func (o ChangeListOptions) Query() url.Values { return queryOf(changeParameters(), o) }

// ParseChangeListOptions reads query parameters.
func ParseChangeListOptions(values url.Values) (ChangeListOptions, Violations) {
	return parseQuery(changeParameters(), values, nil)
}

// Change is one change of a record.
type Change struct {
	Position  string     `json:"position"` // The next page begins after it.
	Time      Time       `json:"time"`
	Entity    EntityName `json:"entity"`
	UUID      UUID       `json:"uuid"`
	Operation string     `json:"operation"` // Such as create, update or erase.
	Fields    []string   `json:"fields"`    // The names of the changed fields. Empty if the operation names none.
}

// Changes is a page of the feed, in the order of the changes.
type Changes struct {
	Changes []Change `json:"changes"`
	Next    string   `json:"next"`    // The position of the next page. It moves on without changes, too.
	HasMore bool     `json:"hasMore"` // The next page may have changes already.
}
