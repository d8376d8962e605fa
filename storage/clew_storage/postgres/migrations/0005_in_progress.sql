-- The threads whose head is in progress, so that what looks for runs that died reads these and no other. A table and no index of
-- clew.threads, whose rows would have to be named anew in all their indexes with every change of status. Triggers keep it, so that it is
-- right also for what servers of earlier versions write; they have their owner's rights, since those servers' roles know nothing of it.
CREATE TABLE clew.in_progress (
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, thread_id)
);

CREATE FUNCTION clew.note_status_1() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.status = 0 THEN
        -- The thread's row is locked, so nobody else adds this one; ON CONFLICT would write one record more to the log.
        INSERT INTO clew.in_progress (tenant, thread_id) SELECT NEW.tenant, NEW.thread_id
        WHERE NOT EXISTS (SELECT FROM clew.in_progress p WHERE p.tenant = NEW.tenant AND p.thread_id = NEW.thread_id);
    ELSE
        DELETE FROM clew.in_progress p WHERE p.tenant = NEW.tenant AND p.thread_id = NEW.thread_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER note_made AFTER INSERT ON clew.threads FOR EACH ROW
    WHEN (NEW.status = 0) EXECUTE FUNCTION clew.note_status_1();
CREATE TRIGGER note_status AFTER UPDATE OF status ON clew.threads FOR EACH ROW
    WHEN ((OLD.status IS NOT DISTINCT FROM 0::smallint) <> (NEW.status IS NOT DISTINCT FROM 0::smallint))
    EXECUTE FUNCTION clew.note_status_1();

-- The triggers keep writers out until this is committed.
INSERT INTO clew.in_progress (tenant, thread_id) SELECT t.tenant, t.thread_id FROM clew.threads t WHERE t.status = 0;
