/* SPDX-License-Identifier: Apache-2.0 */
#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

/* Linux follows at most this many links in one path. */
#define LINKS_MAX 40

/* Number of times that the file may appear or vanish while it is being opened. */
#define ATTEMPTS_MAX 8

#define PATH_ROOM 4096

/* Maximum depth of a folder below the start of a walk. */
#define DEPTH_MAX (PATH_ROOM / 2)

/* A path that is being walked. */
struct steps {
    struct ss_walk *walk;
    char rest[PATH_ROOM];
    int links;            /* followed so far */
    int above[DEPTH_MAX]; /* folders above `walk->folder`, from the start */
    int depth;
};

/* The kernel shows this user as the owner of files whose owners are not in the user namespace. */
#define UNMAPPED 65534

/* Number of user IDs: 4294967295 itself means "no user". */
#define USERS 4294967295U

#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct ss_walk_user ss_walk_user_name(uid_t user) {
    const struct passwd *entry = getpwuid(user);
    struct ss_walk_user name = {.is_number = !entry};
    if (entry)
        snprintf(name.text, sizeof name.text, "%s", ss_words_show(entry->pw_name).text);
    else
        snprintf(name.text, sizeof name.text, "user %lu", (unsigned long)user);
    return name;
}

/*
 * Returns whether the user namespace has all users of the machine. If it has only some, UNMAPPED
 * may stand for any of the others. Returns false without /proc, because then this is unknown.
 */
static bool has_all_users(void) {
    unsigned long long count, sum = 0;
    SS_OWNED(fclose) FILE *map = fopen("/proc/self/uid_map", "re");
    while (map && fscanf(map, "%*u %*u %llu", &count) == 1)
        sum += count;
    return sum >= USERS;
}

bool ss_walk_is_unknown(uid_t user) {
    return user == UNMAPPED && !has_all_users();
}

bool ss_walk_is_trusted(uid_t user) {
    return (user == geteuid() || user == 0) && !ss_walk_is_unknown(user);
}

SS_FORMAT(2, 3) static int refuse(struct ss_walk *walk, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(walk->why, sizeof walk->why, format, arguments);
    va_end(arguments);
    return -EACCES;
}

static int refuse_link(struct ss_walk *walk, const char *name, uid_t user) {
    return refuse(walk, "%s is a link of %s: name its target", ss_words_show(name).text,
        ss_walk_user_name(user).text);
}

/* Returns whether other users may write to a file, or create files in a folder. */
static bool others_may_write(const struct stat *file) {
    return file->st_mode & (S_IWGRP | S_IWOTH);
}

static bool is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Returns whether only we and root can create links in a folder. */
static bool only_trusted_may_write(const struct stat *folder) {
    return ss_walk_is_trusted(folder->st_uid) && !others_may_write(folder);
}

/*
 * Returns whether a link is part of the system, such as /var/run: it belongs to the owner of /. If
 * that owner is UNMAPPED, an attacker may appear to be the same user, so the link must also be in a
 * folder that only the system can own.
 */
static bool is_of_system(const struct stat *link, const struct stat *folder) {
    static const char *const known[] = {"/", "/dev", "/proc"};
    struct stat status;
    if (stat("/", &status) < 0 || link->st_uid != status.st_uid)
        return false;
    bool found = !ss_walk_is_unknown(link->st_uid);
    for (size_t i = 0; !found && !others_may_write(folder) && i < sizeof known / sizeof *known; i++)
        found = stat(known[i], &status) == 0 && is_same(&status, folder);
    return found;
}

/* Decides whether to follow a link. A folder owner's link may lead only to that user's files. */
static int judge_link(struct ss_walk *walk, const char *name, const struct stat *link) {
    struct stat folder;
    if (fstat(walk->folder, &folder) < 0)
        return -errno;

    bool is_ours = ss_walk_is_trusted(link->st_uid);
    if (is_ours && link->st_nlink > 1 && !only_trusted_may_write(&folder))
        return refuse(walk, "%s is a link with another name (a hard link): name its target",
            ss_words_show(name).text);

    if (is_ours || is_of_system(link, &folder))
        return 0;
    if (ss_walk_is_unknown(link->st_uid) || link->st_uid != folder.st_uid ||
        (walk->is_bound && walk->user != link->st_uid))
        return refuse_link(walk, name, link->st_uid);

    walk->is_bound = true;
    walk->user = link->st_uid;
    return 0;
}

/* Returns the descriptor that `name` denotes if the walk is in /proc/self/fd, otherwise -1. */
static int find_descriptor(const struct ss_walk *walk, const char *name) {
    struct stat folder, own;
    char *end;
    long number = strtol(name, &end, 10);
    if (end == name || *end || number < 0 || number > INT_MAX)
        return -1;

    if (fstat(walk->folder, &folder) < 0 || stat("/proc/self/fd", &own) < 0 ||
        !is_same(&folder, &own))
        return -1;
    return (int)number;
}

static int enter(struct steps *steps, int folder) {
    if (steps->depth == DEPTH_MAX) {
        close(folder);
        return -ENAMETOOLONG;
    }
    steps->above[steps->depth++] = steps->walk->folder;
    steps->walk->folder = folder;
    return 0;
}

/*
 * Returns to the folder from which the walk came. Opens ".." only at the start, because the owner
 * of a folder that was entered may have moved it since.
 */
static int leave(struct steps *steps) {
    int above = steps->depth > 0 ? steps->above[--steps->depth]
                                 : openat(steps->walk->folder, "..", FOLDER_FLAGS);
    if (above < 0)
        return -errno;
    close(steps->walk->folder);
    steps->walk->folder = above;
    return 0;
}

static void close_above(struct steps *steps) {
    while (steps->depth > 0)
        close(steps->above[--steps->depth]);
}

/* Continues the walk in another folder. Takes ownership of the descriptor. */
static int move_to(struct steps *steps, int folder) {
    if (folder < 0)
        return -errno;
    close_above(steps);
    if (steps->walk->folder >= 0)
        close(steps->walk->folder);
    steps->walk->folder = folder;
    return 0;
}

static int move_to_start(struct steps *steps, int folder, const char *path) {
    return move_to(steps, openat(folder, *path == '/' ? "/" : ".", FOLDER_FLAGS));
}

/*
 * Refuses a link that leads to files of other users, or to one of our descriptors, which belongs to
 * us whoever owns its file.
 */
static int check_bound(struct ss_walk *walk, const char *path) {
    struct stat folder;
    if (!walk->is_bound)
        return 0;
    if (walk->folder >= 0 && fstat(walk->folder, &folder) < 0)
        return -errno;
    if (walk->folder >= 0 && folder.st_uid == walk->user &&
        (!walk->exists || walk->status.st_uid == walk->user))
        return 0;
    return refuse_link(walk, path, walk->user);
}

/* Ends at one of our descriptors, or continues in the folder that it refers to. */
static int take_descriptor(struct steps *steps, int descriptor, bool is_last) {
    struct ss_walk *walk = steps->walk;
    if (!is_last)
        return move_to(steps, openat(walk->folder, walk->name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (fstat(descriptor, &walk->status) < 0)
        return -errno;

    walk->exists = true;
    walk->descriptor = descriptor;
    close(walk->folder);
    walk->folder = -1;
    return 0;
}

/* Puts the target of a link before the rest of the path. */
static int insert_target(struct steps *steps, int link) {
    char *rest = steps->rest;
    char target[2 * PATH_ROOM];
    ssize_t length = readlinkat(link, "", target, PATH_ROOM);
    if (length < 0)
        return -errno;
    if (length == PATH_ROOM || strlen(rest) >= PATH_ROOM - (size_t)length)
        return -ENAMETOOLONG;

    strcpy(target + length, rest);
    strcpy(rest, target);
    return *rest == '/' ? move_to_start(steps, AT_FDCWD, rest) : 0;
}

/* Moves the first name of the rest of a path to `name`. Returns false at the end. */
static bool next_name(char *name, char *rest) {
    size_t skipped = strspn(rest, "/");
    size_t length = strcspn(rest + skipped, "/");
    if (length == 0)
        return false;
    snprintf(name, NAME_MAX + 1, "%.*s", (int)length, rest + skipped);
    memmove(rest, rest + skipped + length, strlen(rest + skipped + length) + 1);
    return true;
}

static bool is_too_long(const char *rest) {
    return strcspn(rest + strspn(rest, "/"), "/") > NAME_MAX;
}

/* Returns as step() does. */
static int follow_link(struct steps *steps, int link, bool is_last) {
    struct ss_walk *walk = steps->walk;
    int descriptor = find_descriptor(walk, walk->name);
    int status;

    if (++steps->links > LINKS_MAX)
        return -ELOOP;

    if (descriptor >= 0) {
        status = take_descriptor(steps, descriptor, is_last);
        return status < 0 ? status : is_last;
    }

    status = judge_link(walk, walk->name, &walk->status);
    if (status < 0)
        return status;
    return insert_target(steps, link);
}

/* Returns 1 at the file, 0 if the walk continues, or a negative errno. */
static int step(struct steps *steps) {
    struct ss_walk *walk = steps->walk;
    const char *rest = steps->rest;
    bool is_last = rest[strspn(rest, "/")] == '\0';
    if (strcmp(walk->name, ".") == 0)
        return 0;
    if (strcmp(walk->name, "..") == 0)
        return leave(steps);

    SS_OWNED(close) int file = openat(walk->folder, walk->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && is_last)
        return 1;
    if (file < 0 || fstat(file, &walk->status) < 0)
        return -errno;

    if (S_ISLNK(walk->status.st_mode))
        return follow_link(steps, file, is_last);
    if (is_last) {
        walk->exists = true;
        walk->ends_with_slash = *rest;
        return *rest && !S_ISDIR(walk->status.st_mode) ? -ENOTDIR : 1;
    }

    if (!S_ISDIR(walk->status.st_mode))
        return -ENOTDIR;
    return enter(steps, ss_owned_take(&file));
}

static int take_steps(struct steps *steps) {
    struct ss_walk *walk = steps->walk;
    int status = 0;
    while (status == 0) {
        if (is_too_long(steps->rest))
            return -ENAMETOOLONG;
        if (!next_name(walk->name, steps->rest)) { /* the path names this folder, as "." does */
            strcpy(walk->name, ".");
            walk->exists = true;
            return fstat(walk->folder, &walk->status) < 0 ? -errno : 0;
        }

        status = step(steps);
    }
    return status < 0 ? status : 0;
}

int ss_walk_begin(struct ss_walk *walk, const char *path) {
    return ss_walk_begin_at(walk, AT_FDCWD, path);
}

int ss_walk_begin_at(struct ss_walk *walk, int folder, const char *path) {
    struct steps steps = {.walk = walk};
    *walk = (struct ss_walk){.folder = -1, .descriptor = -1};
    if (snprintf(steps.rest, sizeof steps.rest, "%s", path) >= (int)sizeof steps.rest)
        return -ENAMETOOLONG;
    if (!*path)
        return -ENOENT;

    int status = move_to_start(&steps, folder, path);
    if (status == 0)
        status = take_steps(&steps);
    close_above(&steps);
    walk->ends_with_slash |= *steps.rest != '\0';

    /* Any other error would reveal to the owner of the link what exists among others' files. */
    int bound = *walk->why ? 0 : check_bound(walk, path);
    return bound < 0 ? bound : status;
}

int ss_walk_below(struct ss_walk *walk, int folder, const char *name) {
    *walk = (struct ss_walk){.folder = -1, .descriptor = -1};
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;

    strcpy(walk->name, name);
    walk->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (walk->folder < 0)
        return -errno;

    walk->exists = fstatat(folder, name, &walk->status, AT_SYMLINK_NOFOLLOW) == 0;
    if (walk->exists && S_ISLNK(walk->status.st_mode))
        return refuse(walk, "it is a link: remove it, or choose another folder");
    return walk->exists || errno == ENOENT ? 0 : -errno;
}

void ss_walk_end(struct ss_walk *walk) {
    if (walk->folder >= 0)
        close(walk->folder);
    walk->folder = -1;
}

/* Another user's FIFO in a folder where others may create files may have any reader. */
static int judge_special(
    struct ss_walk *walk, const struct stat *file, const struct stat *folder, bool is_ours) {
    if (S_ISBLK(file->st_mode))
        return refuse(walk, "it is a block device: name a file");
    if (S_ISFIFO(file->st_mode) && !is_ours && others_may_write(folder))
        return refuse(walk,
            "it is a pipe of %s in a folder open to other users: choose another path",
            ss_walk_user_name(file->st_uid).text);
    return S_ISDIR(file->st_mode) ? -EISDIR : 0;
}

/* Decides whether to write to an existing file. */
static int judge_file(struct ss_walk *walk, const struct stat *file) {
    struct stat folder;
    if (fstat(walk->folder, &folder) < 0)
        return -errno;
    bool is_ours = ss_walk_is_trusted(file->st_uid) ||
                   (file->st_uid == folder.st_uid && !ss_walk_is_unknown(file->st_uid));

    if (!S_ISREG(file->st_mode))
        return judge_special(walk, file, &folder, is_ours);
    if (!is_ours || (walk->is_bound && file->st_uid != walk->user))
        return refuse(walk, "it belongs to %s: remove it, or choose another file",
            ss_walk_user_name(file->st_uid).text);
    if (file->st_nlink > 1)
        return refuse(walk, "it has another name (a hard link): remove it, or choose another file");
    return 0;
}

static int duplicate(const struct ss_walk *walk) {
    int flags = fcntl(walk->descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    int copy = fcntl(walk->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return copy < 0 ? -errno : copy;
}

/*
 * Opens an existing file. Removes it instead if it is state that others may write to. Returns
 * -ENOENT if it was removed or has vanished.
 */
static int open_existing(struct ss_walk *walk, int flags) {
    struct stat status;
    int open_flags = (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    SS_OWNED(close) int file = openat(walk->folder, walk->name, open_flags);
    if (file < 0)
        return errno == ELOOP ? refuse(walk, "it was replaced by a link: try again") : -errno;

    if (fstat(file, &status) < 0)
        return -errno;
    int judged = judge_file(walk, &status);
    if (judged < 0)
        return judged;

    if (walk->is_state && S_ISREG(status.st_mode) &&
        (!ss_walk_is_trusted(status.st_uid) || others_may_write(&status)))
        return unlinkat(walk->folder, walk->name, 0) < 0 && errno != ENOENT ? -errno : -ENOENT;
    if (S_ISREG(status.st_mode) && flags & O_TRUNC && ftruncate(file, 0) < 0)
        return -errno;

    if (!(flags & O_NONBLOCK))
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return ss_owned_take(&file);
}

int ss_walk_open(struct ss_walk *walk, int flags) {
    if (walk->descriptor >= 0)
        return duplicate(walk);
    if (walk->ends_with_slash)
        return -EISDIR;
    int judged = walk->exists ? judge_file(walk, &walk->status) : 0;
    if (judged < 0)
        return judged;

    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        int file = walk->exists ? open_existing(walk, flags) : -ENOENT;
        if (file != -ENOENT)
            return file;

        int added = O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
        file = openat(walk->folder, walk->name, (flags & ~(O_TRUNC | O_NONBLOCK)) | added,
            walk->is_state ? 0644 : 0666);
        walk->was_created = file >= 0;
        if (file >= 0 || errno != EEXIST)
            return file >= 0 ? file : -errno;
        walk->exists = true;
    }

    return -EAGAIN;
}

/*
 * Returns whether the owner of a folder is the owner of our new files. On some network file
 * systems, that is another user if we are root, so creates one to compare.
 */
static bool is_ours(int folder) {
    static const char name[] = ".new";
    struct stat made, other;
    if (fstat(folder, &made) < 0)
        return false;
    if (made.st_uid == geteuid())
        return true;

    SS_OWNED(close)
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    unlinkat(folder, name, 0);
    return fstat(file, &other) == 0 && other.st_uid == made.st_uid;
}

/* Opens a stream of the entries of an open folder. Returns NULL with errno on failure. */
static DIR *open_entries(int folder) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    int why = errno;
    if (!entries)
        ss_owned_close(&again);
    errno = why;
    return entries;
}

/* Returns the next entry other than "." and "..", or NULL. */
static const char *next_entry(DIR *entries) {
    const struct dirent *entry;
    do
        entry = readdir(entries);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry ? entry->d_name : NULL;
}

/* Fails with ESTALE unless the folder looks new: it is ours and empty. */
static int check_new(int folder) {
    SS_OWNED(closedir) DIR *entries = open_entries(folder);
    if (!entries)
        return -errno;
    return !next_entry(entries) && is_ours(folder) ? 0 : -ESTALE;
}

/* Another user may replace the folder before it is opened; the replacement is left alone. */
static int make_folder(struct ss_walk *walk) {
    if (mkdirat(walk->folder, walk->name, walk->is_state ? 0755 : 0777) < 0)
        return -errno;

    SS_OWNED(close)
    int folder = openat(walk->folder, walk->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int status = folder < 0 ? -errno : check_new(folder);
    walk->was_created = status == 0;
    if (walk->was_created)
        return ss_owned_take(&folder);

    if (status == -ESTALE || status == -ENOENT || status == -ENOTDIR || status == -ELOOP)
        return refuse(walk, "it was replaced as soon as it had been created: choose a folder in "
                            "which only you can create files");
    unlinkat(walk->folder, walk->name, AT_REMOVEDIR);
    return status;
}

int ss_walk_folder(struct ss_walk *walk, int flags) {
    int added = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (walk->descriptor >= 0)
        return -ENOTDIR;
    if (flags & O_EXCL && walk->exists)
        return -EEXIST;

    int folder = flags & O_CREAT && !walk->exists ? make_folder(walk) : -EEXIST;
    if (folder != -EEXIST || flags & O_EXCL)
        return folder;
    folder = openat(walk->folder, walk->name, (flags & ~O_CREAT) | added);
    return folder < 0 ? -errno : folder;
}

void ss_walk_remove_folder(int folder, const char *path) {
    struct ss_walk walk;
    struct stat ours;
    if (ss_walk_begin(&walk, path) == 0 && walk.exists && fstat(folder, &ours) == 0 &&
        is_same(&ours, &walk.status))
        unlinkat(walk.folder, walk.name, AT_REMOVEDIR);
    ss_walk_end(&walk);
}

static void empty_folder(int folder) {
    SS_OWNED(closedir) DIR *entries = open_entries(folder);
    struct stat here, there;
    if (!entries || fstat(folder, &here) < 0)
        return;

    for (const char *name; (name = next_entry(entries));) {
        SS_OWNED(close)
        int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0) {
            unlinkat(folder, name, 0);
        } else if (fstat(inner, &there) == 0 && there.st_dev == here.st_dev) {
            empty_folder(inner);
            unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
}

void ss_walk_remove_tree(int folder, const char *path) {
    empty_folder(folder);
    ss_walk_remove_folder(folder, path);
}

const char *ss_walk_explain(const struct ss_walk *walk, int status) {
    return *walk->why ? walk->why : strerror(-status);
}

static int finish(struct ss_walk *walk, int status, struct ss_error *error) {
    if (status < 0)
        ss_error_fail(error, "%s", ss_walk_explain(walk, status));
    ss_walk_end(walk);
    errno = status < 0 ? -status : 0;
    return status < 0 ? -1 : status;
}

static int open_path(const char *path, int flags, bool is_state, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, path);
    walk.is_state = is_state;
    return finish(&walk, status < 0 ? status : ss_walk_open(&walk, flags), error);
}

int ss_walk_open_path(const char *path, int flags, struct ss_error *error) {
    return open_path(path, flags, false, error);
}

int ss_walk_open_state(const char *path, int flags, struct ss_error *error) {
    return open_path(path, flags, true, error);
}

static FILE *open_stream(int opened, int flags, struct ss_error *error) {
    SS_OWNED(close) int file = opened;
    FILE *stream = file < 0 ? NULL : fdopen(file, flags & O_APPEND ? "a" : "w");
    if (stream)
        ss_owned_take(&file);
    else if (file >= 0)
        ss_error_memory(error);
    return stream;
}

FILE *ss_walk_stream(const char *path, int flags, struct ss_error *error) {
    return open_stream(ss_walk_open_path(path, O_WRONLY | flags, error), flags, error);
}

FILE *ss_walk_state_stream(const char *path, struct ss_error *error) {
    return open_stream(ss_walk_open_state(path, O_WRONLY | O_TRUNC, error), O_TRUNC, error);
}

int ss_walk_folder_path(const char *path, int flags, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, path);
    return finish(&walk, status < 0 ? status : ss_walk_folder(&walk, flags), error);
}

int ss_walk_open_below(int folder, const char *name, int flags, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_below(&walk, folder, name);
    return finish(&walk, status < 0 ? status : ss_walk_open(&walk, flags), error);
}

int ss_walk_folder_below(int folder, const char *name, int flags, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_below(&walk, folder, name);
    return finish(&walk, status < 0 ? status : ss_walk_folder(&walk, flags), error);
}
