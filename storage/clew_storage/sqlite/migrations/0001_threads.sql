-- How often the file was opened for writing: the upper half of every epoch granted since, so that none comes twice.
CREATE TABLE ownership (generation INTEGER NOT NULL);
INSERT INTO ownership VALUES (0);

-- One row a thread id. uid NULL: a tombstone, kept as long as requests of the deleted thread are.
-- line_start and line: the last range of the head's line begins at line_start, the ranges before it are in line.
CREATE TABLE threads (
    thread_no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    uid TEXT,
    epoch INTEGER NOT NULL,
    head INTEGER NOT NULL,
    status INTEGER,
    line_start INTEGER NOT NULL,
    line BLOB,
    messages_end INTEGER NOT NULL,
    cancel_run INTEGER,
    cancel_attempt INTEGER,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    app TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata BLOB NOT NULL
);
CREATE UNIQUE INDEX threads_by_name ON threads (tenant, thread_id);
CREATE INDEX threads_by_creation ON threads (tenant, created_at_ms DESC, thread_id) WHERE uid IS NOT NULL;
CREATE INDEX threads_by_user ON threads (tenant, user_id, created_at_ms DESC, thread_id)
    WHERE uid IS NOT NULL AND user_id <> '';
CREATE INDEX tombstones ON threads (updated_at_ms) WHERE uid IS NULL;

-- id: thread_no << 36 | version. parent NULL: the version before. messages_end: how many messages the thread had then.
CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY,
    parent INTEGER,
    run_version INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER NOT NULL,
    source INTEGER NOT NULL,
    step INTEGER NOT NULL,
    next_position INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    messages_end INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX forks ON checkpoints (id) WHERE parent IS NOT NULL;

-- id: thread_no << 36 | the message's number in the order of writing, so that a stretch of the log is a stretch of rows.
-- message_id: n for m<version>.<n>, else the text.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    thread_no INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message_id NOT NULL,
    role NOT NULL,
    created_at_ms INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX messages_by_position ON messages (thread_no, position, version);
CREATE INDEX messages_by_id ON messages (thread_no, message_id) WHERE typeof(message_id) = 'text';
