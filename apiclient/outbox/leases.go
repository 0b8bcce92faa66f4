package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// Lease is a call on the screen of a terminal of this agent, or one that it has prefetched from the service's queue.
// Its file shows that to the agent's other terminals while the terminal lives. Afterwards the next one can take it
// over.
type Lease struct {
	Version   int          `json:"version,omitzero"` // Version, BaseURL and Account are filled in.
	BaseURL   string       `json:"baseUrl,omitzero"`
	Account   string       `json:"account,omitzero"`
	LeaseUUID apitype.UUID `json:"leaseUuid"`
	CallUUID  apitype.UUID `json:"callUuid"`
	UserUUID  apitype.UUID `json:"userUuid,omitzero"` // The agent. Zero if none is known.
	ExpiresAt time.Time    `json:"expiresAt"`         // As it was taken; it may have been extended since.
}

// staleLease is the time after its expiry in which the client still asks for a lease: only the service knows whether it
// lives, and its clock may differ from ours.
const staleLease = 24 * time.Hour

// HeldLease is a lease that this process holds: its file is locked.
type HeldLease struct {
	Lease
	box  *Outbox
	lock *os.File
}

// ErrOpenElsewhere is a call that another terminal of this agent has.
var ErrOpenElsewhere = errors.New("it is open in another terminal")

// HoldLease records that this process has a call. It returns ErrOpenElsewhere if another process has it, or this one
// under another lease.
func (o *Outbox) HoldLease(l Lease) (*HeldLease, error) {
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	err = o.eachLease(func(other Lease, free bool) error {
		if !free && other.CallUUID == l.CallUUID {
			return ErrOpenElsewhere
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.Version, l.BaseURL, l.Account = formatVersion, o.options.BaseURL, o.options.Account
	if err := writeSealed(o.path(dirLeases, l.LeaseUUID.String()), l); err != nil {
		return nil, fmt.Errorf("note the lease: %w", err)
	}
	return o.claimLease(l)
}

// claimLease locks the file of a lease. It needs the folder lock.
func (o *Outbox) claimLease(l Lease) (*HeldLease, error) {
	file, err := durable.OpenLocked(o.path(dirLeases, l.LeaseUUID.String()))
	if err != nil {
		return nil, fmt.Errorf("note the lease: %w", err)
	}
	return &HeldLease{Lease: l, box: o, lock: file}, nil
}

// Forget deletes the note after the end of the lease. The note may be nil.
func (h *HeldLease) Forget() error {
	if h == nil {
		return nil
	}
	unlock, err := h.box.lock()
	_ = h.lock.Close()
	if err != nil {
		return err
	}
	defer unlock()
	return h.box.unlink(dirLeases, h.LeaseUUID.String())
}

// Leave keeps the note for the next start. The note may be nil.
func (h *HeldLease) Leave() error {
	if h == nil {
		return nil
	}
	return h.lock.Close()
}

// AdoptLeases takes over the leases of dead terminals that may not have expired. It drops unreadable ones.
func (o *Outbox) AdoptLeases() ([]*HeldLease, error) {
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	var adopted []*HeldLease
	err = o.eachLease(func(l Lease, free bool) error {
		if !free {
			return nil
		}
		if o.options.Now().Sub(l.ExpiresAt) > staleLease {
			return o.unlink(dirLeases, l.LeaseUUID.String())
		}
		held, err := o.claimLease(l)
		if err != nil {
			return err
		}
		adopted = append(adopted, held)
		return nil
	})
	return adopted, err
}

// eachLease reads the notes of this account's terminals. free means that no living one holds the lease. It deletes
// unreadable notes. It needs the folder lock.
func (o *Outbox) eachLease(see func(l Lease, free bool) error) error {
	files, err := os.ReadDir(filepath.Join(o.dir, dirLeases))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the leases: %w", err)
	}
	for _, file := range files {
		id, isOurs := strings.CutSuffix(file.Name(), ".json")
		if !isOurs || !validID(id) {
			continue
		}
		var l Lease
		path := o.path(dirLeases, id)
		free, err := !durable.IsHeld(path), readSealed(path, &l) // In this order.
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNewer), err == nil && !o.Owns(l.BaseURL, l.Account):
			continue
		case err != nil && free:
			err = o.unlink(dirLeases, id)
		case err == nil:
			err = see(l, free)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
