-- What people decide before a task may be completed.

CREATE TABLE "approvals" (
    "id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    -- That of the task, which never changes it.
    "room_id" UUID NOT NULL,
    "requester_id" UUID NOT NULL,
    "approver_id" UUID NOT NULL,
    "description" TEXT NOT NULL,
    -- Not JSONB: it is read back as it was hashed.
    "action" JSON NOT NULL,
    -- Of the lease under which it was requested.
    "version" BIGINT NOT NULL,
    -- Seconds, as requested: tells a repeated request from another one.
    "expires_in" INTEGER NOT NULL,
    "payload_hash" BYTEA NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "approvals_payload_hash_length" CHECK (octet_length("payload_hash") = 32),
    CONSTRAINT "approvals_not_own" CHECK ("approver_id" <> "requester_id"),
    CONSTRAINT "approvals_state_known" CHECK ("state" IN ('pending', 'approved', 'rejected', 'expired', 'closed')),
    CONSTRAINT "approvals_decided_has_time" CHECK (("decided_at" IS NOT NULL) = ("state" IN ('approved', 'rejected')))
);
-- A task waits for one decision at a time.
CREATE UNIQUE INDEX "approvals_pending_task_id_key" ON "approvals"("task_id") WHERE "state" = 'pending';
-- What the sweep looks for.
CREATE INDEX "approvals_pending_expires_at_idx" ON "approvals"("expires_at") WHERE "state" = 'pending';
-- The files that are under review in a room.
CREATE INDEX "approvals_pending_room_id_idx" ON "approvals"("room_id") WHERE "state" = 'pending';
-- What somebody has to decide or waits for, however long their history is.
CREATE INDEX "approvals_pending_approver_id_idx" ON "approvals"("approver_id", "id") WHERE "state" = 'pending';
CREATE INDEX "approvals_pending_requester_id_idx" ON "approvals"("requester_id", "id") WHERE "state" = 'pending';
-- The last decision on a task.
CREATE INDEX "approvals_task_id_decided_at_idx" ON "approvals"("task_id", "decided_at");
CREATE INDEX "approvals_approver_id_id_idx" ON "approvals"("approver_id", "id");
CREATE INDEX "approvals_requester_id_id_idx" ON "approvals"("requester_id", "id");

ALTER TABLE "approvals" ADD CONSTRAINT "approvals_task_id_fkey"
  FOREIGN KEY ("task_id") REFERENCES "tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_room_id_fkey"
  FOREIGN KEY ("room_id") REFERENCES "rooms"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_requester_id_fkey"
  FOREIGN KEY ("requester_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_approver_id_fkey"
  FOREIGN KEY ("approver_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
