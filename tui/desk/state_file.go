package desk

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fundesk/apiclient/durable"
	"fundesk/tui/desk/say"
)

// Beside returns the file beside the state whose name has an ending, or an empty text if nothing is saved.
func (b *base) Beside(ending string) string {
	return say.When(b.StateFile != "", strings.TrimSuffix(b.StateFile, ".json")+ending)
}

// ReadState reads a value that WriteState has saved. Without one, value stays as it is.
func ReadState(path string, value any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(content, value)
	}
	return err
}

// WriteState saves a value in a file of the state folder, which it makes if necessary.
func WriteState(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, content))
}
