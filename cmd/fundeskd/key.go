package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fundesk/service"
)

func (p *program) keyRotate() *cobra.Command {
	var endOld bool
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Sign tokens with a new key from now on",
		Long: "Rotate makes a new signing key. Tokens that were issued before stay good until\n" +
			"they end; what serves the database knows of the new key at once. Where a key is\n" +
			"in wrong hands, --end-old-tokens voids all that the earlier ones signed, in\n" +
			"every process within seconds: then issue new tokens with fundeskd token issue.",
		Example: "  fundeskd key rotate",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.store.Existing = true
			return answer(c.Context(), p, "", func(s *service.Service) (service.KeyRotation, error) {
				rotation, err := s.RotateKey(c.Context(), endOld)
				if err == nil && endOld {
					err = p.noteAccess(c.Context(), s, nil)
				}
				return rotation, err
			}, func(w io.Writer, rotation service.KeyRotation) {
				fmt.Fprintf(w, "tokens are signed with %s now\n", rotation.Key)
				for _, earlier := range rotation.Earlier {
					fmt.Fprintf(w, "tokens of %s stay good until they end\n", earlier)
				}
			})
		},
	}
	c.Flags().BoolVar(&endOld, "end-old-tokens", false, "refuse what the earlier keys signed: tokens, cursors and links")
	return c
}
