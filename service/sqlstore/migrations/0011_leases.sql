-- When a lease was shown to its agent. Null: it was taken ahead and is not shown yet; 0: when it was
-- taken, as it is for programs that do not write the column.

ALTER TABLE queue_leases ADD COLUMN shown_at BIGINT DEFAULT 0;

-- What agents who did not reach the donor left for the next one.
ALTER TABLE queue_calls ADD COLUMN note TEXT;

-- What users did in an hour, counted when it was over: what queue_leases and queue_work say of it.
CREATE TABLE queue_hours (
    hour      BIGINT NOT NULL,
    user_uuid IDENTIFIER NOT NULL,
    owner     IDENTIFIER NOT NULL,
    what      TEXT NOT NULL,
    code      TEXT NOT NULL,
    records   BIGINT NOT NULL,
    seen_at   BIGINT NOT NULL,
    CONSTRAINT queue_hours_by_hour PRIMARY KEY (hour, user_uuid, owner, what, code)
);

-- When a person was changed last, for whoever keeps a copy, and to which organization one who was
-- erased belonged.
ALTER TABLE persons ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE persons ADD COLUMN erased_owner IDENTIFIER;
UPDATE persons SET updated_at = created_at;
CREATE INDEX persons_by_change ON persons (updated_at, created_at, uuid, owner, number) WHERE erased_at IS NULL;
CREATE INDEX persons_erased ON persons (erased_at, uuid, erased_owner, number) WHERE erased_at IS NOT NULL;

-- Which numbers were called lately, and whose: by a keyed digest of the number.
CREATE TABLE queue_numbers (
    digest      IDENTIFIER NOT NULL CONSTRAINT queue_numbers_by_digest PRIMARY KEY,
    person_uuid IDENTIFIER NOT NULL,
    rung_at     BIGINT NOT NULL
);
CREATE INDEX queue_numbers_by_time ON queue_numbers (rung_at);

-- The identifier of the key that signed a token: a key goes with its last token. Null: not known.
ALTER TABLE tokens ADD COLUMN signed_by TEXT;

-- The leases of a person, for an export.
CREATE INDEX queue_leases_of_person ON queue_leases (person_uuid);
