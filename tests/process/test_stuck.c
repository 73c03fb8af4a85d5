/* SPDX-License-Identifier: Apache-2.0 */

/* A module that never returns ends the run; a slow one does not. */

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* For waits that depend on CPU time, which grows slowly on a busy machine. */
#define STUCK_PATIENCE (2 * RUN_PATIENCE)

#define LOOP                                                                                       \
    "    for (volatile int i = 1; i;) {\n"                                                         \
    "    }\n"

/* A control module whose update carries out these lines. */
#define CONTROL(lines)                                                                             \
    "#include <time.h>\n"                                                                          \
    "#include <showstopper/control.h>\n"                                                           \
    "static double update(const struct ss_self *self, const struct ss_control_input *input) {\n"   \
    "    static int done;\n"                                                                       \
    "    if (done || self->executor != 1 ||\n"                                                     \
    "        input->moment.now < input->moment.since + 300000000)\n"                               \
    "        return input->target;\n" lines "    done = 1;\n"                                      \
    "    return input->target;\n"                                                                  \
    "}\n"                                                                                          \
    "SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {\n"                     \
    "    .head = {SS_MODULE_VERSION, sizeof(struct ss_control_module), SS_KIND_CONTROL,\n"         \
    "        \"stuck\", \"takes long in one executor\"},\n"                                        \
    "    .open_loop = true,\n"                                                                     \
    "    .update = update,\n"                                                                      \
    "};\n"

/* Both modules begin an endless loop during the run, one in an executor, one in the master. */
static const char control_source[] = CONTROL(LOOP);

static const char trace_source[] =
    "#include <showstopper/trace.h>\n"
    "static void target(const struct ss_self *self, ss_time time, struct ss_target *target) {\n"
    "    if (self->executor >= self->instances && time > 300000000)\n" LOOP
    "    *target = (struct ss_target){.load = 0.2};\n"
    "}\n"
    "SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {\n"
    "    .head = {SS_MODULE_VERSION, sizeof(struct ss_trace_module), SS_KIND_TRACE, \"stuck\",\n"
    "        \"loops in the master\"},\n"
    "    .target = target,\n"
    "};\n";

/* Uses 0.7 s of CPU time once, as if memory were short and the kernel slow. */
static const char slow_source[] =
    CONTROL("    struct timespec from, at;\n"
            "    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);\n"
            "    do\n"
            "        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);\n"
            "    while ((at.tv_sec - from.tv_sec) + (at.tv_nsec - from.tv_nsec) / 1e9 < 0.7);\n");

/* Gives up real-time priority and takes a high ordinary one. */
static void be_ordinary(void) {
    setpriority(PRIO_PROCESS, 0, -10); /* if permitted */
    if (geteuid() == 0)
        family_become_nobody();
    else
        setrlimit(RLIMIT_RTPRIO, &(struct rlimit){0, 0});
}

/* Fails unless a run with these options, which select stuck.so, ends as stuck. */
static void expect_stuck(const char *source, const char *const *options, bool realtime) {
    if (!realtime && geteuid() == 0)
        family_need_nobody();
    const char *folder = run_make_folder();
    sandbox_compile(folder, "stuck", source, "-O0");
    struct run_setup setup = {.folder = folder, .prepare = realtime ? NULL : be_ordinary};
    struct run *run = START_IN(&setup, "-v", "-n", "3", options[0], options[1], options[2],
        options[3], "--duration", "1h", PAYLOAD, "setsid", "2");
    run_wait_text(run, "real-time priority");
    bool has_realtime = run_count_text(&run->err, "no real-time priority") == 0;
    ck_assert(realtime || !has_realtime);
    if (realtime && !has_realtime)
        run_end(run, SIGTERM);
    SKIP_UNLESS(has_realtime || !realtime, "realtime: real-time priority is not permitted");
    RUN_UNTIL_WITHIN(STUCK_PATIENCE, run, run->ended);
    run_expect_refusal(run, "endless loop");
}

TEST_CASE(a_stuck_executor_is_ended_at_any_priority) {
    for (int realtime = 0; realtime < 2; realtime++)
        expect_stuck(control_source, WORDS("-l", "20%", "-c", "./stuck.so"), realtime);
}

TEST_CASE(a_stuck_master_is_ended_at_any_priority) {
    for (int realtime = 0; realtime < 2; realtime++)
        expect_stuck(trace_source, WORDS("-c", "fixed", "-t", "./stuck.so"), realtime);
}

static bool any_has_used(const struct family *family, double seconds) {
    bool any = false;
    for (size_t i = 0; i < family->count; i++)
        any |= family_cpu_time(family->pids[i]) > seconds;
    return any;
}

/* The executor does not notice that the master is dead. */
TEST_CASE(a_stuck_executor_of_a_killed_master_leaves_nothing_behind) {
    if (geteuid() == 0)
        family_need_nobody();
    const char *folder = run_make_folder();
    sandbox_compile(folder, "stuck", control_source, "-O0");
    struct run_setup setup = {.folder = folder, .prepare = be_ordinary};
    struct run *run = START_IN(&setup, "-v", "-n", "3", "-l", "20%", "-c", "./stuck.so",
        "--duration", "1h", PAYLOAD, "setsid", "2");
    run_wait_text(run, "instances are running");
    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, 3);
    RUN_UNTIL_WITHIN(STUCK_PATIENCE, run, run->ended || any_has_used(&executors, 0.2));
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
}

static size_t count_realtime(const struct family *executors) {
    size_t count = 0;
    for (size_t i = 0; i < executors->count; i++)
        count += (sched_getscheduler(executors->pids[i]) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
    return count;
}

/* Returns whether an executor has used the CPU time of the long turn. */
static bool has_been_slow(const struct family *executors) {
    for (size_t i = 0; i < executors->count; i++) {
        if (family_cpu_time(executors->pids[i]) > 0.69)
            return true;
    }
    return false;
}

/*
 * Fails if the slow executor is killed. Returns whether it was seen to lose and regain real-time
 * priority, if executors have that.
 */
static bool is_lowered_while_slow(const char *folder) {
    bool lowered = true;
    struct run_setup setup = {.folder = folder};
    struct run *run =
        START_IN(&setup, "-v", "-n", "2", "-l", "20%", "-c", "./stuck.so", PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    double begin = run_now();
    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, 2);
    if (run_count_text(&run->err, "no real-time priority") == 0) {
        RUN_UNTIL(run, (lowered = count_realtime(&executors) == 1) || has_been_slow(&executors));
        RUN_UNTIL(run, count_realtime(&executors) == 2);
    }
    RUN_UNTIL(run, run_now() > begin + 3); /* an endless loop would have been found by now */
    run_end_clean(run, SIGTERM);
    return lowered;
}

/*
 * The executor must lose real-time priority for the long turn, and nothing else may happen. The
 * test is repeated if it got no CPU during the turn.
 */
TEST_CASE(an_executor_that_is_only_slow_is_not_killed) {
    const char *folder = run_make_folder();
    sandbox_compile(folder, "stuck", slow_source, "-O0");
    bool lowered = false;
    for (int i = 0; i < 5 && !lowered; i++)
        lowered = is_lowered_while_slow(folder);
    ck_assert(lowered);
}
