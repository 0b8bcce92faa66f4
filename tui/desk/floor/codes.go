package floor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/statefile"
)

// Codes are the results to choose from, for each type of call. Agents know their digits by heart, so their order is the
// profile's, or else that of the service's settings. Without results for the type, known codes of earlier calls are
// offered by name.
type Codes struct {
	rows     map[apitype.CallType][]apitype.ResultChoice // Of the profile.
	all      []string                                    // Of the profile, for types without rows.
	settings *Settings
	seen     map[apitype.CallType][]string // Sorted.
	path     string                        // Its folder. Empty keeps none.
	isNew    bool                          // A code was seen that is not kept yet.
}

// codesFile has the known codes on disk.
type codesFile struct {
	Results map[apitype.CallType][]string `json:"results"`
}

// OpenCodes reads the codes of earlier starts. An unreadable file is an error beside usable codes.
func OpenCodes(
	settings *Settings,
	rows map[apitype.CallType][]apitype.ResultChoice,
	all []string,
	path string,
) (*Codes, error) {
	c := &Codes{
		rows:     rows,
		all:      slices.Clone(all),
		path:     path,
		settings: settings,
	}
	var err error
	if !c.AreKnown() && path != "" {
		c.seen, err = readCodes(path)
	}
	return c, err
}

func readCodes(path string) (map[apitype.CallType][]string, error) {
	var file codesFile
	if err := statefile.Read(path, &file); err != nil {
		return nil, fmt.Errorf("read the results of earlier calls: %w", err)
	}
	for _, codes := range file.Results {
		slices.Sort(codes)
	}
	return file.Results, nil
}

// AreKnown reports whether the profile has the results of every type.
func (c *Codes) AreKnown() bool {
	return !slices.ContainsFunc(apitype.CallTypes, func(kind apitype.CallType) bool { return !c.IsKnown(kind) })
}

func (c *Codes) IsKnown(kind apitype.CallType) bool { return len(c.all) > 0 || len(c.rows[kind]) > 0 }

// Of returns the results of a call, in their order. From the place guessed on they are only known from
// earlier calls.
func (c *Codes) Of(call *apitype.Call) ([]apitype.ResultChoice, int) {
	kind := call.Type
	codes := c.all
	var rows []apitype.ResultChoice
	var guessed int
	switch {
	case len(c.rows[kind]) > 0:
		return c.rows[kind], len(c.rows[kind])
	case len(codes) == 0:
		rows = c.settings.Of(call).ResultsOf(kind)
		if len(rows) > 0 {
			return rows, len(rows)
		}
		codes = c.seen[kind]
	default:
		guessed = len(codes)
	}
	for _, code := range codes {
		if !slices.ContainsFunc(rows, func(r apitype.ResultChoice) bool { return r.Code == code }) {
			rows = append(rows, apitype.ResultChoice{Code: code})
		}
	}
	return rows, guessed
}

// Words returns a result in words, or an empty text for none. It is safe for concurrent use.
func (c *Codes) Words(kind apitype.CallType, code string) string {
	all := [][]apitype.ResultChoice{c.rows[kind]}
	for _, of := range c.settings.Present().Organizations {
		all = append(all, of.ResultsOf(kind))
	}
	for _, row := range slices.Concat(all...) {
		if row.Code == code {
			return entry.ResultWords(row)
		}
	}
	return entry.ResultWords(apitype.ResultChoice{Code: code})
}

// Name returns a result in words, whatever the type of its call. If types name a code differently, it has the name of
// the first of them.
func (c *Codes) Name(code string) string {
	plain := entry.ResultWords(apitype.ResultChoice{Code: code})
	for _, kind := range apitype.CallTypes {
		if name := c.Words(kind, code); name != plain {
			return name
		}
	}
	return plain
}

// See notes a code that a call has.
func (c *Codes) See(kind apitype.CallType, code string) {
	if code == "" || c.IsKnown(kind) {
		return
	}
	if at, found := slices.BinarySearch(c.seen[kind], code); !found {
		if c.seen == nil {
			c.seen = map[apitype.CallType][]string{}
		}
		c.seen[kind], c.isNew = slices.Insert(slices.Clip(c.seen[kind]), at, code), true
	}
}

// SaveNew saves newly seen codes in the background.
func (c *Codes) SaveNew() {
	if !c.isNew || c.path == "" {
		return
	}
	c.isNew = false
	seen, path := maps.Clone(c.seen), c.path
	event.Do(c.settings.Events, "result codes saved", func(context.Context) (any, error) {
		return nil, saveCodes(path, seen)
	}, func(_ any, err error) {
		if err != nil {
			c.settings.Events.Fail("the results of earlier calls cannot be saved", err)
		}
	})
}

// saveCodes writes codes to disk, merged with codes from other programs.
func saveCodes(path string, seen map[apitype.CallType][]string) error {
	kept, err := readCodes(path)
	if err != nil || kept == nil { // An unreadable file is overwritten.
		kept = map[apitype.CallType][]string{}
	}
	for kind, codes := range seen {
		kept[kind] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(kept[kind], codes))))
	}
	if err := statefile.Write(path, codesFile{kept}); err != nil {
		return fmt.Errorf("keep the results of earlier calls: %w", err)
	}
	return nil
}

// MayBe reports whether a result has an effect for any type of call.
func (c *Codes) MayBe(code string, effect apitype.ResultEffect) bool {
	tables := []map[apitype.CallType][]apitype.ResultChoice{c.rows}
	for _, of := range c.settings.Present().Organizations {
		tables = append(tables, of.Results)
	}
	for _, table := range tables {
		for _, rows := range table {
			if slices.ContainsFunc(rows, func(r apitype.ResultChoice) bool { return r.Code == code && r.Has(effect) }) {
				return true
			}
		}
	}
	return false
}

// codesShown is the number of latest completed calls that are read for their results.
const codesShown = 100

// ReadLatest finds the results of the latest completed calls, if the profile does not have the results.
func (c *Codes) ReadLatest(state *connection.State) {
	if c.AreKnown() {
		return
	}
	type result struct {
		kind apitype.CallType
		code string
	}
	options := apitype.CallListOptions{
		Statuses: []apitype.CallStatus{apitype.CallCompleted},
		Paging:   apitype.Paging{First: new(codesShown)},
	}
	event.Do(c.settings.Events, "completed calls read", func(ctx context.Context) ([]result, error) {
		page, err := c.settings.Client.Calls.List(ctx, options)
		return apiclient.Rows(page, func(call apitype.Call) result {
			return result{call.Type, apitype.TextOf(call.Result.Value().ResultCode)}
		}), err
	}, func(results []result, err error) {
		if !state.IsRead("cannot read the results", err) {
			return
		}
		for _, r := range results {
			c.See(r.kind, r.code)
		}
	})
}
