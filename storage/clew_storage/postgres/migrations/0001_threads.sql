-- Names are written with the schema "clew", which stands for the schema that the storage was given.
-- What text cannot hold (NUL) is bytea, as UTF-8; its order is that of the code points, as in text with the collation "C".

-- One row a thread id. uid NULL: there is no thread; what is left of one (a tombstone), or a place that a first write had locked.
-- run_version and attempt are the head's. What a write leaves stands at both ends of a row: the log has only what is between. line_start and line: the last range of the head's line begins at line_start, the ranges
-- before it are in line. No index names a column that an ordinary write changes. deleted_at_ms: since when there is no thread.
CREATE TABLE clew.threads (
    created_at_ms bigint NOT NULL,
    line_start integer NOT NULL,
    revision integer NOT NULL,
    epoch bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    head integer NOT NULL,
    run_version integer,
    attempt integer,
    cancel_run integer,
    cancel_attempt integer,
    status smallint,
    deleted_at_ms bigint,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    uid text COLLATE "C",
    line bytea,
    app bytea NOT NULL,
    user_id bytea NOT NULL,
    name bytea NOT NULL,
    metadata bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id)
) WITH (fillfactor = 80);
CREATE INDEX threads_by_creation ON clew.threads (tenant, created_at_ms DESC, thread_id) WHERE uid IS NOT NULL;
CREATE INDEX threads_by_user ON clew.threads (tenant, user_id, created_at_ms DESC, thread_id)
    WHERE uid IS NOT NULL AND user_id <> '';
CREATE INDEX tombstones ON clew.threads (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;

-- parent NULL: the version before. position: where the message of this write stands; positions: where they do, in the order they were
-- given, when there are several.
CREATE TABLE clew.checkpoints (
    created_at_ms bigint NOT NULL,
    next_position bigint NOT NULL,
    position bigint,
    version integer NOT NULL,
    run_version integer NOT NULL,
    attempt integer NOT NULL,
    step integer NOT NULL,
    status smallint NOT NULL,
    source smallint NOT NULL,
    parent integer,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    positions bigint[],
    body bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, version)
);
CREATE INDEX forks ON clew.checkpoints (tenant, thread_id, version) WHERE parent IS NOT NULL;
-- What a copy or a rewind asks the log for: intents and forks, by their codes.
CREATE INDEX starts ON clew.checkpoints (tenant, thread_id, version) WHERE source IN (2, 7);

-- number: n of the id m<version>.<n>; message_id: any other id. role: its number; other_role: one that has none.
CREATE TABLE clew.messages (
    created_at_ms bigint NOT NULL,
    position bigint NOT NULL,
    version integer NOT NULL,
    number integer,
    role smallint,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    message_id bytea,
    other_role bytea,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, position, version)
);
CREATE INDEX messages_by_id ON clew.messages (tenant, thread_id, message_id) WHERE message_id IS NOT NULL;

-- What each checkpoint changed in the state, for ever.
CREATE TABLE clew.state_changes (
    version integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    change bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, version)
);

-- Many changes in one, on the head's line only; version is the last that is in it.
CREATE TABLE clew.folds (
    version integer NOT NULL,
    level smallint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    change bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, version)
);

-- asked_in and number: the checkpoint that asked, and the place among those it asked.
CREATE TABLE clew.approvals (
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    decided_at_ms bigint,
    asked_in integer NOT NULL,
    number integer NOT NULL,
    run_version integer NOT NULL,
    version integer NOT NULL,
    state smallint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    uid text COLLATE "C" NOT NULL,
    kind bytea NOT NULL,
    body bytea NOT NULL,
    decision bytea,
    PRIMARY KEY (tenant, thread_id, id)
);
CREATE INDEX approvals_by_id ON clew.approvals (tenant, id);
CREATE INDEX approvals_by_creation ON clew.approvals (tenant, created_at_ms, id);
CREATE INDEX approvals_by_version ON clew.approvals (tenant, thread_id, version);
CREATE INDEX approvals_inbox ON clew.approvals (tenant, created_at_ms, id) WHERE state = 0;
CREATE INDEX approvals_pending ON clew.approvals (tenant, thread_id) WHERE state = 0;
CREATE INDEX approvals_by_expiry ON clew.approvals (expires_at_ms, id) WHERE state = 0 AND expires_at_ms IS NOT NULL;

-- uid NULL: that of the living thread; a delete writes it out.
CREATE TABLE clew.requests (
    created_at_ms bigint NOT NULL,
    version integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    body_digest bytea NOT NULL,
    uid text COLLATE "C",
    verb bytea NOT NULL,
    reply bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, request_hash)
);
-- They come in the order of time, so this costs next to nothing.
CREATE INDEX requests_by_age ON clew.requests USING brin (created_at_ms) WITH (pages_per_range = 16);

CREATE TABLE clew.cached_values (
    expires_at_ms bigint,
    tenant text COLLATE "C" NOT NULL,
    namespace bytea NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (tenant, namespace, key)
);
CREATE INDEX cached_values_by_expiry ON clew.cached_values (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
