/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, replaces a folder that it makes, as another user may who
 * can write to the folder's parent. SS_TEST_SWAP=WHEN:FOLDER: FOLDER becomes FOLDER.moved, and
 * FOLDER.other becomes FOLDER, after the call WHEN: mkdir or posix_fallocate. If mkdir makes a
 * folder whose name only begins with that of FOLDER, such as FOLDER.123, that one is replaced.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PUBLIC __attribute__((visibility("default")))

static void swap(const char *when, const char *more) {
    char made[4200], moved[4200], other[4200];
    const char *text = getenv("SS_TEST_SWAP");
    size_t length = strlen(when);
    if (!text || strncmp(text, when, length) != 0 || text[length] != ':')
        return;
    const char *folder = text + length + 1;
    snprintf(made, sizeof made, "%.4000s%s", folder, more);
    snprintf(moved, sizeof moved, "%.4000s.moved", folder);
    snprintf(other, sizeof other, "%.4000s.other", folder);
    if (rename(made, moved) == 0)
        rename(other, made);
}

PUBLIC int mkdirat(int folder, const char *path, mode_t mode) {
    int (*function)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
    int result = function(folder, path, mode);
    const char *text = getenv("SS_TEST_SWAP");
    const char *name = text ? strrchr(text, '/') + 1 : "";
    size_t length = strlen(name);
    swap("mkdir", strncmp(path, name, length) == 0 ? path + length : "");
    return result;
}

#define DEFINE_FALLOCATE(name, type)                                                               \
    PUBLIC int name(int file, type offset, type length) {                                          \
        int (*function)(int, type, type) = dlsym(RTLD_NEXT, #name);                                \
        int result = function(file, offset, length);                                               \
        swap("posix_fallocate", "");                                                               \
        return result;                                                                             \
    }

DEFINE_FALLOCATE(posix_fallocate, off_t)
DEFINE_FALLOCATE(posix_fallocate64, off64_t)
