-- By which words and numbers a person is found: see service/search.go. terms holds all of them, a space before each.
CREATE TABLE search_persons (
--sqlite person_number INTEGER NOT NULL CONSTRAINT search_persons_by_number PRIMARY KEY,
--postgres person_number BIGINT NOT NULL CONSTRAINT search_persons_by_number PRIMARY KEY,
    created_at    BIGINT NOT NULL,
    terms         TEXT NOT NULL
);

-- One row for each of them, in the order of the list of persons. It holds what the list is filtered by.
CREATE TABLE search_terms (
    term       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    uuid       IDENTIFIER NOT NULL,
    owner      IDENTIFIER NOT NULL,
    number     BIGINT NOT NULL
--sqlite , CONSTRAINT search_terms_by_term PRIMARY KEY (term, created_at, uuid)
)
--sqlite WITHOUT ROWID
;
--postgres ALTER TABLE search_persons SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--postgres ALTER TABLE search_terms SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Persons are not changed until the search finds all of them. Earlier programs would not keep it.
--postgres LOCK TABLE persons, transactions IN SHARE MODE;
--fill
--sqlite INSERT INTO search_terms (term, created_at, uuid, owner, number) SELECT x.value, p.created_at, p.uuid, p.owner, p.number FROM search_persons s JOIN persons p ON p.number = s.person_number JOIN json_each('["' || REPLACE(LTRIM(s.terms), ' ', '","') || '"]') x WHERE x.value <> '' ORDER BY 1, 2, 3;
--postgres INSERT INTO search_terms (term, created_at, uuid, owner, number) SELECT x.value, p.created_at, p.uuid, p.owner, p.number FROM search_persons s JOIN persons p ON p.number = s.person_number CROSS JOIN LATERAL unnest(string_to_array(LTRIM(s.terms), ' ')) AS x (value);
--postgres ALTER TABLE search_terms ADD CONSTRAINT search_terms_by_term PRIMARY KEY (term, created_at, uuid) INCLUDE (owner, number);
--postgres ANALYZE search_persons;
--postgres ANALYZE search_terms;
