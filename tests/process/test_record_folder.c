/* SPDX-License-Identifier: Apache-2.0 */

/* Concurrent access to the folder of a record, and failed starts. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "fault.h"
#include "isolated.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

#define STARTS 6
#define ROUNDS 5

static size_t count_ended(struct run *const *runs) {
    size_t count = 0;
    for (int i = 0; i < STARTS; i++) {
        run_look(runs[i]);
        count += runs[i]->ended;
    }
    return count;
}

/*
 * Starts all runs at once. Fails unless all but one are refused. That one has no end, because on a
 * busy machine another may start so late that it would find a complete record.
 */
static void start_all(const char *record, const char *option) {
    struct run *runs[STARTS];
    struct run *winner = NULL;
    for (int i = 0; i < STARTS; i++)
        runs[i] = START("-v", "-n", "1", "-l", "50%", "-c", "fixed", "--duration", "1h", "--record",
            record, option, PAYLOAD, "spin");
    RUN_UNTIL(NULL, count_ended(runs) >= STARTS - 1);
    for (int i = 0; i < STARTS; i++) {
        if (!runs[i]->ended) {
            winner = runs[i];
            continue;
        }
        run_expect(runs[i], 125);
        run_expect_text(&runs[i]->err, "choose another");
    }
    ck_assert_ptr_nonnull(winner);
    run_wait_text(winner, "instances are running");
    run_end(winner, SIGTERM);
}

static void expect_one_winner(const char *option) {
    const char *folder = run_make_folder();
    for (int i = 0; i < ROUNDS; i++) {
        const char *name = run_format("record%d", i);
        const char *record = run_path(folder, name);
        start_all(record, option);
        ck_assert(run_exists(run_path(record, "summary.json")));
        ck_assert(!run_exists(run_path(record, "interrupted")));
    }
    run_expect_nothing_left();
}

TEST_CASE(only_one_of_several_concurrent_runs_gets_the_folder) {
    expect_one_winner("--verbose");
    expect_one_winner("--force");
}

/* Records a short run. */
static struct run *record_to(const char *record, const char *option) {
    return RUN("-q", "-l", "100%", "-c", "fixed", "--record", record, option, PAYLOAD, "exit", "0");
}

static struct run *start_recorded(const char *record, const char *option) {
    struct run *run = START("-v", option, "-n", "2", "-l", "50%", "-c", "fixed", "--record", record,
        "--force", PAYLOAD, "spin");
    run_wait_text(run, "instances are running");
    return run;
}

TEST_CASE(a_record_being_written_is_refused) {
    for (EACH_MODE(isolated)) {
        const char *record = run_new_path("record");
        struct run *run = start_recorded(record, isolated ? "--isolate" : "--verbose");
        const char *pid = run_format("(pid %d)", (int)run->pid);
        for (const char *const *option = WORDS("--quiet", "--force", "--dry-run"); *option;
             option++) {
            struct run *refused = record_to(record, *option);
            run_expect_refusal(refused, "is still writing");
            run_expect_text(&refused->err, pid);
            ck_assert(run_exists(run_path(record, "samples.csv")));
        }
        run_end_clean(run, SIGINT);
        ck_assert(run_exists(run_path(record, "summary.json")));
        run_expect(record_to(record, "--force"), 0);
    }
}

TEST_CASE(a_folder_whose_mark_is_a_pipe_is_refused) {
    const char *record = run_new_path("record");
    const char *mark = run_path(record, "interrupted");
    ck_assert_int_eq(mkdir(record, 0777), 0);
    ck_assert_int_eq(mkfifo(mark, 0600), 0);
    run_expect_refusal(record_to(record, "-q"), "already exists");
    ck_assert(run_exists(mark));
}

static bool is_locked(const char *record) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int mark = open(run_path(record, "interrupted"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(mark, 0);
    ck_assert_int_eq(fcntl(mark, F_GETLK, &lock), 0);
    close(mark);
    return lock.l_type != F_UNLCK;
}

/*
 * Kills the master. Returns whether another process of the run was still alive after the record was
 * checked.
 */
static bool outlive_the_master(const char *record) {
    pid_t pids[RUN_PIDS_MAX];
    struct run *run = start_recorded(record, "--verbose");
    ck_assert(is_locked(record));
    kill(run->pid, SIGKILL);
    RUN_UNTIL(NULL, run_state(run->pid) == 'Z');
    ck_assert(!is_locked(record));
    bool outlived = run_named("ss-", pids) > 0;
    run_wait(run);
    run_free_clean(run);
    return outlived;
}

/* Executors and guardian live slightly longer than the master, but hold no lock. */
TEST_CASE(a_record_is_unlocked_after_its_master_died) {
    const char *record = run_new_path("record");
    bool outlived = false;
    for (int i = 0; i < 20 && !outlived; i++)
        outlived = outlive_the_master(record);
    ck_assert(outlived);
    run_expect_refusal(record_to(record, "-q"), "already exists");
    run_expect(record_to(record, "--force"), 0);
}

static const char *small_folder;

static struct run *start_prepared(void (*prepare)(void), const char *record, const char *option) {
    struct run_setup setup = {.prepare = prepare};
    return RUN_IN(&setup, "-l", "50%", "-n", "2", "--record", record, option, PAYLOAD, "exit", "9");
}

static size_t room; /* bytes: for nothing, the mark, or the plan */

/* Mounts a file system that is full except for these bytes. */
static void mount_full(void) {
    sandbox_leave_mounts();
    sandbox_mount_small(small_folder, "256k");
    const char *path = run_format("%s/room", small_folder);
    FILE *file = fopen(path, "we");
    for (size_t i = 0; file && i < room; i++)
        fputc(0, file);
    if (!file || fclose(file) != 0)
        _exit(SANDBOX_MISSING);
    sandbox_fill(small_folder);
    unlink(path);
}

/* The file system exists only until the process exits, so the check is made there. */
TEST_CASE(a_full_disk_at_the_start_leaves_no_record) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    small_folder = run_make_folder();
    for (room = 0; room <= 32768; room += 16384) {
        struct run_setup setup = {.prepare = mount_full};
        const char *script = run_format(SHOWSTOPPER " -l 50%% -n 2 --record %s/record " PAYLOAD
                                                    " exit 9; echo \"status $?\"; ls -A %s",
            small_folder, small_folder);
        struct run *run = run_succeed(run_start(&setup, WORDS("/bin/sh", "-c", script)));
        run_expect_text(&run->out, "status 125");
        run_expect_text(&run->err, "No space left on device");
        ck_assert_uint_eq(run_count_text(&run->out, "record"), 0);
    }
}

/* As with musl on NFSv3; the second reservation is that of shared memory. */
TEST_CASE(a_file_system_that_cannot_reserve_space_takes_a_record) {
    const struct fault fault = {"reserve", 1, 1};
    const char *record = run_new_path("record");
    const char *mark = run_path(record, "interrupted");
    struct run *run = fault_start(&fault, WORDS(SHOWSTOPPER, "-v", "-n", "1", "-l", "100%", "-c",
                                              "fixed", "--record", record, PAYLOAD, "spin"));
    run_wait_text(run, "instances are running");
    ck_assert(fault_has_struck(&fault));
    struct run_text text = run_read_file(mark);
    ck_assert_uint_ge(text.length, 4096);
    run_expect_text(&text, "This run has not finished.\n");
    free(text.bytes);
    run_end(run, SIGTERM);
    ck_assert(run_exists(run_path(record, "summary.json")));
    ck_assert(!run_exists(mark));
}

/* The signal comes when shared memory is made: after the record, before signals are handled. */
TEST_CASE(a_signal_before_the_run_begins_leaves_no_mark) {
    const struct fault fault = {"end", 2, 1};
    const char *record = run_new_path("record");
    struct run *run = fault_start(&fault, WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "100%", "-c",
                                              "fixed", "--record", record, PAYLOAD, "spin"));
    run_expect(run_wait(run), -SIGTERM);
    ck_assert(fault_has_struck(&fault));
    ck_assert(!run_exists(run_path(record, "interrupted")));
}

static void limit_file_size(void) {
    struct rlimit limit = {1024, 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* By default, the kernel kills a process that exceeds the limit. */
TEST_CASE(a_limit_on_file_size_is_reported) {
    SKIP_UNLESS(FILES_ARE_LIMITED, "uncounted: the files of gcov exceed the limit");
    const char *record = run_new_path("record");
    struct run *run = start_prepared(limit_file_size, record, "--quiet");
    fault_expect_refusal(run, 125, "File too large");
    ck_assert(!run_exists(record));
    /* Files of others in the folder are kept. */
    mkdir(record, 0777);
    run_write_file(run_path(record, "notes"), "mine\n");
    fault_expect_refusal(start_prepared(limit_file_size, record, "--force"), 125, ": ");
    ck_assert(run_exists(run_path(record, "notes")));
    ck_assert(!run_exists(run_path(record, "interrupted")));
    ck_assert(!run_exists(run_path(record, "plan.json")));
    struct run_setup setup = {.prepare = limit_file_size};
    run = RUN_IN(&setup, "-l", "50%", "-n", "2", PAYLOAD, "exit", "9");
    fault_expect_refusal(run, 125, "shared memory: File too large: raise the limit on file size");
}

/* Only the master ignores SIGXFSZ; instances get the disposition of the caller. */
TEST_CASE(instances_inherit_the_sigxfsz_disposition) {
    struct run *run =
        RUN("-q", "-n", "1", "-l", "100%", "/bin/sh", "-c", "kill -XFSZ $$; echo survived");
    run_expect(run, 128 + SIGXFSZ);
    struct run_setup setup = {0};
    run = run_succeed(
        run_start(&setup, WORDS("/bin/sh", "-c",
                              "trap '' XFSZ; " SHOWSTOPPER
                              " -q -n 1 -l 100% /bin/sh -c 'kill -XFSZ $$; echo survived'")));
    run_expect_text(&run->out, "survived");
}

static void mount_no_shared_memory(void) {
    sandbox_leave_mounts();
    const char *null = run_format("/proc/self/fd/%d", open("/dev/null", O_RDWR | O_CLOEXEC));
    sandbox_mount_small("/dev", "64k");
    run_write_file("/dev/null", "");
    if (mount(null, "/dev/null", NULL, MS_BIND, NULL) < 0)
        _exit(SANDBOX_MISSING);
}

static void mount_shared_memory_for_readers(void) {
    sandbox_leave_mounts();
    if (mount("none", "/dev/shm", "tmpfs", MS_RDONLY, "size=64k") < 0)
        _exit(SANDBOX_MISSING);
}

TEST_CASE(a_run_without_shared_memory_leaves_no_record) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *record = run_new_path("record");
    struct run *run = start_prepared(mount_no_shared_memory, record, "--quiet");
    fault_expect_refusal(run, 125, "/dev/shm: No such file or directory: mount a writable tmpfs");
    ck_assert(!run_exists(record));
    run = start_prepared(mount_shared_memory_for_readers, record, "--quiet");
    fault_expect_refusal(run, 125, "/dev/shm: Read-only file system: mount a writable tmpfs");
    ck_assert(!run_exists(record));
}

/* Returns false if the start was over before the signal. */
static bool interrupt_start(const char *late) {
    const char *record = run_new_path("record");
    struct run_setup setup = {.environment = WORDS(SHIM("shim_late"), late)};
    struct run *run =
        START_IN(&setup, "-v", "-n", "1", "-l", "50%", "--record", record, PAYLOAD, "spin");
    RUN_UNTIL(run, run_exists(record));
    run_end(run, SIGINT);
    bool left = run_exists(record);
    run_free_clean(run);
    return !left;
}

/* The run is held up while it describes the machine. */
TEST_CASE(an_interrupted_start_leaves_no_record) {
    if (!interrupt_start("SS_TEST_LATE=500:master:reap"))
        ck_assert(interrupt_start("SS_TEST_LATE=20000:master:reap"));
}

TEST_CASE(a_forced_run_removes_unfinished_files) {
    static const char *const names[] = {".plan.json.2", ".platform.json.77", ".summary.json.2.1"};
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    mkdir(record, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run_write_file(run_path(record, names[i]), "{");
    run_write_file(run_path(record, ".notes.json.2"), "mine\n");
    run_write_file(run_path(record, "interrupted"), "This run has not finished.\n");
    run_expect(record_to(record, "--force"), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(!run_exists(run_path(record, names[i])), "%s is still there", names[i]);
    ck_assert(run_exists(run_path(record, ".notes.json.2")));
}

/* Another user who may read the mark of a killed run can lock it for reading. */
TEST_CASE(readers_cannot_hold_a_record) {
    const char *record = run_new_path("record");
    const char *mark = run_path(record, "interrupted");
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    mkdir(record, 0777);
    run_write_file(mark, "This run has not finished.\n");
    int reader = open(mark, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(fcntl(reader, F_SETLK, &lock), 0);
    run_expect_refusal(record_to(record, "-q"), "record already exists: choose");
    run_expect(record_to(record, "--force"), 0);
    ck_assert(run_exists(run_path(record, "summary.json")));
    close(reader);
}

/* Records a run while another user replaces the folder after the call `when`. */
static struct run *record_while_replaced(
    const char *when, const char *record, void (*prepare)(void)) {
    const char *swap = run_format("SS_TEST_SWAP=%s:%s", when, record);
    struct run_setup setup = {.environment = WORDS(SHIM("shim_swap"), swap), .prepare = prepare};
    return RUN_IN(&setup, "-q", "-n", "1", "-l", "100%", "-c", "fixed", "--record", record, PAYLOAD,
        "exit", "0");
}

#define REPLACED "it was replaced as soon as it had been created: choose"

/* Another user's folder replaces a new one. With a mark, it looks like a record being written. */
static void expect_foreign_folder_is_refused(const char *folder, bool has_mark) {
    const char *record = run_path(folder, "record");
    const char *other = run_path(folder, "record.other");
    const char *mark = run_path(other, "interrupted");
    ck_assert_int_eq(mkdir(other, 0777), 0);
    ck_assert_int_eq(chown(other, 65534, 65534), 0);
    if (has_mark) {
        run_write_file(mark, "");
        ck_assert_int_eq(chown(mark, 65534, 65534), 0);
    }
    struct run *run = record_while_replaced("mkdir", record, NULL);
    fault_expect_refusal(run, 125, REPLACED);
    if (has_mark)
        ck_assert_int_eq(unlink(run_path(record, "interrupted")), 0);
    ck_assert_int_eq(rmdir(record), 0); /* nothing was written to it */
    ck_assert_int_eq(rmdir(run_path(folder, "record.moved")), 0);
}

TEST_CASE(a_folder_that_is_replaced_at_once_is_refused) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    const char *victim = run_path(folder, "victim");
    const char *other = run_path(folder, "record.other");
    ck_assert_int_eq(mkdir(victim, 0777), 0);
    ck_assert_int_eq(symlink(victim, other), 0);
    struct run *run = record_while_replaced("mkdir", record, NULL);
    fault_expect_refusal(run, 125, REPLACED);
    ck_assert_int_eq(rmdir(victim), 0); /* it is empty */
    ck_assert_int_eq(unlink(record), 0);
    ck_assert_int_eq(rmdir(run_path(folder, "record.moved")), 0);
    if (getuid() == 0 && family_can_become_nobody()) {
        expect_foreign_folder_is_refused(folder, false);
        expect_foreign_folder_is_refused(folder, true);
    }
}

/* Another user may exchange two of our folders that are in a folder of that user. */
TEST_CASE(another_record_that_replaces_a_new_folder_is_kept) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    run_expect(record_to(run_path(folder, "record.other"), "-q"), 0);
    struct run *run = record_while_replaced("mkdir", record, NULL);
    fault_expect_refusal(run, 125, REPLACED);
    ck_assert(run_exists(run_path(record, "plan.json")));
    ck_assert(run_exists(run_path(record, "summary.json")));
    ck_assert(!run_exists(run_path(record, "interrupted")));
}

TEST_CASE(a_folder_that_replaces_that_of_a_failed_start_is_kept) {
    SKIP_UNLESS(FILES_ARE_LIMITED, "uncounted: the files of gcov exceed the limit");
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    ck_assert_int_eq(mkdir(run_path(folder, "record.other"), 0777), 0);
    struct run *run = record_while_replaced("posix_fallocate", record, limit_file_size);
    fault_expect_refusal(run, 125, "File too large");
    ck_assert(run_exists(record));
}

TEST_CASE(a_record_is_written_to_the_folder_that_was_made) {
    static const char *const names[] = {
        "record.moved/plan.json", "record.moved/summary.json", "record.moved/platform.json"};
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    const char *victim = run_path(folder, "victim");
    ck_assert_int_eq(mkdir(victim, 0777), 0);
    ck_assert_int_eq(symlink(victim, run_path(folder, "record.other")), 0);
    struct run *run = record_while_replaced("posix_fallocate", record, NULL);
    run_expect(run, 0);
    ck_assert_int_eq(rmdir(victim), 0); /* it is empty */
    size_t count = run_exists(TEST_BIN_DIR "/showstopper-platform") ? 3 : 2;
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(run_exists(run_path(folder, names[i])), "%s is missing", names[i]);
}
