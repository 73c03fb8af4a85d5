/* SPDX-License-Identifier: Apache-2.0 */

/* A module that never returns ends the run; time without CPU does not. */

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"

/* Waits for CPU time, which grows slowly on a busy machine. */
#define STUCK_PATIENCE (2 * RUN_PATIENCE)

#define LOOP                                                                                       \
    "    for (volatile int i = 1; i;) {\n"                                                         \
    "    }\n"

/* Both modules begin an endless loop during the run, one in an executor, one in the master. */
static const char control_source[] =
    "#include <showstopper/control.h>\n"
    "static double update(const struct ss_self *self, const struct ss_control_input *input) {\n"
    "    if (self->executor == 1 && input->moment.now > input->moment.since + 300000000)\n" LOOP
    "    return input->target;\n"
    "}\n"
    "SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {\n"
    "    .head = {SS_MODULE_VERSION, sizeof(struct ss_control_module), SS_KIND_CONTROL, "
    "\"stuck\",\n"
    "        \"loops in one executor\"},\n"
    "    .open_loop = true,\n"
    "    .update = update,\n"
    "};\n";

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
    "#include <time.h>\n"
    "#include <showstopper/control.h>\n"
    "static double update(const struct ss_self *self, const struct ss_control_input *input) {\n"
    "    static int done;\n"
    "    if (self->executor == 1 && !done && input->moment.now > input->moment.since + 300000000) "
    "{\n"
    "        struct timespec from, at;\n"
    "        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);\n"
    "        do\n"
    "            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);\n"
    "        while ((at.tv_sec - from.tv_sec) + (at.tv_nsec - from.tv_nsec) / 1e9 < 0.7);\n"
    "        done = 1;\n"
    "    }\n"
    "    return input->target;\n"
    "}\n"
    "SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {\n"
    "    .head = {SS_MODULE_VERSION, sizeof(struct ss_control_module), SS_KIND_CONTROL, "
    "\"slow\",\n"
    "        \"takes long once\"},\n"
    "    .open_loop = true,\n"
    "    .update = update,\n"
    "};\n";

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
    surroundings_compile(folder, "stuck", source, "-O0");
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
    run_free_clean(run);
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
    surroundings_compile(folder, "stuck", control_source, "-O0");
    struct run_setup setup = {.folder = folder, .prepare = be_ordinary};
    struct run *run = START_IN(&setup, "-v", "-n", "3", "-l", "20%", "-c", "./stuck.so",
        "--duration", "1h", PAYLOAD, "setsid", "2");
    run_wait_text(run, "instances run");
    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, 3);
    RUN_UNTIL_WITHIN(STUCK_PATIENCE, run, run->ended || any_has_used(&executors, 0.2));
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
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
    run_wait_text(run, "instances run");
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
    surroundings_compile(folder, "stuck", slow_source, "-O0");
    bool lowered = false;
    for (int i = 0; i < 5 && !lowered; i++)
        lowered = is_lowered_while_slow(folder);
    ck_assert(lowered);
}

static void stop_all(struct run *run, const struct family *family) {
    family_signal(family, SIGSTOP);
    RUN_UNTIL(run, family_count(family, 'T') == family->count);
}

/*
 * Stops a run of some seconds: the master first, because it would continue the others. After a
 * while continues all, beginning with the guardian. Without `all`, guardian and instances are not
 * stopped, and the guardian continues the executors. Returns false if the run ended before it was
 * stopped.
 */
static bool stop_for_a_while(bool all, int seconds) {
    const char *duration = run_format("%ds", seconds);
    double begin = run_now();
    struct run *run =
        START("-v", "-n", "2", "-l", "30%", "-c", "fixed", "--duration", duration, PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    double ready = run_now();
    /* Until then, the guardian has checked all of them. */
    RUN_UNTIL(run, run->ended || run_now() > ready + 1.2);
    if (!run->ended)
        kill(run->pid, SIGSTOP);
    RUN_UNTIL(run, run->ended || run_state(run->pid) == 'T');
    struct family master = {.pids = {run->pid}, .count = 1};
    struct family guardian = family_find("ss-guardian");
    struct family executors = family_find("ss-executor");
    struct family instances = family_find("payload");
    bool early = !run->ended && guardian.count == 1 && executors.count == 2 && instances.count == 2;
    if (early && all) {
        stop_all(run, &guardian);
        stop_all(run, &executors);
        stop_all(run, &instances);
    } else if (early) {
        family_signal(&executors, SIGSTOP); /* the guardian may continue them before we look */
    }
    double stopped = run_now();
    RUN_UNTIL(run, !early || run_now() > stopped + 3);
    if (early && all)
        ck_assert_uint_eq(family_count(&executors, 'T'), executors.count);
    else
        RUN_UNTIL(run, family_count(&executors, 'T') == 0);
    family_signal(&guardian, SIGCONT);
    RUN_UNTIL(run, !early || family_count(&guardian, 'S') == 1);
    if (!run->ended)
        family_signal(&master, SIGCONT);
    family_signal(&executors, SIGCONT);
    family_signal(&instances, SIGCONT);
    run_succeed(run);
    ck_assert_double_ge(run_now() - begin, seconds - 0.1);
    ck_assert_msg(strstr(run->err.bytes, "was lost") == NULL, "%s", run->err.bytes);
    run_free_clean(run);
    return early;
}

static void stand_still(bool all) {
    for (int seconds = 6; !stop_for_a_while(all, seconds); seconds *= 4)
        ck_assert_int_le(seconds, 24);
}

/* As on a suspended machine, except that the monotonic clock continues. */
TEST_CASE(a_suspended_run_is_not_killed) {
    stand_still(true);
}

/* As on a machine so busy that the master gets no CPU. */
TEST_CASE(a_starved_run_is_not_killed) {
    stand_still(false);
}
