package read

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// position is what a pull leaves for the next one.
type position struct {
	Service string `json:"service"`
	Query   string `json:"query"` // The filters: another pull must not go on here.
	apiclient.Position
}

// load reads the position of the last pull, if there is one.
func (p *position) load(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cli.Failure(apiclient.KindFailure, "read the position: %s", err)
	}
	var last position
	if err := json.Unmarshal(data, &last); err != nil {
		return cli.WithHint(cli.Failure(apiclient.KindFailure, "the file %s holds no position of a pull", path), "remove it to begin from the start")
	}
	if last.Service != p.Service || last.Query != p.Query {
		return cli.WithHint(cli.UsageError("the file "+path+" belongs to a pull with another service or other filters"), "name another file by --state")
	}
	*p = last
	return nil
}

// keepable reports why a position cannot be kept, before anything is printed or marked.
func keepable(path string) error {
	folder := filepath.Dir(path)
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder) // It is made with the position, and flushed.
	}
	probe, err := os.CreateTemp(folder, ".probe-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return cli.WithHint(cli.Failure(apiclient.KindFailure, "the position cannot be kept: %s", err), "name another file by --state; nothing was retrieved")
	}
	return nil
}

// positionPath is the file of a position: one for each profile, service and set of filters. A token of the
// environment may be that of any account, whose position is one of its own: another one sees other records.
func positionPath(ctx context.Context, s *cli.Session, client *apiclient.Client, entity apitype.EntityName, last position) (string, error) {
	dir, err := s.StateDir()
	if err != nil {
		return "", err
	}
	key := last.Service + " " + last.Query
	if s.Target.EnvToken != "" && !s.Target.IsEmbedded() {
		account, err := client.TokenIdentity(ctx)
		if err != nil {
			return "", err
		}
		key += " " + account
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "pull", s.Target.Name+"-"+string(entity)+"-"+hex.EncodeToString(sum[:6])+".json"), nil
}
