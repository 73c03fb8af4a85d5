/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Descriptors reserved for pidfds, pipes and files: unlike this clock, they have no substitute. */
#define SPARE 256

int ss_platform_task_clock_open(pid_t thread, bool descendants) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof event,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = descendants,
        /* Without this, only root may open the clock. It still counts time in the kernel. */
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    SS_OWNED(close)
    int clock = (int)syscall(SYS_perf_event_open, &event, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (clock < 0)
        return -errno;
    return ss_linux_leaves_room(clock, SPARE) ? ss_owned_take(&clock) : -EMFILE;
}

uint64_t ss_platform_task_clock_read(int clock) {
    uint64_t used = 0;
    return read(clock, &used, sizeof used) == (ssize_t)sizeof used ? used : 0;
}

bool ss_platform_task_clock_works(void) {
    SS_OWNED(close) int clock = ss_platform_task_clock_open(0, true);
    return clock >= 0;
}
