/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A lifeline is a pipe whose reader requests a signal (F_SETSIG). The kernel sends it when the last
 * writer has closed the pipe, and SIGCONT continues the reader even if it is stopped.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

int ss_platform_lifeline_own(int lifeline) {
    return fcntl(lifeline, F_SETOWN, getpid()) < 0 ? -errno : 0;
}

int ss_platform_lifeline_open(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    SS_OWNED(close) int lifeline = ends[0];
    close(ends[1]); /* before requesting the signal, because we do not hold the lifeline */
    if (ss_platform_lifeline_own(lifeline) < 0 || fcntl(lifeline, F_SETSIG, SIGCONT) < 0 ||
        fcntl(lifeline, F_SETFL, O_NONBLOCK | O_ASYNC) < 0)
        return -errno;
    return ss_owned_take(&lifeline);
}

int ss_platform_lifeline_hold(int lifeline) {
    int held =
        open(ss_linux_path("/proc/self/fd/%d", lifeline).text, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    return held < 0 ? -errno : held;
}
