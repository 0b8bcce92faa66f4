-- Calls that were completed without checks which their organization requires. names has spaces between them; number is
-- that of the call.
CREATE TABLE missing_checks (
    uuid         IDENTIFIER NOT NULL CONSTRAINT missing_checks_by_uuid PRIMARY KEY,
    number       BIGINT NOT NULL,
    person_uuid  IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    completed_at BIGINT NOT NULL,
    user_uuid    IDENTIFIER,
    names        TEXT NOT NULL
);
CREATE INDEX missing_checks_by_completion ON missing_checks (completed_at, uuid, owner, number);
CREATE INDEX missing_checks_by_owner ON missing_checks (owner, completed_at, uuid, number);
CREATE INDEX missing_checks_by_person ON missing_checks (person_uuid);
