-- uid NULL: that of the living thread; a delete writes it out.
CREATE TABLE requests (
    request_no INTEGER PRIMARY KEY,
    thread_no INTEGER NOT NULL,
    request_hash BLOB NOT NULL,
    body_digest BLOB NOT NULL,
    verb TEXT NOT NULL,
    uid TEXT,
    version INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    reply BLOB NOT NULL
);
CREATE UNIQUE INDEX requests_by_hash ON requests (thread_no, request_hash);
CREATE INDEX requests_by_age ON requests (created_at_ms);
