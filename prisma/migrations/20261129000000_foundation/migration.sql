-- Identities, sign-in, contacts, rooms and messages.

-- The Luhn check of a permanent number (contract/http.md section 0): sum over the ten digits, every second
-- one from the right doubled, divisible by ten.
CREATE FUNCTION relayger_number_is_valid(number text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT number ~ '^[1-9][0-9]{9}$' AND (
    SELECT sum(CASE WHEN pos % 2 = 1 THEN (2 * digit) / 10 + (2 * digit) % 10 ELSE digit END) % 10 = 0
    FROM (SELECT pos, substr(number, pos, 1)::int AS digit FROM generate_series(1, 10) AS pos) AS digits
  )
$$;

CREATE TABLE "identities" (
    "id" UUID NOT NULL,
    "number" TEXT NOT NULL,
    -- Lists are ordered by it: bytewise on every server, whatever its locale.
    "handle" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "capabilities" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "listed" BOOLEAN NOT NULL DEFAULT false,
    "owner_id" UUID,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "identities_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "identities_number_valid" CHECK (relayger_number_is_valid("number")),
    CONSTRAINT "identities_handle_valid" CHECK ("handle" ~ '^[a-z][a-z0-9_-]{1,39}$'),
    CONSTRAINT "identities_kind_known" CHECK ("kind" IN ('human', 'agent', 'service'))
);
CREATE UNIQUE INDEX "identities_number_key" ON "identities"("number");
CREATE UNIQUE INDEX "identities_handle_key" ON "identities"("handle");
CREATE INDEX "identities_owner_id_idx" ON "identities"("owner_id");

-- A number is an address that others have written down: it never changes and never comes back for somebody
-- else, so rows are not deleted either (an identity is disabled instead).
CREATE FUNCTION relayger_identity_is_permanent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
    RAISE EXCEPTION 'identities are permanent: disable the identity instead' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.id <> OLD.id OR NEW.number <> OLD.number OR NEW.kind <> OLD.kind THEN
    RAISE EXCEPTION 'id, number and kind of an identity are permanent' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER identities_permanent BEFORE UPDATE OR DELETE ON "identities"
  FOR EACH ROW EXECUTE FUNCTION relayger_identity_is_permanent();
CREATE TRIGGER identities_not_truncated BEFORE TRUNCATE ON "identities"
  FOR EACH STATEMENT EXECUTE FUNCTION relayger_identity_is_permanent();

CREATE TABLE "credentials" (
    "identity_id" UUID NOT NULL,
    "password_hash" TEXT,
    "recovery_key_hash" BYTEA,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("identity_id")
);

CREATE TABLE "access_tokens" (
    "id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "room_restricted" BOOLEAN NOT NULL DEFAULT false,
    "room_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_tokens_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "access_tokens_hash_length" CHECK (octet_length("hash") = 32)
);
CREATE UNIQUE INDEX "access_tokens_hash_key" ON "access_tokens"("hash");
CREATE INDEX "access_tokens_identity_id_created_at_idx" ON "access_tokens"("identity_id", "created_at");

CREATE TABLE "contacts" (
    "identity_id" UUID NOT NULL,
    "peer_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "rejected" BOOLEAN NOT NULL DEFAULT false,
    "note" TEXT,
    "requested_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("identity_id", "peer_id"),
    CONSTRAINT "contacts_not_self" CHECK ("identity_id" <> "peer_id"),
    CONSTRAINT "contacts_state_known"
      CHECK ("state" IN ('friend', 'incoming', 'outgoing', 'declined', 'removed', 'blocked', 'unavailable')),
    CONSTRAINT "contacts_note_while_pending" CHECK ("note" IS NULL OR "state" IN ('incoming', 'outgoing'))
);
CREATE INDEX "contacts_identity_id_state_idx" ON "contacts"("identity_id", "state");
CREATE INDEX "contacts_peer_id_idx" ON "contacts"("peer_id");

-- fillfactor: last_seq changes with every message and no index holds it, so free room on the page keeps
-- these updates heap-only (HOT).
CREATE TABLE "rooms" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT,
    "owner_id" UUID,
    "dm_low" UUID,
    "dm_high" UUID,
    "gate" TEXT NOT NULL DEFAULT 'open',
    "last_seq" BIGINT NOT NULL DEFAULT 0,
    "access_version" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rooms_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "rooms_gate_known" CHECK ("gate" IN ('open', 'closed', 'blocked')),
    CONSTRAINT "rooms_shape" CHECK (CASE "kind"
      WHEN 'group' THEN "name" IS NOT NULL AND "owner_id" IS NOT NULL AND "dm_low" IS NULL
        AND "dm_high" IS NULL AND "gate" = 'open'
      WHEN 'dm' THEN "name" IS NULL AND "owner_id" IS NULL AND "dm_low" < "dm_high"
      ELSE false END)
) WITH (fillfactor = 60);
CREATE INDEX "rooms_owner_id_idx" ON "rooms"("owner_id");
CREATE UNIQUE INDEX "rooms_dm_low_dm_high_key" ON "rooms"("dm_low", "dm_high");

CREATE TABLE "memberships" (
    "room_id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "delivered_seq" BIGINT NOT NULL DEFAULT 0,
    "seen_seq" BIGINT NOT NULL DEFAULT 0,
    "joined_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("room_id", "identity_id"),
    CONSTRAINT "memberships_role_known" CHECK ("role" IN ('owner', 'member'))
) WITH (fillfactor = 60);
CREATE INDEX "memberships_identity_id_idx" ON "memberships"("identity_id");

-- No foreign keys on messages: the append reads the membership (which has them) in the same statement,
-- identities and rooms are never deleted, and two key checks with their row locks would be paid per message.
CREATE TABLE "messages" (
    "room_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "id" UUID NOT NULL,
    "sender_id" UUID NOT NULL,
    "client_message_id" UUID NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "reply_to" UUID,
    "mentions" UUID[] DEFAULT ARRAY[]::UUID[],
    "attention" JSON,
    "trace_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("room_id", "seq"),
    CONSTRAINT "messages_seq_positive" CHECK ("seq" > 0)
);
CREATE UNIQUE INDEX "messages_room_id_id_key" ON "messages"("room_id", "id");
CREATE UNIQUE INDEX "messages_room_id_sender_id_client_message_id_key"
  ON "messages"("room_id", "sender_id", "client_message_id");

ALTER TABLE "identities" ADD CONSTRAINT "identities_owner_id_fkey"
  FOREIGN KEY ("owner_id") REFERENCES "identities"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_peer_id_fkey"
  FOREIGN KEY ("peer_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_owner_id_fkey"
  FOREIGN KEY ("owner_id") REFERENCES "identities"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_room_id_fkey"
  FOREIGN KEY ("room_id") REFERENCES "rooms"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
