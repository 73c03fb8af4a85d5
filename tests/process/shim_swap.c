/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, replaces a folder that it makes, as another user may who
 * can write to the folder's parent. SS_TEST_SWAP=WHEN:FOLDER: FOLDER becomes FOLDER.moved, and
 * FOLDER.other becomes FOLDER, after the call WHEN: mkdir or posix_fallocate.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PUBLIC __attribute__((visibility("default")))

static void swap(const char *when) {
    char moved[4200], other[4200];
    const char *text = getenv("SS_TEST_SWAP");
    size_t length = strlen(when);
    if (!text || strncmp(text, when, length) != 0 || text[length] != ':')
        return;
    const char *folder = text + length + 1;
    snprintf(moved, sizeof moved, "%.4000s.moved", folder);
    snprintf(other, sizeof other, "%.4000s.other", folder);
    if (rename(folder, moved) == 0)
        rename(other, folder);
}

PUBLIC int mkdirat(int folder, const char *path, mode_t mode) {
    int (*function)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
    int result = function(folder, path, mode);
    swap("mkdir");
    return result;
}

#define DEFINE_FALLOCATE(name, type)                                                               \
    PUBLIC int name(int file, type offset, type length) {                                          \
        int (*function)(int, type, type) = dlsym(RTLD_NEXT, #name);                                \
        int result = function(file, offset, length);                                               \
        swap("posix_fallocate");                                                                   \
        return result;                                                                             \
    }

DEFINE_FALLOCATE(posix_fallocate, off_t)
DEFINE_FALLOCATE(posix_fallocate64, off64_t)
