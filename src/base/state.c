/* SPDX-License-Identifier: Apache-2.0 */
#include "base/state.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/words.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Never follow a link, wait for the other end of a FIFO, or acquire a controlling terminal. */
#define SAFE_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Number of attempts to replace a lock file that others may open. */
#define ATTEMPTS_MAX 8

int ss_trust_user(struct ss_trust *trust, const char *user, struct ss_error *error) {
    const struct passwd *entry = getpwnam(user);
    char *end;
    errno = 0;
    unsigned long number = strtoul(user, &end, 10);
    bool is_number = *user >= '0' && *user <= '9' && !*end && errno == 0 && (uid_t)number == number;

    if (!entry && !is_number)
        return ss_error_fail(error, "--trust-owner: unknown user %s: use a name or a number",
            ss_words_show(user).text);

    trust->user = entry ? entry->pw_uid : (uid_t)number;
    trust->has_user = !ss_walk_is_unknown(trust->user);
    if (!trust->has_user)
        return ss_error_fail(error,
            "--trust-owner: files of %s may belong to any user outside this user namespace",
            ss_words_show(user).text);
    return 0;
}

static int fail(const char *path, struct ss_error *error) {
    int why = errno;
    ss_error_fail(error, "%s: %s", path, strerror(why));
    errno = why;
    return -1;
}

static int refuse_owner(
    const struct ss_trust *trust, uid_t owner, const char *path, struct ss_error *error) {
    struct ss_walk_user name = ss_walk_user_name(owner), own = ss_walk_user_name(geteuid());
    const char *who = name.is_number ? name.text + strlen("user ") : name.text;
    if (ss_walk_is_unknown(owner))
        ss_error_fail(error, "%s belongs to %s, who may be any user outside this user namespace",
            path, name.text);
    else if (trust->suggests_trust_owner)
        ss_error_fail(error,
            "%s belongs to %s, whose commands %s would run: use sudo -u %s%s%s, or "
            "--trust-owner %s",
            path, name.text, own.text, name.is_number ? "'#" : "", who, name.is_number ? "'" : "",
            who);
    else
        ss_error_fail(error, "%s belongs to %s: make it yours, or remove it", path, name.text);

    errno = EACCES;
    return -1;
}

static int refuse_mode(const char *path, struct ss_error *error) {
    ss_error_fail(error, "%s: other users may write to it: check it, then run chmod go-w %s", path,
        ss_words_show(path).text);
    errno = EACCES;
    return -1;
}

/* Removes the write permission of others from our own folder, unless it is sticky, such as /tmp. */
static void drop_others_write(int file) {
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_mode & OTHERS_WRITE && !(status.st_mode & S_ISVTX) &&
        status.st_uid == geteuid())
        fchmod(file, status.st_mode & 07777 & ~(mode_t)OTHERS_WRITE);
}

static bool is_accepted(const struct ss_trust *trust, uid_t owner) {
    return ss_walk_is_trusted(owner) || (trust->has_user && owner == trust->user);
}

int ss_state_check(
    int file, const struct ss_trust *trust, const char *path, struct ss_error *error) {
    struct stat status;
    if (fstat(file, &status) < 0)
        return fail(path, error);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        errno = EINVAL;
        return ss_error_fail(error, "%s is not a regular file", path);
    }
    if (trust->everyone)
        return 0;

    if (!is_accepted(trust, status.st_uid))
        return refuse_owner(trust, status.st_uid, path, error);
    if (S_ISREG(status.st_mode) && status.st_nlink > 1) {
        errno = EACCES;
        return ss_error_fail(error, "%s has another name (a hard link): remove it", path);
    }
    if (trust->has_user)
        return 0;

    /* Earlier versions created folders that others may write to if the umask allowed it. */
    if (S_ISDIR(status.st_mode))
        drop_others_write(file);
    if (fstat(file, &status) < 0)
        return fail(path, error);
    return status.st_mode & OTHERS_WRITE ? refuse_mode(path, error) : 0;
}

/* Only root can create /dev/shm, whoever appears as its owner in a user namespace. */
static bool is_shared_memory(const struct stat *folder) {
    struct stat known;
    return ss_walk_is_unknown(folder->st_uid) && stat("/dev/shm", &known) == 0 &&
           known.st_dev == folder->st_dev && known.st_ino == folder->st_ino;
}

int ss_state_check_parent(
    int folder, const struct ss_trust *trust, const char *path, struct ss_error *error) {
    struct stat status;
    if (fstat(folder, &status) < 0)
        return fail(path, error);
    bool is_trusted = is_accepted(trust, status.st_uid) || is_shared_memory(&status);
    if (is_trusted && (!(status.st_mode & OTHERS_WRITE) || status.st_mode & S_ISVTX))
        return 0;

    if (!is_trusted)
        ss_error_fail(error, "%s belongs to %s: choose another folder", path,
            ss_walk_user_name(status.st_uid).text);
    else
        ss_error_fail(error,
            "%s: other users may rename files in it: choose another folder, or run chmod +t %s",
            path, ss_words_show(path).text);

    errno = EACCES;
    return -1;
}

/*
 * Fails if a word names a file that another user may have made, or a link of another user. The word
 * may be the name of a script without a slash, as in `sh job.sh`, so its form does not matter.
 */
static int check_word(
    int folder, const char *word, const struct ss_trust *trust, struct ss_error *error) {
    struct ss_walk walk;
    bool found = ss_walk_begin_at(&walk, folder, word) == 0 && walk.exists;
    ss_walk_end(&walk);
    if (*walk.why) {
        ss_error_fail(error, "%s: %s", ss_words_show(word).text, walk.why);
        errno = EACCES;
        return -1;
    }

    /* The caller has opened /dev/stdin, whoever owns its file. */
    if (!found || walk.descriptor >= 0 || is_accepted(trust, walk.status.st_uid))
        return 0;
    return refuse_owner(trust, walk.status.st_uid, ss_words_show(word).text, error);
}

/* Accepts a group-writable folder: with a umask of 002, all our own folders are group-writable. */
int ss_state_check_start(int folder, char *const *words, const struct ss_trust *trust,
    const char *path, struct ss_error *error) {
    struct stat status;
    if (fstat(folder, &status) < 0)
        return fail(path, error);
    if (!is_accepted(trust, status.st_uid))
        return refuse_owner(trust, status.st_uid, path, error);
    if (trust->has_user || !(status.st_mode & S_IWOTH))
        return 0;
    if (!(status.st_mode & S_ISVTX))
        return refuse_mode(path, error);

    int result = 0;
    for (; result == 0 && *words; words++)
        result = check_word(folder, *words, trust, error);
    return result;
}

/* Takes ownership of a descriptor. Closes it if the file is refused. */
static int accept_file(
    int opened, const struct ss_trust *trust, const char *path, struct ss_error *error) {
    SS_OWNED(close) int file = opened;
    if (file < 0)
        return errno == ENOENT ? SS_STATE_ABSENT : fail(path, error);
    return ss_state_check(file, trust, path, error) < 0 ? -1 : ss_owned_take(&file);
}

int ss_state_folder(int parent, const char *name, const struct ss_trust *trust, bool create,
    const char *path, struct ss_error *error) {
    if (create && mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
        return fail(path, error);
    return accept_file(
        openat(parent, name, O_RDONLY | O_DIRECTORY | SAFE_FLAGS), trust, path, error);
}

int ss_state_file(int parent, const char *name, int flags, const struct ss_trust *trust,
    const char *path, struct ss_error *error) {
    int truncates = flags & O_TRUNC;
    int file = accept_file(
        openat(parent, name, (flags & ~O_TRUNC) | SAFE_FLAGS, 0644), trust, path, error);
    struct stat status;

    if (file < 0)
        return file;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        (!truncates || ftruncate(file, 0) == 0))
        return file;

    if (!S_ISREG(status.st_mode))
        errno = EISDIR;
    fail(path, error);
    close(file);
    return -1;
}

FILE *ss_state_read(int parent, const char *name, const struct ss_trust *trust, const char *path,
    struct ss_error *error) {
    int file = ss_state_file(parent, name, O_RDONLY, trust, path, error);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (stream || file < 0)
        return stream;
    fail(path, error);
    close(file);
    return NULL;
}

static bool is_private(int lock, const struct ss_trust *trust) {
    struct stat status;
    if (fstat(lock, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1)
        return false;
    if (trust->has_user)
        return ss_walk_is_trusted(status.st_uid) || status.st_uid == trust->user;
    return ss_walk_is_trusted(status.st_uid) && !(status.st_mode & (S_IRWXG | S_IRWXO));
}

int ss_lock_open(int parent, const char *name, const struct ss_trust *trust, const char *path,
    struct ss_error *error) {
    mode_t mode = trust->has_user ? 0666 : 0600;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        SS_OWNED(close) int lock = openat(parent, name, O_RDWR | O_CREAT | SAFE_FLAGS, mode);
        if (lock < 0 && errno != ELOOP && errno != ENXIO && errno != EISDIR)
            return fail(path, error);
        if (lock >= 0 && is_private(lock, trust))
            return ss_owned_take(&lock);
        if (unlinkat(parent, name, 0) < 0 && errno != ENOENT)
            return fail(path, error);
    }

    errno = EAGAIN;
    return fail(path, error);
}

bool ss_lock_has_name(int lock, int parent, const char *name) {
    struct stat ours, named;
    return fstat(lock, &ours) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}
