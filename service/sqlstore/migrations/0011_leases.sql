-- When a lease was shown to its agent. Null: it was taken ahead and is not shown yet; 0: when it was
-- taken, as it is for programs that do not write the column.

ALTER TABLE queue_leases ADD COLUMN shown_at BIGINT DEFAULT 0;

-- What agents who did not reach the donor left for the next one.
ALTER TABLE queue_calls ADD COLUMN note TEXT;

-- The identifier of the key that signed a token: a key goes with its last token. Null: not known.
ALTER TABLE tokens ADD COLUMN signed_by TEXT;
