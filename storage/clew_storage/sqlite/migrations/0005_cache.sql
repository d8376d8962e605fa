-- What the cache holds. namespace and key are UTF-8 as bytes, in which NUL is a character like any other and the order of the bytes
-- is that of the code points.
CREATE TABLE cached_values (
    value_no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    namespace BLOB NOT NULL,
    key BLOB NOT NULL,
    expires_at_ms INTEGER,
    value BLOB NOT NULL
);
CREATE UNIQUE INDEX cached_values_by_key ON cached_values (tenant, namespace, key);
CREATE INDEX cached_values_by_expiry ON cached_values (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
