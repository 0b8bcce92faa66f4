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
