package servicetest

import "syscall"

// unprivileged has nothing to do here: PostgreSQL gives up its rights by itself.
func unprivileged(string) (*syscall.SysProcAttr, error) { return nil, nil }
