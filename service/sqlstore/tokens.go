package sqlstore

import (
	"database/sql"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var tokenColumns = []string{"token_uuid", "account_uuid", "issued_at", "expires_at", "ended_at", "used_on", "signed_by"}

func (r *reader) Tokens(account *apitype.UUID) (tokens []service.IssuedToken, err error) {
	text, args := `SELECT `+strings.Join(tokenColumns, `, `)+` FROM tokens`, []any(nil)
	if account != nil {
		text, args = text+` WHERE account_uuid = $1`, []any{identifier(*account)}
	}
	err = r.each(text+` ORDER BY account_uuid, issued_at, token_uuid`, args, func(rows *sql.Rows) error {
		var t service.IssuedToken
		var day *int64
		err := rows.Scan(uuidDest{&t.UUID}, uuidDest{&t.Account}, timeDest{&t.IssuedAt}, nullTimeDest{&t.ExpiresAt}, nullTimeDest{&t.EndedAt}, &day, &t.SignedBy)
		if day != nil {
			t.LastUsedOn = new(apitype.DateOf(time.Unix(*day*secondsOfDay, 0).UTC()))
		}
		tokens = append(tokens, t)
		return err
	})
	return tokens, err
}

// A day is kept as its number since 1970.
const secondsOfDay = 24 * 60 * 60

func (t *tx) InsertToken(token service.IssuedToken) error {
	return t.insert(`INSERT INTO tokens (token_uuid, account_uuid, issued_at, expires_at, ended_at, signed_by) VALUES ($1, $2, $3, $4, $5, $6)`,
		identifier(token.UUID), identifier(token.Account), token.IssuedAt.UnixMilli(), nullTime(token.ExpiresAt), nullTime(token.EndedAt), token.SignedBy)
}

func (t *tx) EndToken(id apitype.UUID, at apitype.Time) error {
	return t.change(`UPDATE tokens SET ended_at = $2 WHERE token_uuid = $1`, identifier(id), at.UnixMilli())
}

// UseToken saves the day on which a token was used last, once a day. Tokens that share a row end
// when the last one does.
func (t *tx) UseToken(id apitype.UUID, on apitype.Date, expires apitype.Time) error {
	_, err := t.exec(`UPDATE tokens
		SET used_on = $2, expires_at = CASE WHEN expires_at > $3 THEN expires_at ELSE $3 END
		WHERE token_uuid = $1 AND (used_on IS NULL OR used_on < $2)`,
		identifier(id), on.Midnight().Unix()/secondsOfDay, expires.UnixMilli())
	return err
}
