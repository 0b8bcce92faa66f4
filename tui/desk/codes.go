package desk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fundesk/apiclient/durable"
)

// Codes are the result codes to choose from. Their order is learnt by heart, digit by
// digit: it is that of the profile, else that in which they were first seen, which is
// kept from one start to the next. A new code comes last.
type Codes struct {
	all   []string
	fixed bool   // By the profile.
	path  string // Where the order is kept; "" for nowhere.
	// unsaved says that a code is new.
	unsaved bool
}

// codesFile is the order on disk.
type codesFile struct {
	ResultCodes []string `json:"resultCodes"`
}

// OpenCodes reads the order of earlier starts, unless the profile has one. A file that
// cannot be read is an error beside codes that work.
func OpenCodes(ofProfile []string, path string) (*Codes, error) {
	c := &Codes{all: slices.Clone(ofProfile), fixed: len(ofProfile) > 0, path: path}
	if c.fixed || path == "" {
		return c, nil
	}
	kept, err := readCodes(path)
	c.all = kept
	return c, err
}

func readCodes(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file codesFile
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the order of the result codes: %w", err)
	}
	return file.ResultCodes, nil
}

// All are the codes in their order.
func (c *Codes) All() []string { return c.all }

// Has reports whether a code is known.
func (c *Codes) Has(code string) bool { return slices.Contains(c.all, code) }

// See notes a code that a call has.
func (c *Codes) See(code string) {
	if code != "" && !c.fixed && !c.Has(code) {
		c.all, c.unsaved = append(c.all, code), true
	}
}

// Save makes what keeps the order as it is now on disk, after what other programs have
// put there meanwhile. It may run beside the interface.
func (c *Codes) Save() func() error {
	all, path := slices.Clone(c.all), c.path
	return func() error {
		if path == "" {
			return nil
		}
		kept, err := readCodes(path)
		if err != nil {
			kept = nil // What cannot be read is written over.
		}
		for _, code := range all {
			if !slices.Contains(kept, code) {
				kept = append(kept, code)
			}
		}
		content, err := json.Marshal(codesFile{kept})
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), durable.WriteFile(path, content))
		}
		if err != nil {
			return fmt.Errorf("keep the order of the result codes: %w", err)
		}
		return nil
	}
}
