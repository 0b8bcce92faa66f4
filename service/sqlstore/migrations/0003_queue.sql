-- The queue: calls that wait, leases, and what agents did. It names records by their
-- identifiers, and nothing of the interface refers to it. json(column, member) is a value
-- out of a stored document.

ALTER TABLE calls ADD COLUMN status TEXT;
UPDATE calls SET status = json(doc, status);
CREATE INDEX calls_by_state ON calls (status, requested_at, uuid);

-- Each call that is requested. eligible_at is from when it may be given, null: never, as
-- things are. ready is 1 when that time was seen to have come: the oldest of those is found
-- without passing over those that sleep.
CREATE TABLE queue_calls (
    call_uuid    IDENTIFIER NOT NULL CONSTRAINT queue_calls_by_uuid PRIMARY KEY,
    person_uuid  IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    type         TEXT NOT NULL,
    language     TEXT NOT NULL,
    kind         TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    external     BIGINT NOT NULL,
    opted_out    BIGINT NOT NULL,
    due_at       BIGINT,
    kept_for     IDENTIFIER,
    eligible_at  BIGINT,
    ready        BIGINT NOT NULL
);

-- When a person was last rung, on any of their calls.
CREATE TABLE queue_rings (
    person_uuid IDENTIFIER NOT NULL CONSTRAINT queue_rings_by_person PRIMARY KEY,
    rung_at     BIGINT NOT NULL
);

-- Leases, those that have ended too: ended_at is null while one holds.
CREATE TABLE queue_leases (
    lease_uuid   IDENTIFIER NOT NULL CONSTRAINT queue_leases_by_uuid PRIMARY KEY,
    account_uuid IDENTIFIER NOT NULL,
    request_uuid IDENTIFIER NOT NULL,
    ordinal      BIGINT NOT NULL,
    call_uuid    IDENTIFIER NOT NULL,
    person_uuid  IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    type         TEXT NOT NULL,
    language     TEXT NOT NULL,
    user_uuid    IDENTIFIER NOT NULL,
    due_at       BIGINT,
    taken_at     BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    seen_at      BIGINT NOT NULL,
    ended_at     BIGINT,
    ended_by     TEXT
);

-- What was done with the name of a user.
CREATE TABLE queue_work (
    done_at   BIGINT NOT NULL,
    work_uuid IDENTIFIER NOT NULL CONSTRAINT queue_work_by_uuid PRIMARY KEY,
    user_uuid IDENTIFIER NOT NULL,
    owner     IDENTIFIER NOT NULL,
    work      TEXT NOT NULL,
    code      TEXT
);

INSERT INTO queue_rings (person_uuid, rung_at)
SELECT p.uuid, MAX(t.updated_at)
FROM calls t JOIN persons p ON p.number = t.person_number
WHERE t.updated_at > (SELECT MAX(updated_at) FROM calls) - 14400000 AND CAST(json(t.doc, attemptsCount) AS BIGINT) > 0
GROUP BY p.uuid;

INSERT INTO queue_calls (call_uuid, person_uuid, owner, type, language, kind, requested_at, attempts, external, opted_out, eligible_at, ready)
SELECT w.call_uuid, w.person_uuid, w.owner, w.type, w.language, w.owner_text || ' ' || w.type || ' ' || w.language,
    w.requested_at, w.attempts, w.external, w.opted_out,
    CASE
        WHEN w.opted_out = 1 OR (w.external = 0 AND w.attempts >= w.most) THEN NULL
        WHEN w.rung_at + 14400000 > w.requested_at THEN w.rung_at + 14400000
        ELSE w.requested_at
    END, 0
FROM (
    SELECT t.uuid AS call_uuid, p.uuid AS person_uuid, t.owner, text(t.owner) AS owner_text,
        json(t.doc, type) AS type, COALESCE(json(p.doc, language), '') AS language,
        t.requested_at, CAST(json(t.doc, attemptsCount) AS BIGINT) AS attempts, t.external,
        CASE WHEN CAST(json(p.doc, optInPhone) AS VARCHAR) IN ('0', 'false') THEN 1 ELSE 0 END AS opted_out,
        COALESCE(o.max_call_attempts, 9223372036854775807) AS most, r.rung_at
    FROM calls t
    JOIN persons p ON p.number = t.person_number
    LEFT JOIN organizations o ON o.uuid = t.owner
    LEFT JOIN queue_rings r ON r.person_uuid = p.uuid
    WHERE t.status = 'requested'
) w;

CREATE INDEX queue_calls_by_age ON queue_calls (requested_at, call_uuid) WHERE ready = 1 AND due_at IS NULL;
CREATE INDEX queue_calls_by_kind ON queue_calls (kind, requested_at, call_uuid) WHERE ready = 1 AND due_at IS NULL;
CREATE INDEX queue_calls_by_due ON queue_calls (due_at, call_uuid) WHERE due_at IS NOT NULL;
CREATE INDEX queue_calls_by_wake ON queue_calls (eligible_at) WHERE ready = 0;
CREATE INDEX queue_calls_by_person ON queue_calls (person_uuid);
CREATE UNIQUE INDEX queue_leases_by_person ON queue_leases (person_uuid) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX queue_leases_by_request ON queue_leases (account_uuid, request_uuid, ordinal);
CREATE INDEX queue_leases_by_end ON queue_leases (expires_at) WHERE ended_at IS NULL;
CREATE INDEX queue_leases_by_user ON queue_leases (user_uuid, ended_at);
CREATE INDEX queue_leases_by_seen ON queue_leases (seen_at);
CREATE INDEX queue_work_by_time ON queue_work (done_at);
