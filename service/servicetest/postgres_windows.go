package servicetest

import "syscall"

// Unprivileged has nothing to do here: PostgreSQL gives up its rights by itself.
func Unprivileged(string) (*syscall.SysProcAttr, error) { return nil, nil }
