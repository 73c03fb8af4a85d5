/* SPDX-License-Identifier: Apache-2.0 */
#include "record/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/owned.h"
#include "base/streams.h"
#include "base/whole_file.h"

#define MARK         SS_RECORD_MARK
#define MARK_TEXT    "This run has not finished.\n"
#define SUMMARY_ROOM 16384

/* Give up after replacing a mark that readers have locked this many times. */
#define ATTEMPTS_MAX 8

/*
 * The files of a record, and decisions-before.csv of earlier versions. --force removes only these
 * and those of `prefixes`.
 */
static const char *const names[] = {"plan.json", "platform.json", "samples.csv", "cpus.csv",
    "decisions.csv", "decisions-before.csv", "iterations.csv", "iteration-times.csv",
    "events.jsonl", "counters.csv", "summary.json", NULL};

/*
 * Returns the lock that a run holds on the mark of its record. POSIX record locks belong to one
 * process: the lock is released when the master exits, and children do not inherit it.
 */
static struct flock whole_lock(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/*
 * Returns the pid of the process that writes the record of this mark; 0 if no process does, -1 if
 * it is in another PID namespace. Ignores locks of readers, which any user who may read can take.
 */
static pid_t find_holder(int mark) {
    struct flock lock = whole_lock();
    lock.l_type = F_RDLCK;
    if (fcntl(mark, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

static pid_t find_writer(int folder) {
    /* O_NONBLOCK: do not wait for the writer of a FIFO. */
    SS_OWNED(close)
    int mark = openat(folder, MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return mark < 0 ? 0 : find_holder(mark);
}

/*
 * Returns whether the folder is a record, possibly of a run that was killed at its start: other
 * programs have a plan.json, too.
 */
static bool is_record(int folder) {
    static const char *const begins[][2] = {
        {"plan.json", "{\n  \"schema\": "}, {"plan.json", "{\n  \"version\": "}, {MARK, MARK_TEXT}};

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        char text[64];
        SS_OWNED(close)
        int file =
            openat(folder, begins[i][0], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        size_t length = strlen(begins[i][1]);
        if (file >= 0 && read(file, text, length) == (ssize_t)length &&
            memcmp(text, begins[i][1], length) == 0)
            return true;
    }

    return false;
}

/*
 * Returns 0 if the existing folder may be replaced, and fails with the reason if not. A folder that
 * is not a record is never replaced, not even with --force.
 */
static int refuse(int folder, const char *path, bool force, struct ss_error *error) {
    pid_t writer = find_writer(folder);
    char pid[32] = "";

    if (writer > 0)
        snprintf(pid, sizeof pid, " (pid %d)", (int)writer);
    if (writer != 0)
        return ss_error_fail(error,
            "--record: another run%s is still writing %s: choose another folder, or "
            "wait until it ends",
            pid, path);
    if (folder >= 0 && !is_record(folder))
        return ss_error_fail(
            error, "--record: %s already exists and is not a record: choose another folder", path);

    return force ? 0
                 : ss_error_fail(error,
                       "--record: %s already exists: choose another folder, or replace it with "
                       "--force",
                       path);
}

int ss_record_folder_check(const char *path, bool force, struct ss_error *error) {
    struct stat status;
    struct ss_error why = {0};
    if (stat(path, &status) < 0 && ss_whole_file_check(path, &why) == 0)
        return 0;
    if (stat(path, &status) < 0) /* again: another run may just have created the folder */
        return ss_error_fail(error, "--record: %s", why.message);
    if (!S_ISDIR(status.st_mode))
        return ss_error_fail(error, "--record: %s is not a folder: name a folder", path);
    SS_OWNED(close) int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return refuse(folder, path, force, error);
}

int ss_record_folder_fail(const struct ss_plan *plan, const char *name, struct ss_error *error) {
    return ss_error_fail(
        error, "--record: cannot write %s/%s: %s", plan->record, name, strerror(errno));
}

/*
 * Reserves space for a usual summary. Returns 0 or an errno. Some file systems, such as NFSv3,
 * cannot do that; glibc then writes to the file instead, but musl leaves that to the caller.
 */
static int reserve(int file) {
    static const char zeros[SUMMARY_ROOM];
    int why = posix_fallocate(file, 0, SUMMARY_ROOM);
    if (why != EOPNOTSUPP && why != ENOSYS && why != EINVAL)
        return why;
    return ss_streams_write_all(file, zeros, sizeof zeros) ? 0 : errno;
}

/*
 * Writes the mark, and reserves space for a usual summary, in case the disk is full by then. A
 * longer summary (many instances) is never truncated: ss_record_finish() fails on a full disk.
 */
static int write_mark(int mark) {
    static const char text[] = MARK_TEXT;
    int why = reserve(mark);
    if (why) {
        errno = why;
        return -1;
    }
    return pwrite(mark, text, sizeof text - 1, 0) == sizeof text - 1 ? 0 : -1;
}

static bool is_named(int folder, int mark) {
    struct stat named, own;
    return fstatat(folder, MARK, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(mark, &own) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

/*
 * Returns the locked mark, or -1 with EBUSY if another run has it. A new folder that already has a
 * mark also belongs to another run. Records on file systems without locks, too. Replaces a mark on
 * which only readers hold locks.
 */
static int take_mark(int folder, bool is_new) {
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_new ? O_EXCL : 0);
    struct stat status;

    for (int attempt = 1;; attempt++) {
        struct flock lock = whole_lock();
        int mark = openat(folder, MARK, flags, 0666);
        if (mark < 0 && errno == EEXIST)
            errno = EBUSY;
        if (mark < 0)
            return -1;
        /* Refuse hard links: the file may have another name that we must not write to. */
        if (fstat(mark, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) {
            close(mark);
            errno = EMLINK;
            return -1;
        }
        if (fcntl(mark, F_SETLK, &lock) < 0 && (errno == EAGAIN || errno == EACCES)) {
            bool replaces =
                attempt < ATTEMPTS_MAX && find_holder(mark) == 0 && is_named(folder, mark);
            close(mark);
            if (replaces && unlinkat(folder, MARK, 0) == 0)
                continue;
            errno = EBUSY;
            return -1;
        }
        /* A run that was ending may have unlinked its mark before we locked it. */
        if (is_named(folder, mark))
            return mark;
        close(mark);
    }
}

/* Prefixes of copies of inputs, and of JSON files that a killed run left unfinished. */
static const char *const prefixes[] = {
    SS_INPUT_PREFIX, ".plan.json.", ".platform.json.", ".summary.json."};

static bool has_prefix(const char *name) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static void remove_prefixed(int folder) {
    int reopened = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = reopened < 0 ? NULL : fdopendir(reopened);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (has_prefix(entry->d_name))
            unlinkat(folder, entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
    else if (reopened >= 0)
        close(reopened);
}

static void remove_files(int folder) {
    for (const char *const *name = names; *name; name++)
        unlinkat(folder, *name, 0);
    remove_prefixed(folder);
}

void ss_record_folder_close(struct ss_record_folder *record) {
    if (record->mark >= 0)
        close(record->mark);
    if (record->folder >= 0)
        close(record->folder);
    *record = (struct ss_record_folder){.folder = -1, .mark = -1};
}

void ss_record_folder_remove(struct ss_record_folder *record, const char *path) {
    if (record->mark >= 0) {
        remove_files(record->folder);
        unlinkat(record->folder, MARK, 0);
    }
    if (record->was_created)
        ss_walk_remove_folder(record->folder, path);
    ss_record_folder_close(record);
}

static int take_folder(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error) {
    struct ss_walk walk;
    int folder = ss_walk_begin(&walk, plan->record);

    if (folder == 0)
        folder = ss_walk_folder(&walk, O_RDONLY | O_CREAT);
    record->was_created = walk.was_created;
    record->folder = folder < 0 ? -1 : folder;
    ss_walk_end(&walk);
    if (folder < 0)
        return ss_error_fail(error, "--record: cannot open %s: %s%s", plan->record,
            ss_walk_explain(&walk, folder), ss_advice_to_write(-folder, plan->record));
    if (!record->was_created && refuse(folder, plan->record, plan->force, error) < 0)
        return -1;

    record->mark = take_mark(folder, record->was_created);
    if (record->mark < 0)
        return errno == EBUSY ? refuse(folder, plan->record, false, error)
                              : ss_record_folder_fail(plan, MARK, error);

    return 0;
}

static int fill_folder(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error) {
    if (take_folder(record, plan, error) < 0)
        return -1;

    remove_files(record->folder);
    if (write_mark(record->mark) < 0)
        return ss_record_folder_fail(plan, MARK, error);
    if (ss_inputs_copy(&plan->inputs, record->folder, error) < 0)
        return ss_error_wrap(error, "--record: %s", plan->record);
    return 0;
}

int ss_record_folder_open(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error) {
    *record = (struct ss_record_folder){.folder = -1, .mark = -1};
    if (fill_folder(record, plan, error) == 0)
        return 0;
    ss_record_folder_remove(record, plan->record);
    return -1;
}
