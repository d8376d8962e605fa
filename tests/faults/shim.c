/* Preloaded into a process under test: after every fsync of a file whose path begins with CLEW_FAULTS_DISK, the file as it stands is
   kept beside it as <path>.durable. What a power cut leaves of an honest disk is at least that, and need not be more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep(int handle) {
    char link[64], path[PATH_MAX], fresh[PATH_MAX + 16], durable[PATH_MAX + 16], block[65536];
    const char *disk = getenv("CLEW_FAULTS_DISK");
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (disk == NULL || length < 0) return;
    path[length] = 0;
    if (strncmp(path, disk, strlen(disk)) != 0) return;
    snprintf(fresh, sizeof fresh, "%s.fresh", path);
    snprintf(durable, sizeof durable, "%s.durable", path);
    int out = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0) abort();
    off_t at = 0;
    ssize_t got;
    while ((got = pread(handle, block, sizeof block, at)) > 0) {
        if (write(out, block, (size_t)got) != got) abort();
        at += got;
    }
    close(out);
    if (rename(fresh, durable) != 0) abort();
}

static int synced(const char *name, int handle) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int result = real(handle);
    if (result == 0) {
        int before = errno;
        keep(handle);
        errno = before;
    }
    return result;
}

int fsync(int handle) { return synced("fsync", handle); }
int fdatasync(int handle) { return synced("fdatasync", handle); }
