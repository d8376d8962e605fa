-- A session of somebody else may lock the row of a lease for as long as it likes, and a thread that is being written is locked for a moment.
-- So what is done for many leases at once passes over those that are locked, and says which: they are asked for one by one, each for a time.

-- As renew_1. in_wait: how long one that is locked is waited for, at the end of which lock_not_available is raised; NULL: it is passed over.
-- To be waited for it comes alone: several would be locked in no order.
-- out_locked: it was passed over. Neither: it is not held any more.
CREATE FUNCTION clew.renew_2(
    in_tenants text[], in_thread_ids text[], in_epochs bigint[], in_server text, in_term interval, in_wait interval
) RETURNS TABLE (out_epoch bigint, out_locked boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    ours bigint[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- In the order in which every statement locks leases.
    IF in_wait IS NULL THEN
        SELECT array_agg(o.epoch) INTO ours FROM (
            SELECT h.epoch FROM unnest(in_tenants, in_thread_ids, in_epochs) AS h (tenant, thread_id, epoch)
            JOIN clew.leases l USING (tenant, thread_id)
            ORDER BY l.tenant, l.thread_id FOR UPDATE OF l SKIP LOCKED
        ) o;
    ELSE
        PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM in_wait) * 1000)::integer::text, true);
        ours := in_epochs;
    END IF;
    RETURN QUERY
    UPDATE clew.leases l SET expires_at = clock_timestamp() + in_term
    FROM unnest(in_tenants, in_thread_ids, in_epochs) AS h (tenant, thread_id, epoch)
    WHERE l.tenant = h.tenant AND l.thread_id = h.thread_id AND l.epoch = h.epoch AND l.server = in_server
        AND l.expires_at > clock_timestamp() AND h.epoch = ANY (ours)
    RETURNING l.epoch, false;
    RETURN QUERY
    SELECT h.epoch, true FROM unnest(in_tenants, in_thread_ids, in_epochs) AS h (tenant, thread_id, epoch)
    JOIN clew.leases l ON l.tenant = h.tenant AND l.thread_id = h.thread_id
    WHERE l.epoch = h.epoch AND l.server = in_server AND l.expires_at > clock_timestamp()
        AND NOT h.epoch = ANY (coalesce(ours, '{}'));
END $$;

-- As wait_on_1, and in_wait as above: gives the tickets that were passed over.
CREATE FUNCTION clew.wait_on_2(
    in_tenants text[], in_thread_ids text[], in_tickets bigint[], in_term interval, in_wait interval
) RETURNS SETOF bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    ours bigint[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    IF in_wait IS NULL THEN
        SELECT array_agg(o.ticket) INTO ours FROM (
            SELECT h.ticket FROM unnest(in_tenants, in_thread_ids, in_tickets) AS h (tenant, thread_id, ticket)
            JOIN clew.leases l USING (tenant, thread_id)
            ORDER BY l.tenant, l.thread_id FOR SHARE OF l SKIP LOCKED
        ) o;
        SELECT array_agg(o.ticket) INTO ours FROM (
            SELECT t.ticket FROM unnest(in_tenants, in_thread_ids, in_tickets) AS h (tenant, thread_id, ticket)
            JOIN clew.tickets t USING (tenant, thread_id, ticket)
            WHERE t.ticket = ANY (ours)
            ORDER BY t.tenant, t.thread_id, t.ticket FOR NO KEY UPDATE OF t SKIP LOCKED
        ) o;
    ELSE
        PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM in_wait) * 1000)::integer::text, true);
        PERFORM 1 FROM unnest(in_tenants, in_thread_ids) AS h (tenant, thread_id)
        JOIN clew.leases l USING (tenant, thread_id)
        ORDER BY l.tenant, l.thread_id FOR SHARE OF l;
        ours := in_tickets;
    END IF;
    UPDATE clew.tickets t SET expires_at = clock_timestamp() + in_term
    FROM unnest(in_tenants, in_thread_ids, in_tickets) AS h (tenant, thread_id, ticket)
    WHERE t.tenant = h.tenant AND t.thread_id = h.thread_id AND t.ticket = h.ticket AND h.ticket = ANY (ours);
    RETURN QUERY
    SELECT t.ticket FROM unnest(in_tenants, in_thread_ids, in_tickets) AS h (tenant, thread_id, ticket)
    JOIN clew.tickets t ON t.tenant = h.tenant AND t.thread_id = h.thread_id AND t.ticket = h.ticket
    WHERE NOT h.ticket = ANY (coalesce(ours, '{}'));
END $$;

-- As take_over_1; a lease that is locked is left for the next time, which is soon.
CREATE FUNCTION clew.take_over_2(in_tenant text, in_thread_id text, in_term interval) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '100ms' AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM clew.leases l
    WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id AND (l.server IS NULL OR l.expires_at <= clock_timestamp())
    FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM clew.pass_on_1(in_tenant, in_thread_id, in_term);
    END IF;
END $$;
