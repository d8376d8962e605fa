-- Where the stored log of a thread begins once it was trimmed. oldest_of: the incarnation (uid) that it was trimmed of; what is said of
-- another one says nothing.
ALTER TABLE clew.threads ADD COLUMN oldest integer;
ALTER TABLE clew.threads ADD COLUMN oldest_of text COLLATE "C";

-- Whether somebody holds a thread, or waits for it. Where nobody does its lease's row is locked, so that nobody is granted it meanwhile.
-- What another has locked is in use. Nothing is waited for, so that a sweep holds nobody up and runs into no other.
CREATE FUNCTION clew.in_use_1(in_tenant text, in_thread_id text) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    held clew.leases;
BEGIN
    INSERT INTO clew.leases (epoch, tenant, thread_id) VALUES (0, in_tenant, in_thread_id) ON CONFLICT DO NOTHING;
    SELECT * INTO held FROM clew.leases l WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id FOR UPDATE SKIP LOCKED;
    RETURN NOT FOUND OR (held.server IS NOT NULL AND held.expires_at > clock_timestamp()) OR EXISTS (
        SELECT FROM clew.tickets t
        WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND NOT t.dismissed AND t.expires_at > clock_timestamp()
    );
END $$;

-- Deletes those threads that are as they were judged to be, in the order of their names; gives the places of those that went.
CREATE FUNCTION clew.delete_idle_1(
    in_tenants text[], in_thread_ids text[], in_uids text[], in_heads integer[], in_updated_at_ms bigint[], in_now_ms bigint
) RETURNS SETOF integer
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    judged record;
BEGIN
    FOR judged IN
        SELECT * FROM unnest(in_tenants, in_thread_ids, in_uids, in_heads, in_updated_at_ms)
            WITH ORDINALITY AS j (tenant, thread_id, uid, head, updated_at_ms, i)
        ORDER BY tenant COLLATE "C", thread_id COLLATE "C"
    LOOP
        CONTINUE WHEN clew.in_use_1(judged.tenant, judged.thread_id);
        PERFORM 1 FROM clew.threads t
        WHERE t.tenant = judged.tenant AND t.thread_id = judged.thread_id AND t.uid = judged.uid AND t.head = judged.head
            AND t.updated_at_ms = judged.updated_at_ms
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND OR EXISTS (
            SELECT FROM clew.approvals a WHERE a.tenant = judged.tenant AND a.thread_id = judged.thread_id AND a.state = 0
        );
        PERFORM clew.delete_thread_1(
            judged.tenant, judged.thread_id, NULL, in_now_ms, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        );
        RETURN NEXT judged.i;
    END LOOP;
END $$;

-- in_firsts and in_lasts: the ranges of the head's line from in_oldest on; in_line_start and in_line: the line as it is stored from then
-- on. in_run: the run of the oldest. in_state: the whole state there (NULL: no state was ever set), in_fold: that at in_folded, where
-- the fold ends that the oldest lies in. False: it is not as it was read, or in use.
CREATE FUNCTION clew.trim_thread_1(
    in_tenant text, in_thread_id text, in_uid text, in_head integer, in_was_oldest integer, in_oldest integer, in_run integer,
    in_firsts integer[], in_lasts integer[], in_line_start integer, in_line bytea, in_state bytea, in_folded integer, in_fold bytea,
    k_version integer[], k_body bytea[]
) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    kept int4multirange;
    -- With what is below the oldest.
    line int4multirange;
BEGIN
    IF clew.in_use_1(in_tenant, in_thread_id) THEN
        RETURN false;
    END IF;
    PERFORM 1 FROM clew.threads t
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.uid = in_uid AND t.head = in_head
        AND CASE WHEN t.oldest_of = t.uid THEN t.oldest ELSE 0 END = in_was_oldest
    -- Not beside a copy, which reads the rows one table after the other.
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT range_agg(int4range(r.first, r.last, '[]')) INTO line FROM unnest(in_firsts, in_lasts) AS r (first, last);
    kept := line * int4multirange(int4range(in_oldest, NULL));
    DELETE FROM clew.checkpoints c
    WHERE c.tenant = in_tenant AND c.thread_id = in_thread_id AND NOT c.version <@ kept;
    DELETE FROM clew.messages m
    WHERE m.tenant = in_tenant AND m.thread_id = in_thread_id AND (NOT m.version <@ line OR (m.version < in_oldest AND EXISTS (
        SELECT FROM clew.messages n
        WHERE n.tenant = in_tenant AND n.thread_id = in_thread_id AND n.position = m.position AND n.version > m.version
            AND n.version <= in_oldest AND n.version <@ line
    )));
    DELETE FROM clew.approvals a
    WHERE a.tenant = in_tenant AND a.thread_id = in_thread_id AND a.state <> 0
        AND NOT (a.version <@ line AND (a.version >= in_oldest OR a.run_version = in_run));
    IF in_state IS NOT NULL THEN
        DELETE FROM clew.state_changes s
        WHERE s.tenant = in_tenant AND s.thread_id = in_thread_id AND (NOT s.version <@ kept OR s.version = in_oldest);
        INSERT INTO clew.state_changes (version, tenant, thread_id, change)
        VALUES (in_oldest, in_tenant, in_thread_id, in_state);
        DELETE FROM clew.folds f WHERE f.tenant = in_tenant AND f.thread_id = in_thread_id AND f.version <= in_folded;
        INSERT INTO clew.folds (version, level, tenant, thread_id, change)
        VALUES (in_folded, 63, in_tenant, in_thread_id, in_fold);
    END IF;
    UPDATE clew.checkpoints c SET body = k.body
    FROM unnest(k_version, k_body) AS k (version, body)
    WHERE c.tenant = in_tenant AND c.thread_id = in_thread_id AND c.version = k.version;
    UPDATE clew.threads t SET oldest = in_oldest, oldest_of = in_uid, line_start = in_line_start, line = in_line
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id;
    RETURN true;
END $$;

-- The log of a copy begins where that of its source does.
CREATE FUNCTION clew.copy_oldest_1(in_tenant text, in_thread_id text, t_tenant text, t_thread_id text, t_uid text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    UPDATE clew.threads t SET oldest = s.oldest, oldest_of = t.uid
    FROM clew.threads s
    WHERE s.tenant = in_tenant AND s.thread_id = in_thread_id AND s.oldest_of = s.uid
        AND t.tenant = t_tenant AND t.thread_id = t_thread_id AND t.uid = t_uid;
END $$;
