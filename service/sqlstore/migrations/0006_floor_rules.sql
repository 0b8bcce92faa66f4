-- Who may be called by the settings of an organization, as JSON: what the queue reads of the settings, which are long.
CREATE TABLE queue_rules (
    organization IDENTIFIER NOT NULL CONSTRAINT queue_rules_by_organization PRIMARY KEY,
    rules        TEXT NOT NULL
);

-- When a pledge ended. Null: it is a lead or active.
ALTER TABLE pledges ADD COLUMN ended_at BIGINT;
--sqlite UPDATE pledges SET ended_at = COALESCE((SELECT MAX(CAST(ROUND(unixepoch(known.at, 'subsec') * 1000) AS INTEGER)) FROM (SELECT json_extract(CAST(doc AS TEXT), '$.endsAt') AS at UNION ALL SELECT json_extract(CAST(private AS TEXT), '$.cancelledAt') UNION ALL SELECT json_extract(CAST(private AS TEXT), '$.droppedAt')) AS known), updated_at) WHERE status NOT IN ('lead', 'active');
--postgres UPDATE pledges SET ended_at = COALESCE((SELECT MAX(CAST(EXTRACT(EPOCH FROM CAST(known.at AS TIMESTAMPTZ)) * 1000 AS BIGINT)) FROM (SELECT CAST(convert_from(doc, 'UTF8') AS JSON)->>'endsAt' AS at UNION ALL SELECT CAST(convert_from(private, 'UTF8') AS JSON)->>'cancelledAt' UNION ALL SELECT CAST(convert_from(private, 'UTF8') AS JSON)->>'droppedAt') AS known), updated_at) WHERE status NOT IN ('lead', 'active');

-- opted_in is 1 if the person agreed to phone calls. country is where the person is called, empty if neither address
-- nor number tells, and null until the row of an earlier program was looked at. ended_at is when the last pledge of
-- the person ended, null while one is a lead or active. kind has all that calls are narrowed and ruled by. ready is 2
-- for a call that is not given any more because the last pledge ended too long ago.
ALTER TABLE queue_calls ADD COLUMN opted_in BIGINT NOT NULL DEFAULT 0;
ALTER TABLE queue_calls ADD COLUMN country TEXT;
ALTER TABLE queue_calls ADD COLUMN ended_at BIGINT;
