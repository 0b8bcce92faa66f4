package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/service"
)

// rewriteRate is how fast an SQLite file is written anew at least, in bytes a second.
const rewriteRate = 20 << 20

func (p *program) cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the bytes of erased data from the database's files",
		Long: "Clean removes erased data from the unused space of the database's files. If\n" +
			"nothing was erased since the last run, it does nothing. Run it every night; the\n" +
			"package has a timer for it.\n\n" +
			"On SQLite it rewrites the file, and changes wait meanwhile. It first says how\n" +
			"long that takes. On PostgreSQL it rewrites the tables one by one (VACUUM FULL),\n" +
			"each when it is free. It asks for a lock for one second and tries again for a\n" +
			"minute. Then it names the table and leaves it to the next run. Requests to a\n" +
			"table wait while it is rewritten. A table of more than 1 GiB is only named:\n" +
			"VACUUM FULL it in a quiet hour.",
		Example: "  fundeskd clean",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.store.Existing, p.store.AnswerTimeout = true, forgoTimeout
			name, err := p.databaseName()
			if err != nil {
				return err
			}
			if path, ok := strings.CutPrefix(name, "sqlite:"); ok {
				if file, err := os.Stat(path); err == nil {
					fmt.Fprintf(p.Err, "fundeskd: where something is to be cleaned, changes wait for up to %s\n", (time.Duration(file.Size()/rewriteRate+1) * time.Second))
				}
			}
			return answer(c.Context(), p, "clean", func(s *service.Service) (service.Scrubbed, error) {
				done, err := s.Clean(c.Context())
				if err == nil {
					p.tellLater(done.Later)
				}
				return done, err
			}, func(w io.Writer, done service.Scrubbed) {
				if len(done.Rewritten) == 0 {
					fmt.Fprintln(w, "nothing was written anew")
				} else {
					fmt.Fprintln(w, "written anew: "+strings.Join(done.Rewritten, ", "))
				}
			})
		},
	}
}

// tellLater names the tables that still hold what was erased.
func (p *program) tellLater(tables []string) {
	if len(tables) > 0 {
		fmt.Fprintf(p.Err, "fundeskd: what was erased lies in the unused space of the tables %s until the next fundeskd clean; where a table holds more than 1 GiB or belongs to another role, until its owner runs VACUUM FULL\n",
			strings.Join(tables, ", "))
	}
}
