package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// What belongs to a person who was erased stays, for the books, and is blanked. An erasure of many calls
// blanks them one after the other: until it has ended, requests blank them as they read them.

// ErasingSetting begins the names of the settings that name the persons whose calls are still being
// blanked; the names end with the person's identifier.
const ErasingSetting = "erasing-"

// UncleanSetting begins the names of the settings that say of what was erased that it is still in the files.
const UncleanSetting = "unclean-"

// Erase blanks the call of a person who was erased, and reports false for one that is blanked already.
func (c *CallRow) Erase(now apitype.Time) (changed bool, err error) {
	if erased("call", c.Private) != nil {
		return false, nil
	}
	if err := c.Blank(now, true); err != nil {
		return false, err
	}
	return true, revise("call", &c.Private, func(private *callPrivate) {
		private.ErasedAt = &now
		private.Checks = nil
		private.RequiredChecks = nil
	})
}

// Erase blanks the pledge of a person who was erased.
func (p *PledgeRow) Erase(now apitype.Time) error {
	var pledge apitype.Pledge
	if err := decode("pledge", p.Doc, &pledge); err != nil {
		return err
	}
	pledge.ExternalMetadata, pledge.RecruitingLocationLabel, pledge.UpdatedAt = nil, nil, now
	if err := p.write(pledge); err != nil {
		return err
	}
	return revise("pledge", &p.Private, func(private *pledgePrivate) { private.ErasedAt = &now })
}

// Blank takes from a call its notes, external metadata and what is known of its recording. Unless its person is
// erased, an external call keeps its application and reference: they name no donor, and it stays external.
func (c *CallRow) Blank(now apitype.Time, isErased bool) error {
	var call apitype.Call
	if err := decode("call", c.Doc, &call); err != nil {
		return err
	}
	call.Notes, call.RecordingDuration, call.LastUpdatedAt = nil, nil, now
	if m := call.ExternalMetadata.Pointer(); m != nil && isErased {
		call.ExternalMetadata = apitype.EmbedPointer[apitype.CallExternalMetadata](nil)
	} else if m != nil {
		call.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{ApplicationName: m.ApplicationName, ReferenceID: m.ReferenceID})
	}
	if result := call.Result.Pointer(); result != nil {
		result.Notes = nil
		call.Result = apitype.EmbedPointer(result)
	}
	return c.write(call)
}

// Erase removes the payer from the transaction of a person who was erased.
func (t *TransactionRow) Erase() error { return revise("transaction", &t.Doc, coverPayer) }

// coverPayer removes the payer from a transaction. What banks and payment providers write along names
// them too.
func coverPayer(t *apitype.Transaction) {
	t.Name, t.IBAN, t.Description, t.ProviderMetadata = nil, nil, nil, nil
}

// erased refuses to change a record of a person who was erased: what private columns hold of it
// says so.
func erased(kind string, private []byte) error {
	if !bytes.Contains(private, []byte(`"erasedAt"`)) {
		return nil
	}
	return &Error{Kind: NotFound, Detail: "the person of this " + kind + " was erased; the " + kind + " takes no changes any more, and nothing of this one was kept"}
}

// coverFor returns what blanks the calls of persons whose erasure is not finished; nil: there is none.
func coverFor(ctx context.Context, r Reader) (cover, error) {
	if !RequestOf(ctx).Erasing {
		return nil, nil
	}
	erasing, err := r.Erasing()
	if len(erasing) == 0 {
		return nil, err
	}
	return mapped(erasing, func(id apitype.UUID) []byte { return []byte(`"personUuid":"` + id.String() + `"`) }), err
}

// covered is a read that sees these calls blanked.
func covered(ctx context.Context, read func(Reader) error) func(Reader) error {
	return func(r Reader) error {
		cover, err := coverFor(ctx, r)
		if cover != nil {
			r = coveringReader{r, cover}
		}
		return cmp.Or(err, read(r))
	}
}

// coveredChange is covered for a change: it finds these calls as if they were erased already.
func coveredChange(ctx context.Context, change func(Tx) error) func(Tx) error {
	return func(tx Tx) error {
		cover, err := coverFor(ctx, tx)
		if cover != nil {
			tx = coveringTx{tx, coveringReader{tx, cover}}
		}
		return cmp.Or(err, change(tx))
	}
}

// cover blanks calls of some persons.
type cover [][]byte

func (c cover) call(row *CallRow) error {
	if !slices.ContainsFunc(c, func(person []byte) bool { return bytes.Contains(row.Doc, person) }) {
		return nil
	}
	if len(row.Private) == 0 {
		row.Private = []byte(`{}`)
	}
	_, err := row.Erase(row.UpdatedAt)
	return err
}

func (c cover) calls(rows []CallRow) (err error) {
	for i := range rows {
		err = errors.Join(err, c.call(&rows[i]))
	}
	return err
}

// coveringReader reads calls through a cover.
type coveringReader struct {
	Reader
	cover cover
}

// Call is the call as it will be.
func (r coveringReader) Call(id apitype.UUID, scope Scope) (CallRow, error) {
	row, err := r.Reader.Call(id, scope)
	if err == nil {
		err = r.cover.call(&row)
	}
	return row, err
}

func (r coveringReader) WholeCall(id apitype.UUID, scope Scope, w Weight) (*WholeCall, error) {
	whole, err := r.Reader.WholeCall(id, scope, w)
	if err != nil || whole == nil {
		return whole, err
	}
	if whole.Pledge != nil {
		err = r.cover.calls(whole.Pledge.Calls)
	}
	return whole, errors.Join(err, r.cover.call(&whole.CallRow))
}

func (r coveringReader) Calls(f CallFilter, part Range) ([]CallRow, error) {
	rows, err := r.Reader.Calls(f, part)
	return rows, errors.Join(err, r.cover.calls(rows))
}

// WholePledge has its calls likewise.
func (r coveringReader) WholePledge(id apitype.UUID, scope Scope, w Weight) (*WholePledge, error) {
	whole, err := r.Reader.WholePledge(id, scope, w)
	if whole != nil {
		err = errors.Join(err, r.cover.calls(whole.Calls))
	}
	return whole, err
}

type coveringTx struct {
	Tx
	covering coveringReader
}

// Call is the call as it will be.
func (t coveringTx) Call(id apitype.UUID, scope Scope) (CallRow, error) {
	return t.covering.Call(id, scope)
}
