-- Epochs of all threads come from one sequence, taken when the lease's row is locked: so they grow with each grant, also where a
-- thread or its lease's row was deleted meanwhile.
CREATE SEQUENCE clew.epochs;
CREATE SEQUENCE clew.ticket_numbers;

-- server NULL: nobody holds the thread. ticket: the one that the grant was waited for with, or the call that was granted at once.
CREATE TABLE clew.leases (
    epoch bigint NOT NULL,
    expires_at timestamptz,
    ticket bigint,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    server text COLLATE "C",
    purpose bytea,
    PRIMARY KEY (tenant, thread_id)
) WITH (fillfactor = 50);

-- Those who wait for a thread, on whatever server. call: the one that asked for it. dismissed: the thread was deleted, and the one who waits is yet to be told.
CREATE TABLE clew.tickets (
    ticket bigint NOT NULL,
    call bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    goes_first boolean NOT NULL,
    dismissed boolean NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL,
    purpose bytea NOT NULL,
    PRIMARY KEY (tenant, thread_id, ticket)
);

-- Gives the thread to the first who waits, or frees it. The caller has locked the lease's row.
CREATE FUNCTION clew.pass_on_1(
    in_tenant text, in_thread_id text, in_term interval,
    OUT out_server text, OUT out_ticket bigint, OUT out_epoch bigint, OUT out_purpose bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    -- Who died waiting is skipped.
    DELETE FROM clew.tickets t
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.expires_at <= clock_timestamp();
    SELECT t.server, t.ticket, t.purpose INTO out_server, out_ticket, out_purpose FROM clew.tickets t
    WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND NOT t.dismissed
    ORDER BY t.goes_first DESC, t.ticket LIMIT 1;
    IF NOT FOUND THEN
        UPDATE clew.leases l SET server = NULL, purpose = NULL, ticket = NULL, expires_at = NULL
        WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id;
        RETURN;
    END IF;
    DELETE FROM clew.tickets t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.ticket = out_ticket;
    UPDATE clew.leases l SET epoch = nextval('clew.epochs'), server = out_server, purpose = out_purpose,
        ticket = out_ticket, expires_at = clock_timestamp() + in_term
    WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id
    RETURNING l.epoch INTO out_epoch;
    -- A hint for servers that listen; the others find out when they ask.
    PERFORM pg_notify('clew', out_server);
END $$;

-- A lease that a crash of the database takes back cannot write any more, so none of these waits for the disk: what is written under
-- a lease is durable only together with it.

-- in_call: a number that no other call has, so that a call whose answer was lost can be made again. out_epoch: the grant; else out_ticket where the caller wanted to wait. out_held_by: the purpose of who holds it.
CREATE FUNCTION clew.acquire_1(
    in_tenant text, in_thread_id text, in_server text, in_call bigint, in_purpose bytea, in_term interval, in_wait boolean,
    in_first boolean,
    OUT out_epoch bigint, OUT out_ticket bigint, OUT out_held_by bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    held clew.leases;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- Most are free, with nobody waiting.
    UPDATE clew.leases l SET epoch = nextval('clew.epochs'), server = in_server, purpose = in_purpose, ticket = in_call,
        expires_at = clock_timestamp() + in_term
    WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id AND l.server IS NULL
        AND NOT EXISTS (SELECT FROM clew.tickets t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id)
    RETURNING l.epoch INTO out_epoch;
    IF FOUND THEN
        RETURN;
    END IF;
    LOOP
        SELECT * INTO held FROM clew.leases l WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO clew.leases (epoch, tenant, thread_id) VALUES (0, in_tenant, in_thread_id) ON CONFLICT DO NOTHING;
    END LOOP;
    IF held.server = in_server AND held.ticket = in_call THEN
        out_epoch := held.epoch;
        RETURN;
    END IF;
    IF held.server IS NULL OR held.expires_at <= clock_timestamp() THEN
        -- Nobody holds it, or nobody who is alive; who waits for it was here before.
        PERFORM clew.pass_on_1(in_tenant, in_thread_id, in_term);
        SELECT * INTO held FROM clew.leases l WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id;
    END IF;
    IF held.server IS NULL THEN
        UPDATE clew.leases l SET epoch = nextval('clew.epochs'), server = in_server, purpose = in_purpose, ticket = in_call,
            expires_at = clock_timestamp() + in_term
        WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id
        RETURNING l.epoch INTO out_epoch;
        RETURN;
    END IF;
    out_held_by := held.purpose;
    IF in_wait THEN
        SELECT t.ticket INTO out_ticket FROM clew.tickets t
        WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.call = in_call AND t.server = in_server;
        IF FOUND THEN
            RETURN;
        END IF;
        out_ticket := nextval('clew.ticket_numbers');
        INSERT INTO clew.tickets (ticket, call, expires_at, goes_first, dismissed, tenant, thread_id, server, purpose)
        VALUES (out_ticket, in_call, clock_timestamp() + in_term, in_first, false, in_tenant, in_thread_id, in_server, in_purpose);
    END IF;
END $$;

-- Ends a grant (by its epoch), or the wait for one (by its ticket), which may have become a grant meanwhile. Tells who has it next.
CREATE FUNCTION clew.release_1(
    in_tenant text, in_thread_id text, in_server text, in_epoch bigint, in_ticket bigint, in_term interval,
    OUT out_server text, OUT out_ticket bigint, OUT out_epoch bigint, OUT out_purpose bytea
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    held clew.leases;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- Most have nobody waiting. Who comes at this moment finds the thread free when he asks again.
    UPDATE clew.leases l SET server = NULL, purpose = NULL, ticket = NULL, expires_at = NULL
    WHERE in_ticket IS NULL AND l.tenant = in_tenant AND l.thread_id = in_thread_id AND l.server = in_server AND l.epoch = in_epoch
        AND NOT EXISTS (SELECT FROM clew.tickets t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id);
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO held FROM clew.leases l WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id FOR UPDATE;
    IF in_ticket IS NOT NULL THEN
        DELETE FROM clew.tickets t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.ticket = in_ticket;
    END IF;
    IF held.server = in_server AND (held.epoch = in_epoch OR held.ticket = in_ticket) THEN
        SELECT p.out_server, p.out_ticket, p.out_epoch, p.out_purpose
        INTO out_server, out_ticket, out_epoch, out_purpose
        FROM clew.pass_on_1(in_tenant, in_thread_id, in_term) p;
    END IF;
END $$;

-- Frees a thread whose holder has died, in favour of the first who waits.
CREATE FUNCTION clew.take_over_1(in_tenant text, in_thread_id text, in_term interval) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM clew.leases l
    WHERE l.tenant = in_tenant AND l.thread_id = in_thread_id AND (l.server IS NULL OR l.expires_at <= clock_timestamp())
    FOR UPDATE;
    IF FOUND THEN
        PERFORM clew.pass_on_1(in_tenant, in_thread_id, in_term);
    END IF;
END $$;

-- Holds on to leases, and gives the epochs of those that are still held. One that is over is not taken back.
CREATE FUNCTION clew.renew_1(
    in_tenants text[], in_thread_ids text[], in_epochs bigint[], in_server text, in_term interval
) RETURNS SETOF bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- In the order in which every statement locks leases.
    PERFORM 1 FROM unnest(in_tenants, in_thread_ids) AS h (tenant, thread_id)
    JOIN clew.leases l USING (tenant, thread_id)
    ORDER BY l.tenant, l.thread_id FOR UPDATE OF l;
    RETURN QUERY
    UPDATE clew.leases l SET expires_at = clock_timestamp() + in_term
    FROM unnest(in_tenants, in_thread_ids, in_epochs) AS h (tenant, thread_id, epoch)
    WHERE l.tenant = h.tenant AND l.thread_id = h.thread_id AND l.epoch = h.epoch AND l.server = in_server
        AND l.expires_at > clock_timestamp()
    RETURNING l.epoch;
END $$;

-- Stays in the queue.
CREATE FUNCTION clew.wait_on_1(in_tenants text[], in_thread_ids text[], in_tickets bigint[], in_term interval) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM 1 FROM unnest(in_tenants, in_thread_ids) AS h (tenant, thread_id)
    JOIN clew.leases l USING (tenant, thread_id)
    ORDER BY l.tenant, l.thread_id FOR SHARE OF l;
    UPDATE clew.tickets t SET expires_at = clock_timestamp() + in_term
    FROM unnest(in_tenants, in_thread_ids, in_tickets) AS h (tenant, thread_id, ticket)
    WHERE t.tenant = h.tenant AND t.thread_id = h.thread_id AND t.ticket = h.ticket;
END $$;
