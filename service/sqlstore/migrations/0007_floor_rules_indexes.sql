CREATE INDEX CONCURRENTLY pledges_of_person_by_end ON pledges (person_number, owner, status, ended_at, updated_at);
CREATE INDEX CONCURRENTLY queue_calls_by_end ON queue_calls (owner, ready, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX CONCURRENTLY queue_calls_not_placed ON queue_calls (call_number) WHERE country IS NULL;
