-- A number of the person that is blocked, by its digest: the call is not given. Null if none is.
ALTER TABLE queue_calls ADD COLUMN blocked_by IDENTIFIER;
CREATE INDEX queue_calls_blocked ON queue_calls (blocked_by) WHERE blocked_by IS NOT NULL;
