-- When a lease was shown to its agent. Null: it was taken ahead and is not shown yet; 0: when it was
-- taken, as it is for programs that do not write the column.

ALTER TABLE queue_leases ADD COLUMN shown_at BIGINT DEFAULT 0;

-- What agents who did not reach the donor left for the next one.
ALTER TABLE queue_calls ADD COLUMN note TEXT;

-- Which numbers were called lately, and whose: by a keyed digest of the number.
CREATE TABLE queue_numbers (
    digest      IDENTIFIER NOT NULL CONSTRAINT queue_numbers_by_digest PRIMARY KEY,
    person_uuid IDENTIFIER NOT NULL,
    rung_at     BIGINT NOT NULL
);
CREATE INDEX queue_numbers_by_time ON queue_numbers (rung_at);

-- The identifier of the key that signed a token: a key goes with its last token. Null: not known.
ALTER TABLE tokens ADD COLUMN signed_by TEXT;
