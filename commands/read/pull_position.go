package read

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/commands/cli"
	"fundesk/render"
)

// position is the end of a pull, where the next one begins.
type position struct {
	Service string `json:"service"`
	Query   string `json:"query"` // The filters: another pull must not go on here.
	apiclient.Position
	Change string `json:"change,omitzero"` // In the feed of changes.
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
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "the file %s holds no position of a pull", path),
			"remove it to begin from the start",
		)
	}
	last.Service = apitype.BaseURL(last.Service)
	if last.Service != p.Service || last.Query != p.Query {
		return cli.WithHint(
			cli.UsageError("the file "+path+" belongs to a pull with another service or other filters"),
			"name another file with --state",
		)
	}
	*p = last
	return nil
}

// keepable reports why a position cannot be kept, before anything is printed or marked.
func keepable(path string) error {
	folder := filepath.Dir(path)
	for folder != filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folder = filepath.Dir(folder) // It is made with the position, and flushed.
	}
	probe, err := os.CreateTemp(folder, ".probe-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "the position cannot be kept: %s", err),
			"name another file with --state; nothing was retrieved",
		)
	}
	return nil
}

// hold reserves a position for one pull until release is called. Another pull would move the position past records that
// it has not written, or put back what --reset has begun. A file system without locks allows two.
func hold(path string) (release func(), err error) {
	err = durable.MakeFolders(filepath.Dir(path))
	if err != nil {
		return nil, cli.Failure(apiclient.KindFailure, "the position cannot be kept: %s", err)
	}
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, cli.Failure(apiclient.KindFailure, "the position cannot be kept: %s", err)
	}
	isHeld := errors.Is(durable.TryLock(file), durable.ErrHeld)
	if isHeld || !durable.IsNamed(file) { // The pull that had it before removes it.
		_ = file.Close() // It was not written.
		return nil, cli.WithHint(
			cli.Failure(apiclient.KindFailure, "another pull uses the position %s; nothing was retrieved", path),
			"wait until it has ended, or name another file with --state",
		)
	}
	return func() {
		_ = os.Remove(file.Name()) // Another pull makes it again.
		_ = file.Close()
	}, nil
}

// positionPath returns the file of a position: one for each profile, service and set of filters. A token of the
// environment may belong to any account, so each account has its own position: another account sees other records.
func positionPath(
	ctx context.Context,
	s *cli.Session,
	client *apiclient.Client,
	entity apitype.EntityName,
	last position,
) (string, error) {
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
	return filepath.Join(dir, "pull", s.Target.Name+"-"+string(entity)+"-"+durable.NameOf(key)+".json"), nil
}

// keptPosition is the stored position of one pull.
type keptPosition struct {
	Profile string       `json:"profile"`
	Entity  string       `json:"entity"`
	After   apitype.Time `json:"after"`
	Query   string       `json:"query"` // The filter of the time, and the others.
	Service string       `json:"service"`
	File    string       `json:"file"`
}

func pullStatus(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the position of each pull",
		Args:  cli.NoArgs,
		Long: "List the positions of pulls, with their services and filters. A pull with --state is not listed.\n" +
			"pull --reset starts again.",
		Example: "  fundesk pull status\n  fundesk pull status -o json",
		RunE: func(*cobra.Command, []string) error {
			dir, err := s.StateDir()
			if err != nil {
				return err
			}
			var all []keptPosition
			files, _ := filepath.Glob(filepath.Join(dir, "pull", "*.json")) // Its pattern is right.
			for _, file := range files {
				words := strings.Split(filepath.Base(file), "-")
				data, err := os.ReadFile(file)
				k := keptPosition{File: file}
				var last position
				if err != nil || len(words) < 3 || json.Unmarshal(data, &last) != nil {
					s.Warn("%s holds no position of a pull", file)
					continue
				}
				k.Profile, k.Entity = strings.Join(words[:len(words)-2], "-"), words[len(words)-2]
				k.Service, k.Query, k.After = last.Service, strings.TrimSuffix(last.Query, "?"), last.After
				all = append(all, k)
			}
			slices.SortFunc(
				all,
				func(a, b keptPosition) int { return strings.Compare(a.Entity+a.Query, b.Entity+b.Query) },
			)
			return cli.ShowList(s, "file", positionColumns(), all)
		},
	}
}

// afterText returns the time of a position, or "" for a first pull that broke off.
func afterText(after apitype.Time) string {
	if after.IsZero() {
		return ""
	}
	return after.String()
}

func positionColumns() []render.Column[keptPosition] {
	column := func(name string, isShown bool, value func(keptPosition) string) render.Column[keptPosition] {
		return render.Column[keptPosition]{
			Name:     name,
			Default:  isShown,
			Flexible: name != "after",
			Value:    value,
		}
	}
	return []render.Column[keptPosition]{
		column("entity", true, func(k keptPosition) string { return k.Entity }),
		column("after", true, func(k keptPosition) string { return afterText(k.After) }),
		column("query", true, func(k keptPosition) string { return k.Query }),
		column("profile", true, func(k keptPosition) string { return k.Profile }),
		column("service", true, func(k keptPosition) string { return k.Service }),
		column("file", false, func(k keptPosition) string { return k.File }),
	}
}
