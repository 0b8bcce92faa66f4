package service

import (
	"bytes"

	"fundesk/apiclient/apitype"
)

// Records of an erased person stay, for the books, and are blanked.

// ErasingSetting is the prefix of settings that hold an erasure that was begun. The person's uuid follows.
const ErasingSetting = "erasing-"

// UncleanSetting is the prefix of settings for erased bytes that are still in the files.
const UncleanSetting = "unclean-"

// Erase blanks the call of an erased person. It reports false if the call is blank already.
func (c *CallRow) Erase(now apitype.Time) (bool, error) {
	if erased("call", c.Private) != nil {
		return false, nil
	}
	if err := c.Blank(now, true); err != nil {
		return false, err
	}
	return true, revise("call", &c.Private, func(private *callPrivate) {
		private.ErasedAt = &now
		private.Checks = nil
		private.Attempts = nil
		private.RequiredChecks = nil
	})
}

// Erase blanks the pledge of an erased person.
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

// Blank removes the notes, the external metadata and the recording of a call. Unless its person is erased, an external
// call keeps its application and reference, which name no donor, so that it stays external.
func (c *CallRow) Blank(now apitype.Time, isErased bool) error {
	var call apitype.Call
	if err := decode("call", c.Doc, &call); err != nil {
		return err
	}
	call.Notes, call.RecordingDuration, call.LastUpdatedAt = nil, nil, now
	if m := call.ExternalMetadata.Pointer(); m != nil && isErased {
		call.ExternalMetadata = apitype.EmbedPointer[apitype.CallExternalMetadata](nil)
	} else if m != nil {
		call.ExternalMetadata = apitype.Embed(
			apitype.CallExternalMetadata{ApplicationName: m.ApplicationName, ReferenceID: m.ReferenceID},
		)
	}
	if result := call.Result.Pointer(); result != nil {
		result.Notes = nil
		call.Result = apitype.EmbedPointer(result)
	}
	return c.write(call)
}

// Erase removes the payer from the transaction of an erased person.
func (t *TransactionRow) Erase() error { return revise("transaction", &t.Doc, redactPayer) }

// redactPayer removes the payer from a transaction, also from the texts of banks and payment providers.
func redactPayer(t *apitype.Transaction) {
	t.Name, t.IBAN, t.Description, t.ProviderMetadata = nil, nil, nil, nil
}

// erased refuses to change a record of an erased person. Its private columns hold the time of the erasure.
func erased(kind string, private []byte) error {
	if !bytes.Contains(private, []byte(`"erasedAt"`)) {
		return nil
	}
	return &Error{
		Kind: NotFound,
		Detail: "the person of this " + kind + " was erased; the " + kind + " takes no changes any more, and " +
			"nothing of this one was kept",
	}
}

// Retire blanks the call for the retention, and reports whether it had anything to lose. The call changes now, so that
// copies learn of it. The time of its last event stays in the row: retention and objections go by that.
func (c *CallRow) Retire(now apitype.Time) (bool, error) {
	doc, last := c.Doc, c.UpdatedAt
	err := c.Blank(last, false)
	if err != nil || bytes.Equal(doc, c.Doc) {
		return false, err
	}
	err = c.Blank(now, false)
	if err != nil {
		return false, err
	}
	return true, revise("call", &c.Private, func(private *callPrivate) {
		private.Blanked = &blanking{At: now.UnixMilli(), LastEvent: last.UnixMilli()}
	})
}

// blanking has the time at which the retention blanked a call, and that of the last event before it, in milliseconds.
// The store reads it as long as the call was not changed since.
type blanking struct {
	At        int64 `json:"at"`
	LastEvent int64 `json:"lastEvent"`
}

// blankedFields are the fields that a blanked call loses.
const blankedFields = "notes,result.notes,externalMetadata,recordingDuration"

// BlankedCall returns the line of a call that the retention blanks, or an erasure of its person.
func BlankedCall(call apitype.UUID, person *apitype.UUID, at apitype.Time) AuditLine {
	return AuditLine{
		At:        at,
		Operation: AuditCallBlank,
		Record:    &call,
		Person:    person,
		Fields:    blankedFields,
	}
}

// BlankedPledge returns the line of a pledge that an erasure of its person blanks.
func BlankedPledge(pledge, person apitype.UUID, at apitype.Time) AuditLine {
	return AuditLine{
		At:        at,
		Operation: AuditPledgeBlank,
		Record:    &pledge,
		Person:    &person,
		Fields:    "externalMetadata,recruitingLocationLabel,signature",
	}
}
