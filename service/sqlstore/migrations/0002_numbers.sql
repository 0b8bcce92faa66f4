-- Records refer to each other by number: those that belong together were saved together,
-- so what a page includes lies side by side, where random identifiers lie anywhere.
-- IDENTIFIER stands for 16 bytes, NUMBER for a number that the engine gives to a new row;
-- what stands in braces is an identifier of the schema before, which SQLite kept as text.
-- Rows come in the order of their list. The indexes that lists are merged or sorted by end
-- with the number: the row itself is then not read to find it.

ALTER TABLE accounts RENAME TO old_accounts;
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
INSERT INTO accounts
SELECT {uuid}, name, permissions, all_organizations, organizations, external_sources, created_at, revoked_at
FROM old_accounts;
DROP TABLE old_accounts;

ALTER TABLE organizations RENAME TO old_organizations;
CREATE TABLE organizations (
    uuid              IDENTIFIER NOT NULL CONSTRAINT organizations_by_uuid PRIMARY KEY,
    name              TEXT NOT NULL,
    abbreviation      TEXT NOT NULL,
    max_call_attempts BIGINT,
    cooling_off       BIGINT NOT NULL
);
INSERT INTO organizations
SELECT {uuid}, name, abbreviation, max_call_attempts, cooling_off
FROM old_organizations;
DROP TABLE old_organizations;

ALTER TABLE users RENAME TO old_users;
CREATE TABLE users (
    uuid IDENTIFIER NOT NULL CONSTRAINT users_by_uuid PRIMARY KEY,
    doc  BYTES NOT NULL
);
INSERT INTO users
SELECT {uuid}, doc
FROM old_users;
DROP TABLE old_users;

ALTER TABLE focus_areas RENAME TO old_focus_areas;
CREATE TABLE focus_areas (
    uuid         IDENTIFIER NOT NULL CONSTRAINT focus_areas_by_uuid PRIMARY KEY,
    organization IDENTIFIER NOT NULL,
    doc          BYTES NOT NULL
);
INSERT INTO focus_areas
SELECT {uuid}, {organization}, doc
FROM old_focus_areas;
DROP TABLE old_focus_areas;

ALTER TABLE persons RENAME TO old_persons;
CREATE TABLE persons (
    number     NUMBER CONSTRAINT persons_by_number PRIMARY KEY,
    uuid       IDENTIFIER NOT NULL,
    owner      IDENTIFIER NOT NULL,
    recruiting IDENTIFIER NOT NULL,
    created_at BIGINT NOT NULL,
    iban       TEXT,
    mandate_id TEXT,
    quality    BYTES,
    rev        BIGINT NOT NULL,
    doc        BYTES NOT NULL
);
INSERT INTO persons (uuid, owner, recruiting, created_at, iban, mandate_id, quality, rev, doc)
SELECT {uuid}, {owner}, {recruiting}, created_at, iban, mandate_id, quality, rev, doc
FROM old_persons
ORDER BY old_persons.created_at, old_persons.uuid;
DROP TABLE old_persons;
CREATE UNIQUE INDEX persons_by_uuid ON persons (uuid);
CREATE INDEX persons_by_time ON persons (created_at, uuid);
CREATE INDEX persons_by_owner ON persons (owner, created_at, uuid, number);
CREATE INDEX persons_by_iban ON persons (iban, created_at, uuid);

ALTER TABLE pledges RENAME TO old_pledges;
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
    external      BIGINT NOT NULL,
    payment_qr    BIGINT NOT NULL,
    has_signature BIGINT NOT NULL,
    private       BYTES NOT NULL,
    rev           BIGINT NOT NULL,
    doc           BYTES NOT NULL
);
INSERT INTO pledges (uuid, owner, recruiting, person_number, recruiter, status, created_at, updated_at, released_at,
    external, payment_qr, has_signature, private, rev, doc)
SELECT {t.uuid}, {t.owner}, {t.recruiting}, p.number, {t.recruiter}, t.status, t.created_at, t.updated_at, t.released_at,
    t.external, t.payment_qr, t.has_signature, t.private, t.rev, t.doc
FROM old_pledges t LEFT JOIN persons p ON p.uuid = {t.person}
ORDER BY t.created_at, t.uuid;
DROP TABLE old_pledges;
CREATE UNIQUE INDEX pledges_by_uuid ON pledges (uuid);
CREATE INDEX pledges_by_time ON pledges (created_at, uuid);
CREATE INDEX pledges_by_owner ON pledges (owner, created_at, uuid, number);
CREATE INDEX pledges_by_recruiting ON pledges (recruiting, created_at, uuid, number);
CREATE INDEX pledges_by_person ON pledges (person_number, created_at, uuid);
CREATE INDEX pledges_by_status ON pledges (status, created_at, uuid);
CREATE INDEX pledges_by_payment_qr ON pledges (payment_qr, created_at, uuid);
CREATE INDEX pledges_by_update ON pledges (updated_at, created_at, uuid, owner, recruiting, number);
CREATE INDEX pledges_by_release ON pledges (released_at, external, created_at, uuid, owner, recruiting, number);

ALTER TABLE signatures RENAME TO old_signatures;
CREATE TABLE signatures (
    pledge  IDENTIFIER NOT NULL CONSTRAINT signatures_by_pledge PRIMARY KEY,
    content BYTES NOT NULL
);
INSERT INTO signatures
SELECT {pledge}, content
FROM old_signatures;
DROP TABLE old_signatures;

ALTER TABLE calls RENAME TO old_calls;
CREATE TABLE calls (
    number               NUMBER CONSTRAINT calls_by_number PRIMARY KEY,
    uuid                 IDENTIFIER NOT NULL,
    owner                IDENTIFIER NOT NULL,
    person_number        BIGINT NOT NULL,
    pledge_number        BIGINT,
    requested_at         BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    external             BIGINT NOT NULL,
    external_application TEXT,
    external_reference   TEXT,
    external_status      TEXT,
    private              BYTES NOT NULL,
    rev                  BIGINT NOT NULL,
    doc                  BYTES NOT NULL
);
INSERT INTO calls (uuid, owner, person_number, pledge_number, requested_at, updated_at, external, external_application,
    external_reference, external_status, private, rev, doc)
SELECT {t.uuid}, {t.owner}, p.number, l.number, t.requested_at, t.updated_at, t.external, t.external_application,
    t.external_reference, t.external_status, t.private, t.rev, t.doc
FROM old_calls t LEFT JOIN persons p ON p.uuid = {t.person} LEFT JOIN pledges l ON l.uuid = {t.pledge}
ORDER BY t.requested_at, t.uuid;
DROP TABLE old_calls;
CREATE UNIQUE INDEX calls_by_uuid ON calls (uuid);
CREATE INDEX calls_by_time ON calls (requested_at, uuid);
CREATE INDEX calls_by_owner ON calls (owner, requested_at, uuid, number);
CREATE INDEX calls_by_pledge ON calls (pledge_number, requested_at, uuid);
CREATE INDEX calls_by_reference ON calls (external_application, external_reference, requested_at, uuid);
CREATE INDEX calls_by_status ON calls (external_status, requested_at, uuid);
CREATE INDEX calls_by_update ON calls (updated_at, requested_at, uuid, owner, number);

ALTER TABLE transactions RENAME TO old_transactions;
CREATE TABLE transactions (
    uuid          IDENTIFIER NOT NULL,
    pledge_number BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    method        TEXT NOT NULL,
    doc           BYTES NOT NULL
);
INSERT INTO transactions
SELECT {t.uuid}, l.number, t.created_at, t.method, t.doc
FROM old_transactions t LEFT JOIN pledges l ON l.uuid = {t.pledge}
ORDER BY l.number, t.created_at, t.uuid;
DROP TABLE old_transactions;
CREATE UNIQUE INDEX transactions_by_uuid ON transactions (uuid);
CREATE INDEX transactions_by_pledge ON transactions (pledge_number, created_at, uuid);

ALTER TABLE processed RENAME TO old_processed;
CREATE TABLE processed (
    account      IDENTIFIER NOT NULL,
    source       TEXT NOT NULL,
    entity_name  TEXT NOT NULL,
    entity       IDENTIFIER NOT NULL,
    processed_at BIGINT NOT NULL,
    consumer     IDENTIFIER,
    CONSTRAINT processed_by_entity PRIMARY KEY (account, source, entity_name, entity)
);
INSERT INTO processed
SELECT {account}, source, entity_name, {entity}, processed_at, {consumer}
FROM old_processed;
DROP TABLE old_processed;
