package sqlstore

import (
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var (
	userStateColumns = []string{"user_uuid", "account_uuid", "state", "reason", "since"}
	messageColumns   = []string{"organization", "text", "user_uuid", "sent_at", "ends_at"}
)

func userStateDest(s *service.UserStateRow) []any {
	return []any{uuidDest{&s.User}, uuidDest{&s.Account}, &s.State, &s.Reason, timeDest{&s.Since}}
}

func (r *reader) UserStates(user *apitype.UUID, since apitype.Time) ([]service.UserStateRow, error) {
	return r.userStates(user, since, ``)
}

func (t *tx) UserStatesForShare(user apitype.UUID, since apitype.Time) ([]service.UserStateRow, error) {
	return t.userStates(&user, since, t.engine.locking(`SHARE OF s`))
}

func (r *reader) userStates(user *apitype.UUID, since apitype.Time, lock string) ([]service.UserStateRow, error) {
	q := &listQuery{}
	q.where(`s.since >= %s`, since.UnixMilli())
	if user != nil {
		q.where(`s.user_uuid = %s`, identifier(*user))
	}
	text := `SELECT s.` + strings.Join(userStateColumns, `, s.`) + `, u.organization, u.uuid IS NOT NULL
		FROM user_states s LEFT JOIN users u ON u.uuid = s.user_uuid WHERE ` + strings.Join(q.conds, ` AND `) + lock
	return all(r.conn, text, q.args, func(s *service.UserStateRow) []any {
		return append(userStateDest(s), nullUUIDDest{&s.Organization}, &s.IsKnown)
	})
}

var setUserState = sync.OnceValue(func() string {
	return insertText("user_states", userStateColumns) + ` ON CONFLICT (user_uuid) DO UPDATE SET
	account_uuid = excluded.account_uuid,
	state = excluded.state,
	reason = excluded.reason,
	since = excluded.since`
})

func (t *tx) SetUserState(s service.UserStateRow) error {
	_, err := t.exec(setUserState(), userStateDest(&s)...)
	return err
}

func (t *tx) EndPause(user apitype.UUID, now apitype.Time) error {
	_, err := t.exec(`UPDATE user_states SET state = 'ready', reason = NULL, since = $2
		WHERE user_uuid = $1 AND state = 'paused'`, identifier(user), now.UnixMilli())
	return err
}

func messageDest(m *service.MessageRow) []any {
	return []any{
		uuidDest{&m.OrganizationUUID},
		&m.Text,
		nullUUIDDest{&m.UserUUID},
		timeDest{&m.At},
		timeDest{&m.EndsAt},
	}
}

func (r *reader) QueueMessages(scope service.Scope, now apitype.Time) ([]service.MessageRow, error) {
	q := &listQuery{}
	q.where(`ends_at > %s`, now.UnixMilli())
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `organization`+isOne(places))
	} else if !scope.All {
		return nil, nil
	}
	return all(r.conn, `SELECT `+strings.Join(messageColumns, `, `)+` FROM queue_messages
		WHERE `+strings.Join(q.conds, ` AND `)+` ORDER BY organization`, q.args, messageDest)
}

var setMessage = sync.OnceValue(func() string {
	return insertText("queue_messages", messageColumns) + ` ON CONFLICT (organization) DO UPDATE SET
	text = excluded.text,
	user_uuid = excluded.user_uuid,
	sent_at = excluded.sent_at,
	ends_at = excluded.ends_at`
})

func (t *tx) SetQueueMessage(m service.MessageRow) error {
	_, err := t.exec(setMessage(), messageDest(&m)...)
	return err
}

func (t *tx) EndQueueMessage(organization apitype.UUID) error {
	_, err := t.exec(`DELETE FROM queue_messages WHERE organization = $1`, identifier(organization))
	return err
}
