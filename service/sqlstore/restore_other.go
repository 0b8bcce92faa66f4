//go:build !unix

package sqlstore

const seesLocks = false

// unserved leaves it to the system, which renames no file that another process has open.
func unserved(string) error { return nil }
