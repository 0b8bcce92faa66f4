package httpapi_test

import (
	"context"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// hooked is a store in which a test acts at points of reads and changes: "before Write", "after Claim". An error of the
// hook takes the place of the result.
type hooked struct {
	service.Store
	hook func(point string) error
}

// once returns a hook that acts at a point, the first time.
func once(point string, act func()) func(string) error { return at(point, sync.OnceFunc(act)) }

// at returns a hook that acts at a point, each time.
func at(point string, act func()) func(string) error {
	return func(reached string) error {
		if reached == point {
			act()
		}
		return nil
	}
}

// next returns a hook that acts between a change and the read or change that follows it. Its error fails that one.
func next(act func() error) func(string) error {
	isKept := false
	return func(reached string) error {
		switch reached {
		case "after Write":
			isKept = true
		case "before Write", "before Read", "before ReadRecord":
			if isKept {
				isKept = false
				return act()
			}
		}
		return nil
	}
}

// failAt returns a hook that fails at a point.
func failAt(point string, err error) func(string) error {
	return func(reached string) error {
		if reached == point {
			return err
		}
		return nil
	}
}

// Write makes a change between two points. It has no second one if the change fails.
func (h hooked) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	if err := h.hook("before Write"); err != nil {
		return err
	}
	err := h.Store.Write(ctx, mode, func(tx service.Tx) error { return change(hookedTx{tx, h.hook}) })
	return after(h.hook, "Write", err)
}

// Read reads between two points. The read of a single record has points of its own.
func (h hooked) Read(ctx context.Context, mode service.ReadMode, read func(service.Reader) error) error {
	name := "Read"
	if mode == service.ReadRecord {
		name = "ReadRecord"
	}
	if err := h.hook("before " + name); err != nil {
		return err
	}
	return after(h.hook, name, h.Store.Read(ctx, mode, read))
}

// Scrub cleans the files between two points.
func (h hooked) Scrub(ctx context.Context) (service.Scrubbed, error) {
	if err := h.hook("before Scrub"); err != nil {
		return service.Scrubbed{}, err
	}
	done, err := h.Store.Scrub(ctx)
	return done, after(h.hook, "Scrub", err)
}

// Unclean reads what waits to be cleaned, after a point.
func (h hooked) Unclean(ctx context.Context) (map[string]string, error) {
	if err := h.hook("before Unclean"); err != nil {
		return nil, err
	}
	return h.Store.Unclean(ctx)
}

// after calls a hook after a method that did not fail.
func after(hook func(string) error, method string, err error) error {
	if err != nil {
		return err
	}
	return hook("after " + method)
}

// hookedTx is a transaction with points of its own.
type hookedTx struct {
	service.Tx
	hook func(point string) error
}

func (t hookedTx) Audit(line service.AuditLine) error {
	if err := t.hook("before Audit " + string(line.Operation)); err != nil {
		return err
	}
	return t.Tx.Audit(line)
}

func (t hookedTx) Claim(leases []service.LeaseRow) ([]apitype.UUID, int, error) {
	if err := t.hook("before Claim"); err != nil {
		return nil, 0, err
	}
	saved, expired, err := t.Tx.Claim(leases)
	return saved, expired, after(t.hook, "Claim", err)
}

func (t hookedTx) InsertCall(c service.CallRow) error {
	if err := t.hook("before InsertCall"); err != nil {
		return err
	}
	return t.Tx.InsertCall(c)
}

func (t hookedTx) Lease(id apitype.UUID, scope service.Scope) (service.LeaseRow, error) {
	lease, err := t.Tx.Lease(id, scope)
	return lease, after(t.hook, "Lease", err)
}

func (t hookedTx) Leases(q service.LeaseQuery) ([]service.LeaseRow, error) {
	if err := t.hook("before Leases"); err != nil {
		return nil, err
	}
	return t.Tx.Leases(q)
}

func (t hookedTx) OpenQueue(
	account, request apitype.UUID,
	query service.QueueQuery,
	parse service.ParseRules,
) (service.QueueRequest, *service.FloorRules, error) {
	q, rules, err := t.Tx.OpenQueue(account, request, query, parse)
	return q, rules, after(t.hook, "OpenQueue", err)
}

func (t hookedTx) OrganizationForShare(id apitype.UUID) (service.Organization, error) {
	if err := t.hook("before OrganizationForShare"); err != nil {
		return service.Organization{}, err
	}
	o, err := t.Tx.OrganizationForShare(id)
	return o, after(t.hook, "OrganizationForShare", err)
}

func (t hookedTx) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	row, err := t.Tx.Person(id, scope)
	return row, after(t.hook, "Person", err)
}

func (t hookedTx) Tokens(account *apitype.UUID) ([]service.IssuedToken, error) {
	tokens, err := t.Tx.Tokens(account)
	return tokens, after(t.hook, "Tokens", err)
}
