-- What is kept of a person is found, and erased: then the row stays, so that its identifier is not
-- used again, without a document, and belongs to no organization.

ALTER TABLE persons ADD COLUMN erased_at BIGINT;
CREATE INDEX calls_by_person ON calls (person_number);
CREATE INDEX processed_by_entity_uuid ON processed (entity);

-- After how many months what belongs to an organization is taken back; null: never.
CREATE TABLE retention (
    organization IDENTIFIER NOT NULL CONSTRAINT retention_by_organization PRIMARY KEY,
    calls        BIGINT,
    leads        BIGINT,
    persons      BIGINT
);
