//go:build unix

package servicetest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Unprivileged lets PostgreSQL run in a folder where this is root, which it refuses to
// be.
func Unprivileged(folder string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		known, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(known.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(known.Gid)
		if err != nil {
			return nil, err
		}
		credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return &syscall.SysProcAttr{Credential: credential}, os.Chown(folder, uid, gid)
	}
	return nil, ErrNoPostgres
}
