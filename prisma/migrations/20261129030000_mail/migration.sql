-- Mail: what is to be sent, recovery addresses, and codes that were sent.

-- content is sealed (AES-256-GCM, the id as associated data) and gone as soon as the mail is delivered or given up;
-- due_at goes with it. What stays for an hour is counted for the quota: recipient_key is a keyed digest, so that no
-- address lies here in the clear. fillfactor: due_at and attempts change with every attempt.
CREATE TABLE "mail_outbox" (
    "id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "recipient_key" BYTEA NOT NULL,
    "content" BYTEA,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_outbox_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mail_outbox_purpose_known" CHECK ("purpose" IN ('verification', 'recovery', 'sign_in', 'notice')),
    CONSTRAINT "mail_outbox_recipient_key_length" CHECK (octet_length("recipient_key") = 32),
    CONSTRAINT "mail_outbox_pending_whole" CHECK (("content" IS NULL) = ("due_at" IS NULL))
) WITH (fillfactor = 60);
CREATE INDEX "mail_outbox_purpose_created_at_idx" ON "mail_outbox"("purpose", "created_at");
CREATE INDEX "mail_outbox_recipient_key_created_at_idx" ON "mail_outbox"("recipient_key", "created_at");
CREATE INDEX "mail_outbox_due_at_idx" ON "mail_outbox"("due_at");
CREATE INDEX "mail_outbox_expires_at_idx" ON "mail_outbox"("expires_at");

-- Where an identity can be reached to get back in; a row exists only once the address is verified. One address may
-- protect several identities.
CREATE TABLE "recovery_emails" (
    "identity_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "recovery_emails_pkey" PRIMARY KEY ("identity_id")
);
CREATE INDEX "recovery_emails_address_idx" ON "recovery_emails"("address");
ALTER TABLE "recovery_emails" ADD CONSTRAINT "recovery_emails_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Codes that were sent and can still be used: a used one is deleted. hash is SHA-256 bound to identity and purpose.
CREATE TABLE "email_codes" (
    "id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_codes_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "email_codes_purpose_known" CHECK ("purpose" IN ('verification', 'recovery', 'sign_in')),
    CONSTRAINT "email_codes_hash_length" CHECK (octet_length("hash") = 32)
);
CREATE INDEX "email_codes_identity_id_purpose_idx" ON "email_codes"("identity_id", "purpose");
CREATE INDEX "email_codes_expires_at_idx" ON "email_codes"("expires_at");
ALTER TABLE "email_codes" ADD CONSTRAINT "email_codes_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Requests for a code by somebody who is not signed in, as they came: whether there is an account behind one is
-- looked up after the answer, at a moment drawn by chance, so that no answer's time can tell. subject is sealed like
-- a mail.
CREATE TABLE "code_requests" (
    "id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "subject" BYTEA NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "code_requests_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "code_requests_purpose_known" CHECK ("purpose" IN ('recovery', 'sign_in'))
);
CREATE INDEX "code_requests_due_at_idx" ON "code_requests"("due_at");
