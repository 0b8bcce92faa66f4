-- The lines about a person are found by the person's number, which grows, where the identifiers of
-- new persons lie all over an index; those of an account by walking the lines from a time on.

ALTER TABLE audit ADD COLUMN person_number BIGINT;
UPDATE audit SET person_number = (SELECT p.number FROM persons p WHERE p.uuid = audit.person_uuid) WHERE person_uuid IS NOT NULL;
CREATE INDEX audit_by_person_number ON audit (person_number) WHERE person_number IS NOT NULL;
DROP INDEX audit_by_person;
DROP INDEX audit_by_account;
