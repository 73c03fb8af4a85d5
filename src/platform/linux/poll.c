/* SPDX-License-Identifier: Apache-2.0 */

/* On 32-bit targets, the checked ppoll() of glibc takes 32-bit times even if time_t has 64 bits. */
#undef _FORTIFY_SOURCE

#include <poll.h>
#include <time.h>

#include "platform/platform.h"

int ss_platform_poll(struct pollfd *polls, size_t count, ss_time deadline) {
    ss_time wait = ss_time_since(deadline, ss_platform_now());
    struct timespec timeout = {(time_t)(wait / SS_SECOND), (long)(wait % SS_SECOND)};
    return ppoll(polls, count, deadline == SS_TIME_NEVER ? NULL : &timeout, NULL);
}
