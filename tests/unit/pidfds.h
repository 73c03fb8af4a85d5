/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PIDFDS_H
#define SHOWSTOPPER_TESTS_PIDFDS_H

#include <errno.h>
#include <unistd.h>

#include "platform/platform.h"
#include "unit.h"

/* Skips the case if pidfds are not available. */
static inline void need_pidfds(void) {
    int pidfd = ss_platform_process_open(getpid(), ss_platform_process_started(getpid()));
    SKIP_UNLESS(pidfd != -ENOSYS, "pidfd: requires Linux 5.3 and permission");
    close(pidfd);
}

#endif
