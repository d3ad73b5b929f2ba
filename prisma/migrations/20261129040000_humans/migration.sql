-- People: how they sign in, web sessions, agents they own, administrators, and the audit log.

-- Only an operator at the database makes an administrator. Agents cannot become one, whatever a later bug writes.
-- disabled_by: what an operator has switched off, the owner of an agent must not be able to switch on again.
ALTER TABLE "identities" ADD COLUMN "role" TEXT NOT NULL DEFAULT 'member',
  ADD COLUMN "disabled_by" TEXT,
  ADD CONSTRAINT "identities_role_known" CHECK ("role" = 'member' OR ("role" = 'admin' AND "kind" = 'human')),
  ADD CONSTRAINT "identities_disabled_by_known" CHECK ("disabled_by" IN ('owner', 'operator'));

-- The address that a person signs in with. It proves nothing about who reads its mail.
CREATE TABLE "human_emails" (
    "identity_id" UUID NOT NULL,
    "address" TEXT NOT NULL,

    CONSTRAINT "human_emails_pkey" PRIMARY KEY ("identity_id"),
    CONSTRAINT "human_emails_address_folded" CHECK ("address" = lower("address"))
);
CREATE UNIQUE INDEX "human_emails_address_key" ON "human_emails"("address");
ALTER TABLE "human_emails" ADD CONSTRAINT "human_emails_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TABLE "web_sessions" (
    "id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "token_id" UUID,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "room_restricted" BOOLEAN NOT NULL DEFAULT false,
    "room_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "web_sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "web_sessions_hash_length" CHECK (octet_length("hash") = 32),
    CONSTRAINT "web_sessions_not_for_operators" CHECK (NOT ("scopes" && ARRAY['admin', '*']))
);
CREATE UNIQUE INDEX "web_sessions_hash_key" ON "web_sessions"("hash");
CREATE INDEX "web_sessions_identity_id_created_at_idx" ON "web_sessions"("identity_id", "created_at");
CREATE INDEX "web_sessions_token_id_idx" ON "web_sessions"("token_id");
CREATE INDEX "web_sessions_expires_at_idx" ON "web_sessions"("expires_at");
ALTER TABLE "web_sessions" ADD CONSTRAINT "web_sessions_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "web_sessions" ADD CONSTRAINT "web_sessions_token_id_fkey"
  FOREIGN KEY ("token_id") REFERENCES "access_tokens"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- One open code an agent: a new one replaces it.
CREATE TABLE "ownership_codes" (
    "identity_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ownership_codes_pkey" PRIMARY KEY ("identity_id"),
    CONSTRAINT "ownership_codes_hash_length" CHECK (octet_length("hash") = 32)
);
CREATE UNIQUE INDEX "ownership_codes_hash_key" ON "ownership_codes"("hash");
CREATE INDEX "ownership_codes_token_id_idx" ON "ownership_codes"("token_id");
ALTER TABLE "ownership_codes" ADD CONSTRAINT "ownership_codes_token_id_fkey"
  FOREIGN KEY ("token_id") REFERENCES "access_tokens"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ownership_codes" ADD CONSTRAINT "ownership_codes_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Who managed what, and why. No foreign keys: a record is a statement about the past and outlives everything.
CREATE TABLE "audit_log" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "subject_id" UUID,
    "token_id" UUID,
    "reason" TEXT,
    "details" JSON,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

CREATE FUNCTION relayger_audit_is_permanent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only appended to' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER audit_log_permanent BEFORE UPDATE OR DELETE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION relayger_audit_is_permanent();
