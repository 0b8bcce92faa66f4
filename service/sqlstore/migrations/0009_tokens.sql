-- The tokens of accounts, so that one can end before the time that it names: only those that have a
-- row are accepted. Tokens that name no identifier of their own, as they were issued before, share
-- the row with the identifier of their account, whose expires_at is known when one was used.

CREATE TABLE tokens (
    token_uuid   IDENTIFIER NOT NULL CONSTRAINT tokens_by_uuid PRIMARY KEY,
    account_uuid IDENTIFIER NOT NULL,
    issued_at    BIGINT NOT NULL,
    expires_at   BIGINT,
    ended_at     BIGINT,
    used_on      BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account_uuid);
INSERT INTO tokens (token_uuid, account_uuid, issued_at) SELECT uuid, uuid, created_at FROM accounts;
