-- What each checkpoint changed in the state, for ever. id: thread_no << 36 | version.
CREATE TABLE state_changes (
    id INTEGER PRIMARY KEY,
    change BLOB NOT NULL
);

-- Many changes in one, on the head's line only. id: thread_no << 36 | the last version in it.
CREATE TABLE folds (
    id INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    change BLOB NOT NULL
);
