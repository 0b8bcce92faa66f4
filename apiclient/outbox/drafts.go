package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// Draft has an agent's choices and texts for a call that are not sent yet.
type Draft struct {
	Call       apitype.UUID `json:"call"`
	Name       string       `json:"name,omitzero"` // Of the donor, for lists of drafts.
	ResultCode string       `json:"resultCode,omitzero"`
	Proposed   bool         `json:"proposed,omitzero"` // The code comes from the corrections.
	Rating     *int         `json:"rating,omitzero"`   // 0 to 10.
	Notes      string       `json:"notes,omitzero"`
	// Unfinished has lines that were being typed, by what they are for.
	Unfinished map[string]string `json:"unfinished,omitempty"`
	// Corrections has the unsent corrections, by their place in the update.
	Corrections map[string]string `json:"corrections,omitzero"`
	Recorded    map[string]string `json:"recorded,omitzero"`  // What the record showed of them when they were typed.
	ByResult    []string          `json:"byResult,omitempty"` // Those that come from the code.
	// The facts that were ticked, by the place of their first detail.
	Checked   []string             `json:"checked,omitzero"`
	CheckedAt map[string]time.Time `json:"checkedAt,omitzero"` // When each was ticked.
	SavedAt   time.Time            `json:"savedAt"`
	BaseURL   string               `json:"baseUrl"`
	Account   string               `json:"account"`
}

// IsEmpty reports whether there is nothing in the draft to lose.
func (d Draft) IsEmpty() bool {
	hasChoice := d.ResultCode != "" || d.Rating != nil || len(d.Checked) > 0
	return !hasChoice && d.Notes == "" && len(d.Corrections) == 0 && len(d.Unfinished) == 0
}

// HasWords reports whether the draft holds text that the agent typed, and not only choices.
func (d Draft) HasWords() bool {
	for key := range d.Corrections {
		if !slices.Contains(d.ByResult, key) {
			return true
		}
	}
	return d.Notes != "" || len(d.Unfinished) > 0
}

// JoinNotes does a three-way merge of two edits of base.
func JoinNotes(base, mine, theirs string) string {
	if theirs == base || strings.Contains(mine, theirs) {
		return mine
	}
	if mine == "" {
		return theirs
	}
	if cutWords(theirs, base) >= 0 {
		at := cutWords(theirs, base)
		return theirs[:at] + mine + theirs[at+len(base):]
	}
	if strings.Contains(theirs, mine) {
		return theirs
	}
	return mine + "\n" + theirs
}

// cutWords returns the place of whole words in a text, or -1. A base inside a word is not the origin of that word.
func cutWords(text, words string) int {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; words != ""; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			break
		}
		at, end := from+i, from+i+len(words)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		first, _ := utf8.DecodeRuneInString(words)
		last, _ := utf8.DecodeLastRuneInString(words)
		isEnd := isWord(before) && isWord(first) // Of a longer word.
		isBeginning := isWord(last) && isWord(after)
		if !isEnd && !isBeginning {
			return at
		}
		from = end
	}
	return -1
}

// LockDrafts keeps other programs from changing drafts and entries until unlock. Use it to write a draft that depends
// on the present one.
func (o *Outbox) LockDrafts() (func(), error) { return o.lock() }

// SaveDraft keeps a draft in place of the call's earlier one. It is durable when
// SaveDraft returns. An empty draft erases the earlier one.
func (o *Outbox) SaveDraft(call apitype.UUID, d Draft) error {
	if d.IsEmpty() {
		return o.DeleteDraft(call)
	}
	if o.options.BaseURL == "" || o.options.Account == "" {
		return ErrAccount
	}
	d.Call, d.BaseURL, d.Account, d.SavedAt = call, o.options.BaseURL, o.options.Account, o.options.Now().UTC()
	if err := writeSealed(o.draftPath(call), d); err != nil {
		return fmt.Errorf("save the draft: %w", err)
	}
	return nil
}

// Draft returns the draft of a call. found is false if there is none. A torn or altered one is set aside, and List
// reports it.
func (o *Outbox) Draft(call apitype.UUID) (d Draft, found bool, err error) {
	path := o.draftPath(call)
	d, err = readDraft(path)
	if err == nil {
		return d, true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Draft{}, false, nil
	}
	if errors.Is(err, errTorn) {
		o.setAside([]Damaged{{Path: path}})
		return Draft{}, false, nil
	}
	return Draft{}, false, fmt.Errorf("read the draft: %w", err)
}

func readDraft(path string) (Draft, error) {
	var d Draft
	err := readSealed(path, &d)
	return d, err
}

// Drafts returns all drafts of this account, the latest first. An unreadable one is missing here, stays in its place,
// and List reports it.
func (o *Outbox) Drafts() ([]Draft, error) {
	drafts, _, err := o.scanDrafts()
	return drafts, err
}

// scanDrafts reads the drafts. It returns other files as damaged.
func (o *Outbox) scanDrafts() ([]Draft, []Damaged, error) {
	all, damaged, err := scanFiles(filepath.Join(o.dir, dirDrafts), readDraft)
	drafts := slices.DeleteFunc(all, func(d Draft) bool { return !o.Owns(d.BaseURL, d.Account) })
	slices.SortFunc(drafts, func(a, b Draft) int { return b.SavedAt.Compare(a.SavedAt) })
	return drafts, damaged, err
}

// DeleteDraft erases the draft of a call, if there is one.
func (o *Outbox) DeleteDraft(call apitype.UUID) error {
	if err := durable.Erase(o.draftPath(call)); err != nil {
		return fmt.Errorf("erase the draft: %w", err)
	}
	return nil
}

// draftPath returns different paths for the same call at two services or in two accounts.
func (o *Outbox) draftPath(call apitype.UUID) string {
	return filepath.Join(
		o.dir,
		dirDrafts,
		call.String()+"-"+durable.NameOf(o.options.BaseURL+"\x00"+o.options.Account)+".json",
	)
}
