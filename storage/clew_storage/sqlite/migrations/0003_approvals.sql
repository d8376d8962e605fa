CREATE TABLE approvals (
    approval_no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_no INTEGER NOT NULL,
    uid TEXT NOT NULL,
    run_version INTEGER NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    body BLOB NOT NULL,
    decided_at_ms INTEGER,
    decision BLOB
);
CREATE UNIQUE INDEX approvals_by_id ON approvals (tenant, id);
CREATE INDEX approvals_by_creation ON approvals (tenant, created_at_ms, id);
CREATE INDEX approvals_by_version ON approvals (thread_no, version);
CREATE INDEX approvals_inbox ON approvals (tenant, created_at_ms, id) WHERE state = 0;
CREATE INDEX approvals_pending ON approvals (thread_no) WHERE state = 0;
CREATE INDEX approvals_by_expiry ON approvals (expires_at_ms, id) WHERE state = 0 AND expires_at_ms IS NOT NULL;
