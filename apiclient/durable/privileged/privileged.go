// Package privileged prepares what only root may do for tests. It uses sudo if the tests run as another user. Without
// either, the test is skipped, and fails under CI.
package privileged

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// OtherUser is the number of a user that runs no tests.
const OtherUser = 65534

// GiveToOther makes a file or folder another user's until the test ends.
func GiveToOther(t testing.TB, path string) {
	t.Helper()
	if err := chown(path, OtherUser); err != nil {
		LeaveOut(t, "give a file to another user", err)
	}
	t.Cleanup(func() { _ = chown(path, os.Getuid()) }) // It may be gone; its folder must be removed.
}

// chown gives a path to a user.
func chown(path string, user int) error {
	err := os.Lchown(path, user, -1)
	if os.IsPermission(err) {
		err = sudo("chown", "--no-dereference", strconv.Itoa(user), path)
	}
	return err
}

// sudo runs a command as root, without asking. It is not bound to a test, since it also puts back
// what one has prepared.
func sudo(args ...string) error {
	return exec.CommandContext(context.Background(), "sudo", append([]string{"-n"}, args...)...).Run()
}

// LeaveOut ends a test that cannot be prepared.
func LeaveOut(t testing.TB, what string, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("%s needs root or sudo: %v", what, err)
}
