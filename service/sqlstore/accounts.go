package sqlstore

import (
	"cmp"
	"database/sql"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var accountColumns = []string{
	"uuid",
	"name",
	"permissions",
	"all_organizations",
	"organizations",
	"external_sources",
	"created_at",
	"revoked_at",
}

var accountFields = sync.OnceValue(func() string { return strings.Join(accountColumns, `, `) })

// accountLists are the columns of an account that hold lists, as JSON.
type accountLists struct{ permissions, organizations, sources string }

// maxParsed bounds the lists that a connection remembers.
const maxParsed = 1000

// scanAccount reads the account columns. Every request reads its account: lists that
// were read before are not parsed again.
func (r *reader) scanAccount(scan func(...any) error) (service.Account, error) {
	var lists accountLists
	var a service.Account
	if err := scan(
		uuidDest{&a.UUID},
		&a.Name,
		&lists.permissions,
		&a.Scope.All,
		&lists.organizations,
		&lists.sources,
		timeDest{&a.CreatedAt},
		nullTimeDest{&a.RevokedAt},
	); err != nil {
		return a, err
	}
	parsed, ok := r.parsed[lists]
	if !ok {
		for _, list := range []struct {
			text string
			dest any
		}{
			{lists.permissions, &parsed.Permissions},
			{lists.organizations, &parsed.Scope.Organizations},
			{lists.sources, &parsed.ExternalSources},
		} {
			if err := json.Unmarshal([]byte(list.text), list.dest); err != nil {
				return a, err
			}
		}
		if len(r.parsed) >= maxParsed || r.parsed == nil {
			r.parsed = map[accountLists]service.Account{}
		}
		r.parsed[lists] = parsed
	}
	a.Permissions = parsed.Permissions
	a.Scope.Organizations = parsed.Scope.Organizations
	a.ExternalSources = parsed.ExternalSources
	return a, nil
}

func (r *reader) Account(id apitype.UUID) (service.Account, error) {
	return r.scanAccount(r.row(`SELECT `+accountFields()+` FROM accounts WHERE uuid = $1`, identifier(id)).scan)
}

// epochSetting is the epoch of copies; a load begins another one.
const epochSetting = "epoch"

// AccountOfToken reads the account of a request, and along with it which programs may serve the schema.
func (r *reader) AccountOfToken(account, token apitype.UUID) (a service.Account, ended *apitype.Time, err error) {
	var programs *string
	row := r.row(
		`SELECT `+readServedBy+`, COALESCE((SELECT value FROM settings
			WHERE name = '`+epochSetting+`'), ''), ended_at, `+accountFields()+`
		FROM tokens JOIN accounts ON uuid = account_uuid WHERE token_uuid = $1 AND account_uuid = $2`,
		identifier(token),
		identifier(account),
	)
	var epoch string
	a, err = r.scanAccount(func(dest ...any) error {
		return row.scan(append([]any{&programs, &epoch, nullTimeDest{&ended}}, dest...)...)
	})
	a.Epoch = epoch + r.engine.identity()
	return a, ended, cmp.Or(err, checkServedBy(programs))
}

// SignedInUser reads the user of a request and the programs that may serve the schema. A user with that subject comes
// before one with that UUID.
func (r *reader) SignedInUser(subject apitype.UUID) (service.SignedInUser, error) {
	var programs *string
	row := r.row(
		`SELECT `+readServedBy+`, COALESCE((SELECT value FROM settings WHERE name = '`+epochSetting+`'), ''),
			`+userColumns+` FROM users WHERE uuid = COALESCE((SELECT uuid FROM users WHERE subject = $1), $1)`,
		identifier(subject),
	)
	var found service.SignedInUser
	err := row.scan(append([]any{&programs, &found.Epoch}, userDest(&found.User)...)...)
	found.Epoch += r.engine.identity()
	return found, cmp.Or(err, checkServedBy(programs))
}

func (r *reader) Accounts() ([]service.Account, error) {
	var accounts []service.Account
	const order = ` FROM accounts ORDER BY created_at, uuid`
	err := r.each(`SELECT `+accountFields()+order, nil, func(rows *sql.Rows) error {
		a, err := r.scanAccount(rows.Scan)
		accounts = append(accounts, a)
		return err
	})
	return accounts, err
}

func (t *tx) InsertAccount(a service.Account) error {
	values, err := accountValues(a)
	if err != nil {
		return err
	}
	return t.insert(`INSERT INTO accounts (`+accountFields()+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, values...)
}

func (t *tx) UpdateAccount(a service.Account) error {
	values, err := accountValues(a)
	if err != nil {
		return err
	}
	return t.change(
		`UPDATE accounts SET (`+accountFields()+`) = ($1, $2, $3, $4, $5, $6, $7, $8) WHERE uuid = $1`,
		values...)
}

func accountValues(a service.Account) ([]any, error) {
	lists := make([]string, 0, 3)
	for _, list := range []any{a.Permissions, a.Scope.Organizations, a.ExternalSources} {
		text, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		lists = append(lists, string(text))
	}
	return []any{
		identifier(a.UUID),
		a.Name,
		lists[0],
		bit(a.Scope.All),
		lists[1],
		lists[2],
		a.CreatedAt.UnixMilli(),
		nullTime(a.RevokedAt),
	}, nil
}

const (
	organizationColumns = `uuid, name, abbreviation, max_call_attempts, cooling_off`
	selectOrganization  = `SELECT ` + organizationColumns + ` FROM organizations WHERE uuid = $1`
)

func organizationDest(o *service.Organization) []any {
	return []any{uuidDest{&o.UUID}, &o.Name, &o.Abbreviation, &o.MaxCallAttempts, milliDest{&o.CoolingOff}}
}

func (c *conn) organization(id apitype.UUID, lock string) (service.Organization, error) {
	var o service.Organization
	err := c.row(selectOrganization+lock, identifier(id)).scan(organizationDest(&o)...)
	return o, err
}

func (r *reader) Organization(id apitype.UUID) (service.Organization, error) {
	return r.organization(id, ``)
}

func (t *tx) OrganizationForShare(id apitype.UUID) (service.Organization, error) {
	return t.organization(id, t.engine.locking(`SHARE`))
}

func (t *tx) OrganizationForUpdate(id apitype.UUID) (service.Organization, error) {
	return t.organization(id, t.engine.locking(`UPDATE`))
}

func (r *reader) Organizations() ([]service.Organization, error) {
	return all(r.conn, `SELECT `+organizationColumns+` FROM organizations ORDER BY uuid`, nil, organizationDest)
}

func (t *tx) InsertOrganization(o service.Organization) error {
	doc, err := settingsDoc(o)
	if err != nil {
		return err
	}
	err = t.insert(`INSERT INTO organizations (`+organizationColumns+`, settings) VALUES ($1, $2, $3, $4, $5, $6)`,
		append(organizationDest(&o), doc)...)
	if err != nil {
		return err
	}
	return t.saveRules(o)
}

func (t *tx) UpdateOrganization(o service.Organization) error {
	doc, err := settingsDoc(o)
	if err != nil {
		return err
	}
	if err := t.saveRules(o); err != nil {
		return err
	}
	return t.change(
		`UPDATE organizations SET max_call_attempts = $2, cooling_off = $3, settings = COALESCE($4, settings)
			WHERE uuid = $1`,
		identifier(o.UUID),
		o.MaxCallAttempts,
		o.CoolingOff.Milliseconds(),
		doc,
	)
}

// settingsDoc returns the settings for agents in the form of the column, or nil without settings. Settings with
// columns of their own are left out.
func settingsDoc(o service.Organization) (any, error) {
	if o.Settings == nil {
		return nil, nil
	}
	settings := *o.Settings
	settings.UUID, settings.MaxCallAttempts = apitype.UUID{}, nil
	return json.Marshal(settings)
}

func (r *reader) OrganizationSettings(scope service.Scope) ([]apitype.OrganizationSettings, error) {
	q := &listQuery{conds: []string{`1 = 1`}}
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `uuid`+isOne(places))
	}
	conds := strings.Join(q.conds, ` AND `)
	text := `SELECT settings, uuid, max_call_attempts FROM organizations WHERE ` + conds + ` ORDER BY uuid`
	settings, err := all(r.conn, text, q.args, func(one *apitype.OrganizationSettings) []any {
		return []any{jsonDest{one}, uuidDest{&one.UUID}, &one.MaxCallAttempts}
	})
	return append([]apitype.OrganizationSettings{}, settings...), err
}

const userColumns = `uuid, organization, subject, ended_at, doc`

// userDest takes userColumns. The document has the identifier, too.
func userDest(u *service.User) []any {
	return []any{
		uuidDest{&u.UUID},
		nullUUIDDest{&u.Organization},
		nullUUIDDest{&u.Subject},
		nullTimeDest{&u.EndedAt},
		jsonDest{&u.RecruiterUser},
	}
}

func (r *reader) User(id apitype.UUID) (service.User, error) {
	var u service.User
	err := r.row(`SELECT `+userColumns+` FROM users WHERE uuid = $1`, identifier(id)).scan(userDest(&u)...)
	return u, err
}

func (r *reader) Users(scope service.Scope) ([]service.User, error) {
	q := &listQuery{}
	text := `SELECT ` + userColumns + ` FROM users`
	if !scope.All {
		text += ` WHERE organization IS NULL`
		if len(scope.Organizations) > 0 {
			text += ` OR organization` + isOne(bind(q, scope.Organizations, identifier))
		}
	}
	return all(r.conn, text+` ORDER BY uuid`, q.args, userDest)
}

func (t *tx) InsertUser(u service.User) error {
	return t.insert(`INSERT INTO users (`+userColumns+`) VALUES ($1, $2, $3, $4, $5)`, userDest(&u)...)
}

func (t *tx) UpdateUser(u service.User) error {
	return t.change(`UPDATE users SET (`+userColumns+`) = ($1, $2, $3, $4, $5) WHERE uuid = $1`, userDest(&u)...)
}

func (r *reader) FocusArea(id apitype.UUID) (service.FocusArea, error) {
	var a service.FocusArea
	err := r.row(`SELECT organization, doc FROM focus_areas WHERE uuid = $1`, identifier(id)).
		scan(uuidDest{&a.Organization}, jsonDest{&a.FocusArea})
	return a, err
}

func (t *tx) InsertFocusArea(a service.FocusArea) error {
	return t.insert(
		`INSERT INTO focus_areas (uuid, organization, doc) VALUES ($1, $2, $3)`,
		identifier(a.UUID),
		identifier(a.Organization),
		jsonDest{&a.FocusArea},
	)
}

func (c *conn) Setting(name string) (string, error) {
	var value string
	err := c.row(`SELECT COALESCE((SELECT value FROM settings WHERE name = $1), '')`, name).scan(&value)
	return value, err
}

func (c *conn) SetSetting(name, value string) error {
	_, err := c.exec(`INSERT INTO settings (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

func (t *tx) EnsureSetting(name, value string) (string, error) {
	_, err := t.exec(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return "", err
	}
	return t.Setting(name)
}

func (t *tx) DeleteSetting(name string) error {
	_, err := t.exec(`DELETE FROM settings WHERE name = $1`, name)
	return err
}

var tokenColumns = []string{"token_uuid", "account_uuid", "issued_at", "expires_at", "ended_at"}

func (r *reader) Tokens(account *apitype.UUID) ([]service.IssuedToken, error) {
	text, args := `SELECT `+strings.Join(tokenColumns, `, `)+` FROM tokens`, []any(nil)
	if account != nil {
		text, args = text+` WHERE account_uuid = $1`, []any{identifier(*account)}
	}
	var tokens []service.IssuedToken
	err := r.each(text+` ORDER BY account_uuid, issued_at, token_uuid`, args, func(rows *sql.Rows) error {
		var t service.IssuedToken
		err := rows.Scan(uuidDest{&t.UUID}, uuidDest{&t.Account}, timeDest{&t.IssuedAt},
			nullTimeDest{&t.ExpiresAt}, nullTimeDest{&t.EndedAt})
		tokens = append(tokens, t)
		return err
	})
	return tokens, err
}

func (t *tx) InsertToken(token service.IssuedToken) error {
	return t.insert(
		`INSERT INTO tokens (token_uuid, account_uuid, issued_at, expires_at, ended_at) VALUES ($1, $2, $3, $4, $5)`,
		identifier(token.UUID),
		identifier(token.Account),
		token.IssuedAt.UnixMilli(),
		nullTime(token.ExpiresAt),
		nullTime(token.EndedAt),
	)
}

func (t *tx) EndToken(id apitype.UUID, at apitype.Time) error {
	return t.change(`UPDATE tokens SET ended_at = $2 WHERE token_uuid = $1`, identifier(id), at.UnixMilli())
}
