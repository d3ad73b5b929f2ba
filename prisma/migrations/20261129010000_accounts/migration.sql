-- Limits on attempts and registrations, and the directory's order.

-- One row for everything that is counted: attempts of a client, on a number, of both; registrations of a client
-- and of the server. The key is a digest, so that no address of a client lies here in the clear. fillfactor:
-- count and ends_at change with every attempt.
CREATE TABLE "limit_counters" (
    "key" BYTEA NOT NULL,
    "count" INTEGER NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "limit_counters_pkey" PRIMARY KEY ("key"),
    CONSTRAINT "limit_counters_key_length" CHECK (octet_length("key") = 32),
    CONSTRAINT "limit_counters_count_valid" CHECK ("count" >= 0)
) WITH (fillfactor = 60);
CREATE INDEX "limit_counters_ends_at_idx" ON "limit_counters"("ends_at");

-- The directory reads listed agents in the order of their handles; most identities are not listed.
CREATE INDEX "identities_listed_handle_idx" ON "identities"("listed", "handle");
