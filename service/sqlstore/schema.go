package sqlstore

import (
	"fmt"
	"slices"
	"strconv"

	"fundesk/service"
)

// servedBy is the version that a program must know, or a later one, to serve the schema as the
// migrations leave it. A migration only adds; one that takes away what earlier programs use raises
// it, and comes a release after the one that stopped using it.
const servedBy = 1

// servedBySetting is where a database says it.
const servedBySetting = "schema-served-by"

// schema is what a database says of its tables.
type schema struct {
	version  int // 0: there are none yet.
	servedBy int // 0: it does not say, so that only programs of its version know.
}

// known is the version of the schema that this program makes.
func known() int { return len(migrationTexts()) }

// texts returns the migrations that opening a database runs.
func (o Options) texts() []string { return append(slices.Clip(migrationTexts()), o.next...) }

// pending reports whether migrations are to be run: a schema that this program cannot serve is
// refused, and so is an older one when it must not be changed.
func (s schema) pending(o Options) (bool, error) {
	known := len(o.texts())
	switch {
	case s.version < 0:
		return false, fmt.Errorf("its schema is of version %d, which no program makes: the file is damaged, or another program's", s.version)
	case s.version > known && (s.servedBy == 0 || s.servedBy > known):
		return false, fmt.Errorf("its schema is of version %d, and this program knows %d; a later fundeskd made it, or another program", s.version, known)
	case s.version < known && o.NoMigrate:
		return false, fmt.Errorf("its schema is of version %d, and this program needs %d; run fundeskd migrate", s.version, known)
	default:
		return s.version < known, nil
	}
}

// readServedBy is the setting as a column of a query.
const readServedBy = `(SELECT value FROM settings WHERE name = '` + servedBySetting + `')`

// checkServedBy refuses what a request asks of a database that a later program has made another
// one meanwhile. Spec gap: S53.
func checkServedBy(text *string) error {
	if text == nil {
		return nil
	}
	if n, err := strconv.Atoi(*text); err != nil || n > known() {
		return &service.Error{
			Kind: service.Unavailable, Detail: "the database is of a later version than this program",
			Cause: fmt.Errorf("its schema is served by programs that know version %s; this one knows %d", *text, known()),
		}
	}
	return nil
}

// servedBy is what a database with tables says of its programs.
func (c *conn) servedBy() (n int, err error) {
	text, err := (&reader{c}).Setting(servedBySetting)
	if err == nil && text != "" {
		n, err = strconv.Atoi(text)
	}
	return n, err
}

// setServedBy says it.
func (c *conn) setServedBy() error {
	return (&tx{reader: reader{c}}).SetSetting(servedBySetting, strconv.Itoa(servedBy))
}
