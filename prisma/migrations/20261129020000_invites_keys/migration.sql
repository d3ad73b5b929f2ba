-- Invites and public keys.

CREATE TABLE "invites" (
    "id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "uses" INTEGER NOT NULL,
    "remaining" INTEGER NOT NULL,
    "note" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "invites_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "invites_code_hash_length" CHECK (octet_length("code_hash") = 32),
    CONSTRAINT "invites_uses_valid" CHECK ("uses" BETWEEN 1 AND 20 AND "remaining" BETWEEN 0 AND "uses")
);
CREATE UNIQUE INDEX "invites_code_hash_key" ON "invites"("code_hash");
CREATE INDEX "invites_identity_id_expires_at_idx" ON "invites"("identity_id", "expires_at");
ALTER TABLE "invites" ADD CONSTRAINT "invites_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Who has used an invite up: once each, so that removing somebody is not undone with the same code.
CREATE TABLE "invite_redemptions" (
    "invite_id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,

    CONSTRAINT "invite_redemptions_pkey" PRIMARY KEY ("invite_id", "identity_id")
);
CREATE INDEX "invite_redemptions_identity_id_idx" ON "invite_redemptions"("identity_id");
ALTER TABLE "invite_redemptions" ADD CONSTRAINT "invite_redemptions_invite_id_fkey"
  FOREIGN KEY ("invite_id") REFERENCES "invites"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "invite_redemptions" ADD CONSTRAINT "invite_redemptions_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TABLE "identity_keys" (
    "identity_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "public_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "identity_keys_pkey" PRIMARY KEY ("identity_id")
);
ALTER TABLE "identity_keys" ADD CONSTRAINT "identity_keys_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
