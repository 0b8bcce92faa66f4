package sqlstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestAuditLines reads the lines of many changes by person, by account and by time, some at a time.
func TestAuditLines(t *testing.T) { each(t, testAuditLines) }

func testAuditLines(t *testing.T, database string) {
	store := reopen(t, database)
	persons := [2]apitype.UUID{apitype.NewUUID(), apitype.NewUUID()}
	accounts := [3]apitype.UUID{apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()}
	line := func(i int) service.AuditLine {
		at := apitype.NewTime(now.Add(time.Duration(i/2) * time.Second)) // Two at a time.
		l := service.AuditLine{
			At:        at,
			Operation: service.AuditPersonUpdate,
			Account:   &accounts[i%3],
			Records:   &i,
			Fields:    "iban",
		}
		if i%5 == 0 {
			l.User = &accounts[1]
		}
		if i%4 != 0 {
			l.Record, l.Person = &persons[i%2], &persons[i%2]
		}
		return l
	}
	const lines = 50
	update(t, store, func(tx service.Tx) (err error) {
		for _, id := range persons {
			row := service.PersonRow{UUID: id, CreatedAt: now, Rev: 1, Doc: []byte(`{}`)}
			err = errors.Join(err, tx.InsertPerson(row, &service.AuditLine{
				At:        now,
				Operation: service.AuditPersonCreate,
				Person:    &id,
			}))
		}
		return err
	})
	again := service.PersonRow{UUID: persons[0], CreatedAt: now, Rev: 1, Doc: []byte(`{}`)}
	created := service.AuditLine{At: now, Operation: service.AuditPersonCreate, Person: &persons[0]}
	if err := try(t, store, func(tx service.Tx) error {
		return tx.InsertPerson(again, &created)
	}); !errors.Is(err, service.ErrExists) {
		t.Errorf("a person that is there was added again: %v", err)
	}
	update(t, store, func(tx service.Tx) (err error) { // More than are written by one statement.
		for i := range lines {
			err = errors.Join(err, tx.Audit(line(i)))
		}
		return err
	})
	since := apitype.NewTime(now.Add(10 * time.Second))
	for name, test := range map[string]struct {
		filter  service.AuditFilter
		created int // Of the persons.
		want    func(i int) bool
	}{
		"all":           {service.AuditFilter{}, 2, func(int) bool { return true }},
		"of a person":   {service.AuditFilter{Person: &persons[1]}, 1, func(i int) bool { return i%2 == 1 }},
		"of another":    {service.AuditFilter{Person: &persons[0]}, 1, func(i int) bool { return i%4 == 2 }},
		"of an account": {service.AuditFilter{Account: &accounts[2]}, 0, func(i int) bool { return i%3 == 2 }},
		"of a user":     {service.AuditFilter{User: &accounts[1]}, 0, func(i int) bool { return i%5 == 0 }},
		"since":         {service.AuditFilter{Since: &since}, 0, func(i int) bool { return i >= 20 }},
		"of both, since": {
			filter: service.AuditFilter{Person: &persons[1], Account: &accounts[0], Since: &since},
			want: func(i int) bool {
				return i >= 20 &&
					i%2 == 1 &&
					i%3 == 0
			},
		},
		"unknown person":  {service.AuditFilter{Person: &accounts[0]}, 0, func(int) bool { return false }},
		"unknown account": {service.AuditFilter{Account: &persons[0]}, 0, func(int) bool { return false }},
	} {
		var want, got []int
		created := 0
		for i := range lines {
			if test.want(i) {
				want = append(want, i)
			}
		}
		test.filter.Limit = 7
		for more := true; more; {
			view(t, store, func(r service.Reader) error {
				page, err := r.AuditLines(test.filter)
				more = len(page) == test.filter.Limit
				for _, l := range page {
					test.filter.After = &service.Position{At: l.At, UUID: l.UUID}
					if l.Records == nil {
						created++
						continue
					}
					got = append(got, *l.Records)
					i := *l.Records
					if !l.At.Equal(line(i).At) ||
						*l.Account != accounts[i%3] ||
						(i%4 != 0 && *l.Person != persons[i%2]) ||
						l.Fields != "iban" {
						t.Errorf("%s: got %+v, want the line that was added", name, l)
					}
				}
				return err
			})
		}
		if created != test.created {
			t.Errorf("%s: got %d lines of creations, want %d", name, created, test.created)
		}
		slices.Sort(got) // At equal times the clock decides.
		servicetest.Same(t, name, want, got)
	}
}

// TestAuditLists finds the lists that showed a person, some lists at a time.
func TestAuditLists(t *testing.T) { each(t, testAuditLists) }

func testAuditLists(t *testing.T, database string) {
	store := reopen(t, database)
	a, b := apitype.NewUUID(), apitype.NewUUID()
	var across [2]apitype.UUID // Between which the bytes of a lie.
	copy(across[0][8:], a[:8])
	copy(across[1][:8], a[8:])
	user := apitype.NewUUID()
	lists := [][]apitype.UUID{
		{a}, {b}, {}, across[:], {b, a}, {a, b}, {b}, append(slices.Clone(across[:]), a), {b}, {b},
	}
	update(t, store, func(tx service.Tx) (err error) {
		for i, shown := range lists {
			line := service.AuditLine{
				At:        apitype.NewTime(now.Add(time.Duration(i) * time.Second)),
				Operation: service.AuditCallList,
				Records:   &i,
				Shown:     shown,
			}
			if i > 4 {
				line.User = &user
			}
			err = errors.Join(err, tx.Audit(line))
		}
		return err
	})
	for name, test := range map[string]struct {
		filter service.AuditFilter
		want   []int
	}{
		"a person":        {service.AuditFilter{Person: &a}, []int{0, 4, 5, 7}},
		"another":         {service.AuditFilter{Person: &b}, []int{1, 4, 5, 6, 8, 9}},
		"unknown":         {service.AuditFilter{Person: &user}, nil},
		"shown to a user": {service.AuditFilter{Person: &a, User: &user}, []int{5, 7}},
		"shown since a time": {
			filter: service.AuditFilter{Person: &a, Since: new(apitype.NewTime(now.Add(5 * time.Second)))},
			want:   []int{5, 7},
		},
	} {
		for limit := range 11 {
			var got []int
			test.filter.After, test.filter.Limit = nil, limit+1
			for hasMore := true; hasMore; hasMore = test.filter.After != nil {
				view(t, store, func(r service.Reader) error {
					lines, next, err := r.AuditLists(test.filter)
					test.filter.After = next
					for _, l := range lines {
						servicetest.Same(t, "shown", lists[*l.Records], l.Shown)
						got = append(got, *l.Records)
					}
					return err
				})
			}
			servicetest.Same(t, fmt.Sprintf("%s, %d at a time", name, limit+1), test.want, got)
		}
	}
}

// TestNoChangeWithoutItsLine lets the database refuse the line of a change: the change is not kept.
func TestNoChangeWithoutItsLine(t *testing.T) { each(t, testNoChangeWithoutItsLine) }

func testNoChangeWithoutItsLine(t *testing.T, database string) {
	store := reopen(t, database)
	servicetest.Check(t, store.Execute(t.Context(), `ALTER TABLE audit RENAME TO hidden`))
	change := func(tx service.Tx) error {
		return errors.Join(tx.SetSetting("tried", "yes"), tx.Audit(service.AuditLine{
			At:        now,
			Operation: service.AuditLoad,
		}))
	}
	for range 2 { // The connection is good for another one.
		if err := try(t, store, change); err == nil {
			t.Error("a change was kept without its line")
		}
	}
	view(t, store, func(r service.Reader) error {
		if value, err := r.Setting("tried"); value != "" || err != nil {
			t.Errorf("got %q %v, want nothing of the change", value, err)
		}
		return nil
	})

	servicetest.Check(t, store.Execute(t.Context(), `ALTER TABLE hidden RENAME TO audit`))
	update(t, store, change)
}

// TestTokens keeps tokens of two accounts, one of which ends early.
func TestTokens(t *testing.T) { each(t, testTokens) }

func testTokens(t *testing.T, database string) {
	store := reopen(t, database)
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", Scope: all, CreatedAt: now}
	later := func(days int) *apitype.Time { return new(apitype.NewTime(now.AddDate(0, 0, days))) }
	first := service.IssuedToken{UUID: apitype.NewUUID(), Account: account.UUID, IssuedAt: now, ExpiresAt: later(90)}
	second := service.IssuedToken{
		UUID:      apitype.NewUUID(),
		Account:   account.UUID,
		IssuedAt:  *later(1),
		ExpiresAt: later(91),
	}
	shared := service.IssuedToken{UUID: apitype.NewUUID(), IssuedAt: now}
	shared.Account = shared.UUID
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(second), tx.InsertToken(first),
			tx.InsertToken(shared))
	})
	update(t, store, func(tx service.Tx) error { return tx.EndToken(second.UUID, *later(2)) })
	second.EndedAt = later(2)
	view(t, store, func(r service.Reader) error {
		ofAccount, err := r.Tokens(&account.UUID)
		if diff := cmp.Diff([]service.IssuedToken{first, second}, ofAccount); diff != "" || err != nil {
			t.Errorf("of the account: %v %s", err, diff)
		}
		ofAll, err := r.Tokens(nil)
		if len(ofAll) != 3 || err != nil || cmp.Diff(shared, ofAll[0]) != "" && cmp.Diff(shared, ofAll[2]) != "" {
			t.Errorf("of all: got %v, %v, want that of another account, too", ofAll, err)
		}
		for _, test := range []struct {
			account, token apitype.UUID
			ended          *apitype.Time
			err            error
		}{
			{account.UUID, first.UUID, nil, nil},
			{account.UUID, second.UUID, second.EndedAt, nil},
			{account.UUID, shared.UUID, nil, service.ErrNoRow},
			{account.UUID, account.UUID, nil, service.ErrNoRow},
			{shared.Account, shared.UUID, nil, service.ErrNoRow}, // There is no such account.
		} {
			a, ended, err := r.AccountOfToken(test.account, test.token)
			if !errors.Is(err, test.err) || cmp.Diff(test.ended, ended) != "" || err == nil && a.Name != "a" {
				t.Errorf("%v: got %v, ended %v, %v", test, a, ended, err)
			}
		}
		return nil
	})
}
