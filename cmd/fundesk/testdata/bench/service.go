package main

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// database is one of the real service.
type database struct{ fundeskd, file string }

func (p programs) database(file string) database {
	return database{filepath.Join(p.folder, "fundeskd"), file}
}

// command returns a command of fundeskd on the database.
func (d database) command(args ...string) *exec.Cmd {
	return exec.Command(d.fundeskd, append(args, "--database", "sqlite:"+d.file)...)
}

// service is a running fundeskd.
type service struct {
	command    *exec.Cmd
	url, token string
}

// serve starts the service, with an account that sees everything.
func (d database) serve() (service, error) {
	token, err := d.command("account", "add", "bench", "--all-organizations").Output()
	if err != nil {
		return service{}, fmt.Errorf("add an account: %w", err)
	}
	s := service{command: d.command("serve", "--listen", "127.0.0.1:0"), token: strings.TrimSpace(string(token))}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return service{}, err
	}
	if err := s.command.Start(); err != nil {
		return service{}, err
	}
	s.url, err = bufio.NewReader(out).ReadString('\n')
	s.url = strings.TrimSpace(s.url)
	if err != nil {
		err = errors.Join(err, s.stop())
	}
	return s, err
}

func (s service) stop() error {
	return errors.Join(s.command.Process.Signal(interrupt), s.command.Wait())
}
