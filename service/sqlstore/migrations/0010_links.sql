-- Calls of one reference of another program, however many these are, are passed over by their index,
-- those that were changed after a time by the index of changes; calls without a pledge have no entry
-- among those that are found by one.

-- An entry of an index of PostgreSQL has room for the three texts as IndexedText makes them. Those of
-- the first version, as they were sent, may be longer.
--postgres UPDATE calls SET external_application = (SELECT left(external_application, n) FROM generate_series(500, 125, -1) n WHERE octet_length(left(external_application, n)) <= 500 LIMIT 1) || '…' || encode(sha256(convert_to(external_application, 'UTF8')), 'hex') WHERE octet_length(external_application) > 567;
--postgres UPDATE calls SET external_reference = (SELECT left(external_reference, n) FROM generate_series(500, 125, -1) n WHERE octet_length(left(external_reference, n)) <= 500 LIMIT 1) || '…' || encode(sha256(convert_to(external_reference, 'UTF8')), 'hex') WHERE octet_length(external_reference) > 567;
--postgres UPDATE calls SET external_status = (SELECT left(external_status, n) FROM generate_series(500, 125, -1) n WHERE octet_length(left(external_status, n)) <= 500 LIMIT 1) || '…' || encode(sha256(convert_to(external_status, 'UTF8')), 'hex') WHERE octet_length(external_status) > 567;

CREATE INDEX CONCURRENTLY calls_linked ON calls (external_application, external_reference, requested_at, uuid, owner, status, external_status, number)
    WHERE external_reference IS NOT NULL;
CREATE INDEX CONCURRENTLY calls_linked_changed ON calls (updated_at, requested_at, uuid, owner, status, external_status, external_application,
    external_reference, number) WHERE (external_application IS NOT NULL OR external_reference IS NOT NULL);
CREATE INDEX CONCURRENTLY calls_of_pledge ON calls (pledge_number, requested_at, uuid) WHERE pledge_number IS NOT NULL;
DROP INDEX CONCURRENTLY calls_by_link;
DROP INDEX CONCURRENTLY calls_linked_by_change;
DROP INDEX CONCURRENTLY calls_by_pledge;
