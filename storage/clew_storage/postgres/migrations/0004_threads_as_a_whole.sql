-- refusal: as append_1 tells it, and 7: there is no such thread, 8: the info is at another revision
-- (detail), 9: there is a thread where a copy was to be made.

CREATE FUNCTION clew.change_info_1(
    in_tenant text, in_thread_id text, in_name bytea, in_metadata bytea, in_user_id bytea, in_expected_revision bigint,
    in_now_ms bigint,
    c_uid text, c_created_at_ms bigint, c_app bytea, c_user_id bytea, c_name bytea, c_metadata bytea,
    r_hash bytea, r_digest bytea, r_verb bytea, r_uid text, r_version integer, r_created_at_ms bigint, r_reply bytea,
    OUT out_refusal smallint, OUT out_detail integer, OUT tenant text, OUT thread_id text, OUT uid text, OUT epoch bigint,
    OUT head integer, OUT status smallint, OUT created_at_ms bigint, OUT updated_at_ms bigint, OUT revision integer, OUT app bytea,
    OUT user_id bytea, OUT name bytea, OUT metadata bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
    thread clew.threads;
BEGIN
    out_refusal := 0;
    LOOP
        SELECT * INTO thread FROM clew.threads t
        WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id FOR NO KEY UPDATE;
        EXIT WHEN FOUND OR c_uid IS NULL;
        INSERT INTO clew.threads (epoch, created_at_ms, updated_at_ms, deleted_at_ms, head, line_start, revision, tenant, thread_id, app, user_id,
            name, metadata)
        VALUES (0, in_now_ms, in_now_ms, in_now_ms, 0, 0, 0, in_tenant, in_thread_id, '', '', '', '') ON CONFLICT DO NOTHING;
    END LOOP;
    IF EXISTS (
        SELECT FROM clew.requests q WHERE q.tenant = in_tenant AND q.thread_id = in_thread_id AND q.request_hash = r_hash
    ) THEN
        out_refusal := 1;
    ELSIF thread.uid IS NULL AND c_uid IS NULL THEN
        out_refusal := 7;
    ELSIF in_expected_revision <> coalesce(thread.revision, 0) THEN
        out_refusal := 8;
        out_detail := coalesce(thread.revision, 0);
    END IF;
    IF out_refusal <> 0 THEN
        RETURN;
    END IF;
    IF thread.uid IS NULL THEN
        thread.uid := c_uid;
        thread.created_at_ms := c_created_at_ms;
        thread.app := c_app;
        thread.user_id := c_user_id;
        thread.name := c_name;
        thread.metadata := c_metadata;
    END IF;
    UPDATE clew.threads t SET
        uid = thread.uid, deleted_at_ms = NULL, created_at_ms = thread.created_at_ms, updated_at_ms = in_now_ms, revision = t.revision + 1,
        app = thread.app, user_id = coalesce(in_user_id, thread.user_id), name = coalesce(in_name, thread.name),
        metadata = coalesce(in_metadata, thread.metadata)
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id
    RETURNING t.* INTO thread;
    IF r_hash IS NOT NULL THEN
        INSERT INTO clew.requests (created_at_ms, version, tenant, thread_id, request_hash, body_digest, uid, verb, reply)
        VALUES (r_created_at_ms, r_version, in_tenant, in_thread_id, r_hash, r_digest, nullif(r_uid, thread.uid), r_verb, r_reply);
    END IF;
    tenant := thread.tenant; thread_id := thread.thread_id; uid := thread.uid; epoch := thread.epoch; head := thread.head;
    status := thread.status; created_at_ms := thread.created_at_ms; updated_at_ms := thread.updated_at_ms;
    revision := thread.revision; app := thread.app; user_id := thread.user_id; name := thread.name; metadata := thread.metadata;
END $$;

-- No refusal at all: there is no such thread. The lease is taken from whoever holds it, and whoever waits for it is dismissed.
-- out_epoch: larger than every one that was granted; out_dismissed: the tickets of those who waited.
CREATE FUNCTION clew.delete_thread_1(
    in_tenant text, in_thread_id text, in_expected_version bigint, in_now_ms bigint,
    r_hash bytea, r_digest bytea, r_verb bytea, r_uid text, r_version integer, r_created_at_ms bigint, r_reply bytea,
    OUT out_refusal smallint, OUT out_detail integer, OUT out_epoch bigint, OUT out_dismissed bigint[]
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    thread clew.threads;
BEGIN
    PERFORM 1 FROM clew.leases l WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id FOR UPDATE;
    SELECT * INTO thread FROM clew.threads t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id FOR UPDATE;
    IF EXISTS (
        SELECT FROM clew.requests q WHERE q.tenant = in_tenant AND q.thread_id = in_thread_id AND q.request_hash = r_hash
    ) THEN
        out_refusal := 1;
        RETURN;
    ELSIF thread.uid IS NULL THEN
        RETURN;
    ELSIF in_expected_version <> thread.head THEN
        out_refusal := 4;
        out_detail := thread.head;
        RETURN;
    END IF;
    out_refusal := 0;
    out_epoch := nextval('clew.epochs');
    UPDATE clew.leases l SET epoch = out_epoch, server = NULL, purpose = NULL, ticket = NULL, expires_at = NULL
    WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id;
    WITH dismissed AS (
        UPDATE clew.tickets t SET dismissed = true WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id RETURNING t.ticket
    )
    SELECT array_agg(d.ticket) INTO out_dismissed FROM dismissed d;
    DELETE FROM clew.checkpoints x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;
    DELETE FROM clew.messages x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;
    DELETE FROM clew.state_changes x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;
    DELETE FROM clew.folds x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;
    DELETE FROM clew.approvals x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;
    IF r_hash IS NOT NULL THEN
        INSERT INTO clew.requests (created_at_ms, version, tenant, thread_id, request_hash, body_digest, uid, verb, reply)
        VALUES (r_created_at_ms, r_version, in_tenant, in_thread_id, r_hash, r_digest, r_uid, r_verb, r_reply);
    END IF;
    UPDATE clew.requests q SET uid = thread.uid
    WHERE q.tenant = in_tenant AND q.thread_id = in_thread_id AND q.uid IS NULL;
    UPDATE clew.threads t SET uid = NULL, epoch = out_epoch, head = 0, status = NULL, run_version = NULL, attempt = NULL,
        line_start = 0, line = NULL, cancel_run = NULL, cancel_attempt = NULL, updated_at_ms = in_now_ms, deleted_at_ms = in_now_ms, revision = 0,
        app = '',
        user_id = '', name = '', metadata = ''
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id;
END $$;

-- Makes a thread out of a line of another one; append_1 then adds the checkpoint that the copy ends with. in_firsts and in_lasts are
-- the ranges of the line, up to the version that is copied.
CREATE FUNCTION clew.copy_line_1(
    in_tenant text, in_thread_id text, in_source_uid text, in_firsts integer[], in_lasts integer[],
    t_tenant text, t_thread_id text, t_uid text, t_created_at_ms bigint, t_app bytea, t_user_id bytea, t_name bytea,
    t_metadata bytea, t_revision integer, r_hash bytea
) RETURNS smallint
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    target clew.threads;
    line int4multirange;
BEGIN
    LOOP
        SELECT * INTO target FROM clew.threads t WHERE t.tenant = t_tenant AND t.thread_id = t_thread_id FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO clew.threads (epoch, created_at_ms, updated_at_ms, deleted_at_ms, head, line_start, revision, tenant, thread_id, app, user_id,
            name, metadata)
        VALUES (0, t_created_at_ms, t_created_at_ms, t_created_at_ms, 0, 0, 0, t_tenant, t_thread_id, '', '', '', '') ON CONFLICT DO NOTHING;
    END LOOP;
    IF EXISTS (
        SELECT FROM clew.requests q WHERE q.tenant = t_tenant AND q.thread_id = t_thread_id AND q.request_hash = r_hash
    ) THEN
        RETURN 1;
    END IF;
    -- A delete of the source waits for its copy, or has gone before it; writes to the source do not wait.
    PERFORM 1 FROM clew.threads t
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.uid = in_source_uid FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN 7;
    ELSIF coalesce(cardinality(in_lasts), 0) = 0 OR NOT EXISTS (
        SELECT FROM clew.checkpoints c
        WHERE c.tenant = in_tenant AND c.thread_id = in_thread_id AND c.version = in_lasts[cardinality(in_lasts)]
    ) THEN
        RETURN 6;
    ELSIF target.uid IS NOT NULL THEN
        RETURN 9;
    END IF;
    UPDATE clew.threads t SET uid = t_uid, deleted_at_ms = NULL, created_at_ms = t_created_at_ms, head = in_lasts[cardinality(in_lasts)],
        revision = t_revision, app = t_app, user_id = t_user_id, name = t_name, metadata = t_metadata
    WHERE t.tenant = t_tenant AND t.thread_id = t_thread_id;
    SELECT range_agg(int4range(r.first, r.last, '[]')) INTO line FROM unnest(in_firsts, in_lasts) AS r (first, last);
    INSERT INTO clew.messages (created_at_ms, position, version, number, role, tenant, thread_id, message_id, other_role, body)
    SELECT m.created_at_ms, m.position, m.version, m.number, m.role, t_tenant, t_thread_id, m.message_id, m.other_role, m.body
    FROM clew.messages m
    WHERE m.tenant = in_tenant AND m.thread_id = in_thread_id AND m.version <@ line;
    INSERT INTO clew.checkpoints (created_at_ms, version, run_version, attempt, step, next_position, status, source, parent,
        position, tenant, thread_id, positions, body)
    SELECT c.created_at_ms, c.version, c.run_version, c.attempt, c.step, c.next_position, c.status, c.source, c.parent,
        c.position, t_tenant, t_thread_id, c.positions, c.body
    FROM clew.checkpoints c
    WHERE c.tenant = in_tenant AND c.thread_id = in_thread_id AND c.version <@ line;
    INSERT INTO clew.state_changes (version, tenant, thread_id, change)
    SELECT s.version, t_tenant, t_thread_id, s.change
    FROM clew.state_changes s
    WHERE s.tenant = in_tenant AND s.thread_id = in_thread_id AND s.version <@ line;
    RETURN 0;
END $$;
