package main

import (
	"os"
	"testing"

	"fundesk/service/servicetest"
)

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	servicetest.Check(t, os.WriteFile(path, content, 0o600))
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	servicetest.Check(t, err)
	return data
}
