-- Words for both engines: IDENTIFIER stands for 16 bytes, BYTES for any bytes, NUMBER for a number that
-- the engine gives to a new row. A line that begins with --sqlite or --postgres is for that engine alone.
-- Times are milliseconds since 1970.
--
-- Each table of records has the columns that lists filter by, and one document: the record as it is sent.
-- Records refer to each other by number: those that belong together were saved together, so what a page
-- includes lies side by side. Documents stand last: SQLite reads through them to what stands behind.

CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE accounts (
    uuid              IDENTIFIER NOT NULL CONSTRAINT accounts_by_uuid PRIMARY KEY,
    name              TEXT NOT NULL,
    permissions       TEXT NOT NULL,
    all_organizations BIGINT NOT NULL,
    organizations     TEXT NOT NULL,
    external_sources  TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    revoked_at        BIGINT
);

-- The tokens of accounts: only those that have a row are accepted, until ended_at. Tokens that a program
-- makes for its own account share the row with the account's identifier, and their expires_at is null.
CREATE TABLE tokens (
    token_uuid   IDENTIFIER NOT NULL CONSTRAINT tokens_by_uuid PRIMARY KEY,
    account_uuid IDENTIFIER NOT NULL,
    issued_at    BIGINT NOT NULL,
    expires_at   BIGINT,
    ended_at     BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account_uuid);

CREATE TABLE organizations (
    uuid              IDENTIFIER NOT NULL CONSTRAINT organizations_by_uuid PRIMARY KEY,
    name              TEXT NOT NULL,
    abbreviation      TEXT NOT NULL,
    max_call_attempts BIGINT,
    cooling_off       BIGINT NOT NULL,
    settings          BYTES
);

-- A user with ended_at may not sign in any more. subject is the digest of the issuer and the sub of the tokens that an
-- operator gave to the user. It is null if uuid is that digest, and for users who never sign in.
CREATE TABLE users (
    uuid         IDENTIFIER NOT NULL CONSTRAINT users_by_uuid PRIMARY KEY,
    organization IDENTIFIER,
    subject      IDENTIFIER,
    ended_at     BIGINT,
    doc          BYTES NOT NULL
);
CREATE UNIQUE INDEX users_by_subject ON users (subject) WHERE subject IS NOT NULL;

CREATE TABLE focus_areas (
    uuid         IDENTIFIER NOT NULL CONSTRAINT focus_areas_by_uuid PRIMARY KEY,
    organization IDENTIFIER NOT NULL,
    doc          BYTES NOT NULL
);

-- After how many months what belongs to an organization is erased or blanked; null: never.
CREATE TABLE retention (
    organization IDENTIFIER NOT NULL CONSTRAINT retention_by_organization PRIMARY KEY,
    calls        BIGINT,
    leads        BIGINT,
    persons      BIGINT,
    audit        BIGINT -- Of the row with the identifier of zeros, which holds for the whole database.
);

-- The row of a person who was erased stays, so that the identifier is not used again: without a document,
-- and it belongs to no organization. erased_owner is the one to which the person belonged.
CREATE TABLE persons (
    number       NUMBER CONSTRAINT persons_by_number PRIMARY KEY,
    uuid         IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    recruiting   IDENTIFIER NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    erased_at    BIGINT,
    erased_owner IDENTIFIER,
    iban         TEXT,
    mandate_id   TEXT,
    rev          BIGINT NOT NULL,
    quality      BYTES,
    doc          BYTES NOT NULL
);

-- ended_at is null while the pledge is a lead or active.
CREATE TABLE pledges (
    number        NUMBER CONSTRAINT pledges_by_number PRIMARY KEY,
    uuid          IDENTIFIER NOT NULL,
    owner         IDENTIFIER NOT NULL,
    recruiting    IDENTIFIER NOT NULL,
    person_number BIGINT NOT NULL,
    recruiter     IDENTIFIER NOT NULL,
    status        TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    released_at   BIGINT,
    ended_at      BIGINT,
    external      BIGINT NOT NULL,
    payment_qr    BIGINT NOT NULL,
    has_signature BIGINT NOT NULL,
    rev           BIGINT NOT NULL,
    private       BYTES NOT NULL,
    doc           BYTES NOT NULL
);

CREATE TABLE signatures (
    pledge  IDENTIFIER NOT NULL CONSTRAINT signatures_by_pledge PRIMARY KEY,
    content BYTES NOT NULL
);

-- completed_by is the user of a completion that named one.
CREATE TABLE calls (
    number               NUMBER CONSTRAINT calls_by_number PRIMARY KEY,
    uuid                 IDENTIFIER NOT NULL,
    owner                IDENTIFIER NOT NULL,
    person_number        BIGINT NOT NULL,
    pledge_number        BIGINT,
    status               TEXT NOT NULL,
    requested_at         BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    completed_by         IDENTIFIER,
    external             BIGINT NOT NULL,
    external_application TEXT,
    external_reference   TEXT,
    external_status      TEXT,
    rev                  BIGINT NOT NULL,
    private              BYTES NOT NULL,
    doc                  BYTES NOT NULL
);

CREATE TABLE transactions (
    uuid          IDENTIFIER NOT NULL,
    pledge_number BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    method        TEXT NOT NULL,
    doc           BYTES NOT NULL
);

CREATE TABLE processed (
    account      IDENTIFIER NOT NULL,
    source       TEXT NOT NULL,
    entity_name  TEXT NOT NULL,
    entity       IDENTIFIER NOT NULL,
    processed_at BIGINT NOT NULL,
    consumer     IDENTIFIER,
    CONSTRAINT processed_by_entity PRIMARY KEY (account, source, entity_name, entity)
);
CREATE INDEX processed_by_entity_uuid ON processed (entity);

-- The indexes of lists hold what lists are filtered by: what does not pass is passed over without its row
-- being read. They end with the number, so that the row is not read to find it either. Calls with a
-- reference of another program and those without have indexes of their own. A pledge that its owner
-- recruited is found by the owner alone. Without vacuum an index of PostgreSQL does not tell which rows
-- every transaction sees, and rows are read after all.
CREATE UNIQUE INDEX persons_by_uuid ON persons (uuid);
CREATE INDEX persons_by_owner ON persons (owner, created_at, uuid, number);
CREATE INDEX persons_by_creation ON persons (created_at, uuid, owner, number) WHERE erased_at IS NULL;
CREATE INDEX persons_by_change ON persons (updated_at, created_at, uuid, owner, number) WHERE erased_at IS NULL;
CREATE INDEX persons_erased ON persons (erased_at, uuid, erased_owner, number) WHERE erased_at IS NOT NULL;
CREATE UNIQUE INDEX pledges_by_uuid ON pledges (uuid);
CREATE INDEX pledges_by_person ON pledges (person_number, created_at, uuid);
CREATE INDEX pledges_by_payment_qr ON pledges (payment_qr, created_at, uuid);
CREATE INDEX pledges_by_creation ON pledges (created_at, uuid, owner, recruiting, payment_qr, number);
CREATE INDEX pledges_owned ON pledges (owner, created_at, uuid, status, payment_qr, number);
CREATE INDEX pledges_recruited ON pledges ((CASE WHEN recruiting <> owner THEN recruiting END), created_at, uuid, owner, recruiting,
    status, payment_qr, number);
CREATE INDEX pledges_by_state ON pledges (status, created_at, uuid, owner, recruiting, payment_qr, number);
CREATE INDEX pledges_by_change ON pledges (updated_at, created_at, uuid, owner, recruiting, status, payment_qr, number);
CREATE INDEX pledges_released ON pledges (released_at, external, created_at, uuid, owner, recruiting, status, payment_qr, updated_at, number);
CREATE INDEX pledges_of_person_by_end ON pledges (person_number, owner, status, ended_at);
CREATE UNIQUE INDEX calls_by_uuid ON calls (uuid);
CREATE INDEX calls_by_person ON calls (person_number);
CREATE INDEX calls_of_pledge ON calls (pledge_number, requested_at, uuid) WHERE pledge_number IS NOT NULL;
CREATE INDEX calls_by_owner ON calls (owner, requested_at, uuid, number);
CREATE INDEX calls_by_request ON calls (requested_at, uuid, owner, number);
CREATE INDEX calls_in_state ON calls (status, requested_at, uuid, owner, number);
CREATE INDEX calls_by_code ON calls (external_status, requested_at, uuid, owner, status, number) WHERE external_status IS NOT NULL;
CREATE INDEX calls_by_owner_code ON calls (owner, external_status, requested_at, uuid, status, number) WHERE external_status IS NOT NULL;
CREATE INDEX calls_linked ON calls (external_application, external_reference, requested_at, uuid, owner, status, external_status, number)
    WHERE external_reference IS NOT NULL;
CREATE INDEX calls_linked_changed ON calls (updated_at, requested_at, uuid, owner, status, external_status, external_application,
    external_reference, number) WHERE (external_application IS NOT NULL OR external_reference IS NOT NULL);
CREATE INDEX calls_unlinked ON calls (requested_at, uuid, owner, status, external_status, number)
    WHERE external_application IS NULL AND external_reference IS NULL;
CREATE INDEX calls_unlinked_by_change ON calls (updated_at, requested_at, uuid, owner, status, external_status, number)
    WHERE external_application IS NULL AND external_reference IS NULL;
CREATE INDEX calls_completed ON calls (completed_by, requested_at, uuid, owner, status, external_status, external_application,
    external_reference, updated_at, number) WHERE completed_by IS NOT NULL;
CREATE UNIQUE INDEX transactions_by_uuid ON transactions (uuid);
CREATE INDEX transactions_by_pledge ON transactions (pledge_number, created_at, uuid);
--postgres ALTER TABLE persons SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE pledges SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE calls SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- The words and numbers by which a person is found, in the order of the list of persons: see service/search.go. terms
-- holds all of them, a space before each. letters has a bit for each beginning of a name.
CREATE TABLE search_persons (
    created_at BIGINT NOT NULL,
    uuid       IDENTIFIER NOT NULL,
    owner      IDENTIFIER NOT NULL,
    number     BIGINT NOT NULL,
    letters    BIGINT NOT NULL,
    terms      TEXT NOT NULL,
--sqlite CONSTRAINT search_persons_by_creation PRIMARY KEY (created_at, uuid)
--postgres CONSTRAINT search_persons_by_creation PRIMARY KEY (created_at, uuid) INCLUDE (owner, number, letters)
)
--sqlite WITHOUT ROWID
;

-- One row for each term, in the same order. It holds the columns that the list is filtered by.
CREATE TABLE search_terms (
    term       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    uuid       IDENTIFIER NOT NULL,
    owner      IDENTIFIER NOT NULL,
    number     BIGINT NOT NULL,
    letters    BIGINT NOT NULL,
--sqlite CONSTRAINT search_terms_by_term PRIMARY KEY (term, created_at, uuid)
--postgres CONSTRAINT search_terms_by_term PRIMARY KEY (term, created_at, uuid) INCLUDE (owner, number, letters)
)
--sqlite WITHOUT ROWID
;
--postgres ALTER TABLE search_persons SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE search_terms SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- The queue: calls that wait, leases, and what agents did. It names records by their identifiers.

-- Each call that is requested, by its number: new ones have their place at the end, and calls has the index
-- of its identifier and of its person. eligible_at is from when it may be given, null: not as things are. ready is
-- 1 once that time has come: the oldest of those is found without passing over the others. ready is 2 if the call is
-- not given any more, because the last pledge of the person ended too long ago: at ended_at. opted_in is 1 if the
-- person agreed to phone calls. country is where the person is called, empty if neither address nor number shows it.
-- kind has everything that calls are narrowed and ruled by. blocked_by is a number of the person that is blocked, by its
-- digest: the call is not given. note is what agents left for the next one.
CREATE TABLE queue_calls (
--sqlite call_number INTEGER NOT NULL CONSTRAINT queue_calls_by_number PRIMARY KEY,
--postgres call_number BIGINT NOT NULL CONSTRAINT queue_calls_by_number PRIMARY KEY,
    call_uuid    IDENTIFIER NOT NULL,
    person_uuid  IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    type         TEXT NOT NULL,
    language     TEXT NOT NULL,
    kind         TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    external     BIGINT NOT NULL,
    opted_out    BIGINT NOT NULL,
    opted_in     BIGINT NOT NULL,
    country      TEXT NOT NULL,
    ended_at     BIGINT,
    due_at       BIGINT,
    kept_for     IDENTIFIER,
    due_reason   TEXT,
    eligible_at  BIGINT,
    ready        BIGINT NOT NULL,
    blocked_by   IDENTIFIER,
    note         TEXT
);
CREATE INDEX queue_calls_by_age ON queue_calls (requested_at, call_uuid) WHERE ready = 1 AND due_at IS NULL;
CREATE INDEX queue_calls_by_kind ON queue_calls (kind, requested_at, call_uuid) WHERE ready = 1 AND due_at IS NULL;
CREATE INDEX queue_calls_by_due ON queue_calls (due_at, call_uuid) WHERE due_at IS NOT NULL;
CREATE INDEX queue_calls_kept_for ON queue_calls (kept_for, due_at, call_uuid) WHERE kept_for IS NOT NULL;
CREATE INDEX queue_calls_by_wake ON queue_calls (eligible_at) WHERE ready = 0;
CREATE INDEX queue_calls_by_end ON queue_calls (owner, ready, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX queue_calls_blocked ON queue_calls (blocked_by) WHERE blocked_by IS NOT NULL;
-- A take passes over the rows that were there before: vacuum clears them away when some hundreds have
-- gathered, however long the queue is.
--postgres ALTER TABLE queue_calls SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- How many calls of each kind are ready without a deferral, and how many are deferred, so that no request counts them.
-- Triggers keep it with each change of queue_calls. On PostgreSQL a change adds rows: two changes would wait for
-- each other at one row. The rows of a kind are summed up from time to time.
CREATE TABLE queue_counts (
--sqlite kind TEXT NOT NULL CONSTRAINT queue_counts_by_kind PRIMARY KEY,
--postgres kind TEXT NOT NULL,
    ready    BIGINT NOT NULL,
    deferred BIGINT NOT NULL
);
--postgres ALTER TABLE queue_counts SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

--sqlite CREATE TRIGGER queue_calls_inserted AFTER INSERT ON queue_calls
--sqlite WHEN new.ready = 1 OR new.due_at IS NOT NULL BEGIN
--sqlite     INSERT INTO queue_counts (kind, ready, deferred)
--sqlite     VALUES (new.kind, new.due_at IS NULL, new.due_at IS NOT NULL)
--sqlite     ON CONFLICT (kind) DO UPDATE SET ready = ready + excluded.ready, deferred = deferred + excluded.deferred;
--sqlite END;
--sqlite CREATE TRIGGER queue_calls_deleted AFTER DELETE ON queue_calls
--sqlite WHEN old.ready = 1 OR old.due_at IS NOT NULL BEGIN
--sqlite     UPDATE queue_counts SET
--sqlite         ready = ready - (old.due_at IS NULL),
--sqlite         deferred = deferred - (old.due_at IS NOT NULL)
--sqlite     WHERE kind = old.kind;
--sqlite END;
--sqlite CREATE TRIGGER queue_calls_updated AFTER UPDATE OF kind, ready, due_at ON queue_calls
--sqlite WHEN old.kind <> new.kind OR (old.due_at IS NULL) <> (new.due_at IS NULL)
--sqlite     OR old.due_at IS NULL AND (old.ready = 1) <> (new.ready = 1) BEGIN
--sqlite     UPDATE queue_counts SET
--sqlite         ready = ready - (old.ready = 1 AND old.due_at IS NULL),
--sqlite         deferred = deferred - (old.due_at IS NOT NULL)
--sqlite     WHERE kind = old.kind;
--sqlite     INSERT INTO queue_counts (kind, ready, deferred)
--sqlite     VALUES (new.kind, new.ready = 1 AND new.due_at IS NULL, new.due_at IS NOT NULL)
--sqlite     ON CONFLICT (kind) DO UPDATE SET ready = ready + excluded.ready, deferred = deferred + excluded.deferred;
--sqlite END;

--postgres CREATE FUNCTION count_queue_call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
--postgres     IF TG_OP <> 'INSERT' AND (old.ready = 1 OR old.due_at IS NOT NULL) THEN
--postgres         INSERT INTO queue_counts (kind, ready, deferred)
--postgres         VALUES (old.kind, -CAST(old.due_at IS NULL AS INT), -CAST(old.due_at IS NOT NULL AS INT));
--postgres     END IF;
--postgres     IF TG_OP <> 'DELETE' AND (new.ready = 1 OR new.due_at IS NOT NULL) THEN
--postgres         INSERT INTO queue_counts (kind, ready, deferred)
--postgres         VALUES (new.kind, CAST(new.due_at IS NULL AS INT), CAST(new.due_at IS NOT NULL AS INT));
--postgres     END IF;
--postgres     RETURN NULL;
--postgres END $$;
--postgres CREATE TRIGGER queue_calls_inserted AFTER INSERT ON queue_calls FOR EACH ROW
--postgres     WHEN (new.ready = 1 OR new.due_at IS NOT NULL) EXECUTE FUNCTION count_queue_call();
--postgres CREATE TRIGGER queue_calls_deleted AFTER DELETE ON queue_calls FOR EACH ROW
--postgres     WHEN (old.ready = 1 OR old.due_at IS NOT NULL) EXECUTE FUNCTION count_queue_call();
--postgres CREATE TRIGGER queue_calls_updated AFTER UPDATE ON queue_calls FOR EACH ROW
--postgres     WHEN (old.kind <> new.kind OR (old.due_at IS NULL) <> (new.due_at IS NULL)
--postgres         OR old.due_at IS NULL AND (old.ready = 1) <> (new.ready = 1)) EXECUTE FUNCTION count_queue_call();

-- The row of a person for the queue: the last contact on any call, and the claim of an agent. A claim is live if it has
-- a lease_uuid and its expires_at lies ahead. One that has expired stays until the next claim, or is moved to
-- ended_leases. shown_at is null while the call was taken ahead and is not shown yet. A claim is pending while a change
-- of its call waits at a client: then it lasts longer, and is no card. due_at, kept_for and due_reason are the deferral
-- that the call had: if it was due, the claim used it up, and a pause of its user restores it. rested_at is the last
-- contact with a rest of its own, which ends at rested_until. contacted_before is the last contact without one before
-- contacted_at.
CREATE TABLE donors (
    person_uuid  IDENTIFIER NOT NULL CONSTRAINT donors_by_person PRIMARY KEY,
    contacted_at BIGINT,
    contacted_before BIGINT,
    rested_at    BIGINT,
    rested_until BIGINT,
    lease_uuid   IDENTIFIER,
    account_uuid IDENTIFIER,
    request_uuid IDENTIFIER,
    ordinal      BIGINT,
    call_uuid    IDENTIFIER,
    owner        IDENTIFIER,
    type         TEXT,
    language     TEXT,
    user_uuid    IDENTIFIER,
    due_at       BIGINT,
    kept_for     IDENTIFIER,
    due_reason   TEXT,
    taken_at     BIGINT,
    shown_at     BIGINT,
    expires_at   BIGINT,
    pending      BIGINT
);
CREATE UNIQUE INDEX donors_by_lease ON donors (lease_uuid) WHERE lease_uuid IS NOT NULL;
CREATE UNIQUE INDEX donors_by_request ON donors (account_uuid, request_uuid, ordinal) WHERE lease_uuid IS NOT NULL;
CREATE INDEX donors_by_user ON donors (user_uuid) WHERE lease_uuid IS NOT NULL;
CREATE INDEX donors_by_expiry ON donors (expires_at) WHERE lease_uuid IS NOT NULL;
--postgres ALTER TABLE donors SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Which numbers were called lately, and whose, by a keyed digest of the number.
CREATE TABLE queue_numbers (
    digest       IDENTIFIER NOT NULL CONSTRAINT queue_numbers_by_digest PRIMARY KEY,
    person_uuid  IDENTIFIER NOT NULL,
    contacted_at BIGINT NOT NULL
);
CREATE INDEX queue_numbers_by_time ON queue_numbers (contacted_at);

-- Leases that have ended.
CREATE TABLE ended_leases (
    lease_uuid   IDENTIFIER NOT NULL CONSTRAINT ended_leases_by_uuid PRIMARY KEY,
    account_uuid IDENTIFIER NOT NULL,
    request_uuid IDENTIFIER NOT NULL,
    ordinal      BIGINT NOT NULL,
    call_uuid    IDENTIFIER NOT NULL,
    person_uuid  IDENTIFIER NOT NULL,
    owner        IDENTIFIER NOT NULL,
    type         TEXT NOT NULL,
    user_uuid    IDENTIFIER NOT NULL,
    due_at       BIGINT,
    taken_at     BIGINT NOT NULL,
    shown_at     BIGINT,
    expires_at   BIGINT NOT NULL,
    pending      BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL,
    ended_by     TEXT NOT NULL
);
CREATE INDEX ended_leases_by_request ON ended_leases (account_uuid, request_uuid, ordinal);
CREATE INDEX ended_leases_by_user ON ended_leases (user_uuid, ended_at);
CREATE INDEX ended_leases_by_end ON ended_leases (ended_at);
CREATE INDEX ended_leases_of_person ON ended_leases (person_uuid);

-- What users did in an hour, added to in the transaction of each change. A completion with a result code is in the row
-- of its code; everything else is in the row of the code ''.
CREATE TABLE queue_hours (
    user_uuid IDENTIFIER NOT NULL,
    hour      BIGINT NOT NULL,
    owner     IDENTIFIER NOT NULL,
    code      TEXT NOT NULL,
    taken     BIGINT NOT NULL,
    attempts  BIGINT NOT NULL,
    completed BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    expired   BIGINT NOT NULL,
    released  BIGINT NOT NULL,
    seen_at   BIGINT NOT NULL,
    CONSTRAINT queue_hours_by_user PRIMARY KEY (user_uuid, hour, owner, code)
);
CREATE INDEX queue_hours_by_hour ON queue_hours (hour);
--postgres ALTER TABLE queue_hours SET (fillfactor = 80);

-- Whether users take calls, as they set it last. Each row has the account that set it: a user need not be known.
CREATE TABLE user_states (
    user_uuid    IDENTIFIER NOT NULL CONSTRAINT user_states_by_user PRIMARY KEY,
    account_uuid IDENTIFIER NOT NULL,
    state        TEXT NOT NULL,
    reason       TEXT,
    since        BIGINT NOT NULL
);

-- The line of each organization to all desks.
CREATE TABLE queue_messages (
    organization IDENTIFIER NOT NULL CONSTRAINT queue_messages_by_organization PRIMARY KEY,
    text         TEXT NOT NULL,
    user_uuid    IDENTIFIER,
    sent_at      BIGINT NOT NULL,
    ends_at      BIGINT NOT NULL
);

-- What was done to which record, one line a change, in its transaction. Nothing refers to a line, its key
-- begins with the time. On PostgreSQL it is partitioned by the month of done_at: migrate and maintain make the
-- partitions, and audit_other has the lines of other months. The lines about a person are found by the person's number,
-- which grows, where the identifiers of new persons lie all over an index. shown has the persons whom a list showed, 16
-- bytes each.
CREATE TABLE audit (
    done_at       BIGINT NOT NULL,
    line_uuid     IDENTIFIER NOT NULL,
    account_uuid  IDENTIFIER,
    user_uuid     IDENTIFIER,
    request_id    TEXT NOT NULL,
    operation     TEXT NOT NULL,
    record_uuid   IDENTIFIER,
    person_uuid   IDENTIFIER,
    fields        TEXT NOT NULL,
    records       BIGINT,
    reason        TEXT NOT NULL,
    shown         BYTES,
    person_number BIGINT,
    CONSTRAINT audit_by_time PRIMARY KEY (done_at, line_uuid)
)
--sqlite WITHOUT ROWID
--postgres PARTITION BY RANGE (done_at)
;
--postgres CREATE TABLE audit_other PARTITION OF audit DEFAULT;
CREATE INDEX audit_by_person_number ON audit (person_number) WHERE person_number IS NOT NULL;
CREATE INDEX audit_of_lists ON audit (done_at, line_uuid) WHERE shown IS NOT NULL;

-- Numbers that an organization must not call, by a keyed digest. Each person who objected has a row for the number;
-- the row of an operator has the identifier of zeros. A row outlives the erasure of its person.
CREATE TABLE do_not_call (
    organization IDENTIFIER NOT NULL,
    digest       IDENTIFIER NOT NULL,
    person_uuid  IDENTIFIER NOT NULL,
    blocked_at   BIGINT NOT NULL,
    call_uuid    IDENTIFIER,
    user_uuid    IDENTIFIER,
    CONSTRAINT do_not_call_by_number PRIMARY KEY (organization, digest, person_uuid)
);
CREATE INDEX do_not_call_by_digest ON do_not_call (digest);
CREATE INDEX do_not_call_by_person ON do_not_call (person_uuid);

-- Why a donor may be contacted by a channel, or may not. Rows are only added, and end with the erasure of the person.
-- ordinal counts those of a person in the order in which they were added: of two of one time, the later one counts.
CREATE TABLE consents (
    person_uuid IDENTIFIER NOT NULL,
    ordinal     BIGINT NOT NULL,
    channel     TEXT NOT NULL,
    basis       TEXT NOT NULL,
    source      TEXT,
    wording     TEXT,
    at          BIGINT NOT NULL,
    user_uuid   IDENTIFIER,
    CONSTRAINT consents_by_person PRIMARY KEY (person_uuid, ordinal)
);

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

-- Who may be called by the settings of an organization, as JSON: what the queue reads of the settings, which are long.
CREATE TABLE queue_rules (
    organization IDENTIFIER NOT NULL CONSTRAINT queue_rules_by_organization PRIMARY KEY,
    rules        TEXT NOT NULL
);

-- The highest time that was given to a change. Changes that are made at one time do not wait for each other at a
-- sequence; settled_times is what lists said last. tended_times is when a process did the periodic work of the queue.
--sqlite CREATE TABLE given_times (at BIGINT NOT NULL);
--sqlite INSERT INTO given_times (at) VALUES (1);
--postgres CREATE SEQUENCE given_times;
--postgres CREATE SEQUENCE settled_times;
--postgres CREATE SEQUENCE tended_times;
--postgres SELECT setval('given_times', 1);
--postgres GRANT SELECT, UPDATE ON SEQUENCE given_times, settled_times, tended_times TO PUBLIC; -- A role may have been granted the tables alone.
