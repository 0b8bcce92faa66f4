package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// TestKilledBackup kills backups at their first and last step, at night at each step. A file with the name of the
// backup is complete, with its key. Remains of a killed backup do not block the next one.
func TestKilledBackup(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	e := newFileEnvironment(t)
	var counts map[string]int
	e.must(&counts, "sample --persons", inShort("1000", "3000"))
	database, err := os.Stat(filepath.Join(e.folder, "fundeskd.db"))
	servicetest.Check(t, err)
	begun := func(size int64) func(folder string) bool {
		return func(folder string) bool {
			return slices.ContainsFunc(listing(folder), func(file os.FileInfo) bool { return file.Size() >= size })
		}
	}
	named := func(suffix string) func(string) bool {
		return func(folder string) bool {
			return slices.ContainsFunc(listing(folder), func(file os.FileInfo) bool {
				return strings.HasSuffix(file.Name(), suffix)
			})
		}
	}
	steps := []struct {
		name string
		when func(folder string) bool
	}{
		{"begun", begun(0)},
		{"a page", begun(1)},
		{"half", begun(database.Size() / 2)},
		{"most", begun(database.Size() * 9 / 10)},
		{"named", named("backup.db")},
	}
	killed := 0
	if !*long {
		steps = slices.Delete(steps, 1, 4)
	}
	end := time.Now().Add(servicetest.Patience(t, time.Minute))
	for len(steps) > 0 {
		step, folder := steps[0], t.TempDir()
		file := filepath.Join(folder, "backup.db")
		command := exec.CommandContext(t.Context(), os.Args[0], "backup", file)
		command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder,
			"FUNDESKD_DATABASE="+e.database)
		servicetest.Check(t, command.Start())
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		for !step.when(folder) && len(ended) == 0 { // It may pass the step unseen, and end.
			runtime.Gosched()
		}
		_ = command.Process.Kill()
		if <-ended != nil {
			killed++
		}
		if _, err := os.Stat(file); err == nil {
			wantWhole(t, e, step.name, file, counts)
		}
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		e.try("backup", file).Ends(exitDone)
		e.try("check --database", "sqlite:"+file).Ends(exitDone)
		if killed > 0 || time.Now().After(end) { // A fast backup may end before it is killed: another one is begun.
			steps = steps[1:]
		}
	}
	if killed == 0 {
		t.Error("no backup was killed in time")
	}
}

func listing(folder string) []os.FileInfo {
	entries, _ := os.ReadDir(folder)
	var files []os.FileInfo
	for _, entry := range entries {
		if file, err := entry.Info(); err == nil { // A file that is gone is absent.
			files = append(files, file)
		}
	}
	return files
}

// wantWhole wants a sound database with all loaded records.
func wantWhole(t *testing.T, e environment, step, file string, counts map[string]int) {
	t.Helper()
	e.try("check --database", "sqlite:"+file).Ends(exitDone)
	copied := file + ".dump"
	var result map[string]int
	e.must(&result, "dump", copied, "--database", "sqlite:"+file)
	for table, rows := range result {
		if want, ok := counts[strings.TrimSuffix(table, "s")]; ok && rows != want {
			t.Errorf("%s: got %d %s, want %d", step, rows, table, want)
		}
	}
	servicetest.Check(t, os.Remove(copied))
}

// TestBackupIsStreamed streams a backup into another folder's database; the service reports its age. A file that is
// cut, has another sum, or is not a backup replaces nothing.
// Promise S13: a backup is one file, and its sum is known.
func TestBackupIsStreamed(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	account := e.account("a", "--all-organizations")
	running := e.serve()
	_, page := get(t, http.DefaultClient, running.url+"/metrics", "")
	if !strings.Contains(page, "\nfundeskd_backup_age_seconds +Inf\n") {
		t.Error("the metrics do not say that there was no backup")
	}
	code, backup, errs := e.run("backup -")
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(backup)))
	if code != exitDone || errs != sum+"  -\n" {
		t.Fatalf("got code %d, %s, want the sum %s", code, errs, sum)
	}
	_, page = get(t, http.DefaultClient, running.url+"/metrics", "")
	if !regexp.MustCompile(`\nfundeskd_backup_age_seconds [0-9.e-]+\n`).MatchString(page) {
		t.Error("the metrics do not say how old the backup is")
	}
	var named struct{ File, SHA256 string }
	file := filepath.Join(t.TempDir(), "backup.db")
	e.must(&named, "backup", file)
	if want := fmt.Sprintf("%x", sha256.Sum256(readFile(t, file))); named.File != file || named.SHA256 != want {
		t.Errorf("got %+v, want the file and its sum %s", named, want)
	}

	there := newFileEnvironment(t)
	there.done("organization add --name Before --abbreviation B")
	changed := strings.Replace(backup, account.UUID[:8], account.UUID[:8], 1) + "x"
	for _, wrong := range map[string]string{
		"cut":            backup[:len(backup)/2],
		"text":           "no backup",
		"nothing":        "",
		"its first page": backup[:4096],
	} {
		there.reading(wrong).try("restore -").Ends(exitFailure, "the backup: ") // Not the database.
	}
	flipped := []byte(backup)
	flipped[len(flipped)-1] ^= 1
	for _, wrong := range map[string]string{"longer": changed, "a bit": string(flipped)} {
		there.reading(wrong).try("restore - --sha256", sum).Ends(exitFailure, "has the SHA-256", sum)
	}
	there.try("restore", file, "--sha256", sum).Ends(exitFailure, named.SHA256)
	var organizations []struct{ Name string }
	if there.must(&organizations, "organization list"); len(organizations) != 1 || organizations[0].Name != "Before" {
		t.Errorf("got %v after what was refused, want what was there", organizations)
	}
	there.reading(backup).done("restore - --sha256", strings.ToUpper(sum), "--keep-tokens")
	other := there.serve()
	replies(t, other.url+"/api/v1/persons", account.Token, http.StatusOK)
	for _, folder := range []string{e.folder, there.folder} {
		for _, left := range listing(folder) {
			if left.IsDir() || strings.HasSuffix(left.Name(), ".unfinished") {
				t.Errorf("left over: %v", left.Name())
			}
		}
	}
}

// TestBackupOfTheNight runs the command of the timer's unit. A complete backup gets its name, old ones are deleted, and
// a failed backup leaves no file.
func TestBackupOfTheNight(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("systemd runs it with sh")
	}
	e := newFileEnvironment(t)
	e.done("migrate")
	unit := string(readFile(t, "deploy/fundeskd-backup.service"))
	_, line, _ := strings.Cut(unit, "-euc '")
	line, _, _ = strings.Cut(line, "'\n")
	line = strings.NewReplacer("$$", "$", "%%", "%", "\\\n", " ").Replace(line)
	programs, backups := t.TempDir(), t.TempDir()
	servicetest.Check(t, os.Symlink(os.Args[0], filepath.Join(programs, "fundeskd")))
	night := func(data string) error {
		command := exec.CommandContext(t.Context(), "sh", "-euc", line)
		command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+data, "FUNDESKD_DATABASE=",
			"FUNDESKD_BACKUPS="+backups,
			"FUNDESKD_BACKUP_DAYS=14", "PATH="+programs+":"+os.Getenv("PATH"))
		text, err := command.CombinedOutput()
		t.Logf("%s", text)
		return err
	}
	old := filepath.Join(backups, "fundeskd-2020-01-01T010000.db")
	write(t, old, "")
	servicetest.Check(t, os.Chtimes(old, time.Time{}, time.Now().AddDate(0, 0, -16)))
	if err := night(t.TempDir()); err == nil {
		t.Error("a backup of nothing passed")
	}
	if files := listing(backups); len(files) != 1 {
		t.Errorf("got %v after a backup that failed, want the old one alone", files)
	}
	servicetest.Check(t, night(e.folder))
	files := listing(backups)
	if len(files) != 1 || !strings.HasSuffix(files[0].Name(), ".db") || files[0].Size() < 10_000 {
		t.Fatalf("got %v, want the backup alone", files)
	}
	there := newFileEnvironment(t)
	there.reading(string(readFile(t, filepath.Join(backups, files[0].Name())))).done("restore -")
	there.done("check")
}
