package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Server is fundeskd, built once for all tests; it is not slowed down by what the tests
// themselves are built with.
var Server = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fundesk-script")
	if err != nil {
		return "", err
	}
	serverDir = dir
	path := filepath.Join(dir, "fundeskd")
	out, err := exec.Command("go", "build", "-o", path, "fundesk/cmd/fundeskd").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

// sampleDemo is a folder with a demo's database, made once for all tests that do not
// look at how it is made.
var sampleDemo = sync.OnceValues(func() (string, error) {
	server, err := Server()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(server), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	out, err := exec.Command(server, "sample", "--persons", "300", "--database", "sqlite:"+filepath.Join(dir, "demo.db")).CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return dir, err
})

// CopyDemo gives a home folder the demo's data.
func CopyDemo(home string) error {
	from, err := sampleDemo()
	if err != nil {
		return err
	}
	to := filepath.Join(home, ".local", "share", "fundesk")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// serverDir is where Server built, "" when it was not asked for.
var serverDir string

// RemoveServer removes what the tests built.
func RemoveServer() {
	if serverDir != "" {
		os.RemoveAll(serverDir)
	}
}
