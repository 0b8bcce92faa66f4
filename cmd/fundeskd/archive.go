package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fundesk/service/sqlstore"
)

// archived is the name of the database in an archive; its key follows it with .key.
const archived = "fundeskd.db"

// besideDatabase runs do with a folder of its own beside the database: what is in it needs the room, and the
// protection, that the database has.
func (p *program) besideDatabase(do func(folder string) error) error {
	name, err := p.databaseName()
	if err != nil {
		return err
	}
	path, isFile := strings.CutPrefix(name, "sqlite:")
	if !isFile {
		return errors.New("only an SQLite database is archived; PostgreSQL has pg_dump and pg_restore")
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "fundeskd-archive-") // 0700
	if err != nil {
		return err
	}
	return errors.Join(do(folder), os.RemoveAll(folder))
}

// writeArchive writes a backup and its key to stdout, as one archive.
func (p *program) writeArchive(ctx context.Context, store *sqlstore.Store) error {
	if isTerminal(p.Out) {
		return usage("an archive holds secrets, and is not shown: fundeskd backup - > FILE")
	}
	return p.besideDatabase(func(folder string) error {
		file := filepath.Join(folder, archived)
		if err := store.Backup(ctx, file); err != nil {
			return err
		}
		archive := tar.NewWriter(p.Out)
		for _, path := range []string{file + ".key", file} {
			if err := p.archive(archive, path); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

func (p *program) archive(to *tar.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := to.WriteHeader(&tar.Header{Name: filepath.Base(path), Mode: 0o600, Size: info.Size(), ModTime: p.Now()}); err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return err
}

// readArchive unpacks an archive from stdin into a folder, and returns the path of the database.
func (p *program) readArchive(folder string) (string, error) {
	archive, found := tar.NewReader(p.In), 0
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && found == 2 {
			return filepath.Join(folder, archived), nil
		}
		if err == nil && header.Name != archived && header.Name != archived+".key" {
			err = fmt.Errorf("it holds %q", header.Name)
		}
		if err == nil {
			err = unpack(archive, filepath.Join(folder, header.Name))
		}
		if err != nil {
			return "", fmt.Errorf("stdin is not the whole archive of a fundeskd backup -: %w", err)
		}
		found++
	}
}

func unpack(from io.Reader, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
