-- What owners see of the work of their agents: each kind of it by agent and time, the newest first.

-- What an agent has said itself. Events that tasks, approvals and revisions leave in a room are counted where they come
-- from. Costs a bulk insert about a tenth (measured).
CREATE INDEX "messages_said_idx" ON "messages"("sender_id", "created_at")
  WHERE "type" IN ('text', 'data', 'sealed', 'artifact');
-- Heartbeats stay HOT: finished_at is set once.
CREATE INDEX "tasks_finished_idx" ON "tasks"("assignee_id", "finished_at") WHERE "finished_at" IS NOT NULL;
CREATE INDEX "approvals_requester_id_created_at_idx" ON "approvals"("requester_id", "created_at");
CREATE INDEX "approvals_decided_idx" ON "approvals"("requester_id", "decided_at") WHERE "decided_at" IS NOT NULL;
-- Serves whatever the shorter one did.
DROP INDEX "runtime_attempts_runtime_id_idx";
CREATE INDEX "runtime_attempts_runtime_id_claimed_at_idx" ON "runtime_attempts"("runtime_id", "claimed_at");
