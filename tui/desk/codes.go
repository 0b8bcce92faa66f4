package desk

import (
	"fmt"
	"maps"
	"slices"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// ResultRow is a result that an agent chooses.
type ResultRow struct {
	Code      string
	Label     string // In plain words; "": the code's.
	Effect    Effect
	AsksNotes bool // It is not sent without notes.
}

// Effect is what comes with a result.
type Effect string

// The effects.
const (
	EffectNone      Effect = ""
	EffectCorrected Effect = "corrected" // The result where details were changed.
	EffectOptOut    Effect = "opt-out"   // The donor is not to be called again.
)

// Effects are all that a result may have.
var Effects = []Effect{EffectNone, EffectCorrected, EffectOptOut}

// Words returns the result as a person says it.
func (r ResultRow) Words() string {
	text := r.Label
	if text == "" {
		text = render.Words(r.Code)
	}
	if r.Effect == EffectOptOut {
		text += " (opt-out)"
	}
	return text
}

// Codes are the results to choose from, for each type of call. Their order is learnt by
// heart, digit by digit: it is that of the profile, else that in which they were first seen,
// which is kept from one start to the next. A new code comes last.
type Codes struct {
	rows  map[apitype.CallType][]ResultRow // Of the profile.
	all   []string                         // Of the profile, for types without rows.
	seen  map[apitype.CallType][]string
	path  string // Where the order is kept; "" for nowhere.
	isNew bool   // A code was seen that is not kept yet.
}

// codesFile is the order on disk.
type codesFile struct {
	Results map[apitype.CallType][]string `json:"results"`
}

// OpenCodes reads the order of earlier starts. A file that cannot be read is an error beside
// codes that work.
func OpenCodes(rows map[apitype.CallType][]ResultRow, all []string, path string) (c *Codes, err error) {
	c = &Codes{rows: rows, all: slices.Clone(all), path: path}
	if !c.areKnown() && path != "" {
		c.seen, err = readCodes(path)
	}
	return c, err
}

func readCodes(path string) (map[apitype.CallType][]string, error) {
	var file codesFile
	if err := ReadState(path, &file); err != nil {
		return nil, fmt.Errorf("read the order of the results: %w", err)
	}
	return file.Results, nil
}

// areKnown reports whether the profile says the results of every type.
func (c *Codes) areKnown() bool {
	return !slices.ContainsFunc(apitype.CallTypes, func(kind apitype.CallType) bool { return !c.isKnown(kind) })
}

func (c *Codes) isKnown(kind apitype.CallType) bool { return len(c.all) > 0 || len(c.rows[kind]) > 0 }

// Of returns the results of a type of call, in their order.
func (c *Codes) Of(kind apitype.CallType) []ResultRow {
	if rows := c.rows[kind]; len(rows) > 0 {
		return rows
	}
	codes := c.all
	if len(codes) == 0 {
		codes = c.seen[kind]
	}
	rows := make([]ResultRow, len(codes))
	for i, code := range codes {
		rows[i].Code = code
	}
	return rows
}

// Find returns the result with a code; ok is false for one that is not known.
func (c *Codes) Find(kind apitype.CallType, code string) (row ResultRow, ok bool) {
	for _, row := range c.Of(kind) {
		if row.Code == code {
			return row, true
		}
	}
	return ResultRow{Code: code}, false
}

// Words returns a result as a person says it, "" for none. It is safe for concurrent use: what a
// profile says does not change.
func (c *Codes) Words(kind apitype.CallType, code string) string {
	for _, row := range c.rows[kind] {
		if row.Code == code {
			return row.Words()
		}
	}
	return ResultRow{Code: code}.Words()
}

// See notes a code that a call has.
func (c *Codes) See(kind apitype.CallType, code string) {
	if code == "" || c.isKnown(kind) || slices.Contains(c.seen[kind], code) {
		return
	}
	if c.seen == nil {
		c.seen = map[apitype.CallType][]string{}
	}
	c.seen[kind], c.isNew = append(c.seen[kind], code), true
}

// Save makes what keeps the order as it is now on disk, after what other programs have put
// there meanwhile. It may run beside the interface.
func (c *Codes) Save() func() error {
	seen, path := maps.Clone(c.seen), c.path
	c.isNew = false
	return func() error {
		if path == "" {
			return nil
		}
		kept, err := readCodes(path)
		if err != nil || kept == nil { // What cannot be read is written over.
			kept = map[apitype.CallType][]string{}
		}
		for kind, codes := range seen {
			for _, code := range codes {
				if !slices.Contains(kept[kind], code) {
					kept[kind] = append(kept[kind], code)
				}
			}
		}
		if err := WriteState(path, codesFile{kept}); err != nil {
			return fmt.Errorf("keep the order of the results: %w", err)
		}
		return nil
	}
}
