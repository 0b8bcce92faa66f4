package privileged

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// Mount mounts a file system in memory at a folder until the test ends. size is in the form of tmpfs, such as 16m.
func Mount(t testing.TB, folder, size string) {
	t.Helper()
	options := "mode=0700,uid=" + strconv.Itoa(os.Getuid()) + ",size=" + size
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err == nil {
		t.Cleanup(func() { ended(t, syscall.Unmount(folder, syscall.MNT_DETACH)) })
		return
	}
	if err := sudo("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder); err != nil {
		LeaveOut(t, "mount a small disk", err)
	}
	t.Cleanup(func() { ended(t, sudo("umount", "--lazy", folder)) })
}

func ended(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("unmount: %v", err)
	}
}
