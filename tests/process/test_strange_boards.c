/* SPDX-License-Identifier: Apache-2.0 */

/* Boards of another user, who may forge, truncate or replace them, seen by root. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "loop/board.h"
#include "platform/platform.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* The process of another user that has forged a board. */
static pid_t forger;

/* The process that a forged board claims to control. */
static pid_t victim;

static void need_another_user(void) {
    SKIP_UNLESS(getuid() == 0, "root: only root opens what other users hold");
    family_need_nobody();
}

static void forge_in_child(void (*change)(struct ss_board *board, int descriptor), int ready) {
    struct ss_error error = {0};
    int descriptor;
    family_become_nobody();
    prctl(PR_SET_DUMPABLE, 1); /* as after exec */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct ss_board *board = ss_board_create(1, 0, false, &descriptor, &error);
    if (!board)
        _exit(1);
    change(board, descriptor);
    if (write(ready, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Starts a process of another user with a board that it changes. */
static void forge(void (*change)(struct ss_board *board, int descriptor)) {
    int pipes[2];
    char byte;
    ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
    forger = fork();
    ck_assert_int_ge(forger, 0);
    if (forger == 0)
        forge_in_child(change, pipes[1]);
    close(pipes[1]);
    ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
}

static void end_forger(void) {
    kill(forger, SIGKILL);
    ck_assert_int_eq(waitpid(forger, NULL, 0), forger);
}

/* Makes the board larger than all memory, without using any. */
static void make_sparse(struct ss_board *board, int descriptor) {
    const uint64_t size = (uint64_t)1 << 40;
    if (ftruncate(descriptor, (off_t)size) < 0)
        _exit(1);
    uint64_t rows = (size - sizeof *board) / sizeof board->rows[0];
    board->instances = rows > 100000000 ? 100000000 : (uint32_t)rows;
    board->branches_offset = sizeof *board + board->instances * sizeof board->rows[0];
    board->modules_offset =
        (board->branches_offset + SS_BOARD_BRANCHES_MAX * sizeof(struct ss_branch) + 63) / 64 * 64;
    board->size = size;
}

static void truncate_to_header(struct ss_board *board, int descriptor) {
    if (ftruncate(descriptor, sizeof *board) < 0)
        _exit(1);
}

static void truncate_to_magic(struct ss_board *board, int descriptor) {
    if (ftruncate(descriptor, sizeof board->magic) < 0)
        _exit(1);
}

/* Puts the parts of the board beyond its end. */
static void move_parts(struct ss_board *board, int descriptor) {
    board->instances = UINT32_MAX;
}

static void hold_fifo(struct ss_board *board, int descriptor) {
    const char *path = run_format("/dev/shm/test.%d", (int)getpid());
    ss_board_close(board);
    close(descriptor);
    if (mkfifo(path, 0600) < 0 || open(path, O_RDWR) < 0 || unlink(path) < 0)
        _exit(1);
}

static void publish(struct ss_board *board, int descriptor) {
    if (fchmod(descriptor, 0666) < 0)
        _exit(1);
}

static void claim_victim(struct ss_board *board, int descriptor) {
    atomic_store(&board->rows[0].leader, victim);
    atomic_store(&board->rows[0].leader_started, ss_platform_process_started(victim));
}

/* Returns the path in /proc of the forged board; NULL if the forger holds no regular file. */
static const char *find_board(struct stat *status) {
    for (int descriptor = 3; descriptor < 20; descriptor++) {
        const char *path = run_format("/proc/%d/fd/%d", (int)forger, descriptor);
        if (stat(path, status) == 0 && S_ISREG(status->st_mode) && status->st_uid != getuid())
            return path;
    }
    return NULL;
}

/* Returns the memory that the forged board uses, in blocks of 512 bytes. */
static blkcnt_t memory_of_board(void) {
    struct stat status;
    return find_board(&status) ? status.st_blocks : 0;
}

/* Starts a process that a forged board may claim. */
static struct run *start_victim(const struct run_setup *setup) {
    struct run *target = run_start(setup, WORDS(PAYLOAD, "ignore-term"));
    run_wait_text(target, "ready");
    victim = target->pid;
    return target;
}

/* Attaches a process of root's for a moment, and ends it. */
static void expect_to_attach(const struct run_setup *setup, struct run *target) {
    SUCCEED_IN(setup, "-q", "-c", "fixed", "-l", "50%", "--duration", "200ms", "--attach",
        run_pid_text(target->pid));
    run_end(target, SIGKILL);
}

TEST_CASE(forged_boards_are_refused) {
    static void (*const changes[])(struct ss_board *, int) = {
        make_sparse, truncate_to_header, truncate_to_magic, move_parts, hold_fifo, publish};
    need_another_user();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        forge(changes[i]);
        const char *pid = run_pid_text(forger);
        blkcnt_t before = memory_of_board();
        run_expect_refusal(RUN("--status", pid), "pid ");
        run_expect_refusal(RUN("--status", "1"), "pid 1 is not a running Showstopper");
        run_expect_refusal(RUN("--set", pid, "50%"), "pid ");
        expect_to_attach(NULL, start_victim(NULL));
        ck_assert_int_le(memory_of_board(), before);
        end_forger();
    }
}

TEST_CASE(board_that_shrinks_while_it_is_read_is_refused) {
    need_another_user();
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be loaded before a shim");
    for (int attach = 0; attach < 2; attach++) {
        forge(claim_victim);
        struct stat status;
        const char *board = find_board(&status);
        ck_assert_ptr_nonnull(board);
        struct run_setup setup = {
            .environment = WORDS(SHIM("shim_cut"), run_format("SS_TEST_CUT=%s", board))};
        if (attach)
            expect_to_attach(&setup, start_victim(NULL));
        else
            run_expect_refusal(
                START_IN(&setup, "--status", run_pid_text(forger)), "not the master");
        ck_assert_int_eq(stat(board, &status), 0);
        ck_assert_int_eq(status.st_size, 0); /* the shim has cut it */
        end_forger();
    }
}

/* That user cannot keep root from attaching a process of root's. */
TEST_CASE(board_of_another_user_is_believed_only_about_that_users_processes) {
    need_another_user();
    struct run_setup setup = {.folder = "/", .prepare = family_become_nobody};
    struct run *target = start_victim(NULL);
    forge(claim_victim);
    expect_to_attach(NULL, target);
    end_forger();
    target = start_victim(&setup);
    forge(claim_victim);
    run_expect_refusal(
        START("-l", "50%", "--attach", run_pid_text(target->pid)), "belongs to the run of");
    end_forger();
    run_end(target, SIGKILL);
}

TEST_CASE(another_user_cannot_claim_our_process) {
    need_another_user();
    struct run *target = start_victim(NULL);
    forger = fork();
    ck_assert_int_ge(forger, 0);
    if (forger == 0) {
        family_become_nobody();
        int folder = open(run_format("/proc/%d", (int)victim), O_RDONLY | O_CLOEXEC);
        if (flock(folder, LOCK_EX) < 0)
            _exit(1);
        if (ss_platform_process_claim(victim) != -EACCES)
            _exit(2);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(forger, &status, WUNTRACED), forger);
    ck_assert(WIFSTOPPED(status));
    expect_to_attach(NULL, target);
    end_forger();
}

TEST_CASE(root_reads_the_status_of_another_users_run) {
    need_another_user();
    struct run_setup other = {.folder = "/", .prepare = family_become_nobody};
    struct run *run =
        START_IN(&other, "-v", "-n", "2", "-l", "50%", "-c", "fixed", PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    const char *pid = run_pid_text(run->pid);
    run_expect_text(&SUCCEED("--status", pid)->out, "2 of 2 instances");
    run_expect_text(
        &SUCCEED("--status", pid, "--openmetrics", "-")->out, "showstopper_alive_instances");
    run_expect_refusal(START("--set", pid, "30%"), "use sudo -u '#");
    ck_assert(!strstr(SUCCEED("--status", pid)->out.bytes, "(--set)"));
    SUCCEED_IN(&other, "--set", pid, "30%");
    run_expect_text(&SUCCEED("--status", pid)->out, "target 30.00% (--set)");
    run_end(run, SIGTERM);
}
