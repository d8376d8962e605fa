-- Leaves word that an attempt is to be cancelled, where the head is in progress in it, with the record of the request that asked.
CREATE FUNCTION clew.request_cancel_1(
    in_tenant text, in_thread_id text, in_uid text, in_run_version bigint, in_attempt bigint,
    r_hash bytea, r_digest bytea, r_verb bytea, r_uid text, r_version integer, r_created_at_ms bigint, r_reply bytea,
    OUT out_done boolean, OUT out_recorded boolean
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    out_done := false;
    PERFORM 1 FROM clew.threads t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id FOR NO KEY UPDATE;
    out_recorded := EXISTS (
        SELECT FROM clew.requests q WHERE q.tenant = in_tenant AND q.thread_id = in_thread_id AND q.request_hash = r_hash
    );
    IF out_recorded THEN
        RETURN;
    END IF;
    UPDATE clew.threads t SET cancel_run = t.run_version, cancel_attempt = t.attempt
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.uid = in_uid AND t.run_version = in_run_version
        AND t.attempt = in_attempt AND t.status = 0;
    out_done := FOUND;
    IF out_done AND r_hash IS NOT NULL THEN
        INSERT INTO clew.requests (created_at_ms, version, tenant, thread_id, request_hash, body_digest, uid, verb, reply)
        VALUES (r_created_at_ms, r_version, in_tenant, in_thread_id, r_hash, r_digest, r_uid, r_verb, r_reply);
    END IF;
END $$;
