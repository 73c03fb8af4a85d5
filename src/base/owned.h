/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_OWNED_H
#define SHOWSTOPPER_BASE_OWNED_H

/*
 * Releases what a variable owns when its scope ends, on every way out:
 *
 *     SS_OWNED(close) int file = open(path, O_RDONLY | O_CLOEXEC);
 *
 * ss_owned_take() moves a descriptor out of its variable; set a pointer to NULL instead. A
 * negative descriptor and NULL own nothing. The return value is computed before the release, so
 * `return -errno` is safe.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * `how` is close, free, fclose, closedir or the end of the name of another function ss_owned_*().
 * `unused` silences clang, which warns about a variable that is only released.
 */
#define SS_OWNED(how) __attribute__((cleanup(ss_owned_##how), unused))

static inline void ss_owned_close(const int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
}

static inline void ss_owned_free(void *variable) {
    free(*(void **)variable);
}

static inline void ss_owned_fclose(FILE *const *stream) {
    if (*stream)
        fclose(*stream);
}

static inline void ss_owned_closedir(DIR *const *folder) {
    if (*folder)
        closedir(*folder);
}

/* Returns the descriptor, which the variable no longer owns. */
static inline int ss_owned_take(int *descriptor) {
    int taken = *descriptor;
    *descriptor = -1;
    return taken;
}

#endif
