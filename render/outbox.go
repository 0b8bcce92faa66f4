package render

import (
	"encoding/json"
	"strconv"

	"fundesk/apiclient/apitype"
)

// Entry is a change that waits in the outbox, as commands print it.
type Entry struct {
	ID        string          `json:"id"`
	State     string          `json:"state"`
	Op        string          `json:"op"`
	UUID      *string         `json:"uuid"` // Nil if there is no single record.
	Method    string          `json:"method"`
	Path      string          `json:"path"`
	CreatedAt *apitype.Time   `json:"createdAt"`
	Tries     int             `json:"tries"`
	LastError *string         `json:"lastError"`
	After     *string         `json:"after"` // The entry that it waits for. Nil if there is none.
	Service   string          `json:"service"`
	EndedAt   *apitype.Time   `json:"endedAt,omitempty"` // Nil while it is in the outbox.
	Body      json.RawMessage `json:"body,omitempty"`
	Label     string          `json:"-"` // What it is, in words.
}

// EntryColumns returns the columns of entries.
func EntryColumns() []Column[Entry] {
	fixed := func(name string, value func(Entry) string) Column[Entry] {
		return Column[Entry]{Name: name, Default: true, Value: value}
	}
	return []Column[Entry]{
		fixed("id", func(e Entry) string { return e.ID }),
		fixed("state", func(e Entry) string { return e.State }),
		fixed("op", func(e Entry) string { return e.Op }),
		fixed("uuid", func(e Entry) string { return text(e.UUID) }),
		shown(timeColumn("createdAt", "", func(e Entry) *apitype.Time { return e.CreatedAt }), "created"),
		numberColumn("tries", func(e Entry) int { return e.Tries }),
		shown(column("lastError", func(e Entry) string { return text(e.LastError) }), ""),
		{Name: "method", Value: func(e Entry) string { return e.Method }},
		{Name: "path", Value: func(e Entry) string { return e.Path }},
		{Name: "service", Value: func(e Entry) string { return e.Service }},
	}
}

// EntryList returns the columns of entries in a list on the screen, in their order. Changes that are not entries yet
// are among them.
func EntryList() []Column[Entry] {
	return onScreen(EntryColumns(), []Column[Entry]{
		{Name: "state", Width: 9},
		{
			Name:  "op",
			Title: "What",
			Width: 35,
			Cell:  func(e Entry, _ View) Text { return Text{Text: e.Label} },
		},
		{Name: "createdAt", Title: "Made", Width: 4},
		{Name: "tries", Width: 5, Cell: func(e Entry, _ View) Text {
			if e.Tries < 0 {
				return Text{} // It was not to be sent.
			}
			return Text{Text: strconv.Itoa(e.Tries)}
		}},
		{
			Name:  "lastError",
			Title: "Last answer",
			Width: 10,
			Grow:  true,
		},
	})
}
