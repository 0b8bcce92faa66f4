package commands

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"fundesk/apiclient/durable/privileged"
	"fundesk/service/servicetest"
)

// On a full disk no change is said to be held, and doctor says why none can be kept.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	privileged.Mount(t, dir, "128k")
	l := lineAt(t, serving(t, readsThen(status(http.StatusOK, "application/json", `{}`))), "t", "FUNDESK_STATE_DIR",
		dir)
	l.must(t, "outbox list")
	filler, err := os.Create(filepath.Join(dir, "filler"))
	servicetest.Check(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	servicetest.Check(t, filler.Close())
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	l.try(t, "call attempt "+testID+" --outbox --hold 1s").Ends(1, "put the change into the outbox",
		"make room").Lacks("held for")
	l.try(t, "doctor").Ends(1, "nothing can be saved in "+dir, "make room")
}
