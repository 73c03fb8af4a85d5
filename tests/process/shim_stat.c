/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, corrupts its reads of /proc/stat or of a control group's
 * CPU time: SS_TEST_STAT=HOW[:FILE], once FILE exists. HOW is error, empty, garbled, cut or fewer.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static char how[16];
static char file_name[256];

__attribute__((constructor)) static void open_stat(void) {
    const char *text = getenv("SS_TEST_STAT");
    if (text)
        sscanf(text, "%15[^:]:%255s", how, file_name);
}

static bool is_due(void) {
    return *how && (!*file_name || access(file_name, F_OK) == 0);
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

PUBLIC ssize_t pread64(int file, void *buffer, size_t size, off64_t offset) {
    ssize_t (*function)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    ssize_t length = function(file, buffer, size, offset);
    if (length < 0 || !is_due() || !is_stat(file))
        return length;
    if (strcmp(how, "cut") == 0)
        return cut(buffer, length, "\ncpu0 ");
    if (strcmp(how, "fewer") == 0)
        return cut(buffer, length, "\ncpu1 ");
    return spoil(buffer, length);
}

PUBLIC ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    return pread64(file, buffer, size, offset);
}
