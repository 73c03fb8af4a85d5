/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how a journal restores values, with plain files instead of the kernel's. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "tree.h"

/* Replaces flock(), fsync() and fdatasync(), to change files before a lock and to count syncs. */

static void (*before_lock)(void); /* called just before the next lock */
static size_t syncs;
static void (*at_sync)(void); /* called at each sync */

int flock(int file, int operation) {
    void (*event)(void) = before_lock;
    before_lock = NULL;
    if (event)
        event();
    return (int)syscall(SYS_flock, file, operation);
}

static void note_sync(void) {
    syncs++;
    if (at_sync)
        at_sync();
}

int fsync(int file) {
    note_sync();
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    note_sync();
    return (int)syscall(SYS_fdatasync, file);
}

static struct ssactuate_state folder;
static struct ssactuate_journal journal;
static char reported[2000];
static size_t groups_removed;
static int removal; /* result of removing a group */

static void report(void *context, const char *line) {
    size_t length = strlen(reported);
    (void)context;
    snprintf(reported + length, sizeof reported - length, "%s\n", line);
}

static int remove_group(const char *path, const char *home) {
    assert_string_equal(path, "/group");
    assert_string_equal(home, "/home of it");
    groups_removed++;
    return removal;
}

static const struct ssactuate_restorer restorer = {.report = report, .remove_group = remove_group};

static int open_state(void **state) {
    struct ss_error error = {0};
    (void)state;
    tree_new();
    tree_write("proc/sys/kernel/random/boot_id", "this-boot\n");
    tree_write("sys/a", "100\n");
    tree_write("sys/b", "200\n");
    *reported = '\0';
    groups_removed = 0;
    assert_succeeds(ssactuate_state_open(&folder, tree_path(""), &error), error);
    assert_succeeds(ssactuate_journal_create(&journal, &folder, &error), error);
    return 0;
}

static int close_state(void **state) {
    (void)state;
    ssactuate_journal_close(&journal);
    ssactuate_state_close(&folder);
    return 0;
}

static size_t add(const char *path, const char *knob) {
    struct ss_error error = {0};
    struct ssactuate_setting setting = {.tolerance = SSACTUATE_ROUNDED};
    snprintf(setting.path, sizeof setting.path, "%s", path);
    snprintf(setting.knob, sizeof setting.knob, "%s", knob);
    assert_succeeds(ssactuate_journal_lock(&journal, knob, &error), error);
    int number = ssactuate_journal_add(&journal, &setting, &error);
    assert_succeeds(number, error);
    return (size_t)number;
}

static void create(void) {
    struct ss_error error = {0};
    assert_succeeds(ssactuate_journal_create(&journal, &folder, &error), error);
}

static void arm(void) {
    struct ss_error error = {0};
    assert_succeeds(ssactuate_journal_arm(&journal, &error), error);
}

static int try_to_set(size_t number, const char *value, struct ss_error *error) {
    struct ssactuate_setting setting = journal.entries[number].setting;
    snprintf(setting.value, sizeof setting.value, "%s", value);
    return ssactuate_journal_set(&journal, &setting, error);
}

static void set(size_t number, const char *value) {
    struct ss_error error = {0};
    assert_succeeds(try_to_set(number, value, &error), error);
}

static void assert_file(const char *path, const char *expected) {
    char value[SSACTUATE_VALUE_SIZE];
    assert_int_equal(ssactuate_file_read(folder.root, path, value), 0);
    assert_string_equal(value, expected);
}

/* Closes the journal as the death of its process does, and restores it. */
static struct ssactuate_restore_counts restore_dead(void) {
    struct ss_error error = {0};
    struct ssactuate_restore_counts dead;
    ssactuate_journal_close(&journal);
    assert_succeeds(ssactuate_restore_dead(&folder, &restorer, NULL, &dead, &error), error);
    return dead;
}

/* Begins a run that sets sys/a to 150 and sys/b to 250. Returns the number of sys/a. */
static size_t begin_run_of_two_files(void) {
    size_t a = add("sys/a", "one"), b = add("sys/b", "two");
    arm();
    set(a, "150");
    set(b, "250");
    return a;
}

/* Begins a run that sets sys/a from 100 to 150. */
static void begin_run(void) {
    size_t a = add("sys/a", "one");
    arm();
    set(a, "150");
}

/* The rule that set sys/a no longer holds. Another program then sets it to the same value. */
TEST_WITH(some_files_are_restored_during_a_run, open_state, close_state) {
    const bool kept[] = {false, true};
    struct ss_error error = {0};
    begin_run_of_two_files();
    assert_succeeds(ssactuate_journal_restore_others(&journal, kept, &error), error);
    assert_file("sys/a", "100");
    assert_file("sys/b", "250");
    tree_write("sys/a", "150\n");
    assert_succeeds(ssactuate_journal_restore_others(&journal, kept, &error), error);
    assert_string_equal(reported, "");
    assert_that(restore_dead().restored, ==, 1);
    assert_file("sys/a", "150");
    assert_file("sys/b", "200");
    assert_non_null(strstr(reported, "another program has changed /sys/a to 150"));
}

/* Appends lines that a killed run could have left at the end of the journal. */
static void append(const char *text) {
    assert_int_equal(write(journal.file, text, strlen(text)), (ssize_t)strlen(text));
}

TEST_WITH(kill_between_set_and_read_back_is_restored, open_state, close_state) {
    add("sys/a", "one");
    arm();
    append("want 0 150\n");
    tree_write("sys/a", "149\n"); /* as if the kernel had rounded the value */
    assert_that(restore_dead().restored, ==, 1);
    assert_file("sys/a", "100");
    create();
    add("sys/a", "one");
    arm();
    append("want 0 150\nwant 0 17"); /* killed while it wrote a line */
    tree_write("sys/a", "150\n");
    assert_that(restore_dead().restored, ==, 1);
    assert_file("sys/a", "100");
}

/* Lets the journal grow by this number of bytes. */
static void limit_growth(size_t bytes) {
    struct stat status;
    assert_int_equal(fstat(journal.file, &status), 0);
    tree_limit_size((rlim_t)status.st_size + bytes);
}

/*
 * The disk is full in the middle of a line, but not later. The run is then killed between the write
 * of a value and the line that says so.
 */
TEST_WITH(line_after_an_incomplete_line_counts, open_state, close_state) {
    struct ss_error error = {0};
    begin_run();
    limit_growth(3);
    assert_int_equal(try_to_set(0, "160", &error), -1);
    assert_file("sys/a", "150");
    tree_limit_size(RLIM_INFINITY);
    error = (struct ss_error){0};
    assert_int_equal(unlink(tree_path("sys/a")), 0);
    assert_int_equal(try_to_set(0, "180", &error), -1);
    tree_write("sys/a", "180\n");
    assert_that(restore_dead().restored, ==, 1);
    assert_file("sys/a", "100");
}

TEST_WITH(unarmed_journal_changes_nothing, open_state, close_state) {
    add("sys/a", "one");
    tree_write("sys/a", "150\n");
    assert_that(restore_dead().restored, ==, 0);
    assert_file("sys/a", "150");
    assert_string_equal(reported, "");
}

TEST_WITH(restoring_removes_groups_or_reports_them, open_state, close_state) {
    struct ss_error error = {0};
    assert_succeeds(ssactuate_journal_add_group(&journal, "/group", "/home of it", &error), error);
    arm();
    removal = -EBUSY;
    assert_int_equal(ssactuate_journal_restore(&journal, &restorer, &error), -1);
    removal = 0;
    assert_says(error.message, "cannot remove the control group /group: Device or resource busy");
    assert_that(restore_dead().restored, ==, 1);
    assert_that(groups_removed, ==, 2);
}

/* The run has restored its values and removed its journal before it was killed. */
TEST_WITH(keeper_does_not_restore_from_a_removed_journal, open_state, close_state) {
    struct ss_error error = {0};
    begin_run();
    assert_succeeds(ssactuate_journal_remove(&journal, &error), error);
    assert_succeeds(ssactuate_journal_reload(&journal, &error), error);
    assert_succeeds(ssactuate_journal_restore(&journal, &restorer, &error), error);
    assert_file("sys/a", "150");
}

static void remove_lock(void) {
    assert_int_equal(unlink(tree_path("run/showstopper/one.lock")), 0);
}

/*
 * The run that created the lock of a process group removes its file. A lock on a removed file
 * excludes no other run.
 */
TEST_WITH(lock_file_removed_before_locking_is_created_again, open_state, close_state) {
    struct ss_error error = {0};
    struct ssactuate_journal other;
    before_lock = remove_lock;
    assert_succeeds(ssactuate_journal_lock(&journal, "one", &error), error);
    assert_int_equal(access(tree_path("run/showstopper/one.lock"), F_OK), 0);
    assert_succeeds(ssactuate_journal_create(&other, &folder, &error), error);
    assert_int_equal(ssactuate_journal_lock(&other, "one", &error), -1);
    ssactuate_journal_close(&other);
}

static void remove_journal(void) {
    char name[200];
    snprintf(name, sizeof name, "run/showstopper/%s", journal.name);
    assert_int_equal(unlink(tree_path(name)), 0);
}

/*
 * In the meantime, the keeper restored the values and removed the journal, and another program set
 * sys/a to 150.
 */
TEST_WITH(journal_removed_before_locking_is_not_restored, open_state, close_state) {
    struct ss_error error = {0};
    struct ssactuate_restore_counts dead;
    begin_run();
    ssactuate_journal_close(&(struct ssactuate_journal){.file = journal.file});
    journal.file = -1;
    for (size_t i = 0; i < journal.lock_count; i++)
        flock(journal.locks[i].file, LOCK_UN);
    before_lock = remove_journal;
    assert_succeeds(ssactuate_restore_dead(&folder, &restorer, NULL, &dead, &error), error);
    assert_that(dead.restored, ==, 0);
    assert_file("sys/a", "150");
}

/* Permission to read suffices for flock(), so others must not have it. */
TEST_WITH(journals_and_locks_are_private, open_state, close_state) {
    struct stat status;
    char name[200];
    mode_t before = umask(0);
    begin_run();
    umask(before);
    snprintf(name, sizeof name, "run/showstopper/%s", journal.name);
    assert_int_equal(tree_mode(name) & 0077, 0);
    assert_that(journal.lock_count, >, 0);
    assert_int_equal(fstat(journal.locks[0].file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* A run that began after the kill has locked the knob, and may have read the value. */
TEST_WITH(knob_locked_by_a_later_run_is_not_restored, open_state, close_state) {
    struct ss_error error = {0};
    struct ssactuate_restore_counts dead;
    begin_run();
    ssactuate_journal_close(&journal);
    tree_write("run/showstopper/one.lock", "1\n");
    tree_set_mode("run/showstopper/one.lock", 0600);
    int lock = open(tree_path("run/showstopper/one.lock"), O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    assert_fails(ssactuate_restore_dead(&folder, &restorer, NULL, &dead, &error), error,
        "one is in use by process 1");
    assert_file("sys/a", "150");
    close(lock);
    error = (struct ss_error){0};
    assert_succeeds(ssactuate_restore_dead(&folder, &restorer, NULL, &dead, &error), error);
    assert_file("sys/a", "100");
}

static const char *value_at_sync;

static void note_value(void) {
    static char value[SSACTUATE_VALUE_SIZE];
    assert_int_equal(ssactuate_file_read(folder.root, "sys/a", value), 0);
    value_at_sync = value;
    at_sync = NULL;
}

/*
 * The journal is on disk before the first change. After a change, the value that was read back is
 * on disk, too.
 */
TEST_WITH(journal_is_synced_before_and_after_a_change, open_state, close_state) {
    struct ss_error error = {0};
    size_t a = add("sys/a", "one");
    syncs = 0;
    arm();
    assert_that(syncs, ==, 2); /* the file and its folder */
    syncs = 0;
    at_sync = note_value;
    set(a, "150");
    assert_that(syncs, ==, 2);
    assert_string_equal(value_at_sync, "100");
    assert_succeeds(ssactuate_journal_restore(&journal, &restorer, &error), error);
    syncs = 0;
    assert_succeeds(ssactuate_journal_remove(&journal, &error), error);
    assert_that(syncs, ==, 1); /* the folder */
}

UNIT_RUN
