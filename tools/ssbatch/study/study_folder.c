/* SPDX-License-Identifier: Apache-2.0 */
#include "study_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/words.h"

/* Room for the longest name of a file in the folder. */
#define NAME_ROOM 500

/* Formats of paths: an earlier result that is being replaced, and the lock of a run. */
#define OLD  ".study/old-%s"
#define LOCK ".study/runs/%s"

/* Polling interval in milliseconds for a reader that looks whether a run is locked. */
#define READER_INTERVAL 1

static int make_folder(const char *path, struct ss_error *error) {
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : ss_paths_fail(path, error);
}

/*
 * Does not sync the folders in .study: ssbatch_merge() syncs them with the plan, before any run
 * begins.
 */
static int make_folders(const struct ssbatch_study *study, struct ss_error *error) {
    const struct ssbatch_path inner = ssbatch_study_path(study, ".study");
    if (ssbatch_disk_make_folder(study->path, error) < 0 ||
        ssbatch_disk_make_folder(inner.text, error) < 0 ||
        make_folder(ssbatch_study_path(study, ".study/runs").text, error) < 0)
        return -1;
    return make_folder(ssbatch_study_path(study, ".study/calls").text, error);
}

static int resolve(char path[SSBATCH_PATH], const char *given, struct ss_error *error) {
    char folder[SSBATCH_PATH];
    if (given[0] == '/') {
        snprintf(path, SSBATCH_PATH, "%s", given);
    } else {
        if (!getcwd(folder, sizeof folder))
            return ss_error_fail(error, "cannot determine the current folder: %s", strerror(errno));
        if (ssbatch_disk_path(path, folder, given, error) < 0)
            return -1;
    }
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    if (strpbrk(path, "%{"))
        return ss_error_fail(error,
            "%s: commands would treat %% or { as a placeholder: use another folder",
            ss_words_show(path).text);
    if (strlen(path) + NAME_ROOM > SSBATCH_PATH)
        return ss_error_fail(error, "%s: the path is too long", ss_words_show(given).text);
    return 0;
}

int ssbatch_study_open(
    struct ssbatch_study *study, const char *path, bool create, struct ss_error *error) {
    struct stat status;
    *study = (struct ssbatch_study){.boot = "unknown"};
    if (resolve(study->path, path, error) < 0) {
        study->path[0] = '\0';
        return -1;
    }
    gethostname(study->host, sizeof study->host - 1);
    SS_OWNED(fclose) FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (boot && fgets(study->boot, sizeof study->boot, boot))
        study->boot[strcspn(study->boot, "\n")] = '\0';

    if (create)
        return make_folders(study, error);
    if (stat(ssbatch_study_path(study, ".study/plan").text, &status) < 0)
        return ss_error_fail(
            error, "%s is not a study: no plan was carried out there", ss_words_show(path).text);
    return 0;
}

struct ssbatch_path ssbatch_study_path(const struct ssbatch_study *study, const char *format, ...) {
    struct ssbatch_path path;
    va_list arguments;
    int length = snprintf(path.text, sizeof path.text, "%s/", study->path);
    va_start(arguments, format);
    vsnprintf(path.text + length, sizeof path.text - (size_t)length, format, arguments);
    va_end(arguments);
    return path;
}

int ssbatch_study_lock(const struct ssbatch_study *study, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, ".study/lock");
    SS_OWNED(close) int lock = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        return ss_paths_fail(path.text, error);
    return ss_owned_take(&lock);
}

static void read_holder(int lock, struct ssbatch_holder *holder) {
    char text[128] = "";
    int pid = 0;
    *holder = (struct ssbatch_holder){.host = "?"};
    if (pread(lock, text, sizeof text - 1, 0) > 0 &&
        sscanf(text, "%64s %d", holder->host, &pid) == 2)
        holder->pid = pid;
}

/*
 * Returns whether the lock file still has its name: the previous holder of the lock removes the
 * file.
 */
static bool has_name(int lock, const char *path) {
    struct stat ours, named;
    return fstat(lock, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

int ssbatch_study_lock_run(const struct ssbatch_study *study, const char *name,
    struct ssbatch_holder *holder, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, LOCK, name);
    char text[128];
    for (;;) {
        SS_OWNED(close) int lock = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock < 0)
            return ss_paths_fail(path.text, error);
        if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
            if (errno != EWOULDBLOCK)
                return ss_paths_fail(path.text, error);
            if (flock(lock, LOCK_SH | LOCK_NB) < 0) {
                read_holder(lock, holder);
                return SSBATCH_HELD;
            }
            flock(lock, LOCK_UN); /* only ssbatch_study_is_locked() has it, for a moment */
            poll(NULL, 0, READER_INTERVAL);
            continue;
        }
        if (!has_name(lock, path.text))
            continue;
        int length = snprintf(text, sizeof text, "%s %d\n", study->host, (int)getpid());
        if (ftruncate(lock, 0) < 0 || pwrite(lock, text, (size_t)length, 0) != length)
            return ss_paths_fail(path.text, error);
        return ss_owned_take(&lock);
    }
}

bool ssbatch_study_is_locked(
    const struct ssbatch_study *study, const char *name, struct ssbatch_holder *holder) {
    SS_OWNED(close)
    int lock = open(ssbatch_study_path(study, LOCK, name).text, O_RDONLY | O_CLOEXEC);
    if (lock < 0)
        return false;
    read_holder(lock, holder);
    if (holder->pid == 0 || strcmp(holder->host, study->host) != 0)
        return holder->pid != 0;
    return flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

void ssbatch_study_unlock_run(const struct ssbatch_study *study, const char *name, int lock) {
    unlink(ssbatch_study_path(study, LOCK, name).text);
    flock(lock, LOCK_UN);
    close(lock);
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

int ssbatch_study_begin(const struct ssbatch_study *study, const char *name,
    enum ssbatch_reuse reuse, struct ss_error *error) {
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN, name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN "/" SSBATCH_RESULT, name);
    if (reuse == SSBATCH_REUSE_NOTHING && ssbatch_disk_remove_tree(hidden.text, error) < 0)
        return SSBATCH_LEFT;
    if (reuse == SSBATCH_REUSE_NOTHING)
        return make_folder(hidden.text, error) < 0 ? -1 : make_folder(inner.text, error);
    if (ssbatch_disk_make_folder(hidden.text, error) < 0)
        return -1;
    if (reuse == SSBATCH_REUSE_RESULT && !exists(inner.text) && exists(result.text))
        return ssbatch_disk_rename(result.text, inner.text, error);
    return ssbatch_disk_make_folder(inner.text, error);
}

int ssbatch_study_check_place(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path document = ssbatch_study_path(study, "%s/run.json", name);
    if (!exists(result.text) || exists(document.text))
        return 0;
    return ss_error_fail(error,
        "%s is not a run of this study, and run %s would replace it: rename one of them, or use "
        "another study",
        ss_words_show(result.text).text, name);
}

/* Moves an earlier result away: a folder cannot be renamed to one with contents. */
static int displace(const struct ssbatch_study *study, const char *name, const char *result,
    const char *old, struct ss_error *error) {
    if (!exists(result))
        return 0;
    if (ssbatch_study_check_place(study, name, error) < 0 ||
        ssbatch_disk_remove_tree(old, error) < 0)
        return -1;
    if (rename(result, old) < 0)
        return ss_paths_fail(result, error);
    return 0;
}

/* Removes both trees, the second one even if the first one remains. */
static int remove_both(const char *one, const char *other, struct ss_error *error) {
    int status = ssbatch_disk_remove_tree(one, error) < 0 ? SSBATCH_LEFT : 0;
    return ssbatch_disk_remove_tree(other, error) < 0 ? SSBATCH_LEFT : status;
}

int ssbatch_study_commit(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN, name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD, name);
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN "/" SSBATCH_RESULT, name);
    if (ssbatch_disk_sync_tree(inner.text, error) < 0 ||
        displace(study, name, result.text, old.text, error) < 0 ||
        ssbatch_disk_rename(inner.text, result.text, error) < 0)
        return -1;
    return remove_both(old.text, hidden.text, error);
}

int ssbatch_study_recover(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct ssbatch_holder holder;
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN "/" SSBATCH_RESULT, name);
    const struct ssbatch_path document =
        ssbatch_study_path(study, SSBATCH_HIDDEN "/" SSBATCH_RESULT "/run.json", name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD, name);
    if (exists(result.text) || !exists(old.text))
        return 0;
    int lock = ssbatch_study_lock_run(study, name, &holder, error);
    if (lock < 0)
        return lock == SSBATCH_HELD ? 0 : -1;
    int status = 0;
    if (!exists(result.text) && exists(old.text)) /* another call may just have done this */
        status =
            ssbatch_disk_rename(exists(document.text) ? inner.text : old.text, result.text, error);
    ssbatch_study_unlock_run(study, name, lock);
    return status;
}

int ssbatch_study_tidy(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct ssbatch_holder holder;
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN, name);
    const struct ssbatch_path held = ssbatch_study_path(study, LOCK, name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD, name);
    if (!exists(hidden.text) && !exists(held.text) && !exists(old.text))
        return 0;
    int lock = ssbatch_study_lock_run(study, name, &holder, error);
    if (lock < 0)
        return lock == SSBATCH_HELD ? 0 : -1;
    int status = remove_both(hidden.text, old.text, error);
    ssbatch_study_unlock_run(study, name, lock);
    return status;
}
