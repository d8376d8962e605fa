-- Many writes in one statement. Its arrays are tables turned on their side: g_ has a row a thread that is written to (in the order of
-- its index, from 1), the others have rows that belong to one of those by its index. What it refuses it refuses for that thread alone,
-- and it tells why by a number:
--   0 written, 1 the request is recorded, 2 the lease is not held, 3 the thread is gone or another, 4 the head is elsewhere (detail:
--   where), 5 an approval is not pending (detail: the decision's index), 6 the checkpoint to go on from is not stored,
--   9 a tombstone went away at this moment: the same write goes through when it is tried again.
-- in_server: who writes. An epoch alone would not do: one that was granted and never written with may be granted once more after a crash.
-- in_fenced: whether leases are asked for (a copy needs none, and is undone where its last checkpoint is refused); NULL: nothing is
-- done.
CREATE FUNCTION clew.append_1(
    in_fenced boolean, in_server text,
    g_tenant text[], g_thread_id text[], g_uid text[], g_epoch bigint[], g_expected integer[], g_first integer[], g_head integer[],
    g_status smallint[], g_run_version integer[], g_attempt integer[], g_created_at_ms bigint[], g_updated_at_ms bigint[],
    g_app bytea[], g_user_id bytea[], g_name bytea[], g_metadata bytea[], g_revision integer[],
    g_line_start integer[], g_line bytea[], g_fork_missing boolean[], g_void boolean[],
    c_group integer[], c_version integer[], c_parent integer[], c_run_version integer[], c_attempt integer[], c_status smallint[],
    c_source smallint[], c_step integer[], c_next_position bigint[], c_created_at_ms bigint[], c_position bigint[], c_positions text[], c_body bytea[],
    m_group integer[], m_version integer[], m_position bigint[], m_number integer[], m_message_id bytea[], m_role smallint[],
    m_other_role bytea[], m_created_at_ms bigint[], m_body bytea[],
    e_group integer[], e_position bigint[], e_version integer[],
    k_group integer[], k_version integer[], k_body bytea[],
    p_group integer[], p_id bytea[], p_body bytea[], p_decision bytea[],
    s_group integer[], s_version integer[], s_change bytea[],
    f_group integer[], f_from integer[], f_version integer[], f_level smallint[], f_change bytea[],
    d_group integer[], d_index integer[], d_id bytea[], d_state smallint[], d_decision bytea[],
    a_group integer[], a_number integer[], a_id bytea[], a_uid text[], a_run_version integer[], a_version integer[], a_kind bytea[],
    a_state smallint[], a_created_at_ms bigint[], a_expires_at_ms bigint[], a_body bytea[], a_decided_at_ms bigint[],
    a_decision bytea[],
    r_group integer[], r_hash bytea[], r_digest bytea[], r_verb bytea[], r_uid text[], r_version integer[], r_created_at_ms bigint[],
    r_reply bytea[]
) RETURNS TABLE (
    out_group integer, out_refusal smallint, out_detail integer, tenant text, thread_id text, uid text, epoch bigint, head integer,
    status smallint, created_at_ms bigint, updated_at_ms bigint, revision integer, app bytea, user_id bytea, name bytea,
    metadata bytea, cancel_requested boolean
) LANGUAGE plpgsql
-- Plans that stay good while tables grow: every table is reached by its key, one row of the arrays at a time.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
    refusals smallint[];
    details integer[];
    written boolean[];
BEGIN
    IF in_fenced IS NULL THEN
        RETURN;
    END IF;
    -- Locks come in one order everywhere: leases by name, then threads by name. The lease's row is the lock of its thread: heads move,
    -- and threads go, only under it; a grant waits until what its old holder writes is in. What else changes a thread (its info, the
    -- word to cancel) is taken as it stands by the update at the end.
    IF in_fenced THEN
        PERFORM 1 FROM unnest(g_tenant, g_thread_id) AS g (tenant, thread_id)
        JOIN clew.leases l USING (tenant, thread_id)
        ORDER BY l.tenant, l.thread_id FOR SHARE OF l;
    END IF;
    -- A thread may be made without a lease, so a first write makes its row, as a place that can be locked.
    IF 0 = ANY (g_expected) THEN
        INSERT INTO clew.threads (epoch, created_at_ms, updated_at_ms, deleted_at_ms, head, line_start, revision, tenant, thread_id, app, user_id,
            name, metadata)
        SELECT 0, g.now_ms, g.now_ms, g.now_ms, 0, 0, 0, g.tenant, g.thread_id, '', '', '', ''
        FROM unnest(g_tenant, g_thread_id, g_expected, g_updated_at_ms) AS g (tenant, thread_id, expected, now_ms)
        WHERE g.expected = 0
            AND NOT EXISTS (SELECT FROM clew.threads t WHERE t.tenant = g.tenant AND t.thread_id = g.thread_id)
        ORDER BY g.tenant, g.thread_id
        ON CONFLICT DO NOTHING;
        PERFORM 1 FROM unnest(g_tenant, g_thread_id, g_expected) AS g (tenant, thread_id, expected)
        JOIN clew.threads t USING (tenant, thread_id) WHERE g.expected = 0
        ORDER BY t.tenant, t.thread_id FOR NO KEY UPDATE OF t;
    END IF;
    -- What is locked does not change any more; each statement sees what was committed when it begins.
    SELECT array_agg(judged.refusal ORDER BY judged.i),
        array_agg(CASE judged.refusal WHEN 4 THEN judged.head WHEN 5 THEN judged.undecided END ORDER BY judged.i)
    INTO refusals, details
    FROM (
        SELECT g.i, coalesce(t.head, 0) AS head, undecided.index AS undecided, (CASE
            WHEN EXISTS (
                SELECT FROM unnest(r_group, r_hash) AS r (i, hash)
                JOIN clew.requests q ON q.tenant = g.tenant AND q.thread_id = g.thread_id AND q.request_hash = r.hash
                WHERE r.i = g.i) THEN 1
            WHEN in_fenced AND NOT (l.epoch = g.epoch AND l.server = in_server AND l.expires_at > clock_timestamp()) IS TRUE THEN 2
            WHEN t.uid IS NULL AND (g.expected <> 0 OR t.epoch > g.epoch) THEN 3
            WHEN t.tenant IS NULL THEN 9
            WHEN t.uid <> g.uid THEN 3
            WHEN coalesce(t.head, 0) <> g.expected THEN 4
            WHEN undecided.index IS NOT NULL THEN 5
            WHEN g.fork_missing THEN 6
            ELSE 0
        END)::smallint AS refusal
        FROM unnest(g_tenant, g_thread_id, g_uid, g_epoch, g_expected, g_fork_missing)
            WITH ORDINALITY AS g (tenant, thread_id, uid, epoch, expected, fork_missing, i)
        LEFT JOIN clew.leases l ON l.tenant = g.tenant AND l.thread_id = g.thread_id
        LEFT JOIN clew.threads t ON t.tenant = g.tenant AND t.thread_id = g.thread_id
        LEFT JOIN LATERAL (
            SELECT min(d.index) AS index FROM unnest(d_group, d_index, d_id) AS d (i, index, id)
            LEFT JOIN clew.approvals a
                ON a.tenant = g.tenant AND a.thread_id = g.thread_id AND a.id = d.id AND a.state = 0
            WHERE d.i = g.i AND a.id IS NULL
        ) AS undecided ON true
    ) AS judged;
    SELECT array_agg(r.refusal = 0 ORDER BY r.i) INTO written FROM unnest(refusals) WITH ORDINALITY AS r (refusal, i);

    RETURN QUERY SELECT r.i::integer, r.refusal, r.detail, NULL, NULL, NULL, NULL::bigint, NULL::integer, NULL::smallint,
        NULL::bigint, NULL::bigint, NULL::integer, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea, NULL::boolean
    FROM unnest(refusals, details) WITH ORDINALITY AS r (refusal, detail, i) WHERE r.refusal <> 0;
    IF NOT true = ANY (written) THEN
        IF NOT in_fenced THEN
            RAISE EXCEPTION 'the last checkpoint of a copy was refused (%)', refusals;
        END IF;
        RETURN;
    END IF;

    IF cardinality(e_group) > 0 THEN
        DELETE FROM clew.messages m USING unnest(e_group, e_position, e_version) AS e (i, position, version)
        WHERE written[e.i] AND m.tenant = g_tenant[e.i] AND m.thread_id = g_thread_id[e.i] AND m.position = e.position
            AND m.version = e.version;
    END IF;
    -- What stood before is redacted, so this comes before the write's own rows.
    IF cardinality(k_group) > 0 THEN
        UPDATE clew.checkpoints c SET body = k.body
        FROM unnest(k_group, k_version, k_body) AS k (i, version, body)
        WHERE written[k.i] AND c.tenant = g_tenant[k.i] AND c.thread_id = g_thread_id[k.i] AND c.version = k.version;
    END IF;
    INSERT INTO clew.checkpoints (created_at_ms, version, run_version, attempt, step, next_position, status, source, parent, position,
        tenant, thread_id, positions, body)
    SELECT c.created_at_ms, c.version, c.run_version, c.attempt, c.step, c.next_position, c.status, c.source, c.parent, c.position,
        g_tenant[c.i], g_thread_id[c.i], c.positions::bigint[], c.body
    FROM unnest(c_group, c_version, c_parent, c_run_version, c_attempt, c_status, c_source, c_step, c_next_position, c_created_at_ms,
        c_position, c_positions, c_body) AS c (i, version, parent, run_version, attempt, status, source, step, next_position, created_at_ms,
        position, positions, body)
    WHERE written[c.i];
    IF cardinality(m_group) > 0 THEN
        INSERT INTO clew.messages (created_at_ms, position, version, number, role, tenant, thread_id, message_id, other_role, body)
        SELECT m.created_at_ms, m.position, m.version, m.number, m.role, g_tenant[m.i], g_thread_id[m.i], m.message_id, m.other_role,
            m.body
        FROM unnest(m_group, m_version, m_position, m_number, m_message_id, m_role, m_other_role, m_created_at_ms, m_body)
            AS m (i, version, position, number, message_id, role, other_role, created_at_ms, body)
        WHERE written[m.i];
    END IF;
    IF cardinality(s_group) > 0 THEN
        INSERT INTO clew.state_changes (version, tenant, thread_id, change)
        SELECT s.version, g_tenant[s.i], g_thread_id[s.i], s.change
        FROM unnest(s_group, s_version, s_change) AS s (i, version, change) WHERE written[s.i];
    END IF;
    IF cardinality(f_group) > 0 THEN
        DELETE FROM clew.folds x USING unnest(f_group, f_from) AS f (i, start)
        WHERE written[f.i] AND x.tenant = g_tenant[f.i] AND x.thread_id = g_thread_id[f.i] AND x.version >= f.start;
        INSERT INTO clew.folds (version, level, tenant, thread_id, change)
        SELECT f.version, f.level, g_tenant[f.i], g_thread_id[f.i], f.change
        FROM unnest(f_group, f_version, f_level, f_change) AS f (i, version, level, change)
        WHERE written[f.i] AND f.change IS NOT NULL;
    END IF;
    IF cardinality(d_group) > 0 THEN
        UPDATE clew.approvals a SET state = d.state, decision = d.decision, decided_at_ms = g_updated_at_ms[d.i]
        FROM unnest(d_group, d_id, d_state, d_decision) AS d (i, id, state, decision)
        WHERE written[d.i] AND a.tenant = g_tenant[d.i] AND a.thread_id = g_thread_id[d.i] AND a.id = d.id;
    END IF;
    IF cardinality(p_group) > 0 THEN
        UPDATE clew.approvals a SET body = p.body, decision = p.decision
        FROM unnest(p_group, p_id, p_body, p_decision) AS p (i, id, body, decision)
        WHERE written[p.i] AND a.tenant = g_tenant[p.i] AND a.thread_id = g_thread_id[p.i] AND a.id = p.id;
    END IF;
    IF true = ANY (g_void) THEN
        UPDATE clew.approvals a SET state = 5, decided_at_ms = g.now_ms
        FROM unnest(g_tenant, g_thread_id, g_void, g_updated_at_ms)
            WITH ORDINALITY AS g (tenant, thread_id, void, now_ms, i)
        WHERE written[g.i] AND g.void AND a.tenant = g.tenant AND a.thread_id = g.thread_id AND a.state = 0;
    END IF;
    IF cardinality(a_group) > 0 THEN
        INSERT INTO clew.approvals (created_at_ms, expires_at_ms, decided_at_ms, asked_in, number, run_version, version, state,
            tenant, thread_id, id, uid, kind, body, decision)
        SELECT a.created_at_ms, a.expires_at_ms, a.decided_at_ms, g_head[a.i], a.number, a.run_version, a.version, a.state,
            g_tenant[a.i], g_thread_id[a.i], a.id, a.uid, a.kind, a.body, a.decision
        FROM unnest(a_group, a_number, a_id, a_uid, a_run_version, a_version, a_kind, a_state, a_created_at_ms, a_expires_at_ms,
            a_body, a_decided_at_ms, a_decision) AS a (i, number, id, uid, run_version, version, kind, state, created_at_ms,
            expires_at_ms, body, decided_at_ms, decision)
        WHERE written[a.i];
    END IF;
    IF cardinality(r_group) > 0 THEN
        INSERT INTO clew.requests (created_at_ms, version, tenant, thread_id, request_hash, body_digest, uid, verb, reply)
        SELECT r.created_at_ms, r.version, g_tenant[r.i], g_thread_id[r.i], r.hash, r.digest, nullif(r.uid, g_uid[r.i]), r.verb,
            r.reply
        FROM unnest(r_group, r_hash, r_digest, r_verb, r_uid, r_version, r_created_at_ms, r_reply)
            AS r (i, hash, digest, verb, uid, version, created_at_ms, reply)
        WHERE written[r.i];
    END IF;

    -- No indexed column changes in an ordinary write, so no index is touched. What was said of the thread stays; a write fills what
    -- is empty.
    RETURN QUERY
    UPDATE clew.threads t SET
        uid = g.uid,
        deleted_at_ms = NULL,
        epoch = greatest(t.epoch, g.epoch),
        head = g.head,
        status = g.status,
        run_version = g.run_version,
        attempt = g.attempt,
        created_at_ms = CASE WHEN t.uid IS NULL THEN g.created_at_ms ELSE t.created_at_ms END,
        updated_at_ms = g.updated_at_ms,
        line_start = CASE WHEN g.line_start IS NOT NULL THEN g.line_start WHEN t.line_start = 0 THEN g.first ELSE t.line_start END,
        line = CASE WHEN g.line_start IS NOT NULL THEN g.line ELSE t.line END,
        cancel_run = CASE WHEN t.cancel_run = g.run_version AND t.cancel_attempt = g.attempt THEN t.cancel_run END,
        cancel_attempt = CASE WHEN t.cancel_run = g.run_version AND t.cancel_attempt = g.attempt THEN t.cancel_attempt END,
        revision = CASE WHEN t.uid IS NULL THEN coalesce(g.revision, 1) WHEN g.app IS NULL THEN t.revision
            WHEN (t.app = '' AND g.app <> '') OR (t.user_id = '' AND g.user_id <> '') OR (t.name = '' AND g.name <> '')
                OR (t.metadata = '{}' AND g.metadata <> '{}') THEN t.revision + 1
            ELSE t.revision END,
        app = CASE WHEN t.app = '' THEN coalesce(g.app, '') ELSE t.app END,
        user_id = CASE WHEN t.user_id = '' THEN coalesce(g.user_id, '') ELSE t.user_id END,
        name = CASE WHEN t.name = '' THEN coalesce(g.name, '') ELSE t.name END,
        metadata = CASE WHEN t.uid IS NULL THEN coalesce(g.metadata, '{}') WHEN t.metadata = '{}' THEN coalesce(g.metadata, '{}')
            ELSE t.metadata END
    FROM unnest(g_tenant, g_thread_id, g_uid, g_epoch, g_first, g_head, g_status, g_run_version, g_attempt, g_created_at_ms,
        g_updated_at_ms, g_app, g_user_id, g_name, g_metadata, g_revision, g_line_start, g_line) WITH ORDINALITY AS g (tenant,
        thread_id, uid, epoch, first, head, status, run_version, attempt, created_at_ms, updated_at_ms, app, user_id, name, metadata,
        revision, line_start, line, i)
    WHERE written[g.i] AND t.tenant = g.tenant AND t.thread_id = g.thread_id
    RETURNING g.i::integer, 0::smallint, NULL::integer, t.tenant, t.thread_id, t.uid, t.epoch, t.head, t.status, t.created_at_ms,
        t.updated_at_ms, t.revision, t.app, t.user_id, t.name, t.metadata, t.cancel_run IS NOT NULL;
END $$;
