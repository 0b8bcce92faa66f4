// Package statefile reads and writes the small files in which the Desk stores its state.
package statefile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fundesk/apiclient/durable"
)

// Read reads a value that Write has saved. Without one, value stays as it is.
func Read(path string, value any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// Write saves a value in a file of the state folder, which it makes if necessary.
func Write(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, content))
}
