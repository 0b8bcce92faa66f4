//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// CheckTrust refuses a file or folder that another user could have written. The file, its folder, and below the home
// folder all parents must belong to this user or to root. Other users must not be able to write them, except the
// user's own group. A missing one is trusted. The error has the command that mends it.
func CheckTrust(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil || home == "/" {
		home = filepath.Dir(real)
	}
	for at := real; ; at = filepath.Dir(at) {
		if err := checkOne(at); err != nil {
			return err
		}
		isOutside := at != real && !strings.HasPrefix(at, home+"/")
		if at == home || at == "/" || isOutside {
			return nil
		}
	}
}

// checkOne refuses one file or folder that others could write. In a folder with the sticky bit, users can move only
// their own files.
func checkOne(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	own, mode := os.Geteuid(), info.Mode()
	if int(stat.Uid) != own && stat.Uid != 0 {
		return fmt.Errorf(
			"%s belongs to another user (%d), who could have written it; take it over with chown, or move it away",
			path,
			stat.Uid,
		)
	}
	isSticky := mode.IsDir() && mode&fs.ModeSticky != 0
	isForOthers := mode.Perm()&0o002 != 0 || mode.Perm()&0o020 != 0 && int(stat.Gid) != own
	if isForOthers && !isSticky {
		return fmt.Errorf("%s can be written by others; close it: chmod go-w %q", path, path)
	}
	return nil
}

// CheckClosed refuses a file that anybody but its owner and the program's own group can read or write, and one of
// another user, which is not root's; root uses the files of all. The error names the command that mends it. A file
// that is not there is trusted.
func CheckClosed(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	own, mode := os.Geteuid(), info.Mode().Perm()
	if own != 0 && stat.Uid != 0 && int(stat.Uid) != own {
		return fmt.Errorf(
			"%s belongs to another user (%d); run this as that user, or take it over: chown %d %s",
			path,
			stat.Uid,
			own,
			path,
		)
	}
	isOfOthers := mode&0o007 != 0
	isOfGroup := mode&0o070 != 0 && int(stat.Gid) != os.Getegid()
	if isOfOthers || isOfGroup {
		return fmt.Errorf("other users can read or write %s; close it: chmod 600 %s", path, path)
	}
	return nil
}
