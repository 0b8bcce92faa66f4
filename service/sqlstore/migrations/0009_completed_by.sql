-- The user of a completion, by which calls are found. Documents of before have it; earlier programs would not keep it.
-- The index holds each column that calls are filtered by.
ALTER TABLE calls ADD COLUMN completed_by IDENTIFIER;
--sqlite UPDATE calls SET completed_by = UNHEX(REPLACE(CAST(private AS TEXT) ->> 'completedByUserUuid', '-', '')) WHERE status = 'completed' AND INSTR(private, CAST('"completedByUserUuid":' AS BLOB)) > 0;
--postgres UPDATE calls SET completed_by = (convert_from(private, 'UTF8')::JSON ->> 'completedByUserUuid')::UUID WHERE status = 'completed' AND POSITION('"completedByUserUuid":'::BYTEA IN private) > 0;
CREATE INDEX calls_completed ON calls (completed_by, requested_at, uuid, owner, status, external_status, external_application, external_reference, updated_at, number)
    WHERE completed_by IS NOT NULL;
