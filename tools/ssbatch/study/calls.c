/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "base/words.h"

/* Maximum number of polls, 10 ms apart, while the keeper of a dead call holds its lock. */
#define WAITS_MAX 15000

#define CALLS "calls"

/* The name of the study's journal begins with a dot, as the name of a run cannot. */
#define STUDY_JOURNAL ".study" JOURNAL
#define JOURNAL       ".undo"

/* File in the hidden folder of a run, with the mark of the call that has its files in memory. */
#define CLAIM_FORMAT SSBATCH_HIDDEN_FORMAT "/.call"

static struct ssbatch_path call_file(
    const struct ssbatch_study *study, const char *mark, const char *name) {
    return ssbatch_study_path(study, ".study/calls/%s%s%s", mark, *name ? "/" : "", name);
}

/* Opens the folder of a call. Returns the same as ss_state_folder(). */
static int open_folder(
    const struct ssbatch_study *study, const char *mark, bool makes, struct ss_error *error) {
    SS_OWNED(close) int calls = ssbatch_study_open_folder(study, CALLS, makes, error);
    if (calls < 0)
        return calls;
    SS_OWNED(close)
    int folder =
        ss_state_folder(calls, mark, &study->trust, makes, call_file(study, mark, "").text, error);
    if (folder >= 0 && makes && fsync(calls) < 0)
        return ss_paths_fail(call_file(study, mark, "").text, error);
    return ss_owned_take(&folder);
}

int ssbatch_call_open(struct ssbatch_call *call, const struct ssbatch_study *study,
    uint64_t started, struct ss_error *error) {
    *call = (struct ssbatch_call){.study = study, .folder = -1, .lock = -1};
    snprintf(call->mark, sizeof call->mark, "%s:%.8s:%d:%" PRIu64, study->host, study->boot,
        (int)getpid(), started);
    const struct ssbatch_path path = call_file(study, call->mark, "lock");

    call->folder = open_folder(study, call->mark, true, error);
    if (call->folder < 0)
        return -1;

    call->lock = ss_lock_open(call->folder, "lock", &study->trust, path.text, error);
    if (call->lock < 0)
        return -1;
    return flock(call->lock, LOCK_EX | LOCK_NB) < 0 ? ss_paths_fail(path.text, error) : 0;
}

struct journal_name {
    char text[NAME_MAX + 1];
};

static struct journal_name name_journal(const char *name) {
    struct journal_name journal;
    snprintf(journal.text, sizeof journal.text, "%s" JOURNAL, *name ? name : ".study");
    return journal;
}

int ssbatch_call_write_journal(const struct ssbatch_call *call, const char *name,
    const char *journal, struct ss_error *error) {
    const struct journal_name file = name_journal(name);
    const struct ssbatch_path path = call_file(call->study, call->mark, file.text);
    return ssbatch_disk_write(call->folder, file.text, path.text, journal, error);
}

int ssbatch_call_claim(
    const struct ssbatch_call *call, const char *name, bool in_memory, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(call->study, CLAIM_FORMAT, name);
    const struct ssbatch_path hidden = ssbatch_study_path(call->study, SSBATCH_HIDDEN_FORMAT, name);
    SS_OWNED(close) int folder = ss_walk_folder_path(hidden.text, O_RDONLY, error);
    if (folder < 0)
        return ss_error_wrap(error, "%s", hidden.text);
    return in_memory ? ssbatch_disk_write(folder, ".call", path.text, call->mark, error)
                     : ssbatch_disk_unlink(folder, ".call", path.text, error);
}

/*
 * Returns 1 if no other call has begun the run since this one put its files into memory, 0 if one
 * has or the run is finished, -1 with the error set if this is unknown: the files in memory may be
 * the only ones.
 */
static int has_claim(
    const struct ssbatch_study *study, const char *name, const char *mark, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, CLAIM_FORMAT, name);
    char text[SSBATCH_CALL_MARK_SIZE + 1] = "";
    struct ss_error why = {0};
    SS_OWNED(fclose)
    FILE *file = ss_state_read(AT_FDCWD, path.text, &study->trust, path.text, &why);
    if (!file)
        return why.status ? ss_error_fail(error, "%s", why.message) : 0;
    if (!fgets(text, sizeof text, file) && ferror(file))
        return ss_paths_fail(path.text, error);
    return strcmp(text, mark) == 0;
}

int ssbatch_call_remove_journal(
    const struct ssbatch_call *call, const char *name, struct ss_error *error) {
    const struct journal_name file = name_journal(name);
    const struct ssbatch_path path = call_file(call->study, call->mark, file.text);
    return ssbatch_disk_unlink(call->folder, file.text, path.text, error);
}

/* Returns whether this is a complete journal. A file that is being written has another suffix. */
static bool is_journal(const char *name) {
    size_t length = strlen(name);
    size_t suffix = sizeof JOURNAL - 1;
    return length > suffix && strcmp(name + length - suffix, JOURNAL) == 0;
}

/* Reopens a folder for readdir(). Returns NULL on failure or if the descriptor is negative. */
static DIR *open_entries(int folder) {
    int again = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (!entries)
        ss_owned_close(&again);
    return entries;
}

/*
 * Removes the folder of a call, unless it has journals. If that fails, the next call tries again.
 */
static void remove_folder(const struct ssbatch_study *study, const char *mark, int folder) {
    size_t journals = 0;
    SS_OWNED(closedir) DIR *entries = open_entries(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        journals += is_journal(entry->d_name);
    if (entries && journals == 0)
        ssbatch_disk_remove_tree(call_file(study, mark, "").text, NULL);
}

int ssbatch_call_make_folder(
    const struct ssbatch_call *call, char path[SSBATCH_PATH_SIZE], struct ss_error *error) {
    strcpy(path, call_file(call->study, call->mark, "files").text);
    return mkdirat(call->folder, "files", 0755) < 0 ? ss_paths_fail(path, error) : 0;
}

void ssbatch_call_close(struct ssbatch_call *call) {
    remove_folder(call->study, call->mark, call->folder);
    if (call->lock >= 0) {
        flock(call->lock, LOCK_UN);
        close(call->lock);
    }
    ss_owned_close(&call->folder);
}

struct undoing {
    const struct ssbatch_study *study;
    const struct ssbatch_undoer *undoer;
    const char *mark; /* mark of the call */
    pid_t pid;        /* pid of the call */
    char name[256];   /* name of the run */
    bool copies;      /* false after a reboot of the host: unsynced files may be damaged */
    char folder[SSBATCH_PATH_SIZE]; /* current folder of the commands */
    char ok[1100];                  /* exit statuses of the next `after` that mean success */
    struct ss_error *error;
    bool failed;
};

/*
 * Copies the result of an attempt out of memory, unless the run is finished, or a later attempt has
 * begun, which may have files of its own. The lock excludes other attempts; this call may already
 * hold it, or a keeper may have inherited it from the dead call.
 */
static int copy_result(const struct undoing *undoing, int scratch, const char *kept,
    const char *result, struct ss_error *error) {
    const struct ssbatch_study *study = undoing->study;
    struct ssbatch_holder holder = {0};
    int lock = ssbatch_study_lock_run(study, undoing->name, &holder, error);
    bool is_ours = (holder.pid == getpid() || holder.pid == undoing->pid) &&
                   strcmp(holder.host, study->host) == 0;
    if (lock == SSBATCH_HELD && !is_ours)
        return ss_error_fail(
            error, "it is being carried out on %s by process %d", holder.host, (int)holder.pid);
    if (lock < 0 && lock != SSBATCH_HELD)
        return -1;

    int status = has_claim(study, undoing->name, undoing->mark, error);
    if (status > 0)
        status = faccessat(scratch, SSBATCH_RESULT, F_OK, 0) == 0 && ssbatch_disk_is_own(result)
                     ? ssbatch_disk_copy_tree(scratch, kept, -1, result, error)
                     : 0;

    if (lock >= 0)
        ssbatch_study_unlock_run(study, undoing->name, lock);
    return status;
}

/* Removes a folder in memory, after copying its result to `result`, unless that is NULL. */
static int undo_remove(const struct undoing *undoing, const char *path, const char *result) {
    char kept[SSBATCH_PATH_SIZE];
    SS_OWNED(close)
    int scratch = ssbatch_disk_open_private(path, &undoing->study->trust, false, NULL);
    if (scratch < 0)
        return 0; /* another user may have created a folder or a link of this name */
    if (ssbatch_disk_path(kept, path, SSBATCH_RESULT, undoing->error) < 0 ||
        (result && undoing->copies &&
            copy_result(undoing, scratch, kept, result, undoing->error) < 0))
        return -1;
    return ssbatch_disk_remove_tree(path, undoing->error);
}

static void undo_line(struct undoing *undoing, const char *line) {
    size_t count;
    int status = 0;
    SS_OWNED(free) char **words = ss_words_split(line, &count, undoing->error);

    if (!words) {
        status = -1;
    } else if (count == 2 && strcmp(words[0], "folder") == 0) {
        snprintf(undoing->folder, sizeof undoing->folder, "%s", words[1]);
    } else if ((count == 2 || count == 3) && strcmp(words[0], "remove") == 0) {
        status = undo_remove(undoing, words[1], words[2]);
    } else if (count == 2 && strcmp(words[0], "statuses") == 0) {
        snprintf(undoing->ok, sizeof undoing->ok, "%s", words[1]);
    } else if (count >= 2 && strcmp(words[0], "after") == 0) {
        status = undoing->undoer->after(
            undoing->undoer->context, words + 1, undoing->folder, undoing->ok, undoing->error);
        strcpy(undoing->ok, "0");
    }

    undoing->failed |= status < 0;
}

/* Carries out all lines, even after one has failed. */
static int undo_journal(int folder, const char *name, struct undoing *undoing) {
    const struct ssbatch_study *study = undoing->study;
    const struct ssbatch_path path = call_file(study, undoing->mark, name);
    char *line = NULL;
    size_t room = 0;
    SS_OWNED(fclose)
    FILE *file = ss_state_read(folder, name, &study->trust, path.text, undoing->error);
    if (!file)
        return undoing->error->status ? -1 : 0;

    while (getline(&line, &room, file) > 0)
        undo_line(undoing, line);
    free(line);
    return undoing->failed ? -1 : ssbatch_disk_unlink(folder, name, path.text, undoing->error);
}

struct owner {
    pid_t pid;
    uint64_t started;
    bool is_this_boot; /* the host has not been restarted since */
};

/* Reads HOST:BOOT:PID:STARTED. Returns false if it is a call of another host. */
static bool read_mark(const struct ssbatch_study *study, const char *mark, struct owner *owner) {
    size_t length = strlen(study->host);
    char boot[9];
    int pid;
    if (strncmp(mark, study->host, length) != 0 ||
        sscanf(mark + length, ":%8[^:]:%d:%" SCNu64, boot, &pid, &owner->started) != 3)
        return false;
    owner->pid = pid;
    owner->is_this_boot = strncmp(boot, study->boot, 8) == 0;
    return true;
}

/*
 * Undoes the journals of the runs or, with `of_study`, the journal of the study. Undo the study
 * last.
 */
static int undo_journals(const struct ssbatch_study *study, const char *mark, int folder,
    bool of_study, const struct ssbatch_undoer *undoer, struct ss_error *error) {
    struct owner owner = {0};
    bool copies = read_mark(study, mark, &owner) && owner.is_this_boot;
    int status = 0;
    SS_OWNED(closedir) DIR *entries = open_entries(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        struct ss_error failure = {0};
        struct undoing undoing = {
            .study = study,
            .undoer = undoer,
            .mark = mark,
            .pid = owner.pid,
            .copies = copies,
            .folder = "/",
            .ok = "0",
            .error = &failure,
        };

        if (!is_journal(entry->d_name) || (strcmp(entry->d_name, STUDY_JOURNAL) == 0) != of_study)
            continue;

        int length = (int)(strlen(entry->d_name) - (sizeof JOURNAL - 1));
        snprintf(undoing.name, sizeof undoing.name, "%.*s", length, entry->d_name);
        if (undo_journal(folder, entry->d_name, &undoing) == 0)
            continue;
        status =
            ss_error_fail(error, "%s: %s", of_study ? "the study" : undoing.name, failure.message);
    }
    return status;
}

int ssbatch_call_undo(const struct ssbatch_study *study, const char *mark,
    const struct ssbatch_undoer *undoer, struct ss_error *error) {
    SS_OWNED(close) int folder = open_folder(study, mark, false, error);
    if (folder < 0)
        return folder == SS_STATE_ABSENT ? 0 : -1;
    int status = undo_journals(study, mark, folder, false, undoer, error);
    if (undo_journals(study, mark, folder, true, undoer, error) < 0)
        status = -1;
    remove_folder(study, mark, folder);
    return status;
}

static bool has_journal(int folder, const char *name) {
    return faccessat(folder, name_journal(name).text, F_OK, 0) == 0;
}

/*
 * Returns the descriptor of the lock, -1 with the error set, or SSBATCH_HELD if the call is alive.
 * Does not try to lock a call that is alive, because that call may be about to lock it.
 */
static int lock_call(const struct ssbatch_study *study, const char *mark, int folder,
    const struct owner *owner, const struct ssbatch_undoer *undoer, struct ss_error *error) {
    const struct ssbatch_path path = call_file(study, mark, "lock");
    if (owner->is_this_boot && undoer->lives(owner->pid, owner->started))
        return SSBATCH_HELD;
    struct ss_error why = {0};
    SS_OWNED(close) int lock = ss_lock_open(folder, "lock", &study->trust, path.text, &why);
    if (lock < 0) /* the folder was removed */
        return errno == ENOENT ? SSBATCH_HELD : ss_error_fail(error, "%s", why.message);
    if (ssbatch_study_await_lock(study, lock, path.text, mark, WAITS_MAX, error) < 0)
        return -1;
    return ss_owned_take(&lock);
}

static int clean_up_call(const struct ssbatch_study *study, const char *mark, const char *name,
    const struct ssbatch_undoer *undoer, struct ss_error *error) {
    struct owner owner;
    if (!read_mark(study, mark, &owner))
        return 0;

    SS_OWNED(close) int folder = open_folder(study, mark, false, error);
    if (folder < 0)
        return folder == SS_STATE_ABSENT ? 0 : -1;
    if (name && !has_journal(folder, name))
        return 0;

    SS_OWNED(close) int lock = lock_call(study, mark, folder, &owner, undoer, error);
    if (lock == SSBATCH_HELD && name && has_journal(folder, name))
        return ss_error_fail(error,
            "process %d, which carried it out, has not cleaned up: end that process, then call "
            "ssbatch --clean",
            (int)owner.pid);
    if (lock < 0)
        return lock == SSBATCH_HELD ? 0 : -1;

    if (owner.is_this_boot && undoer->end_marked(mark) > 0)
        return ss_error_fail(error, "processes of an earlier call are still running: see `ps`");
    return ssbatch_call_undo(study, mark, undoer, error);
}

int ssbatch_calls_clean_up(const struct ssbatch_study *study, const char *own, const char *name,
    const struct ssbatch_undoer *undoer, struct ss_error *error) {
    int status = 0;
    SS_OWNED(close) int folder = ssbatch_study_open_folder(study, CALLS, false, error);
    if (folder == -1)
        return -1;

    SS_OWNED(closedir) DIR *calls = open_entries(folder);
    for (struct dirent *entry; calls && (entry = readdir(calls));) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0)
            continue;
        if (clean_up_call(study, entry->d_name, name, undoer, error) < 0)
            status = -1;
    }
    return status;
}

bool ssbatch_calls_exist(const struct ssbatch_study *study) {
    SS_OWNED(close) int folder = ssbatch_study_open_folder(study, CALLS, false, NULL);
    bool any = folder == -1; /* ssbatch_calls_clean_up() says why it is refused */
    SS_OWNED(closedir) DIR *calls = open_entries(folder);
    for (struct dirent *entry; calls && (entry = readdir(calls));)
        any |= entry->d_name[0] != '.';
    return any;
}
