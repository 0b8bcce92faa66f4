-- A lease is pending while a change of its call waits at a client: then it lasts longer, and is no card.
ALTER TABLE queue_leases ADD COLUMN pending BIGINT NOT NULL DEFAULT 0;

-- The highest time that was given to a change. Changes that are made at one time do not wait for each other at a
-- sequence; settled_times is what lists said last.
--sqlite CREATE TABLE given_times (at BIGINT NOT NULL);
--sqlite INSERT INTO given_times (at) SELECT MAX(at) FROM (SELECT 1 AS at UNION ALL SELECT MAX(updated_at) FROM persons UNION ALL SELECT MAX(updated_at) FROM pledges UNION ALL SELECT MAX(updated_at) FROM calls);
--postgres CREATE SEQUENCE given_times;
--postgres CREATE SEQUENCE settled_times;
--postgres SELECT setval('given_times', MAX(at)) FROM (SELECT 1 AS at UNION ALL SELECT MAX(updated_at) FROM persons UNION ALL SELECT MAX(updated_at) FROM pledges UNION ALL SELECT MAX(updated_at) FROM calls) AS known;
--postgres GRANT SELECT, UPDATE ON SEQUENCE given_times, settled_times TO PUBLIC; -- A role may have been granted the tables alone.
