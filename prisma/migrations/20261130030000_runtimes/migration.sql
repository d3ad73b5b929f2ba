-- Durable consumers: what messages mean as work, who holds a lease, and what became of it.

-- start: where a runtime began to read. claims is raised by every claim, in the statement that claims, and doubles as
-- the row's version for it: a claim that read an older value starts again. calls counts the claims of the UTC hour
-- calls_hour. fillfactor: both change with every claim and no index holds them (HOT).
CREATE TABLE "runtimes" (
    "id" UUID NOT NULL,
    "identity_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "start" TEXT NOT NULL,
    "triggers" TEXT[],
    "allowed_senders" UUID[],
    "allowed_rooms" UUID[],
    "max_attempts" INTEGER NOT NULL,
    "max_calls_per_hour" INTEGER NOT NULL,
    "concurrency" INTEGER NOT NULL,
    "active_hours" INTEGER[],
    "version" INTEGER NOT NULL DEFAULT 1,
    "claims" BIGINT NOT NULL DEFAULT 0,
    "calls" INTEGER NOT NULL DEFAULT 0,
    "calls_hour" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "runtimes_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "runtimes_start_known" CHECK ("start" IN ('beginning', 'now')),
    CONSTRAINT "runtimes_triggers_known" CHECK ("triggers" <@ ARRAY['questions', 'direct', 'mentions']),
    CONSTRAINT "runtimes_bounds" CHECK ("max_attempts" BETWEEN 1 AND 5 AND "concurrency" BETWEEN 1 AND 8
      AND "max_calls_per_hour" BETWEEN 1 AND 100000)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX "runtimes_identity_id_name_key" ON "runtimes"("identity_id", "name");

-- How far each room was looked through. Rooms without a row are looked through from their first message.
CREATE TABLE "runtime_cursors" (
    "runtime_id" UUID NOT NULL,
    "room_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "scanned_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "runtime_cursors_pkey" PRIMARY KEY ("runtime_id", "room_id")
);

-- One message that is, or was, work of a runtime. position is the order in which jobs are given out; it grows with
-- the sequence inside a room. due_at: when the job can be taken (again); the end of the lease while there is one.
-- version grows with every lease and every fence, owner is random: both together name one lease.
CREATE TABLE "runtime_deliveries" (
    "id" UUID NOT NULL,
    "runtime_id" UUID NOT NULL,
    "position" BIGINT GENERATED ALWAYS AS IDENTITY NOT NULL,
    "room_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "message_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "owner" UUID,
    "version" BIGINT NOT NULL DEFAULT 0,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "runtime_deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "runtime_deliveries_state_known"
      CHECK ("state" IN ('pending', 'leased', 'handled', 'skipped', 'dead_letter')),
    CONSTRAINT "runtime_deliveries_lease_has_owner" CHECK (("state" = 'leased') = ("owner" IS NOT NULL))
);
-- A message is work of a runtime once, whatever scans it again.
CREATE UNIQUE INDEX "runtime_deliveries_runtime_id_message_id_key" ON "runtime_deliveries"("runtime_id", "message_id");
CREATE INDEX "runtime_deliveries_runtime_id_position_idx" ON "runtime_deliveries"("runtime_id", "position");
-- What claims look through, oldest first, and the few leases that they count. Finished jobs are in neither.
CREATE INDEX "runtime_deliveries_open_idx" ON "runtime_deliveries"("runtime_id", "position")
  WHERE "state" IN ('pending', 'leased');
CREATE INDEX "runtime_deliveries_leased_idx" ON "runtime_deliveries"("runtime_id", "due_at") WHERE "state" = 'leased';

-- One lease and what was reported for it; a row without finished_at was abandoned, or is at work. fingerprint is
-- SHA-256 of the report, so that the same report again is answered with the same result.
CREATE TABLE "runtime_attempts" (
    "delivery_id" UUID NOT NULL,
    "version" BIGINT NOT NULL,
    "runtime_id" UUID NOT NULL,
    "owner" UUID NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "fingerprint" BYTEA,
    "reply_id" UUID,
    "reply_seq" BIGINT,
    "model_calls" BIGINT,
    "input_tokens" BIGINT,
    "output_tokens" BIGINT,

    CONSTRAINT "runtime_attempts_pkey" PRIMARY KEY ("delivery_id", "version"),
    CONSTRAINT "runtime_attempts_outcome_known" CHECK ("outcome" IN ('handled', 'skipped', 'failed')),
    CONSTRAINT "runtime_attempts_finish_whole" CHECK (("finished_at" IS NULL) = ("outcome" IS NULL)
      AND ("outcome" IS NULL) = ("fingerprint" IS NULL)),
    CONSTRAINT "runtime_attempts_fingerprint_length" CHECK (octet_length("fingerprint") = 32),
    CONSTRAINT "runtime_attempts_usage_whole" CHECK (("model_calls" IS NULL) = ("input_tokens" IS NULL)
      AND ("input_tokens" IS NULL) = ("output_tokens" IS NULL))
);
CREATE INDEX "runtime_attempts_runtime_id_idx" ON "runtime_attempts"("runtime_id");

-- What a runtime keeps about a room. source_ids are messages of that room.
CREATE TABLE "runtime_notes" (
    "runtime_id" UUID NOT NULL,
    "room_id" UUID NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "text" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "source_ids" UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "runtime_notes_pkey" PRIMARY KEY ("runtime_id", "room_id", "key"),
    CONSTRAINT "runtime_notes_version_positive" CHECK ("version" > 0)
);

ALTER TABLE "runtimes" ADD CONSTRAINT "runtimes_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "runtime_cursors" ADD CONSTRAINT "runtime_cursors_runtime_id_fkey"
  FOREIGN KEY ("runtime_id") REFERENCES "runtimes"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "runtime_deliveries" ADD CONSTRAINT "runtime_deliveries_runtime_id_fkey"
  FOREIGN KEY ("runtime_id") REFERENCES "runtimes"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "runtime_attempts" ADD CONSTRAINT "runtime_attempts_delivery_id_fkey"
  FOREIGN KEY ("delivery_id") REFERENCES "runtime_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "runtime_notes" ADD CONSTRAINT "runtime_notes_runtime_id_fkey"
  FOREIGN KEY ("runtime_id") REFERENCES "runtimes"("id") ON DELETE CASCADE ON UPDATE CASCADE;
