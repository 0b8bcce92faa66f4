-- Who did what to which record, one line a change, in its transaction. Nothing refers to a line,
-- its key begins with the time, and lines are only added: on PostgreSQL the table may be replaced
-- by one of the same columns that is partitioned by done_at.

CREATE TABLE audit (
    done_at      BIGINT NOT NULL,
    line_uuid    IDENTIFIER NOT NULL,
    account_uuid IDENTIFIER,
    user_uuid    IDENTIFIER,
    request_id   TEXT NOT NULL,
    operation    TEXT NOT NULL,
    record_uuid  IDENTIFIER,
    person_uuid  IDENTIFIER,
    fields       TEXT NOT NULL,
    records      BIGINT,
    reason       TEXT NOT NULL,
    CONSTRAINT audit_by_time PRIMARY KEY (done_at, line_uuid)
)
--sqlite WITHOUT ROWID
;
CREATE INDEX audit_by_person ON audit (person_uuid, done_at, line_uuid) WHERE person_uuid IS NOT NULL;
CREATE INDEX audit_by_account ON audit (account_uuid, done_at, line_uuid) WHERE account_uuid IS NOT NULL;
