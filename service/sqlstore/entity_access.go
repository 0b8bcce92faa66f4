package sqlstore

import "fundesk/apiclient/apitype"

func (t *tx) Mark(account apitype.UUID, entry apitype.ProcessedEntry) error {
	source := ""
	if entry.ExternalSourceName != nil {
		source = *entry.ExternalSourceName
	}
	_, err := t.exec(`INSERT INTO processed (account, source, entity_name, entity, processed_at, consumer)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account, source, entity_name, entity)
		DO UPDATE SET processed_at = excluded.processed_at, consumer = excluded.consumer`,
		identifier(account), source, string(entry.EntityName), identifier(entry.EntityUUID),
		entry.ProcessedAt.UnixMilli(), nullUUID(entry.ConsumerIdentifier))
	return err
}
