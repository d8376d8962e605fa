-- As delete_thread_1. The lease's row is the lock of its thread, and a thread that nobody has ever held has none: without it a grant could be
-- given between the delete's look and its end, read the thread that is about to go, and make it again.
CREATE FUNCTION clew.delete_thread_2(
    in_tenant text, in_thread_id text, in_expected_version bigint, in_now_ms bigint,
    r_hash bytea, r_digest bytea, r_verb bytea, r_uid text, r_version integer, r_created_at_ms bigint, r_reply bytea,
    OUT out_refusal smallint, OUT out_detail integer, OUT out_epoch bigint, OUT out_dismissed bigint[]
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    INSERT INTO clew.leases (epoch, tenant, thread_id) VALUES (0, in_tenant, in_thread_id) ON CONFLICT DO NOTHING;
    SELECT d.out_refusal, d.out_detail, d.out_epoch, d.out_dismissed INTO out_refusal, out_detail, out_epoch, out_dismissed
    FROM clew.delete_thread_1(
        in_tenant, in_thread_id, in_expected_version, in_now_ms, r_hash, r_digest, r_verb, r_uid, r_version, r_created_at_ms, r_reply
    ) d;
END $$;
