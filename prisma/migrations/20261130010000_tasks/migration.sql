-- Tasks: work that one member of a room gives to an agent in it.

-- No index holds lease_until: heartbeats then rewrite no index entry (HOT), for which the pages keep some room.
CREATE TABLE "tasks" (
    "id" UUID NOT NULL,
    "room_id" UUID NOT NULL,
    "creator_id" UUID NOT NULL,
    "client_task_id" UUID NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "assignee_id" UUID NOT NULL,
    "parent_id" UUID,
    "root_id" UUID NOT NULL,
    "depth" INTEGER NOT NULL,
    "input" JSON NOT NULL,
    "deadline" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL DEFAULT 'queued',
    "version" BIGINT NOT NULL DEFAULT 1,
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "progress" JSON,
    "progress_at" TIMESTAMPTZ(3),
    "progress_event_at" TIMESTAMPTZ(3),
    "result" JSON,
    "error" TEXT,
    "tree_tasks" INTEGER NOT NULL DEFAULT 1,
    "tree_messages" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tasks_state_known"
      CHECK ("state" IN ('queued', 'running', 'waiting_approval', 'completed', 'failed', 'cancelled')),
    CONSTRAINT "tasks_root_is_level_one"
      CHECK (("depth" = 1) = ("parent_id" IS NULL) AND ("depth" = 1) = ("root_id" = "id") AND "depth" >= 1),
    CONSTRAINT "tasks_held_has_lease"
      CHECK ("state" NOT IN ('running', 'waiting_approval') OR ("lease_owner" IS NOT NULL AND "lease_until" IS NOT NULL)),
    CONSTRAINT "tasks_finished_has_time"
      CHECK (("state" IN ('completed', 'failed', 'cancelled')) = ("finished_at" IS NOT NULL)),
    CONSTRAINT "tasks_outcome_is_there"
      CHECK (("state" = 'completed') = ("result" IS NOT NULL) AND ("state" = 'failed') = ("error" IS NOT NULL)),
    CONSTRAINT "tasks_fingerprint_is_sha256" CHECK (octet_length("fingerprint") = 32)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX "tasks_creator_id_client_task_id_key" ON "tasks"("creator_id", "client_task_id");
CREATE INDEX "tasks_root_id_idx" ON "tasks"("root_id");
-- What was assigned to an agent in the last 90 days.
CREATE INDEX "tasks_assignee_id_created_at_idx" ON "tasks"("assignee_id", "created_at");
-- The inbox: what waits for its assignee, and what is in work, which is never much.
CREATE INDEX "tasks_queued_idx" ON "tasks"("assignee_id", "created_at", "id") WHERE "state" = 'queued';
CREATE INDEX "tasks_held_idx" ON "tasks"("assignee_id", "created_at")
  WHERE "state" IN ('running', 'waiting_approval');
-- The sweep of what nobody claimed in time.
CREATE INDEX "tasks_unclaimed_idx" ON "tasks"("deadline") WHERE "state" = 'queued' AND "deadline" IS NOT NULL;

-- Which tasks name a file in their input or result, so that a retracted message does not take it away.
CREATE TABLE "task_files" (
    "file_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,

    CONSTRAINT "task_files_pkey" PRIMARY KEY ("file_id", "task_id")
);
CREATE INDEX "task_files_task_id_idx" ON "task_files"("task_id");

ALTER TABLE "tasks" ADD CONSTRAINT "tasks_room_id_fkey"
  FOREIGN KEY ("room_id") REFERENCES "rooms"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_creator_id_fkey"
  FOREIGN KEY ("creator_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_assignee_id_fkey"
  FOREIGN KEY ("assignee_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_parent_id_fkey"
  FOREIGN KEY ("parent_id") REFERENCES "tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_root_id_fkey"
  FOREIGN KEY ("root_id") REFERENCES "tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "task_files" ADD CONSTRAINT "task_files_file_id_fkey"
  FOREIGN KEY ("file_id") REFERENCES "files"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "task_files" ADD CONSTRAINT "task_files_task_id_fkey"
  FOREIGN KEY ("task_id") REFERENCES "tasks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
