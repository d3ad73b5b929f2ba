-- How long ended tokens and audit records are kept.

-- The sweep looks for tokens that ended a month ago.
CREATE INDEX "access_tokens_expires_at_idx" ON "access_tokens"("expires_at");
CREATE INDEX "audit_log_created_at_idx" ON "audit_log"("created_at");

-- Records may go when they are older than any setting allows to keep them for (AUDIT_RETENTION_DAYS is at least 90):
-- whoever got hold of the service still cannot remove its traces.
CREATE OR REPLACE FUNCTION relayger_audit_is_permanent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.created_at < now() - interval '90 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is only appended to' USING ERRCODE = 'restrict_violation';
END
$$;
