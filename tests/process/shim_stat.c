/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, corrupts its reads of /proc/stat or of a control group's
 * CPU time: SS_TEST_STAT=HOW:MS, beginning MS milliseconds after the start. HOW is error, empty,
 * garbled, cut or fewer.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static char how[16];
static long long spoiled_from; /* milliseconds on the monotonic clock */

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

__attribute__((constructor)) static void open_stat(void) {
    long after;
    const char *text = getenv("SS_TEST_STAT");
    if (text && sscanf(text, "%15[^:]:%ld", how, &after) == 2)
        spoiled_from = now() + after;
}

static bool is_stat(int file) {
    char link[64];
    char target[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(target, '/');
    return strcmp(target, "/proc/stat") == 0 || (name && strcmp(name, "/cpuacct.usage") == 0);
}

static ssize_t spoil(char *text, ssize_t length) {
    if (strcmp(how, "error") == 0) {
        errno = EIO;
        return -1;
    }
    if (strcmp(how, "empty") == 0)
        return 0;
    if (strcmp(how, "garbled") == 0)
        memset(text, 'x', (size_t)length);
    return length;
}

/* Returns the length up to the middle of the line that begins with `where`. */
static ssize_t cut(const char *text, ssize_t length, const char *where) {
    const char *line = memmem(text, (size_t)length, where, strlen(where));
    return line ? line - text + 9 : length;
}

PUBLIC ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    ssize_t (*function)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
    ssize_t length = function(file, buffer, size, offset);
    if (spoiled_from == 0 || length < 0 || now() < spoiled_from || !is_stat(file))
        return length;
    if (strcmp(how, "cut") == 0)
        return cut(buffer, length, "\ncpu0 ");
    if (strcmp(how, "fewer") == 0)
        return cut(buffer, length, "\ncpu1 ");
    return spoil(buffer, length);
}
