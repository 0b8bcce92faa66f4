-- The indexes of lists hold what lists are filtered by: what does not pass is passed over without
-- its row being read, however much that is. Calls with a reference of another program and without
-- have indexes of their own, so that a call of this service has an entry less than before, and one
-- of another program with a status code one more. A pledge that its owner recruited is found by
-- the owner alone.

CREATE INDEX CONCURRENTLY persons_by_creation ON persons (created_at, uuid, owner, number) WHERE erased_at IS NULL;
CREATE INDEX CONCURRENTLY pledges_by_creation ON pledges (created_at, uuid, owner, recruiting, payment_qr, number);
CREATE INDEX CONCURRENTLY pledges_owned ON pledges (owner, created_at, uuid, status, payment_qr, number);
CREATE INDEX CONCURRENTLY pledges_recruited ON pledges ((CASE WHEN recruiting <> owner THEN recruiting END), created_at, uuid, owner, recruiting,
    status, payment_qr, number);
CREATE INDEX CONCURRENTLY pledges_by_state ON pledges (status, created_at, uuid, owner, recruiting, payment_qr, number);
CREATE INDEX CONCURRENTLY pledges_by_change ON pledges (updated_at, created_at, uuid, owner, recruiting, status, payment_qr, number);
CREATE INDEX CONCURRENTLY pledges_released ON pledges (released_at, external, created_at, uuid, owner, recruiting, status, payment_qr, updated_at, number);
CREATE INDEX CONCURRENTLY calls_by_request ON calls (requested_at, uuid, owner, number);
CREATE INDEX CONCURRENTLY calls_in_state ON calls (status, requested_at, uuid, owner, number);
CREATE INDEX CONCURRENTLY calls_by_code ON calls (external_status, requested_at, uuid, owner, status, number) WHERE external_status IS NOT NULL;
CREATE INDEX CONCURRENTLY calls_by_owner_code ON calls (owner, external_status, requested_at, uuid, status, number) WHERE external_status IS NOT NULL;
CREATE INDEX CONCURRENTLY calls_by_link ON calls (external_application, external_reference, requested_at, uuid) WHERE external_reference IS NOT NULL;
CREATE INDEX CONCURRENTLY calls_unlinked ON calls (requested_at, uuid, owner, status, external_status, number)
    WHERE external_application IS NULL AND external_reference IS NULL;
CREATE INDEX CONCURRENTLY calls_unlinked_by_change ON calls (updated_at, requested_at, uuid, owner, status, external_status, number)
    WHERE external_application IS NULL AND external_reference IS NULL;
CREATE INDEX CONCURRENTLY calls_linked_by_change ON calls (updated_at, requested_at, uuid, owner, status, external_status, number)
    WHERE (external_application IS NOT NULL OR external_reference IS NOT NULL);
DROP INDEX CONCURRENTLY persons_by_time;
DROP INDEX CONCURRENTLY pledges_by_time;
DROP INDEX CONCURRENTLY pledges_by_owner;
DROP INDEX CONCURRENTLY pledges_by_recruiting;
DROP INDEX CONCURRENTLY pledges_by_status;
DROP INDEX CONCURRENTLY pledges_by_update;
DROP INDEX CONCURRENTLY pledges_by_release;
DROP INDEX CONCURRENTLY calls_by_time;
DROP INDEX CONCURRENTLY calls_by_state;
DROP INDEX CONCURRENTLY calls_by_status;
DROP INDEX CONCURRENTLY calls_by_reference;
DROP INDEX CONCURRENTLY calls_by_update;

-- Without vacuum an index does not tell which rows are seen by all, and rows are read after all.
--postgres ALTER TABLE persons SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE pledges SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE calls SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
