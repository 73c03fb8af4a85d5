/* SPDX-License-Identifier: Apache-2.0 */

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/signals.h"
#include "platform/platform.h"
#include "unit.h"

#define REGAINED 8
#define REFUSED  100

static bool is_realtime(void) {
    return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
}

/*
 * Sends SIGXCPU as the kernel does. ThreadSanitizer holds signals back until an intercepted call.
 */
static void overrun(void) {
    siginfo_t info = {.si_signo = SIGXCPU, .si_code = SI_KERNEL};
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGXCPU, &info);
    usleep(1);
}

/* Returns how often the priority was regained, or REFUSED if it is not permitted. */
static int count_regained(void) {
    ss_signals_adopt(SIG_IGN, (const int[]){0});
    if (ss_platform_minimize_latency(SS_PRIORITY_REALTIME) != 0)
        return REFUSED;
    for (int count = 0; count < REFUSED - 1; count++) {
        overrun();
        if (is_realtime())
            return REFUSED + 1;
        ss_signals_regain_priority();
        if (!is_realtime())
            return count;
    }
    return REFUSED - 1;
}

TEST(real_time_priority_is_regained_only_a_few_times) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(count_regained());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    SKIP_UNLESS(WEXITSTATUS(status) != REFUSED, "realtime: real-time priority is not permitted");
    assert_int_equal(WEXITSTATUS(status), REGAINED);
}

UNIT_RUN
