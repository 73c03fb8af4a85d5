/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Processes of instances that become another user. The run freezes them in a control group if it
 * may make one, and otherwise warns about them. Only root can set this up.
 */

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "json_text.h"
#include "platform/platform.h"
#include "tree/freezer.h"
#include "tree/guardian.h"
#include "tree/instance.h"
#include "tree/sweep.h"
#include "yard.h"

/* Long rounds, mostly stopped. */
#define ROUNDS "-c", "fixed", "-l", "10%", "-D", "400m"

/* Durations of further tries: on a busy machine, a process may get no CPU during a short run. */
#define LONGER "16s", "40s"

/*
 * CPU time is measured for WATCHED seconds; a process may use at most the share SHARE_MAX of them.
 * An executor that gets no CPU freezes late, so longer measurements follow, up to 27 * WATCHED.
 */
#define WATCHED   1.0
#define SHARE_MAX 0.2

#define WARNING "could not be controlled"

/* Whether the instance itself becomes root, or only its child in another session. */
enum shape { LEADER, CHILD };

static const enum shape shapes[] = {LEADER, CHILD};

#define SHAPES (sizeof shapes / sizeof *shapes)

static struct run *start(enum shape shape, const char *const *options) {
    const char *line = run_format("%s become-root & exec " PAYLOAD " spin", yard.program);
    const char *const *command =
        shape == LEADER ? WORDS(yard.program, "become-root") : WORDS("sh", "-c", line);
    struct run_setup setup = {.prepare = yard_become_user};
    struct run *run = run_start(&setup, run_join(run_join(WORDS(SHOWSTOPPER), options), command));
    RUN_UNTIL(run, run->ended || run_count(run, "ready\n") > 0);
    return run;
}

#define START_SHAPE(shape, ...) start(shape, WORDS("-n", "1", ROUNDS, __VA_ARGS__))

static void note_freezer(const char *path) {
    yard.freezer = path;
}

static bool freezer_says(const char *file, const char *text) {
    struct run_text all = run_read_file(run_path(yard.freezer, file));
    bool says = strstr(all.bytes, text) != NULL;
    free(all.bytes);
    return says;
}

/* Returns root's process if it is in the group, otherwise 0. */
static pid_t look_for_frozen(void) {
    struct family family = family_find("payload-root");
    if (family.count != 1 || yard_each_freezer(note_freezer) != 1)
        return 0;
    const char *line = run_format("%d\n", (int)family.pids[0]);
    return freezer_says("cgroup.procs", line) ? family.pids[0] : 0;
}

/* Waits until root's process is in the group, and returns its pid. */
static pid_t find_frozen(struct run *run) {
    pid_t pid = 0;
    RUN_UNTIL(run, run->ended || (pid = look_for_frozen()) > 0);
    ck_assert(!run->ended);
    return pid;
}

static void expect_clean_end(struct run *run) {
    run_expect_nothing_left();
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, yard_each_freezer(NULL) == 0);
    ck_assert_uint_eq(run_count_text(&run->err, WARNING), 0);
    ck_assert_uint_eq(run_count_text(&run->out, WARNING), 0);
}

/* Waits until the process is frozen and thawed. Returns the share of the time in which it ran. */
static double measure_share(struct run *run, pid_t pid, double watched) {
    RUN_UNTIL(run, freezer_says("cgroup.freeze", "1"));
    RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 1"));
    double begin = run_now();
    double used = family_cpu_time(pid);
    RUN_UNTIL(run, freezer_says("cgroup.freeze", "0"));
    RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 0"));
    RUN_UNTIL(run, family_cpu_time(pid) > used + 0.02);
    RUN_UNTIL(run, run_now() >= begin + watched);
    return (family_cpu_time(pid) - used) / (run_now() - begin);
}

TEST_CASE(another_users_process_is_frozen_with_the_instance) {
    run_greedily();
    yard_enter(true);
    for (size_t i = 0; i < SHAPES; i++) {
        struct run *run = START_SHAPE(shapes[i], "-q", "--grace", "200m");
        pid_t pid = find_frozen(run);
        double share = INFINITY;
        for (double watched = WATCHED; watched <= 27 * WATCHED && !(share < SHARE_MAX);
             watched *= 3)
            share = measure_share(run, pid, watched);
        ck_assert_msg(share < SHARE_MAX, "it ran for %.0f %% of the time", 100 * share);
        run_end(run, SIGTERM);
        expect_clean_end(run);
    }
}

/* A subgroup keeps the group from being removed, as processes do that have not exited yet. */
TEST_CASE(a_freezer_that_becomes_empty_late_is_removed) {
    run_greedily();
    yard_enter(true);
    struct run *run = START_SHAPE(shapes[0], "-q", "--grace", "200m");
    find_frozen(run);
    const char *below = run_path(yard.freezer, "below");
    ck_assert_int_eq(mkdir(below, 0755), 0);
    kill(run->pid, SIGTERM);
    run_let_pass(run, 0.5);
    ck_assert_int_eq(rmdir(below), 0);
    run_expect(run_wait(run), -SIGTERM);
    expect_clean_end(run);
}

/*
 * Half a second after the end of the executor, the master waits for the guardian, and the guardian
 * for the subgroup. Returns false if the run was over by then: the master waits for 2 s.
 */
static bool signal_while_freezer_is_removed(void) {
    struct run *run = START_SHAPE(LEADER, "-q");
    pid_t pid = find_frozen(run);
    const char *below = run_path(yard.freezer, "below");
    ck_assert_int_eq(mkdir(below, 0755), 0);
    kill(pid, SIGKILL);
    RUN_UNTIL(run, family_find("ss-executor").count == 0);
    run_let_pass(run, 0.5);
    bool waits = !run->ended;
    if (waits)
        kill(run->pid, SIGTERM);
    ck_assert_int_eq(rmdir(below), 0);
    run_wait(run);
    if (waits)
        run_expect(run, -SIGTERM);
    expect_clean_end(run);
    return waits;
}

TEST_CASE(a_signal_while_a_freezer_is_removed_ends_the_run) {
    bool done = false;
    yard_enter(true);
    for (int i = 0; i < 5 && !done; i++)
        done = signal_while_freezer_is_removed();
    ck_assert(done);
}

TEST_CASE(a_frozen_run_ends_as_planned) {
    yard_enter(true);
    for (size_t i = 0; i < SHAPES; i++) {
        bool frozen = false;
        for (const char *const *length = WORDS("6s", LONGER); *length && !frozen; length++) {
            struct run *run =
                START_SHAPE(shapes[i], "--json", "-", "--duration", *length, "--grace", "200m");
            RUN_UNTIL(run, run->ended || (frozen = look_for_frozen() > 0));
            run_succeed(run);
            if (frozen) {
                ck_assert_ptr_nonnull(json_field(strchr(run->out.bytes, '{'), "warnings"));
                expect_clean_end(run);
            } else {
                family_end_all();
            }
        }
        ck_assert(frozen);
    }
}

/* Whether a frozen process would end is unknown, so it gets the whole grace period. */
TEST_CASE(a_frozen_process_ends_after_the_grace_period) {
    yard_enter(true);
    for (size_t i = 0; i < SHAPES; i++) {
        struct run *run = START_SHAPE(shapes[i], "--grace", "700m");
        pid_t pid = find_frozen(run);
        double begin = run_now();
        kill(run->pid, SIGTERM);
        while (run_now() < begin + 0.5 && run_state(pid))
            run_nap(run);
        ck_assert_double_ge(run_now() - begin, 0.5);
        run_expect(run_wait(run), -SIGTERM);
        expect_clean_end(run);
    }
}

static void kill_crew(enum shape shape, bool executor, bool master) {
    struct run *run = START_SHAPE(shape, "-q");
    find_frozen(run);
    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, 1);
    RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 1"));
    if (master)
        kill(run->pid, SIGKILL);
    if (executor)
        family_signal(&executors, SIGKILL);
    run_expect(run_wait(run), master ? -SIGKILL : 125);
    expect_clean_end(run);
}

TEST_CASE(frozen_processes_end_when_master_or_executor_is_killed) {
    yard_enter(true);
    for (size_t i = 0; i < SHAPES; i++) {
        kill_crew(shapes[i], true, false);
        kill_crew(shapes[i], false, true);
        kill_crew(shapes[i], true, true);
    }
}

TEST_CASE(a_new_guardian_takes_over_the_freezer) {
    yard_enter(true);
    struct run *run = START_SHAPE(CHILD, "-v");
    find_frozen(run);
    family_signal_named("ss-guardian", SIGKILL);
    run_wait_text(run, "guardian ended unexpectedly");
    RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 1"));
    RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 0"));
    family_signal_named("ss-executor", SIGKILL);
    run_expect(run_wait(run), 125);
    expect_clean_end(run);
}

TEST_CASE(kept_processes_are_thawed_and_keep_running) {
    static const struct {
        enum shape shape;
        bool is_killed; /* the executor */
    } rows[] = {{LEADER, false}, {CHILD, false}, {CHILD, true}};
    yard_enter(true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run *run = START_SHAPE(rows[i].shape, "-q", "--keep");
        pid_t pid = find_frozen(run);
        RUN_UNTIL(run, freezer_says("cgroup.events", "frozen 1"));
        if (rows[i].is_killed)
            family_signal_named("ss-executor", SIGKILL);
        else
            kill(run->pid, SIGTERM);
        run_expect(run_wait(run), rows[i].is_killed ? 125 : -SIGTERM);
        double used = family_cpu_time(pid);
        RUN_UNTIL(NULL, family_cpu_time(pid) > used + 0.02);
        family_end_all();
        /* A group is busy until its last process has exited. */
        RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, yard_each_freezer(yard_tear_down) == 0);
        expect_clean_end(run);
    }
}

/* Each instance starts root's process in the background and then runs the shell command `rest`. */
static struct run *start_leaving(const char *rest) {
    struct run_setup setup = {.prepare = yard_become_user};
    const char *line = run_format("%s become-root & %s", yard.program, rest);
    return START_IN(
        &setup, "-q", "-n", "1", ROUNDS, "--repeat", "--grace", "100m", "sh", "-c", line);
}

TEST_CASE(iterations_leave_no_process_of_another_user) {
    yard_enter(true);
    struct run *run = start_leaving("sleep 0.5");
    while (run_count(run, "ready\n") < 4) {
        /* A killed process needs a CPU to exit. */
        RUN_UNTIL(run, family_find("payload-root").count <= 1);
        ck_assert(!run->ended);
        run_nap(run);
    }
    run_end(run, SIGTERM);
    expect_clean_end(run);
}

/* The process starts just before the end, so the guardian may not have found it. */
TEST_CASE(processes_started_just_before_the_end_are_ended) {
    yard_enter(true);
    for (int i = 0; i < 6; i++) {
        struct run *run = start_leaving("exec " PAYLOAD " spin");
        RUN_UNTIL(run, run_count(run, "ready\n") > 0);
        run_end(run, SIGTERM);
        expect_clean_end(run);
    }
}

static struct ss_board *board;

/* Starts root's process as a child of the user. Returns after it has become root. */
static pid_t start_root(void) {
    int ends[2];
    char text[6];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(yard.program, "payload", "become-root", NULL);
        _exit(98);
    }
    close(ends[1]);
    bool is_ready = read(ends[0], text, sizeof text) == sizeof text && kill(child, 0) < 0;
    close(ends[0]);
    return is_ready ? child : -1;
}

/*
 * Makes a freezer that stays empty, because the pid of its process seems to have been reused. Fails
 * unless `removes` removes it. `ended` is the pid of that process, which has ended by then.
 */
static void expect_removal(void (*removes)(pid_t ended)) {
    char name[SS_FREEZER_NAME_SIZE];
    const char *own = yard_find_own_group();
    SKIP_UNLESS(own, "cgroup-v2: no group can be made");
    struct run *run = run_start(NULL, WORDS(PAYLOAD, "spin"));
    board = ss_board_allocate(1, 0, false);
    snprintf(board->mark, sizeof board->mark, "%d", (int)getpid());
    ss_freezer_prepare(board, 0, name);
    ck_assert(!ss_platform_freezer_put(name, run->pid, ss_platform_process_started(run->pid) + 1));
    bool made = run_exists(run_path(own, name));
    run_end(run, SIGKILL);
    removes(run->pid);
    bool left = run_exists(run_path(own, name));
    ss_freezers_remove(board);
    SKIP_UNLESS(made, "cgroup-v2: no group can be made");
    ck_assert(!left);
}

static void remove_freezers(pid_t ended) {
    ss_freezers_remove(board);
}

/* The guardian was killed when all instances had been ended. */
static void stand_in(pid_t ended) {
    struct ss_terminal none = {.file = -1};
    const struct ss_guardian_setup setup = {
        .board = board, .master = ended, .wakeup = -1, .master_wakeup = -1, .terminal = &none};
    atomic_store(&board->guardian, ended);
    atomic_store(&board->guardian_started, 1);
    atomic_store(&board->over, 1);
    ss_guardian_stand_in(&setup);
}

TEST_CASE(a_freezer_that_no_process_entered_is_removed) {
    expect_removal(remove_freezers);
    expect_removal(stand_in);
}

static bool has_ended(pid_t pid, uint64_t started) {
    double deadline = run_now() + RUN_CLEAN_PATIENCE;
    while (ss_platform_process_is_alive(pid, started)) {
        if (run_now() > deadline)
            return false;
        run_nap(NULL);
    }
    return true;
}

/* An executor that gets no CPU time until its patience is over. */
static void clear_late(void) {
    static struct ss_instance instance;
    static _Atomic uint32_t word;
    instance.board = board;
    ss_instance_kill_all(&instance, &word, ss_platform_now());
}

/* A guardian that finds what an executor has left. This process is the master. */
static void sweep_up(void) {
    pid_t guardian = fork();
    if (guardian == 0) {
        static struct ss_sweep sweep;
        ss_sweep_open(&sweep, board, getppid());
        ss_sweep_run(&sweep, ss_platform_now() + SS_SECOND);
        _exit(0);
    }
    waitpid(guardian, NULL, 0);
}

/* Calls `end` in a process of the user that has started root's process. */
static void expect_end_of_root(void (*end)(void)) {
    int status = -1;
    yard_enter(true);
    pid_t user = fork();
    if (user == 0) {
        yard_become_user();
        board = ss_board_allocate(1, 0, false);
        board->owns_all_children = 1;
        snprintf(board->mark, sizeof board->mark, "%d", (int)getpid());
        pid_t pid = start_root();
        uint64_t started = ss_platform_process_started(pid);
        if (pid < 0 || started == 0)
            _exit(1);
        end();
        if (!has_ended(pid, started))
            _exit(2);
        ss_freezers_remove(board);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(user, &status, 0), user);
    ck_assert_msg(status == 0, "status %#x", (unsigned)status);
    ck_assert_uint_eq(yard_each_freezer(NULL), 0);
}

TEST_CASE(a_late_executor_ends_another_users_process) {
    expect_end_of_root(clear_late);
}

TEST_CASE(another_users_process_left_by_an_executor_is_ended) {
    expect_end_of_root(sweep_up);
}

/* Returns how many processes the warning counts; 0 without a warning. */
static int count_warned(const struct run *run) {
    const char *at = strstr(run->err.bytes, WARNING);
    while (at && at > run->err.bytes && !isdigit((unsigned char)*at))
        at--;
    return at ? atoi(at) : 0;
}

static void expect_warning(const struct run *run, int count) {
    const char *text = run_format("%d process%s " WARNING, count, count == 1 ? "" : "es");
    run_expect_text(&run->err, text);
    const char *json = strchr(run->out.bytes, '{');
    ck_assert_msg(json != NULL, "%s", run->out.bytes);
    run_expect_text(&run->out, text);
}

TEST_CASE(without_a_freezer_uncontrolled_processes_cause_a_warning) {
    yard_enter(false);
    for (size_t i = 0; i < SHAPES; i++) {
        struct run *run = NULL;
        for (const char *const *length = WORDS("4s", LONGER); *length; length++) {
            run = START_SHAPE(
                shapes[i], "-n", "3", "--json", "-", "--duration", *length, "--grace", "300m");
            run_succeed(run);
            if (count_warned(run) >= 3)
                break;
            family_end_all();
        }
        expect_warning(run, 3);
        /* They were not killed, so no control group or device keeps them from ending. */
        ck_assert_uint_eq(run_count_text(&run->err, "killed process"), 0);
        RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, NULL, family_find("").count == 3);
        family_end_all();
    }
}

static void become_user_without_output(void) {
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    yard_become_user();
}

/* Matching a line takes longer than writing it, so the pipe is never empty. */
#define SLOW_PATTERN "(.*)\\1x$"

/* The run can neither stop nor end the process, which writes until the run has closed its pipe. */
TEST_CASE(a_process_that_keeps_writing_does_not_delay_the_end) {
    yard_enter(false);
    struct run_setup setup = {.prepare = become_user_without_output};
    struct run *run = START_IN(&setup, "-q", "-n", "1", ROUNDS, "--iteration", SLOW_PATTERN,
        "--grace", "100m", yard.program, "become-root", "flood");
    RUN_UNTIL(run, run->ended || family_find("payload-root").count == 1);
    run_end_clean(run, SIGTERM);
}

/* The census finds threads, too, but must not count them as processes. */
TEST_CASE(threads_are_not_counted_as_uncontrolled_processes) {
    yard_enter(false);
    struct run_setup setup = {.prepare = yard_become_user};
    struct run *run = NULL;
    for (const char *const *length = WORDS("4s", LONGER); *length; length++) {
        run = SUCCEED_IN(&setup, "-n", "1", ROUNDS, "--json", "-", "--duration", *length, "--grace",
            "300m", yard.program, "become-root", "5");
        family_end_all();
        if (count_warned(run) > 0)
            break;
    }
    expect_warning(run, 1);
}

TEST_CASE(two_guardians_count_a_process_once) {
    yard_enter(false);
    struct run *run = NULL;
    for (const char *const *length = WORDS("6s", LONGER); *length; length++) {
        run = START_SHAPE(CHILD, "-v", "--json", "-", "--duration", *length, "--grace", "300m");
        run_let_pass(run, 1.5); /* enough for the first census, however late */
        struct family guardian = family_find("ss-guardian");
        family_signal(&guardian, SIGKILL);
        run_succeed(run);
        family_end_all();
        if (strstr(run->err.bytes, "guardian ended unexpectedly") && count_warned(run) > 0)
            break;
    }
    run_expect_text(&run->err, "guardian ended unexpectedly");
    expect_warning(run, 1);
}

static const char *own_file(const char *name) {
    char own[1024] = "";
    struct run_text groups = run_read_file("/proc/self/cgroup");
    const char *line = strstr(groups.bytes, "0::");
    if (line)
        sscanf(line, "0::%1023[^\n]", own);
    SKIP_UNLESS(*own, "cgroup-v2: not mounted");
    return run_format("/sys/fs/cgroup%s/%s", own, name);
}

/* Adds a file to our own group's folder, and the folders in its path. */
static void add_file(const char *name) {
    const char *path = own_file(name);
    run_succeed(CALL("mkdir", "-p", run_format("%.*s", (int)(strrchr(path, '/') - path), path)));
    run_write_file(path, "");
}

/* Mounts ordinary files in place of the control groups. */
static void mount_groups(void) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    sandbox_leave_mounts();
    SKIP_UNLESS(sandbox_can_mount_small("/sys/fs/cgroup", "64k"),
        "cgroup-folder: cannot mount over /sys/fs/cgroup");
    run_write_file("/sys/fs/cgroup/cgroup.controllers", "");
    add_file("cgroup.procs");
    add_file("group/cgroup.procs");
}

/* Before Linux 5.2 groups cannot be frozen, and before 5.14 not killed. */
TEST_CASE(groups_are_used_if_they_can_be_frozen_and_killed) {
    uint64_t started = ss_platform_process_started(getpid());
    mount_groups();
    ck_assert(!ss_platform_freezer_put("group", getpid(), started));
    add_file("group/cgroup.freeze");
    ck_assert(!ss_platform_freezer_put("group", getpid(), started));
    add_file("group/cgroup.kill");
    ck_assert(ss_platform_freezer_put("group", getpid(), started));
    run_expect_file(own_file("cgroup.procs"), "");
    /* Another process that has got the pid is not frozen. */
    ck_assert(!ss_platform_freezer_put("group", getpid(), started + 1));
    run_expect_file(own_file("group/cgroup.procs"), run_pid_text(getpid()));
    run_expect_file(own_file("cgroup.procs"), run_pid_text(getpid()));
}
