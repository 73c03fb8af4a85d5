/* SPDX-License-Identifier: Apache-2.0 */

/* Attached programs are limited during the run and keep running whatever process dies. */

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "json_text.h"
#include "platform/platform.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"

/* Long rounds at a low load: the target is stopped most of the time. */
#define SLOW "-v", "-c", "fixed", "-l", "2%", "-D", "600m"

/* Stops so long that even a napping payload uses CPU time during one unless it is stopped. */
#define SLOWER "-v", "-c", "fixed", "-l", "2%", "-D", "5s"

/* Durations of further tries: on a busy machine, a process may get no CPU during a short run. */
#define LONGER "8s", "60s"

#define REFUSED(message, ...) run_expect_refusal(START("-l", "50%", __VA_ARGS__), message)

/* The control group that is attached, instead of a process. */
static const char *attached_group;

static struct run *start_target(const char *const *words) {
    struct run_setup setup = {.prepare = attached_group ? control_group_enter : NULL};
    struct run *target = run_start(&setup, words);
    run_wait_text(target, "ready");
    return target;
}

static const char *pair_text(pid_t first, pid_t second) {
    return run_format("%d,%d", (int)first, (int)second);
}

/* Attaches to the program. Returns when its `count` processes are stopped. */
static struct run *attach_in(
    const struct run_setup *setup, const struct run *target, size_t count) {
    struct run *run = START_IN(setup, SLOW, attached_group ? "--attach-group" : "--attach",
        attached_group ? attached_group : run_pid_text(target->pid));
    RUN_UNTIL(run, family_is_stopped("payload", count));
    return run;
}

static struct run *attach(const struct run *target, size_t count) {
    return attach_in(NULL, target, count);
}

static struct run *start_one(void) {
    return start_target(WORDS(PAYLOAD, "ignore-term"));
}

/* A program with two sessions, and the run that limits it. */
struct limited {
    struct run *target, *run;
    struct family tree;
};

static struct limited limit_tree(const struct run_setup *setup) {
    struct limited limited = {.target = start_target(WORDS(PAYLOAD, "setsid", "2"))};
    limited.run = attach_in(setup, limited.target, 3);
    limited.tree = family_find("payload");
    return limited;
}

TEST_CASE(attached_processes_stay_in_their_control_groups) {
    static const struct {
        const char *words[4];
        size_t count;
    } targets[] = {{{PAYLOAD, "ignore-term"}, 1}, {{PAYLOAD, "groups", "2"}, 3},
        {{PAYLOAD, "setsid", "2"}, 3}, {{PAYLOAD, "threads"}, 1}};
    struct run_text group = run_read_file("/proc/self/cgroup");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct run *target = start_target(targets[i].words);
        struct run *run = attach(target, targets[i].count);
        struct family tree = family_find("payload");
        for (int k = 0; k < 3; k++) {
            RUN_UNTIL(run, family_is_stopped("payload", targets[i].count));
            family_expect_to_run(run, &tree, 0.001);
        }
        for (size_t k = 0; k < tree.count; k++) {
            const char *path = run_format("/proc/%d/cgroup", (int)tree.pids[k]);
            ck_assert_str_eq(run_read_file(path).bytes, group.bytes);
        }
        run_end(run, SIGINT);
        family_end_kept(&tree);
    }
}

TEST_CASE(a_process_is_left_running_at_the_planned_end) {
    const char *record = run_new_path("record");
    struct run *target = start_one(), *run = NULL;
    struct family one = family_find("payload");
    bool stopped = false;
    for (const char *const *length = WORDS("1s", LONGER); *length && !stopped; length++) {
        run = START(SLOW, "--duration", *length, "--record", record, "--force", "--attach",
            run_pid_text(target->pid));
        RUN_UNTIL(run, run->ended || (stopped = family_is_stopped("payload", 1)));
        run_succeed(run);
    }
    ck_assert(stopped);
    record_expect_events(record, 1, "\"event\":\"instance_started\"");
    record_expect_events(record, 0, "\"event\":\"instance_ended\"");
    record_expect_events(record, 1, "\"event\":\"instance_left\",\"instance\":0}");
    run_expect_text(&run->err, "instance 0 was left running");
    ck_assert_uint_eq(run_count_text(&run->err, "ended as requested"), 0);
    family_end_kept(&one);
}

TEST_CASE(the_run_ends_when_the_attached_process_dies) {
    for (int stopped = 0; stopped < 2; stopped++) {
        struct run *target = start_one();
        struct run *run = attach(target, 1);
        if (!stopped)
            RUN_UNTIL(run, run_state(target->pid) != 'T');
        kill(target->pid, SIGKILL);
        run_succeed(run); /* although no process reaped it */
        run_expect_text(&run->err, "ended by workloads");
    }
}

TEST_CASE(process_stopped_from_outside_is_continued) {
    struct run *target = start_one();
    struct run *run =
        START("-v", "-c", "fixed", "-l", "100%", "--attach", run_pid_text(target->pid));
    run_wait_text(run, "instances are running");
    struct family one = family_find("payload");
    kill(target->pid, SIGSTOP);
    family_expect_to_run(run, &one, 0.01);
    run_end(run, SIGTERM);
}

/* Processes to kill together. If the guardian alone is killed, it is replaced. */
static const char *const *const victims[] = {WORDS("master"), WORDS("ss-executor"),
    WORDS("ss-guardian"), WORDS("ss-executor", "master"), WORDS("ss-guardian", "master"),
    WORDS("ss-executor", "ss-guardian")};

#define VICTIMS (sizeof victims / sizeof *victims)
#define TRIES   (2 * VICTIMS)

/* Kills processes of the run, `after` seconds from now. Returns whether the run continues. */
static bool kill_victims(struct run *run, const char *const *names, double after) {
    struct family killed = {.count = 0};
    bool master = false, executor = false;
    for (; *names; names++) {
        master |= strcmp(*names, "master") == 0;
        executor |= strcmp(*names, "ss-executor") == 0;
        if (strcmp(*names, "master") != 0)
            killed.pids[killed.count++] = run_find(run, *names);
    }
    run_let_pass(run, after);
    family_kill_together(&killed, master ? run->pid : 0);
    if (master || executor)
        run_expect(run_wait(run), master ? -SIGKILL : 125);
    return !master && !executor;
}

static void expect_to_survive(const char *const *command, size_t count) {
    for (size_t i = 0; i < TRIES; i++) {
        struct run *target = start_target(command);
        struct run *run = attach(target, count);
        struct family kept = family_find("payload");
        if (kill_victims(run, victims[i % VICTIMS], 0.6 * (double)i / (double)TRIES)) {
            run_wait_text(run, "guardian ended unexpectedly");
            RUN_UNTIL(run, family_is_stopped("payload", count));
            run_end(run, SIGTERM);
        }
        family_end_kept(&kept);
    }
}

TEST_CASE(attached_processes_survive_kills_of_the_run) {
    expect_to_survive(WORDS(PAYLOAD, "ignore-term"), 1);
    expect_to_survive(WORDS(PAYLOAD, "setsid", "2"), 3);
}

static void need_group(void) {
    SKIP_UNLESS(control_group_make_unified(), "cgroup-v2: no group can be made");
    attached_group = control_group_path();
}

TEST_CASE(an_attached_group_survives_kills_of_the_run) {
    need_group();
    expect_to_survive(WORDS(PAYLOAD, "setsid", "2"), 3);
    control_group_remove();
}

/* The kernel continues the stopped master when all other processes of the run are dead. */
TEST_CASE(a_stopped_master_that_survives_alone_leaves_a_tree_running) {
    struct limited limited = limit_tree(NULL);
    struct run *run = limited.run;
    struct family killed = {.count = 2};
    killed.pids[0] = run_find(run, "ss-executor");
    killed.pids[1] = run_find(run, "ss-guardian");
    run_stop(run, run->pid);
    RUN_UNTIL(run, family_is_stopped("payload", 3));
    family_kill_together(&killed, 0);
    run_expect(run_wait(run), 125);
    family_end_kept(&limited.tree);
}

/* The kernel continues the guardian when all executors are dead; the master stays stopped. */
TEST_CASE(stopped_guardian_and_master_leave_a_tree_running) {
    struct limited limited = limit_tree(NULL);
    struct run *run = limited.run;
    pid_t executor = run_find(run, "ss-executor");
    run_stop(run, run->pid); /* in this order: the master would continue the guardian */
    run_stop(run, run_find(run, "ss-guardian"));
    RUN_UNTIL(run, family_is_stopped("payload", 3));
    kill(executor, SIGKILL);
    family_expect_to_run(run, &limited.tree, 0.01);
    ck_assert_int_eq(run_state(run->pid), 'T');
    kill(run->pid, SIGCONT);
    run_expect(run_wait(run), 125);
    family_end_kept(&limited.tree);
}

/* The master is stopped, so only the guardian can continue the executor. */
TEST_CASE(throttling_continues_after_executor_and_master_are_stopped) {
    struct limited limited = limit_tree(NULL);
    struct run *run = limited.run;
    run_stop(run, run->pid);
    kill(run_find(run, "ss-executor"), SIGSTOP);
    for (int i = 0; i < 3; i++) {
        RUN_UNTIL(run, family_is_stopped("payload", 3));
        family_expect_to_run(run, &limited.tree, 0.001);
    }
    kill(run->pid, SIGCONT);
    run_end(run, SIGTERM);
    family_end_kept(&limited.tree);
}

#define LEADERLESS "setsid sh -c '" PAYLOAD " ignore-term & echo leader $$; wait' & "

/* Returns the pid that LEADERLESS prints, before or after its payload does. */
static pid_t wait_for_leader(struct run *target) {
    const char *at = NULL;
    RUN_UNTIL(target, (at = strstr(target->out.bytes, "leader ")) && strchr(at, '\n'));
    return (pid_t)atoi(at + strlen("leader "));
}

/* pidfd_open() fails for a group whose leader has ended, reaped or not. */
TEST_CASE(group_without_leader_is_continued_by_another_executor) {
    static const char *const scripts[] = {
        LEADERLESS "wait; exec sleep 1000", LEADERLESS "exec sleep 1000"};
    for (size_t i = 0; i < 2; i++) {
        struct run *target = start_target(WORDS("sh", "-c", scripts[i]));
        struct run *other = start_target(WORDS(PAYLOAD, "ignore-term"));
        struct run *run = START(SLOW, "--attach", pair_text(target->pid, other->pid));
        RUN_UNTIL(run, family_is_stopped("payload", 2));
        struct family kept = family_find("payload");
        kill(wait_for_leader(target), SIGKILL);
        struct family killed = {.count = 2};
        killed.pids[0] = run_find(run, "ss-executor 0");
        killed.pids[1] = run_find(run, "ss-guardian");
        RUN_UNTIL(run, family_is_stopped("payload", 2));
        family_kill_together(&killed, run->pid);
        run_expect(run_wait(run), -SIGKILL);
        family_end_kept(&kept);
    }
}

/* The next rescuer reads on the board that the executor is lost, and starts over. */
TEST_CASE(guardian_killed_during_a_rescue_leaves_nothing_stopped) {
    const char *folder = run_make_folder();
    const char *held = run_format("SS_TEST_HELD=%s", run_path(folder, "hold"));
    struct run_setup setup = {.environment = WORDS(SHIM("shim_late"), held)};
    struct limited limited = limit_tree(&setup);
    struct run *run = limited.run;
    pid_t guardian = run_find(run, "ss-guardian");
    pid_t executor = run_find(run, "ss-executor");
    run_write_file(run_path(folder, "hold"), "");
    RUN_UNTIL(run, family_is_stopped("payload", 3));
    kill(executor, SIGKILL);
    RUN_UNTIL(run, access(run_path(folder, "hold.held"), F_OK) == 0);
    kill(guardian, SIGKILL);
    run_expect(run_wait(run), 125);
    family_end_kept(&limited.tree);
}

TEST_CASE(a_killed_executor_leaves_a_tree_running_without_pidfds) {
    struct run_setup setup = {.prepare = family_deny_pidfds};
    struct limited limited = limit_tree(&setup);
    kill(run_find(limited.run, "ss-executor"), SIGKILL);
    run_expect(run_wait(limited.run), 125);
    family_end_kept(&limited.tree);
}

static pid_t parent_of(pid_t pid) {
    struct ss_process process;
    return ss_platform_process_info(pid, &process) ? process.parent : 0;
}

/*
 * A shell starts two processes when a file appears; the first becomes an orphan, so that only the
 * run knows where it came from.
 */
TEST_CASE(later_descendants_are_limited_and_orphans_survive) {
    const char *folder = run_make_folder();
    const char *script = run_format(
        "echo ready; cd %s; while [ ! -e go ]; do sleep 0.02; done;"
        "sh -c '" PAYLOAD " spin & until [ -e on ]; do sleep 0.02; done'; " PAYLOAD " spin & wait",
        folder);
    struct run *target = start_target(WORDS("sh", "-c", script));
    struct run *run = START(
        "-v", "-c", "fixed", "-l", "50%", "-D", "300m", "--attach", run_pid_text(target->pid));
    run_wait_text(run, "instances are running");
    run_write_file(run_path(folder, "go"), "");
    RUN_UNTIL(run, family_is_stopped("payload", 1));
    pid_t orphan = family_find("payload").pids[0], parent = parent_of(orphan);
    run_write_file(run_path(folder, "on"), "");
    RUN_UNTIL(run, parent_of(orphan) != parent);
    REFUSED("belongs to the run of showstopper", "--attach", run_pid_text(orphan));
    RUN_UNTIL(run, family_is_stopped("payload", 2));
    struct family both = family_find("payload");
    family_expect_to_run(run, &both, 0.001);
    RUN_UNTIL(run, family_is_stopped("payload", 2));
    run_end(run, SIGKILL);
    family_end_kept(&both);
}

/* Returns a script that starts daemons, which are orphans, once the file `go` exists. */
static const char *daemon_script(const char *folder) {
    return run_format("echo ready; until [ -e %s/go ]; do sleep 0.02; done;"
                      "(setsid " PAYLOAD " spin & " PAYLOAD " spin &); sleep 1000",
        folder);
}

static bool births_are_reported(void) {
    int forks = ss_platform_fork_events_open();
    bool reported = forks >= 0;
    if (reported)
        close(forks);
    return reported;
}

TEST_CASE(daemons_are_limited_and_ended) {
    SKIP_UNLESS(births_are_reported(), "forks: reported only to root, and not inside containers");
    for (int i = 0; i < 4; i++) {
        const char *folder = run_make_folder();
        struct run *target = start_target(WORDS("sh", "-c", daemon_script(folder)));
        struct run *run =
            START(SLOW, "--grace", "200m", "--end", "--attach", run_pid_text(target->pid));
        run_wait_text(run, "instances are running");
        run_write_file(run_path(folder, "go"), "");
        RUN_UNTIL(run, family_is_stopped("payload", 2));
        struct family daemons = family_find("payload");
        family_expect_to_run(run, &daemons, 0.001);
        run_end(run, SIGTERM);
        run_free(target);
        run_free_clean(run);
    }
}

/* Some daemons start just before processes of the run are killed, some just after that. */
TEST_CASE(daemons_are_ended_by_the_rest_of_a_killed_run) {
    static const size_t ended_by_guardian[] = {0, 1, 3};
    SKIP_UNLESS(births_are_reported(), "forks: reported only to root, and not inside containers");
    for (size_t i = 0; i < 9; i++) {
        struct run *target = start_target(WORDS(PAYLOAD, "late-daemons", "500"));
        struct run *run =
            START("-v", "-c", "fixed", "-l", "80%", "--end", "--attach", run_pid_text(target->pid));
        RUN_UNTIL(run, family_find("payload-daemon").count >= 4);
        kill_victims(run, victims[ended_by_guardian[i % 3]], 0.01 * (double)i);
        RUN_UNTIL(NULL, family_find("ss-").count == 0);
        RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, family_find("payload").count == 0);
        run_free(target);
        run_free_clean(run);
    }
}

/* The kernel reports the sibling as a child of the test, which is not attached. */
TEST_CASE(a_sibling_forked_by_an_attached_process_is_limited_and_ended) {
    SKIP_UNLESS(geteuid() == 0, "root: other users may not see the addresses of a process");
    SKIP_UNLESS(ss_platform_process_image(getpid()), "addresses: not random");
    for (int i = 0; i < 4; i++) {
        struct run *target = start_target(WORDS(PAYLOAD, "late-sibling"));
        struct run *run =
            START(SLOW, "--grace", "200m", "--end", "--attach", run_pid_text(target->pid));
        RUN_UNTIL(run, family_is_stopped("payload", 2));
        struct family both = family_find("payload");
        ck_assert_uint_eq(family_find("payload-sibling").count, 1);
        family_expect_to_run(run, &both, 0.001);
        run_end(run, SIGTERM);
        RUN_UNTIL(NULL, family_find("payload").count == 0);
        run_free(target);
        run_free_clean(run);
    }
}

/*
 * A busy guardian may listen for forks only after the first signal, or learn of the fork at SIGTERM
 * only after the instance seems to have ended.
 */
TEST_CASE(daemons_forked_at_a_signal_are_ended) {
    static const struct {
        const char *late, *target[4];
        size_t daemons; /* before the end */
    } rows[] = {
        {"SS_TEST_LATE=300:ss-guardian", {PAYLOAD, "late-daemons", "2"}, 2},
        {"SS_TEST_LATE=40:ss-guardian:event", {PAYLOAD, "daemon-at-end"}, 0},
    };
    SKIP_UNLESS(births_are_reported(), "forks: reported only to root, and not inside containers");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_setup setup = {.environment = WORDS(SHIM("shim_late"), rows[i].late)};
        struct run *target = start_target(rows[i].target);
        struct run *run = START_IN(&setup, SLOW, "--end", "--attach", run_pid_text(target->pid));
        RUN_UNTIL(run, family_find("payload-daemon").count == rows[i].daemons);
        RUN_UNTIL(run, rows[i].daemons > 0 || run_state(target->pid) == 'T');
        run_end(run, SIGTERM);
        run_free(target);
        run_free_clean(run);
    }
}

/* Returns whether the payloads are children of the first process of the run's namespace. */
static bool payloads_are_orphans(const struct run *run, size_t count) {
    struct family family = family_find("payload");
    struct ss_process process;
    size_t orphans = 0;
    for (size_t i = 0; i < family.count; i++)
        orphans += ss_platform_process_info(family.pids[i], &process) &&
                   ss_platform_process_info(process.parent, &process) && process.parent == run->pid;
    return family.count == count && orphans == count;
}

/* Returns how often the process has begun to wait. */
static long count_waits(pid_t pid) {
    return atol(run_status(pid, "voluntary_ctxt_switches"));
}

/*
 * In a container fork events do not arrive, so a daemon's origin is unknown: it is reported but not
 * limited.
 */
TEST_CASE(daemons_are_reported_if_fork_events_are_unavailable) {
    SKIP_UNLESS(sandbox_have_namespaces(), "namespaces: cannot create a namespace");
    const char *folder = run_make_folder();
    const char *script =
        run_format("sh -c '%s' & " SHOWSTOPPER " -v -f own -l 50%% --attach $!; exit $?",
            daemon_script(folder));
    struct run *run = run_start(
        NULL, WORDS("unshare", sandbox_new_namespaces(), "--mount-proc", "sh", "-c", script));
    run_wait_text(run, "instances are running");
    pid_t master = run_find(run, "showstopper"), guardian = run_find(run, "ss-guardian");
    /* The guardian must not see the daemons before they are orphans. */
    run_stop(run, master);
    run_stop(run, guardian);
    run_write_file(run_path(folder, "go"), "");
    RUN_UNTIL(run, payloads_are_orphans(run, 2));
    long waits = count_waits(guardian);
    kill(guardian, SIGCONT);
    kill(master, SIGCONT);
    RUN_UNTIL(run, count_waits(guardian) >= waits + 6); /* it waits once between two looks */
    kill(master, SIGTERM);
    run_expect(run_wait(run), 128 + SIGTERM);
    run_expect_text(&run->err, "2 processes may descend from attached processes");
}

static pid_t joined_group;

static void join_group(void) {
    setpgid(0, joined_group);
}

/* The group is like a shell pipeline; the attached process may lead it or not. */
TEST_CASE(unattached_members_of_the_process_group_are_not_stopped) {
    struct run_setup setup = {.prepare = join_group};
    for (int which = 0; which < 2; which++) {
        joined_group = 0;
        struct run *first = run_start(&setup, WORDS(PAYLOAD, "ignore-term"));
        run_wait_text(first, "ready");
        joined_group = first->pid;
        struct run *second = run_start(&setup, WORDS(PAYLOAD, "ignore-term"));
        run_wait_text(second, "ready");
        struct run *target = which ? second : first, *other = which ? first : second;
        struct run *run = START(SLOW, "--attach", run_pid_text(target->pid));
        for (int i = 0; i < 3; i++) {
            RUN_UNTIL(run, run_state(target->pid) == 'T');
            ck_assert_int_ne(run_state(other->pid), 'T');
            RUN_UNTIL(run, run_state(target->pid) != 'T');
        }
        run_end(run, SIGTERM);
        run_free(first);
        run_free(second);
    }
}

TEST_CASE(descendants_run_freely_after_the_attached_process_ends) {
    struct run *target = start_target(WORDS(PAYLOAD, "setsid", "2"));
    struct run *run = attach(target, 3);
    struct family others = family_find("payload-session");
    ck_assert_uint_eq(others.count, 2);
    kill(target->pid, SIGKILL);
    run_succeed(run);
    family_end_kept(&others);
}

TEST_CASE(each_attached_process_is_an_instance) {
    struct run *first = start_one();
    struct run *second = start_target(WORDS(PAYLOAD, "setsid", "2"));
    struct run *run = START(SLOW, "--attach", pair_text(first->pid, second->pid));
    struct family executors;
    RUN_UNTIL(run, (executors = family_find("ss-executor")).count == 2);
    RUN_UNTIL(run, run_state(first->pid) == 'T');
    RUN_UNTIL(run, run_state(second->pid) == 'T');
    kill(first->pid, SIGKILL);
    run_wait_text(run, "instance 0 ended");
    RUN_UNTIL(run, run_state(second->pid) == 'T');
    ck_assert(!run->ended);
    kill(second->pid, SIGKILL);
    run_succeed(run);
    family_end_all();
}

static const char *make_program(const char *folder, const char *name) {
    const char *program = run_path(folder, name);
    ck_assert_int_eq(symlink(PAYLOAD, program), 0);
    return program;
}

TEST_CASE(attach_name_finds_a_process_by_its_name) {
    const char *folder = run_make_folder();
    const char *name = run_format("att-%d", (int)getpid());
    const char *program = make_program(folder, name);
    struct run *target = start_target(WORDS(program, "groups", "0"));
    struct run *run = START(SLOW, "--attach-name", name);
    RUN_UNTIL(run, run_state(target->pid) == 'T');
    struct run *second = start_target(WORDS(program, "groups", "0"));
    struct run *refused = RUN("-l", "50%", "--attach-name", name);
    run_expect_refusal(refused, "2 processes are named");
    run_expect_text(&refused->err, run_pid_text(target->pid));
    run_expect_text(&refused->err, run_pid_text(second->pid));
    run_end(run, SIGTERM);
}

/* Forked workers have the same name as their parent. */
TEST_CASE(descendants_with_the_same_name_are_attached_as_one_tree) {
    const char *folder = run_make_folder();
    const char *name = run_format("att-%d", (int)getpid());
    const char *program = run_path(folder, name);
    ck_assert_int_eq(symlink("/bin/sh", program), 0);
    const char *script = run_format("(echo ready; " PAYLOAD " ignore-term; :); :");
    struct run *target = start_target(WORDS(program, "-c", script));
    struct run *run = START(SLOW, "--attach-name", name);
    RUN_UNTIL(run, run_state(target->pid) == 'T');
    run_end(run, SIGTERM);
    family_end_all();
}

/* Other load exceeds the limit, but -f own must ignore it. */
TEST_CASE(a_limit_of_own_load_ignores_the_load_of_other_processes) {
    run_greedily();
    double limit = 0.2; /* of a CPU */
    struct run *other = run_start(NULL, WORDS(PAYLOAD, "spin"));
    struct run *target = start_one();
    struct run *run =
        START("-v", "-f", "own", "-l", "0.2cpu", "--attach", run_pid_text(target->pid));
    run_wait_text(run, "instances are running");
    double used = INFINITY;
    run_let_pass(run, 1);
    /* An executor that gets no CPU stops its instance late, so one of these lengths is enough. */
    for (double watched = 1; watched < 30 && !(used < 2 * limit); watched *= 3) {
        double begin = run_now(), before = family_cpu_time(target->pid);
        double others = family_cpu_time(other->pid);
        /* A busy machine may give it less than the limit, but then also gives less to the other. */
        RUN_UNTIL(run,
            run_now() >= begin + watched &&
                family_cpu_time(target->pid) - before >
                    fmin(limit * (run_now() - begin), family_cpu_time(other->pid) - others) / 10);
        used = (family_cpu_time(target->pid) - before) / (run_now() - begin);
    }
    ck_assert_msg(used < 2 * limit, "%.3f of a CPU", used);
    run_end(run, SIGTERM);
}

/* Returns the CPU time of all children that have ended, in seconds. */
static double ended_cpu_time(void) {
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/*
 * Most CPU time is used by children that have ended. The load is compared with the CPU time
 * actually used, which on a busy machine may be less than the target, or for a short time more.
 */
TEST_CASE(the_load_of_short_lived_children_is_counted) {
    run_greedily();
    double cpus = run_cpu_count(), share = 0.4 / cpus;
    double load = INFINITY, counted = 0, used = INFINITY;
    const char *limit = run_format("%.6f", share);
    for (const char *const *length = WORDS("5s", "15s", "45s");
         *length && !(load < 2 * share && counted > 0.75 * used - 0.3); length++) {
        double before = ended_cpu_time();
        struct run *run = RUN("-n", "1", "-f", "own", "-l", limit, "--duration", *length, "--json",
            "-", SSBURN, "forking");
        used = ended_cpu_time() - before;
        run_expect(run, 0);
        run_expect_text(&run->out, "\"scope\": \"own\"");
        load = json_number(run->out.bytes, "load_mean");
        counted = load * cpus * json_number(run->out.bytes, "duration_seconds");
    }
    ck_assert_msg(load < 2 * share, "%f, not %f", load, share);
    ck_assert_msg(counted > 0.75 * used - 0.3, "%f s of %f s were counted", counted, used);
}

static void move(pid_t pid, const char *group) {
    run_write_file(run_path(group, "cgroup.procs"), run_pid_text(pid));
}

/* One process starts in the attached group, another moves into a group below it. */
TEST_CASE(processes_that_join_a_stopped_group_stop_with_it) {
    need_group();
    const char *record = run_new_path("record");
    const char *inner = run_path(attached_group, "inner");
    start_target(WORDS(PAYLOAD, "setsid", "2"));
    struct run *run = START(SLOWER, "--record", record, "--attach-group", attached_group);
    RUN_UNTIL(run, family_is_stopped("payload", 3));
    run_start(&(struct run_setup){.prepare = control_group_enter}, WORDS(PAYLOAD, "ignore-term"));
    RUN_UNTIL(run, family_is_stopped("payload", 4));
    struct run *moved = run_start(NULL, WORDS(PAYLOAD, "ignore-term"));
    run_wait_text(moved, "ready");
    ck_assert_int_eq(mkdir(inner, 0755), 0);
    move(moved->pid, inner);
    RUN_UNTIL(run, family_is_stopped("payload", 5));
    struct family all = family_find("payload");
    run_end(run, SIGTERM);
    struct run_text plan = run_read_file(run_path(record, "plan.json"));
    run_expect_text(&plan, attached_group);
    family_end_kept(&all);
    RUN_UNTIL(NULL, rmdir(inner) == 0);
    control_group_remove();
}

/* Returns whether a process has run for a while during which the other one was always stopped. */
static bool has_run_during_stop(pid_t pid, pid_t other) {
    static double since = INFINITY;
    double used = family_cpu_time(pid);
    if (run_state(other) != 'T' || isinf(since))
        since = used;
    return used > since + 0.02;
}

/* The guardian is replaced meanwhile. */
TEST_CASE(a_process_that_leaves_a_stopped_group_is_continued) {
    need_group();
    struct run *stays = start_one(), *leaves = start_one();
    struct run *run = START(SLOWER, "--attach-group", attached_group);
    RUN_UNTIL(run, family_is_stopped("payload", 2));
    kill(run_find(run, "ss-guardian"), SIGKILL);
    RUN_UNTIL(run, family_is_stopped("payload", 2));
    move(leaves->pid, run_path(attached_group, ".."));
    RUN_UNTIL(run, has_run_during_stop(leaves->pid, stays->pid));
    kill(stays->pid, SIGKILL);
    run_succeed(run);
    run_expect_text(&run->err, "ended by workloads");
    family_end_all();
    control_group_remove();
}

/* A run leaves a group stopped if all processes of the run are killed at once. */
TEST_CASE(a_stopped_group_is_attached_and_continued) {
    need_group();
    struct run *target = start_one();
    run_stop(NULL, target->pid);
    struct run *run = START("-v", "-c", "fixed", "-l", "100%", "--attach-group", attached_group);
    RUN_UNTIL(run, run_state(target->pid) != 'T');
    struct family one = family_find("payload");
    run_end(run, SIGTERM);
    family_end_kept(&one);
    control_group_remove();
}

TEST_CASE(the_load_of_an_attached_group_is_measured) {
    need_group();
    run_greedily();
    const char *spin = "echo ready; " PAYLOAD " spin & " PAYLOAD " spin & wait";
    start_target(WORDS("sh", "-c", spin));
    for (const char *const *name = WORDS("cgroup", "own"); *name; name++) {
        double load = 0;
        for (const char *const *length = WORDS("1s", LONGER); *length && !(load > 0.01); length++) {
            struct run *run = SUCCEED("-f", *name, "-c", "fixed", "-l", "90%", "--duration",
                *length, "--json", "-", "--attach-group", attached_group);
            load = json_number(run->out.bytes, "load_mean");
            ck_assert_uint_eq(run_count_text(&run->out, run_path(attached_group, "cpu.stat")) > 0,
                strcmp(*name, "cgroup") == 0);
        }
        ck_assert_msg(load > 0.01 && load < 1.2, "%s: %f", *name, load);
    }
    family_end_all();
    control_group_remove();
}

TEST_CASE(invalid_groups_are_not_attached) {
    need_group();
    const char *folder = run_make_folder();
    run_write_file(run_path(folder, "tasks"), "");
    REFUSED("no control group '/none' of version 2", "--attach-group", "/none");
    REFUSED("exists only in version 1", "--attach-group", folder);
    REFUSED("has no process", "--attach-group", attached_group);
    REFUSED(
        "contains an ancestor of showstopper", "--attach-group", run_path(attached_group, ".."));
    struct run_setup setup = {.prepare = control_group_enter};
    run_expect_refusal(
        START_IN(&setup, "-l", "50%", "--attach-group", attached_group), "contains showstopper");
    struct run *target = start_target(WORDS(PAYLOAD, "setsid", "2"));
    pid_t child = family_find("payload-session").pids[0];
    struct run *run = attach(target, 3);
    REFUSED("belongs to the run of showstopper", "--attach-group", attached_group);
    REFUSED("belongs to the run of showstopper", "--attach", run_pid_text(child));
    run_end(run, SIGTERM);
    struct family tree = family_find("payload");
    family_end_kept(&tree);
    control_group_remove();
}

TEST_CASE(invalid_processes_are_not_attached) {
    REFUSED("process 1 cannot be stopped", "--attach", "1");
    REFUSED("no process has pid 2147483647", "--attach", "2147483647");
    REFUSED("'none' is not a pid", "--attach", "none");
    REFUSED("'' is not a pid", "--attach", ",");
    REFUSED("an ancestor of showstopper", "--attach", run_pid_text(getpid()));
    REFUSED("no process that can be attached is named", "--attach-name", "no such name");
    REFUSED("no process that can be attached is named", "--attach-name", "of15letters-all");
    REFUSED("is too long: the kernel truncates names to", "--attach-name", "of16letters-all!");
    struct run *zombie = run_start(NULL, WORDS(PAYLOAD, "exit", "0"));
    RUN_UNTIL(NULL, run_state(zombie->pid) == 'Z');
    REFUSED("has already ended", "--attach", run_pid_text(zombie->pid));
}

TEST_CASE(a_tree_cannot_be_attached_twice) {
    struct run *target = start_target(WORDS(PAYLOAD, "setsid", "2"));
    pid_t child = family_find("payload-session").pids[0];
    REFUSED("is given twice: give it once", "--attach", pair_text(target->pid, target->pid));
    REFUSED("belong to one tree", "--attach", pair_text(target->pid, child));
    struct run *run = attach(target, 3);
    REFUSED("belongs to the run of showstopper", "--attach", run_pid_text(target->pid));
    REFUSED("belongs to the run of showstopper", "--attach", run_pid_text(child));
    REFUSED("belongs to the run of showstopper", "--attach", run_pid_text(run->pid));
    struct run *other = run_start(NULL, WORDS("sleep", "1000"));
    const char *message = run_format("process %d belongs to the run of", (int)child);
    REFUSED(message, "--attach", pair_text(other->pid, child));
    run_end(run, SIGTERM);
    struct family tree = family_find("payload");
    family_end_kept(&tree);
}

TEST_CASE(only_one_of_two_concurrent_runs_attaches) {
    for (int i = 0; i < 8; i++) {
        struct run *target = start_one();
        struct run *runs[2];
        for (int which = 0; which < 2; which++)
            runs[which] = START(SLOW, "--attach", run_pid_text(target->pid));
        RUN_UNTIL(runs[0], (run_look(runs[1]), runs[0]->ended || runs[1]->ended));
        struct run *refused = runs[runs[1]->ended], *run = runs[!runs[1]->ended];
        run_expect(refused, 125);
        ck_assert_uint_eq(run_count_text(&refused->err, "\n"), 1);
        run_expect_text(&refused->err, "wait until that run ends");
        RUN_UNTIL(run, run_state(target->pid) == 'T');
        ck_assert(!run->ended);
        run_end(run, SIGTERM);
        run_free(target);
    }
}

/* Takes the lock with which a run claims a process. */
static int claim(pid_t pid) {
    const char *path = run_format("/proc/%d/fd", (int)pid);
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(file, LOCK_EX | LOCK_NB), 0);
    return file;
}

/* Removes one obstacle after another, until the run starts. */
TEST_CASE(stopped_and_claimed_trees_are_refused) {
    struct run *target = start_target(WORDS(PAYLOAD, "setsid", "2"));
    pid_t child = family_find("payload-session").pids[0];
    int file = claim(target->pid);
    REFUSED("another showstopper has attached process", "--attach", run_pid_text(target->pid));
    REFUSED("another showstopper has attached process", "--attach", run_pid_text(child));
    close(file);
    file = claim(child);
    REFUSED("another showstopper has attached process", "--attach", run_pid_text(target->pid));
    close(file);
    run_stop(NULL, target->pid);
    REFUSED("is stopped, and the run would continue it", "--attach", run_pid_text(target->pid));
    ck_assert_int_eq(run_state(target->pid), 'T');
    kill(target->pid, SIGCONT);
    run_stop(NULL, child);
    REFUSED("is stopped, and the run would continue it", "--attach", run_pid_text(target->pid));
    ck_assert_int_eq(run_state(child), 'T');
    kill(child, SIGCONT);
    struct family tree = family_find("payload");
    struct run *run = attach(target, 3);
    run_end(run, SIGTERM);
    family_end_kept(&tree);
}

TEST_CASE(a_replay_of_a_run_with_attached_processes_is_refused) {
    const char *record = run_new_path("record");
    struct run *target = start_one();
    struct run *run = SUCCEED("-l", "50%", "--duration", "600m", "--record", record, "--attach",
        run_pid_text(target->pid));
    run = RUN("--replay", record);
    run_expect(run, 125);
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect_text(&run->err, "the recorded run used --attach");
}

TEST_CASE(the_end_option_sends_sigterm_to_the_attached_process) {
    struct run *target = start_target(WORDS(PAYLOAD, "catch"));
    struct run *run = START(SLOW, "--end", "--grace", "60s", "--attach", run_pid_text(target->pid));
    RUN_UNTIL(run, run_state(target->pid) == 'T');
    run_end(run, SIGTERM);
    run_succeed(target);
    run_expect_text(&target->out, "caught 15");
}

TEST_CASE(the_end_option_kills_a_tree_that_ignores_sigterm) {
    struct run *target = run_start(
        NULL, WORDS("sh", "-c", PAYLOAD " ignore-term & " PAYLOAD " ignore-term; exit 1"));
    RUN_UNTIL(target, run_count_text(&target->out, "ready\n") == 2);
    struct run *run =
        START(SLOW, "--end", "--grace", "300m", "--attach", run_pid_text(target->pid));
    RUN_UNTIL(run, family_is_stopped("payload", 2));
    run_end(run, SIGTERM);
    /* The shell dies of SIGTERM if it gets a CPU in time; its payloads ignore that signal. */
    run_wait(target);
    run_expect(target, target->status == -SIGKILL ? -SIGKILL : -SIGTERM);
}
