/* The lease of one thread on Postgres, as README.md here maps it to the code.
 *
 * What is atomic here is one statement there. Servers may stand still between any two of their steps for as long as they
 * like (SIGSTOP) and may die at any of them; each has one call at a time. Nothing a server believes is trusted: it goes on
 * writing under a grant until the database refuses it.
 *
 * -DSERVERS=n -DCALLS=n -DWRITES=n -DDEATHS=n  how many servers (2 or 3), calls of each, writes of each call, and deaths in all
 * -DNO_CRASH     the database does not crash
 * -DLIVENESS     nor do leases and tickets of servers that are alive run out: they are renewed in time
 *
 * Broken variants, which the check must catch:
 * -DUNFENCED     an append asks neither for the lease nor for the head
 * -DEPOCH_ONLY   an append asks for the epoch, and not for the server that it was granted to
 * -DNO_TAKEOVER  who waits does not look whether the holder is gone
 */

#ifdef LIVENESS
#define NO_CRASH
#endif

#ifndef SERVERS
#define SERVERS 3
#endif
#ifndef CALLS
#define CALLS 1
#endif
#ifndef WRITES
#define WRITES 1
#endif
#ifndef DEATHS
#define DEATHS (SERVERS - 1)
#endif

#define LATE   SERVERS        /* comes when all the others are done */
#define NOBODY (SERVERS + 1)
#define ANY    (SERVERS + 1)  /* the length of arrays by server */

/* The row of clew.leases; `live`: expires_at > clock_timestamp(). */
byte epoch, holder = NOBODY, holds_for;
bool live;
/* Rows of clew.tickets by server: its place in the line (0: no row), the call that waits, and what stands beside it. */
byte place[ANY], asks_for[ANY];
bool fresh[ANY], dismissed[ANY];
/* The sequences, and the head of the thread. */
byte next_epoch = 1, next_place = 1, head;

/* Ghosts, which no statement reads: whose the lease is, by server and call, whatever its epoch; and the epoch that was written last. */
byte current, written_epoch;
#define WHO(server, call) ((call) * ANY + (server))

/* What is on the disk: all that was there at the last commit that waited for it, or any time later. */
byte d_epoch, d_holder = NOBODY, d_holds_for, d_next_epoch = 1, d_next_place = 1, d_current;
bool d_live;
byte d_place[ANY], d_asks_for[ANY];
bool d_dismissed[ANY];

byte call_of[ANY], done, deaths, crashes;
bool dead[ANY], waiting[ANY];

inline grant(to, call) {
	epoch = next_epoch; next_epoch++;
	holder = to; holds_for = call; live = true;
	current = WHO(to, call)
}

/* pass_on_1: tickets that ran out go, and the first of the others has the lease; or nobody. */
inline pass_on() {
	first = NOBODY; i = 0;
	do
	:: i < ANY ->
		if
		:: place[i] && !fresh[i] -> place[i] = 0; dismissed[i] = false
		:: place[i] && fresh[i] && !dismissed[i] && (first == NOBODY || place[i] < place[first]) -> first = i
		:: else
		fi;
		i++
	:: else -> break
	od;
	if
	:: first == NOBODY -> holder = NOBODY; holds_for = 0; live = false; current = 0
	:: else -> place[first] = 0; grant(first, asks_for[first])
	fi;
	first = NOBODY; i = 0
}

inline line_is_empty() {
	no_line = true; i = 0;
	do
	:: i < ANY -> no_line = no_line && !place[i]; i++
	:: else -> break
	od;
	i = 0
}

/* acquire_1: the lease, or a ticket. */
inline acquire(me, call) {
	line_is_empty();
	if
	:: holder == NOBODY && no_line -> grant(me, call)
	:: else ->
		if
		:: holder == NOBODY || !live -> pass_on()
		:: else
		fi;
		if
		:: holder == NOBODY -> grant(me, call)
		:: else -> place[me] = next_place; next_place++; asks_for[me] = call; fresh[me] = true; dismissed[me] = false
		fi
	fi;
	no_line = false
}

/* release_1 by the epoch. */
inline release(me, my_epoch) {
	if
	:: holder == me && epoch == my_epoch -> pass_on()
	:: else
	fi
}

/* release_1 by the ticket, which may have become a grant. */
inline hand_in(me, call) {
	place[me] = 0; dismissed[me] = false;
	if
	:: holder == me && holds_for == call -> pass_on()
	:: else
	fi
}

/* A commit that waits for the disk takes all that came before it along. */
inline flush() {
	d_epoch = epoch; d_holder = holder; d_holds_for = holds_for; d_live = live;
	d_next_epoch = next_epoch; d_next_place = next_place; d_current = current;
	i = 0;
	do
	:: i < ANY -> d_place[i] = place[i]; d_asks_for[i] = asks_for[i]; d_dismissed[i] = dismissed[i]; i++
	:: else -> break
	od;
	i = 0
}

#if defined(UNFENCED)
#define FENCE (true)
#elif defined(EPOCH_ONLY)
#define FENCE (epoch == my_epoch && live && head == my_head)
#else
#define FENCE (epoch == my_epoch && holder == me && live && head == my_head)
#endif

/* append_1: refused, or written and on the disk. */
inline append(me) {
	if
	:: FENCE ->
		assert(current == WHO(me, call_of[me])); /* no stale write: at most one writer */
		assert(my_head == head);                /* no fork */
		assert(my_epoch >= written_epoch);      /* epochs never go back */
		head++; my_head = head;
		written_epoch = my_epoch;
		flush()
	:: else -> refused = true
	fi
}

/* Of the database: every use is inside an atomic step. */
byte i, first = NOBODY;
bool no_line;

proctype Server(byte me) {
	byte my_epoch, my_head, writes;
	bool refused, stays;

ask:
	do
	:: call_of[me] == CALLS -> break
	:: call_of[me] < CALLS ->
		atomic {
			call_of[me]++;
			acquire(me, call_of[me]);
			if
			:: stays = true  /* whoever waits, as long as it takes */
			:: stays = false
			fi;
			waiting[me] = (place[me] != 0);
			if
			:: waiting[me]
			:: else -> my_epoch = epoch
			fi
		};
		do
		:: !waiting[me] -> break
		:: atomic {  /* places: it has become a grant */
			waiting[me] && holder == me && holds_for == call_of[me] && live ->
				waiting[me] = false; my_epoch = epoch
		   }
		:: atomic {  /* places: the thread was deleted */
			waiting[me] && place[me] && dismissed[me] ->
				hand_in(me, call_of[me]); waiting[me] = false; goto ask
		   }
		:: atomic {  /* places: the row is gone; the caller is told to ask again */
			waiting[me] && !place[me] && !(holder == me && holds_for == call_of[me] && live) ->
				waiting[me] = false; goto ask
		   }
#ifndef NO_TAKEOVER
		:: atomic {  /* places: the holder is gone; take_over_1 */
			waiting[me] && place[me] && !dismissed[me] && (holder == NOBODY || !live) -> pass_on()
		   }
#endif
#ifndef LIVENESS
		:: atomic {  /* wait_on_1 */
			waiting[me] && place[me] && !fresh[me] -> fresh[me] = true
		   }
#endif
		:: atomic {  /* the caller leaves, or its time is over */
			waiting[me] && !stays -> hand_in(me, call_of[me]); waiting[me] = false; goto ask
		   }
		:: atomic { waiting[me] && !stays && deaths < DEATHS -> deaths++; dead[me] = true; waiting[me] = false; goto gone }
		od;
		writes = 0; refused = false;
		atomic { my_head = head };  /* get_head */
		do
		:: writes < WRITES && !refused -> writes++; atomic { append(me) }
		:: atomic { deaths < DEATHS -> deaths++; dead[me] = true; goto gone }
		:: writes == WRITES || refused -> break
		od;
		atomic { release(me, my_epoch); my_epoch = 0; my_head = 0 }
	od;
gone:
	done++
}

/* delete_thread_2 takes no lease, but locks its row, and waits for the disk. */
proctype Delete() {
	atomic {
		epoch = next_epoch; next_epoch++;
		holder = NOBODY; holds_for = 0; live = false; current = 0;
		do
		:: i < ANY -> if :: place[i] -> dismissed[i] = true :: else fi; i++
		:: else -> break
		od;
		head = 0; written_epoch = epoch;
		flush()
	};
	done++
}

/* The clock of the database: terms run out, by -DLIVENESS only those of servers that are gone. */
#ifdef LIVENESS
#define MAY_RUN_OUT(server) (dead[server])
#else
#define MAY_RUN_OUT(server) (server != LATE)
#endif

proctype LeaseTerm() {
end:	do
	:: atomic { holder != NOBODY && live && MAY_RUN_OUT(holder) -> live = false }
	od
}

proctype TicketTerm(byte at) {
end:	do
	:: atomic { place[at] && fresh[at] && MAY_RUN_OUT(at) -> fresh[at] = false }
	od
}

#ifndef NO_CRASH
/* What did not wait for the disk may be there after a crash, or not. */
proctype Disk() {
end:	do
	:: atomic { crashes == 0 -> flush() }
	:: atomic {
		crashes == 0 ->
			crashes++;
			epoch = d_epoch; holder = d_holder; holds_for = d_holds_for; live = d_live;
			next_epoch = d_next_epoch; next_place = d_next_place; current = d_current;
			do
			:: i < ANY -> place[i] = d_place[i]; asks_for[i] = d_asks_for[i]; dismissed[i] = d_dismissed[i]; i++
			:: else -> break
			od;
			i = 0
	   }
	od
}
#endif

#define SPENT(server) (!(place[server] && fresh[server]))
#if SERVERS == 2
#define ALL_SPENT (SPENT(0) && SPENT(1))
#else
#define ALL_SPENT (SPENT(0) && SPENT(1) && SPENT(2))
#endif

init {
	byte n;
	atomic {
		do
		:: n < SERVERS -> run Server(n); run TicketTerm(n); n++
		:: else -> break
		od;
		run Delete();
		run LeaseTerm();
#ifndef NO_CRASH
		run Disk()
#endif
	};
	/* All are done or dead, and the time of what the dead left is over. */
	atomic {
		done == SERVERS + 1 && (holder == NOBODY || !live) && ALL_SPENT ->
		acquire(LATE, 1);
		assert(holder == LATE);                 /* the thread is not stuck */
		line_is_empty();
		assert(no_line);                          /* no ticket is left */
		release(LATE, epoch)
	}
}

#ifdef LIVENESS
/* Whoever stays is served, or told that there is nothing to wait for. */
ltl served { []((waiting[0] -> <>!waiting[0]) && (waiting[1] -> <>!waiting[1]) && (waiting[SERVERS - 1] -> <>!waiting[SERVERS - 1])) }
#endif
