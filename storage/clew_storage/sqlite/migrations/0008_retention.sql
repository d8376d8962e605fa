-- Where the stored log of a thread begins once it was trimmed (0: it never was), and how many messages it had before that version.
ALTER TABLE threads ADD COLUMN oldest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN oldest_begin INTEGER NOT NULL DEFAULT 0;
