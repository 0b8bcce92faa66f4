package cli

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/spf13/cobra"
)

// CurrentToken is the token that requests carry.
func (s *Session) CurrentToken(cmd *cobra.Command, t *Target) (string, error) {
	if t.IsEmbedded() {
		return s.embedded.Token(), nil
	}
	return s.Token(cmd.Context(), t)
}

// ClaimsOf is what a JWT says of itself, nothing for an opaque token; nothing is verified.
func ClaimsOf(token string) (claims jwt.RegisteredClaims) {
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return jwt.RegisteredClaims{}
	}
	return claims
}

// Expiry is when a token says that it ends; zero when it does not.
func Expiry(token string) time.Time {
	if at := ClaimsOf(token).ExpiresAt; at != nil {
		return at.Time
	}
	return time.Time{}
}
