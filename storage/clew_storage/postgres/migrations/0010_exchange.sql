-- Tool calls on their way between runs and workers, on whatever servers both are. Nothing here has to outlive a crash, and so nothing of it goes
-- through the write-ahead log: a run whose call is gone offers it again, and a worker whose outcome was not taken brings it again.
-- state: 0 open, 1 given, 2 done, 3 taken, 4 withdrawn.
CREATE UNLOGGED TABLE clew.calls (
    offered_at_ms bigint NOT NULL,
    not_before_ms bigint NOT NULL DEFAULT 0,
    timeout_ms bigint,
    lease_until timestamptz,
    deadline timestamptz,
    delivery integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    max_tries integer NOT NULL,
    state smallint NOT NULL DEFAULT 0,
    once boolean NOT NULL,
    tenant text NOT NULL,
    thread_id text NOT NULL,
    name text NOT NULL,
    tool text NOT NULL,
    worker_id text NOT NULL DEFAULT '',
    body bytea NOT NULL,
    progress bytea,
    outcome bytea,
    PRIMARY KEY (tenant, thread_id, name)
);
CREATE INDEX calls_by_tool ON clew.calls (tenant, tool, offered_at_ms, name) WHERE state < 2;
CREATE INDEX calls_by_worker ON clew.calls (tenant, worker_id) WHERE state = 1;
CREATE INDEX calls_by_age ON clew.calls (offered_at_ms) WHERE state > 0;

CREATE UNLOGGED TABLE clew.workers (
    created_at_ms bigint NOT NULL,
    lease_until timestamptz NOT NULL,
    max_calls integer NOT NULL,
    draining boolean NOT NULL,
    tenant text NOT NULL,
    worker_id text NOT NULL,
    thread_id text NOT NULL,
    tools text[] NOT NULL,
    once text[] NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, worker_id)
);
