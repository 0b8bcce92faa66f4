-- A lease is pending while a change of its call waits at a client: then it lasts longer, and is no card.
ALTER TABLE queue_leases ADD COLUMN pending BIGINT NOT NULL DEFAULT 0;
