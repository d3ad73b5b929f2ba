-- Threads, search, revisions, files, presence.

-- Lets one GIN index hold the room beside the words (below). It ships with PostgreSQL and is trusted, so the owner
-- of the database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- search: the words of texts and of data summaries (contract/http.md section 6). The service writes it, because which
-- characters are letters, and which letters are capitals, depends on the locale of the database otherwise. Nothing else
-- has words: events cost no index entries and need no filter. Data messages carry the lexeme ' data', which the parser
-- makes of no text because of its space. By it the index tells the two types apart: among a million texts the few data
-- messages with a common word are found at once.
ALTER TABLE "messages"
  ADD COLUMN "root_task_id" UUID,
  ADD COLUMN "thread_id" UUID,
  ADD COLUMN "revision" JSON,
  ADD COLUMN "search" tsvector;

-- thread_id is the first message of the reply chain, kept on every reply, so that a thread is one index range.
WITH RECURSIVE chain AS (
  SELECT room_id, id, id AS thread_id FROM messages WHERE reply_to IS NULL
  UNION ALL
  SELECT m.room_id, m.id, c.thread_id FROM messages m JOIN chain c ON c.room_id = m.room_id AND c.id = m.reply_to
)
UPDATE messages m SET thread_id = c.thread_id FROM chain c
WHERE m.room_id = c.room_id AND m.id = c.id AND m.reply_to IS NOT NULL;

UPDATE messages SET search = to_tsvector('simple', payload ->> 'text')
  || CASE type WHEN 'data' THEN ''' data'''::tsvector ELSE ''::tsvector END
WHERE type IN ('text', 'data');

CREATE INDEX "messages_room_id_thread_id_seq_idx" ON "messages"("room_id", "thread_id", "seq")
  WHERE "thread_id" IS NOT NULL;
-- Entries gather in a pending list and are merged in bulk: one by one they cost three times as much (measured). A
-- short list keeps each merge, which one sender waits for, near 10 ms, and a look at a full one at 0.2 ms.
CREATE INDEX "messages_search_idx" ON "messages" USING gin ("room_id", "search")
  WITH (fastupdate = on, gin_pending_list_limit = 512)
  WHERE "search" IS NOT NULL;

-- last_message_at: times of a room never go back, whatever the clock does, so that time follows the sequence.
ALTER TABLE "rooms"
  ADD COLUMN "stored_bytes" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "last_message_at" TIMESTAMPTZ(3);
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_stored_bytes_positive" CHECK ("stored_bytes" >= 0);

CREATE TABLE "files" (
    "id" UUID NOT NULL,
    "room_id" UUID NOT NULL,
    "uploader_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "sha256" BYTEA,
    -- Random: neither the name nor the id of a file leads to its object.
    "object_key" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'uploading',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "files_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "files_size_known" CHECK ("size" >= 0),
    CONSTRAINT "files_state_known" CHECK ("state" IN ('uploading', 'ready', 'removed')),
    CONSTRAINT "files_ready_is_checked" CHECK ("state" <> 'ready' OR octet_length("sha256") = 32)
);
CREATE UNIQUE INDEX "files_object_key_key" ON "files"("object_key");
CREATE INDEX "files_room_id_idx" ON "files"("room_id");
-- What the sweep looks for: uploads that broke off and objects that may go.
CREATE INDEX "files_unsettled_idx" ON "files"("state", "created_at") WHERE "state" <> 'ready';

-- Which messages use a file. Rows of a retracted message go.
CREATE TABLE "message_files" (
    "file_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,

    CONSTRAINT "message_files_pkey" PRIMARY KEY ("file_id", "message_id")
);
CREATE INDEX "message_files_message_id_idx" ON "message_files"("message_id");

-- What an identity has last said about itself.
CREATE TABLE "presences" (
    "identity_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "presences_pkey" PRIMARY KEY ("identity_id"),
    CONSTRAINT "presences_state_known" CHECK ("state" IN ('online', 'idle', 'working', 'waiting', 'offline'))
);

ALTER TABLE "files" ADD CONSTRAINT "files_room_id_fkey"
  FOREIGN KEY ("room_id") REFERENCES "rooms"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "files" ADD CONSTRAINT "files_uploader_id_fkey"
  FOREIGN KEY ("uploader_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "message_files" ADD CONSTRAINT "message_files_file_id_fkey"
  FOREIGN KEY ("file_id") REFERENCES "files"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "presences" ADD CONSTRAINT "presences_identity_id_fkey"
  FOREIGN KEY ("identity_id") REFERENCES "identities"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
