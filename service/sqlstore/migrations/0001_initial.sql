-- UUID and BYTES stand for the engine's types. Times are milliseconds since 1970.
-- Each table has the columns that lists filter by, and one document: the record as it
-- is sent. Lists are walked in (time, uuid), from either end.

CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE accounts (
    uuid              UUID NOT NULL PRIMARY KEY,
    name              TEXT NOT NULL,
    permissions       TEXT NOT NULL,
    all_organizations BIGINT NOT NULL,
    organizations     TEXT NOT NULL,
    external_sources  TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    revoked_at        BIGINT
);

CREATE TABLE organizations (
    uuid              UUID NOT NULL PRIMARY KEY,
    name              TEXT NOT NULL,
    abbreviation      TEXT NOT NULL,
    max_call_attempts BIGINT,
    cooling_off       BIGINT NOT NULL
);

CREATE TABLE users (
    uuid UUID NOT NULL PRIMARY KEY,
    doc  BYTES NOT NULL
);

CREATE TABLE focus_areas (
    uuid         UUID NOT NULL PRIMARY KEY,
    organization UUID NOT NULL,
    doc          BYTES NOT NULL
);

CREATE TABLE persons (
    uuid       UUID NOT NULL PRIMARY KEY,
    owner      UUID NOT NULL,
    recruiting UUID NOT NULL,
    created_at BIGINT NOT NULL,
    iban       TEXT,
    mandate_id TEXT,
    quality    BYTES,
    rev        BIGINT NOT NULL,
    doc        BYTES NOT NULL
);
CREATE INDEX persons_by_time ON persons (created_at, uuid);
CREATE INDEX persons_by_owner ON persons (owner, created_at, uuid);
CREATE INDEX persons_by_iban ON persons (iban, created_at, uuid);

CREATE TABLE pledges (
    uuid          UUID NOT NULL PRIMARY KEY,
    owner         UUID NOT NULL,
    recruiting    UUID NOT NULL,
    person        UUID NOT NULL,
    recruiter     UUID NOT NULL,
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
CREATE INDEX pledges_by_time ON pledges (created_at, uuid);
CREATE INDEX pledges_by_owner ON pledges (owner, created_at, uuid);
CREATE INDEX pledges_by_recruiting ON pledges (recruiting, created_at, uuid);
CREATE INDEX pledges_by_person ON pledges (person, created_at, uuid);
CREATE INDEX pledges_by_status ON pledges (status, created_at, uuid);
CREATE INDEX pledges_by_payment_qr ON pledges (payment_qr, created_at, uuid);
CREATE INDEX pledges_by_update ON pledges (updated_at, created_at, uuid, owner, recruiting);
CREATE INDEX pledges_by_release ON pledges (released_at, external, created_at, uuid, owner, recruiting);

CREATE TABLE signatures (
    pledge  UUID NOT NULL PRIMARY KEY,
    content BYTES NOT NULL
);

CREATE TABLE calls (
    uuid                 UUID NOT NULL PRIMARY KEY,
    owner                UUID NOT NULL,
    person               UUID NOT NULL,
    pledge               UUID,
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
CREATE INDEX calls_by_time ON calls (requested_at, uuid);
CREATE INDEX calls_by_owner ON calls (owner, requested_at, uuid);
CREATE INDEX calls_by_pledge ON calls (pledge, requested_at, uuid);
CREATE INDEX calls_by_reference ON calls (external_application, external_reference, requested_at, uuid);
CREATE INDEX calls_by_status ON calls (external_status, requested_at, uuid);
CREATE INDEX calls_by_update ON calls (updated_at, requested_at, uuid, owner);

CREATE TABLE transactions (
    uuid       UUID NOT NULL PRIMARY KEY,
    pledge     UUID NOT NULL,
    created_at BIGINT NOT NULL,
    method     TEXT NOT NULL,
    doc        BYTES NOT NULL
);
CREATE INDEX transactions_by_pledge ON transactions (pledge, created_at, uuid);

CREATE TABLE processed (
    account      UUID NOT NULL,
    source       TEXT NOT NULL,
    entity_name  TEXT NOT NULL,
    entity       UUID NOT NULL,
    processed_at BIGINT NOT NULL,
    consumer     UUID,
    PRIMARY KEY (account, source, entity_name, entity)
);
