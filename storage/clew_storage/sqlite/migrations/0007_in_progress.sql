-- The threads whose head is in progress, so that what looks for runs that died reads these and no other.
CREATE TABLE in_progress (thread_no INTEGER PRIMARY KEY);
INSERT INTO in_progress SELECT thread_no FROM threads WHERE status = 0;

CREATE TRIGGER note_made AFTER INSERT ON threads WHEN NEW.status = 0
BEGIN
    INSERT OR IGNORE INTO in_progress VALUES (NEW.thread_no);
END;
CREATE TRIGGER note_status AFTER UPDATE OF status ON threads WHEN (OLD.status IS 0) <> (NEW.status IS 0)
BEGIN
    DELETE FROM in_progress WHERE thread_no = NEW.thread_no;
    INSERT INTO in_progress SELECT NEW.thread_no WHERE NEW.status IS 0;
END;
