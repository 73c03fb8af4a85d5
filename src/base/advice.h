/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_ADVICE_H
#define SHOWSTOPPER_BASE_ADVICE_H

#include <errno.h>

/*
 * These return what to do about a path that cannot be opened, from errno, to follow strerror() in a
 * message; "" if there is nothing to say.
 */
static inline const char *ss_advice_to_read(int why) {
    return why == ENOENT || why == ENOTDIR ? ": check the path" : "";
}

static inline const char *ss_advice_to_write(int why) {
    return why == ENOENT ? ": create its folder first" : "";
}

#endif
