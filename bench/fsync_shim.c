/* Preloaded: a disk on which every fsync takes the same time, and a count of them.
 *
 * BENCH_FSYNC_US: how long one takes, in microseconds; absent: as long as the real one takes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static atomic_long count;

long bench_fsyncs(void) { return atomic_load(&count); }

static int synced(const char *name, int fd)
{
    const char *us = getenv("BENCH_FSYNC_US");
    atomic_fetch_add(&count, 1);
    if (us == NULL) {
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
        return real(fd);
    }
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    long ns = end.tv_nsec + atol(us) * 1000;
    end.tv_sec += ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    /* Without this the kernel may add 50 microseconds of its own. */
    prctl(PR_SET_TIMERSLACK, 1);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
    return 0;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
