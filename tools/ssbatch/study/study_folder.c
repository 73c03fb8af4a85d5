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
#include "base/walk.h"
#include "base/words.h"

/* Room for the longest name of a file in the folder. */
#define NAME_ROOM 500

/* Format of the path of an earlier result that is being replaced. */
#define OLD_RESULT_FORMAT ".study/old-%s"

#define STATE   ".study"
#define HOLDERS "runs"
#define LOCKS   "locks"

/* Polling interval in milliseconds while a reader checks whether a run is locked. */
#define READER_INTERVAL 1

/* Polling interval in milliseconds for a held lock, and the polls before its holder is named. */
#define LOCK_INTERVAL       10
#define POLLS_BEFORE_REPORT 100

/* Only we may write to new folders, whatever the umask is, unless users share the study. */
static mode_t new_mode(const struct ssbatch_study *study) {
    return study->trust.has_user ? 0777 : 0755;
}

static int make_folder(
    const struct ssbatch_study *study, const char *path, struct ss_error *error) {
    struct ss_walk walk;
    int begun = ss_walk_begin(&walk, path);
    walk.is_state = !study->trust.has_user;
    SS_OWNED(close)
    int folder = begun < 0 ? begun : ss_walk_folder(&walk, O_RDONLY | O_CREAT | O_EXCL);
    if (folder < 0)
        ss_error_fail(error, "%s: %s", path, ss_walk_explain(&walk, folder));
    ss_walk_end(&walk);
    return folder < 0 ? -1 : 0;
}

/* In a folder of another user, that user could exchange what commands write and read later. */
static int check_folder(
    const struct ssbatch_study *study, const char *path, struct ss_error *error) {
    struct ss_error why = {0};
    SS_OWNED(close) int folder = ss_walk_folder_path(path, O_RDONLY, &why);
    return folder < 0 ? ss_error_fail(error, "%s: %s", path, why.message)
                      : ss_state_check(folder, &study->trust, path, error);
}

static struct ssbatch_path state_path(const struct ssbatch_study *study, const char *name) {
    return ssbatch_study_path(study, STATE "/%s", name);
}

int ssbatch_study_open_folder(
    const struct ssbatch_study *study, const char *name, bool makes, struct ss_error *error) {
    return ss_state_folder(
        study->state, name, &study->trust, makes, state_path(study, name).text, error);
}

FILE *ssbatch_study_open_file(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    if (study->state < 0)
        return NULL;
    return ss_state_read(study->state, name, &study->trust, state_path(study, name).text, error);
}

/* Opens .study. With `makes`, creates it if it does not exist, and syncs its name. */
static int open_state(struct ssbatch_study *study, bool makes, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, STATE);
    struct ss_error why = {0};
    SS_OWNED(close)
    int folder = study->trust.everyone ? open(study->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                       : ss_walk_folder_path(study->path, O_RDONLY, &why);
    if (folder < 0 && !why.status)
        ss_error_fail(&why, "%s", strerror(errno));
    if (folder < 0)
        return errno == ENOENT ? 0 : ss_error_fail(error, "%s: %s", study->path, why.message);

    if (ss_state_check(folder, &study->trust, study->path, error) < 0)
        return -1;

    study->state = ss_state_folder(folder, STATE, &study->trust, makes, path.text, error);
    if (study->state == SS_STATE_ABSENT)
        study->state = -1;
    else if (study->state < 0)
        return -1;
    return makes && fsync(folder) < 0 ? ss_paths_fail(path.text, error) : 0;
}

/*
 * Does not sync the folders in .study: ssbatch_merge() syncs them with the plan, before any run
 * begins.
 */
static int make_folders(struct ssbatch_study *study, struct ss_error *error) {
    static const char *const names[] = {HOLDERS, LOCKS, "calls"};
    if (ssbatch_disk_make_folder(study->path, new_mode(study), error) < 0 ||
        open_state(study, true, error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SS_OWNED(close) int folder = ssbatch_study_open_folder(study, names[i], true, error);
        if (folder < 0)
            return -1;
    }
    return 0;
}

static int resolve(char path[SSBATCH_PATH_SIZE], const char *given, struct ss_error *error) {
    char folder[SSBATCH_PATH_SIZE];
    if (given[0] == '/') {
        snprintf(path, SSBATCH_PATH_SIZE, "%s", given);
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
    if (strlen(path) + NAME_ROOM > SSBATCH_PATH_SIZE)
        return ss_error_fail(error, "%s: the path is too long", ss_words_show(given).text);
    return 0;
}

int ssbatch_study_open(struct ssbatch_study *study, const char *path, enum ssbatch_study_mode mode,
    const char *trust_owner, struct ss_error *error) {
    struct stat status;
    *study = (struct ssbatch_study){
        .boot = "unknown",
        .state = -1,
        .trust = {.everyone = mode == SSBATCH_STUDY_READ, .suggests_trust_owner = true},
    };
    if (resolve(study->path, path, error) < 0) {
        study->path[0] = '\0';
        return -1;
    }
    if (trust_owner && ss_trust_user(&study->trust, trust_owner, error) < 0)
        return -1;
    gethostname(study->host, sizeof study->host - 1);
    SS_OWNED(fclose) FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (boot && fgets(study->boot, sizeof study->boot, boot))
        study->boot[strcspn(study->boot, "\n")] = '\0';

    if (mode == SSBATCH_STUDY_CREATE)
        return make_folders(study, error);
    if (open_state(study, false, error) < 0)
        return -1;
    if (study->state >= 0 && fstatat(study->state, "plan", &status, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    ss_error_fail(
        error, "%s is not a study: no plan was carried out there", ss_words_show(path).text);
    return SSBATCH_ABSENT;
}

void ssbatch_study_close(struct ssbatch_study *study) {
    ss_owned_close(&study->state);
    study->state = -1;
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

static int write_holder(const struct ssbatch_study *study, int file) {
    char text[128];
    int length = snprintf(text, sizeof text, "%s %d\n", study->host, (int)getpid());
    return ftruncate(file, 0) < 0 || pwrite(file, text, (size_t)length, 0) != length ? -1 : 0;
}

static void read_holder(int file, struct ssbatch_holder *holder) {
    char text[128] = "";
    int pid = 0;
    *holder = (struct ssbatch_holder){.host = "?"};
    if (file >= 0 && pread(file, text, sizeof text - 1, 0) > 0 &&
        sscanf(text, "%64s %d", holder->host, &pid) == 2)
        holder->pid = pid;
}

int ssbatch_study_await_lock(const struct ssbatch_study *study, int lock, const char *path,
    const char *holder, int limit, struct ss_error *error) {
    for (int waits = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; waits++) {
        char name[128];
        struct ssbatch_holder found;
        if (errno != EWOULDBLOCK)
            return ss_paths_fail(path, error);
        if (limit && waits == limit)
            return ss_error_fail(
                error, "%s: processes of an earlier call are still running: see `ps`", holder);

        if (waits == POLLS_BEFORE_REPORT && study->report_wait) {
            read_holder(lock, &found);
            snprintf(name, sizeof name, "process %d on %s", (int)found.pid, found.host);
            study->report_wait(path, *holder ? holder : name);
        }

        poll(NULL, 0, LOCK_INTERVAL);
    }
    return 0;
}

int ssbatch_study_lock(const struct ssbatch_study *study, struct ss_error *error) {
    const struct ssbatch_path path = state_path(study, "lock");
    for (;;) {
        SS_OWNED(close)
        int lock = ss_lock_open(study->state, "lock", &study->trust, path.text, error);
        if (lock < 0 || ssbatch_study_await_lock(study, lock, path.text, "", 0, error) < 0)
            return -1;
        if (!ss_lock_has_name(lock, study->state, "lock"))
            continue;
        return write_holder(study, lock) < 0 ? ss_paths_fail(path.text, error)
                                             : ss_owned_take(&lock);
    }
}

/* Opens the file that names the holder of a run, for all users. */
static int open_holder(const struct ssbatch_study *study, int holders, const char *name, int flags,
    struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, STATE "/" HOLDERS "/%s", name);
    return ss_state_file(holders, name, flags, &study->trust, path.text, error);
}

static int read_holder_of(const struct ssbatch_study *study, int holders, const char *name,
    struct ssbatch_holder *holder, struct ss_error *error) {
    SS_OWNED(close) int file = open_holder(study, holders, name, O_RDONLY, error);
    read_holder(file, holder);
    return file < 0 ? file : 0;
}

/* Returns the descriptor of the lock, or fails like ssbatch_study_lock_run(). */
static int take_lock(const struct ssbatch_study *study, int locks, int holders, const char *name,
    struct ssbatch_holder *holder, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, STATE "/" LOCKS "/%s", name);
    for (;;) {
        SS_OWNED(close) int lock = ss_lock_open(locks, name, &study->trust, path.text, error);
        if (lock < 0)
            return -1;

        if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
            if (errno != EWOULDBLOCK)
                return ss_paths_fail(path.text, error);
            if (flock(lock, LOCK_SH | LOCK_NB) < 0)
                return read_holder_of(study, holders, name, holder, error) == -1 ? -1
                                                                                 : SSBATCH_HELD;
            flock(lock, LOCK_UN); /* a reader in ssbatch_study_lock_state() has it for a moment */
            poll(NULL, 0, READER_INTERVAL);
            continue;
        }

        if (ss_lock_has_name(lock, locks, name))
            return ss_owned_take(&lock);
    }
}

int ssbatch_study_lock_run(const struct ssbatch_study *study, const char *name,
    struct ssbatch_holder *holder, struct ss_error *error) {
    SS_OWNED(close) int locks = ssbatch_study_open_folder(study, LOCKS, true, error);
    SS_OWNED(close)
    int holders = locks < 0 ? -1 : ssbatch_study_open_folder(study, HOLDERS, true, error);
    if (holders < 0)
        return -1;

    SS_OWNED(close) int lock = take_lock(study, locks, holders, name, holder, error);
    if (lock < 0)
        return lock;

    SS_OWNED(close) int file = open_holder(study, holders, name, O_RDWR | O_CREAT, error);
    if (file < 0)
        return -1;
    if (write_holder(study, file) < 0)
        return ss_paths_fail(ssbatch_study_path(study, STATE "/" HOLDERS "/%s", name).text, error);
    return ss_owned_take(&lock);
}

enum ssbatch_lock ssbatch_study_lock_state(
    const struct ssbatch_study *study, const char *name, struct ssbatch_holder *holder) {
    SS_OWNED(close) int holders = ssbatch_study_open_folder(study, HOLDERS, false, NULL);
    if (holders < 0 || read_holder_of(study, holders, name, holder, NULL) < 0)
        return SSBATCH_FREE;
    if (holder->pid == 0 || strcmp(holder->host, study->host) != 0)
        return holder->pid != 0 ? SSBATCH_LOCKED : SSBATCH_FREE;

    SS_OWNED(close) int locks = ssbatch_study_open_folder(study, LOCKS, false, NULL);
    SS_OWNED(close)
    int lock =
        locks < 0 ? locks : openat(locks, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock < 0 && (locks == -1 || (locks >= 0 && errno == EACCES)))
        return SSBATCH_MAYBE_LOCKED;
    return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK ? SSBATCH_LOCKED
                                                                                   : SSBATCH_FREE;
}

void ssbatch_study_unlock_run(const struct ssbatch_study *study, const char *name, int lock) {
    SS_OWNED(close) int locks = ssbatch_study_open_folder(study, LOCKS, false, NULL);
    SS_OWNED(close) int holders = ssbatch_study_open_folder(study, HOLDERS, false, NULL);
    if (holders >= 0)
        unlinkat(holders, name, 0);
    if (locks >= 0)
        unlinkat(locks, name, 0);
    flock(lock, LOCK_UN);
    close(lock);
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

int ssbatch_study_begin(const struct ssbatch_study *study, const char *name,
    enum ssbatch_reuse reuse, struct ss_error *error) {
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT, name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT "/" SSBATCH_RESULT, name);

    if (reuse == SSBATCH_REUSE_NOTHING && ssbatch_disk_remove_tree(hidden.text, error) < 0)
        return SSBATCH_NOT_REMOVED;
    if (reuse == SSBATCH_REUSE_NOTHING)
        return make_folder(study, hidden.text, error) < 0 ? -1
                                                          : make_folder(study, inner.text, error);

    if (ssbatch_disk_make_folder(hidden.text, new_mode(study), error) < 0 ||
        check_folder(study, hidden.text, error) < 0)
        return -1;

    bool moves = reuse == SSBATCH_REUSE_RESULT && !exists(inner.text) && exists(result.text);
    int status = moves ? ssbatch_disk_move(result.text, inner.text, true, error)
                       : ssbatch_disk_make_folder(inner.text, new_mode(study), error);
    return status < 0 ? -1 : check_folder(study, inner.text, error);
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
static int move_aside(const struct ssbatch_study *study, const char *name, const char *result,
    const char *old, struct ss_error *error) {
    if (!exists(result))
        return 0;
    if (ssbatch_study_check_place(study, name, error) < 0 ||
        ssbatch_disk_remove_tree(old, error) < 0)
        return -1;
    return ssbatch_disk_move(result, old, false, error);
}

/* Removes both trees, the second one even if the first one remains. */
static int remove_both(const char *one, const char *other, struct ss_error *error) {
    int status = ssbatch_disk_remove_tree(one, error) < 0 ? SSBATCH_NOT_REMOVED : 0;
    return ssbatch_disk_remove_tree(other, error) < 0 ? SSBATCH_NOT_REMOVED : status;
}

int ssbatch_study_commit(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT, name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD_RESULT_FORMAT, name);
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT "/" SSBATCH_RESULT, name);
    if (ssbatch_disk_sync_tree(inner.text, error) < 0 ||
        move_aside(study, name, result.text, old.text, error) < 0 ||
        ssbatch_disk_move(inner.text, result.text, true, error) < 0)
        return -1;
    return remove_both(old.text, hidden.text, error);
}

int ssbatch_study_recover(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct ssbatch_holder holder;
    const struct ssbatch_path inner =
        ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT "/" SSBATCH_RESULT, name);
    const struct ssbatch_path document =
        ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT "/" SSBATCH_RESULT "/run.json", name);
    const struct ssbatch_path result = ssbatch_study_path(study, "%s", name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD_RESULT_FORMAT, name);

    if (exists(result.text) || !exists(old.text))
        return 0;

    int lock = ssbatch_study_lock_run(study, name, &holder, error);
    if (lock < 0)
        return lock == SSBATCH_HELD ? 0 : -1;

    int status = 0;
    if (!exists(result.text) && exists(old.text)) /* unless another call has just done this */
        status = ssbatch_disk_move(
            exists(document.text) ? inner.text : old.text, result.text, true, error);
    ssbatch_study_unlock_run(study, name, lock);
    return status;
}

int ssbatch_study_tidy(
    const struct ssbatch_study *study, const char *name, struct ss_error *error) {
    struct ssbatch_holder holder;
    const struct ssbatch_path hidden = ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT, name);
    const struct ssbatch_path held = ssbatch_study_path(study, STATE "/" HOLDERS "/%s", name);
    const struct ssbatch_path old = ssbatch_study_path(study, OLD_RESULT_FORMAT, name);

    if (!exists(hidden.text) && !exists(held.text) && !exists(old.text))
        return 0;
    int lock = ssbatch_study_lock_run(study, name, &holder, error);
    if (lock < 0)
        return lock == SSBATCH_HELD ? 0 : -1;

    int status = remove_both(hidden.text, old.text, error);
    ssbatch_study_unlock_run(study, name, lock);
    return status;
}
