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
