/* SPDX-License-Identifier: Apache-2.0 */

/*
 * When memory or open files run out, a run continues or reports why it cannot, and leaves nothing.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "family.h"
#include "fault.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"
#include "strangers.h"

/* Fails unless the instance has its complete environment, and pipes for its output. */
#define WHOLE_INSTANCE                                                                             \
    "test -n \"$SHOWSTOPPER_INSTANCE\" || exit 91;"                                                \
    "test -n \"$SHOWSTOPPER_INSTANCES\" || exit 92;"                                               \
    "test -n \"$SHOWSTOPPER_INSTANCE_OF\" || exit 93;"                                             \
    "test -p /dev/stdout || exit 94; test -p /dev/stderr || exit 95; exec " PAYLOAD " spin"

/* A summary is written completely or not at all. */
static void expect_no_half_summary(const char *folder) {
    struct dirent *entry;
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)))
        ck_assert_msg(
            strncmp(entry->d_name, "summary.json.", 13) != 0, "%s is left", entry->d_name);
    closedir(directory);
}

static const char *kind; /* of the calls that fail */

/* Exercises every part of the program that needs memory or files. */
static void try_all(void) {
    static const unsigned long counts[] = {1, FAULT_FOR_EVER};
    const char *folder = run_make_folder();
    const char *const words[] = {SHOWSTOPPER, "-q", "-n", "2", "-l", "50%", "--duration", "200ms",
        "--iteration", "done", "--output", folder, "--json", run_path(folder, "summary.json"), "sh",
        "-c", WHOLE_INSTANCE, NULL};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        unsigned long tries = fault_try_all(kind, counts[i], words);
        ck_assert_msg(tries >= 10, "only %lu calls for %s", tries, kind);
        expect_no_half_summary(folder);
    }
}

static void try_all_with_own_shared_memory(void) {
    sandbox_mount_small("/dev/shm", "64m");
    try_all();
}

/*
 * Makes each call fail in turn, alone or with all later ones. In a PID namespace of its own, if
 * possible: otherwise the guardian would open files of every process on the machine, and each would
 * only repeat the same failures.
 */
static void try_all_calls(const char *calls) {
    kind = calls;
    if (strangers_are_possible(false))
        strangers_run_apart(try_all_with_own_shared_memory, false);
    else
        try_all();
}

TEST_CASE(failed_allocations_leave_nothing_behind) {
    try_all_calls("memory");
}

TEST_CASE(failed_opens_leave_nothing_behind) {
    try_all_calls("files");
}

static void expect_reported(const struct run *run) {
    const char *last = run->err.bytes;
    for (const char *line = last; *line; line += strcspn(line, "\n") + 1)
        last = line;
    ck_assert_msg(run->status == 125 && strncmp(last, "showstopper: ", 13) == 0 &&
                      strchr(last, '\n') == last + strlen(last) - 1,
        "status %d: %s", run->status, run->err.bytes);
}

/*
 * Returns whether the memory sufficed. If instances already run, the guardian may lack memory
 * later.
 */
static bool run_or_refuse(struct run *run) {
    RUN_UNTIL(run, run->ended || strstr(run->err.bytes, "instances are running"));
    double moment = run_now() + 0.3;
    pid_t pids[RUN_PIDS_MAX];
    /* A guardian that waits has allocated its lists. */
    RUN_UNTIL(run, run->ended || (run_now() > moment && run_named("ss-guardian", pids) == 1 &&
                                     run_state(pids[0]) == 'S'));
    bool runs = !run->ended;
    if (runs) {
        ck_assert_msg(run_count_text(&run->err, "guardian ended unexpectedly") <= 1,
            "one guardian after the other: %s", run->err.bytes);
        run_end(run, SIGTERM);
    } else {
        expect_reported(run);
    }
    run_free_clean(run);
    return runs;
}

/* Large allocations are the modules' memory, the board, and the guardian's lists. */
TEST_CASE(a_run_whose_large_allocation_fails_is_refused) {
    for (int ever = 0; ever < 2; ever++) {
        bool struck = true;
        for (unsigned long first = 1; struck; first++) {
            struct fault fault = {"large", first, ever ? FAULT_FOR_EVER : 1};
            struct run *run = fault_start(&fault,
                WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "50%", "-c", "fixed", PAYLOAD, "spin"));
            bool runs = run_or_refuse(run);
            struck = fault_has_struck(&fault);
            ck_assert_msg(runs != struck, "%lu was done without", first);
            ck_assert(struck || first > 3);
        }
    }
}

static rlim_t address_space; /* bytes */

static void bound_address_space(void) {
    setrlimit(RLIMIT_AS, &(struct rlimit){address_space, address_space});
}

/* Returns the smallest address space in which the program can be loaded. */
static rlim_t find_least_address_space(const struct run_setup *setup) {
    rlim_t low = 1 << 20;
    rlim_t high = 1 << 28;
    while (high - low > 1 << 16) {
        address_space = (low + high) / 2;
        struct run *run = RUN_IN(setup, "--version");
        if (run->status == 0)
            high = address_space;
        else
            low = address_space;
    }
    return high;
}

TEST_CASE(a_run_in_a_small_address_space_works_or_is_refused) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: needs much memory");
    struct run_setup setup = {.prepare = bound_address_space};
    int refused = 0;
    int well = 0;
    for (address_space = find_least_address_space(&setup); well < 3; address_space += 128 << 10) {
        struct run *run =
            START_IN(&setup, "-v", "-n", "2", "-l", "50%", "-c", "fixed", PAYLOAD, "spin");
        if (run_or_refuse(run))
            well++;
        else
            refused++;
    }
    ck_assert_int_gt(refused, 3);
}

static void shrink_shared_memory(void) {
    sandbox_leave_mounts();
    sandbox_mount_small("/dev/shm", "64k");
}

static void fill_shared_memory(void) {
    sandbox_leave_mounts();
    sandbox_mount_small("/dev/shm", "64k");
    sandbox_fill("/dev/shm");
}

TEST_CASE(full_shared_memory_is_refused) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    void (*const prepares[])(void) = {shrink_shared_memory, fill_shared_memory};
    for (int i = 0; i < 2; i++) {
        struct run_setup setup = {.prepare = prepares[i]};
        struct run *run = RUN_IN(&setup, "-q", "-n", "3", "-l", "50%", PAYLOAD, "exit", "9");
        fault_expect_refusal(run, 125, "shared memory");
    }
}

#define MEMORY "20971520" /* bytes; a run without an eater needs a small part of it */

static struct run *start_eater(const char *file) {
    struct run_setup setup = {.prepare = control_group_enter};
    const char *text =
        run_format("case %% in 0) while ! test -e %s; do sleep 0.02; done; exec tail /dev/zero;;"
                   " *) sleep 1000 & setsid sleep 1000 & echo ready; exec sleep 1000;; esac",
            file);
    return START_IN(&setup, "-v", "-n", "3", "-l", "50%", "-c", "fixed", "--fail-fast", "--grace",
        "500m", "sh", "-c", text);
}

static void limit_memory(void) {
    ck_assert(control_group_limit("memory.limit_in_bytes", "memory.max", MEMORY));
    control_group_limit("memory.memsw.limit_in_bytes", "memory.swap.max",
        control_group_is_unified() ? "0" : MEMORY);
}

/* Makes the kernel choose these processes first. Some may end meanwhile. */
static void prefer(const char *victim) {
    struct family family = family_find(victim);
    for (size_t i = 0; i < family.count; i++) {
        const char *path = run_format("/proc/%d/oom_score_adj", (int)family.pids[i]);
        int file = open(path, O_WRONLY | O_CLOEXEC);
        bool done = file >= 0 && write(file, "1000", 4) == 4;
        ck_assert_msg(done || errno == ENOENT || errno == ESRCH, "%s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
    }
}

/* The kernel may choose any process, even the master while no guardian exists. */
static bool was_guarded(const struct run *run, const char *victim) {
    if (run->status != -SIGKILL || !victim)
        return true;
    bool no_guardian = strcmp(victim, "ss-guardian") == 0 &&
                       run_count_text(&run->err, "ended unexpectedly and was replaced") == 0;
    return !no_guardian && strcmp(victim, "ss-") != 0;
}

/* Returns whether a process of the run survived to end the others. */
static bool eat_all(const char *victim) {
    const char *file = run_new_path("go");
    struct run *run = start_eater(file);
    run_wait_ready(run, 2);
    if (victim)
        prefer(victim);
    run_write_file(file, "");
    run_wait(run);
    ck_assert_msg(run->status == 128 + SIGKILL || run->status == 125 || run->status == -SIGKILL,
        "status %d: %s", run->status, run->err.bytes);
    bool left = was_guarded(run, victim);
    if (!left)
        family_end_all();
    run_free_clean(run);
    return left;
}

/* The kernel chooses any process, or prefers certain ones. */
TEST_CASE(an_oom_kill_leaves_nothing_behind) {
    static const char *const victims[] = {
        NULL, "showstopper", "ss-guardian", "ss-executor 1", "ss-", "sleep"};
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: needs much memory");
    SKIP_UNLESS(control_group_make("memory"), "cgroup-memory: cannot create a control group");
    limit_memory();
    for (size_t i = 0; i < sizeof victims / sizeof *victims; i++) {
        int tries = 0;
        for (int round = 0; round < 2; round += eat_all(victims[i]))
            ck_assert_int_lt(tries++, 12);
    }
    control_group_remove();
}
