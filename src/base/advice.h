/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_ADVICE_H
#define SHOWSTOPPER_BASE_ADVICE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Return advice on a path that could not be opened, to append to strerror(err) in a message; "" if
 * there is no advice.
 */
static inline const char *ss_advice_to_read(int err) {
    return err == ENOENT || err == ENOTDIR ? ": check the path" : "";
}

static inline const char *ss_advice_to_write(int err, const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (err != ENOENT)
        return "";
    snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash - path) + 1 : 0, path);
    return access(folder, F_OK) < 0 ? ": create its folder first" : ": choose another path";
}

#endif
