/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/streams.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"

/* Returns SSBATCH_UNREADABLE if permission is missing. */
static int fail_to_read(const char *path, struct ss_error *error) {
    int status = errno == EACCES ? SSBATCH_UNREADABLE : -1;
    ss_paths_fail(path, error);
    return status;
}

int ssbatch_disk_path(
    char path[SSBATCH_PATH_SIZE], const char *folder, const char *name, struct ss_error *error) {
    if (snprintf(path, SSBATCH_PATH_SIZE, "%s/%s", folder, name) < SSBATCH_PATH_SIZE)
        return 0;
    return ss_error_fail(error, "%s: the path is too long", ss_words_show(name).text);
}

/* Opens the folder of a file by a walk, and finds the file's name in it. */
static int open_parent(const char *path, const char **name, struct ss_error *error) {
    char parent[SSBATCH_PATH_SIZE];
    struct ss_error why = {0};
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + (slash == path) : 0;
    snprintf(parent, sizeof parent, "%.*s", length, path);
    *name = slash ? slash + 1 : path;

    int folder = ss_walk_folder_path(slash ? parent : ".", O_RDONLY, &why);
    int number = errno;
    if (folder < 0)
        ss_error_fail(error, "%s: %s", path, why.message);
    errno = number;
    return folder;
}

/* Duplicates an open folder, or opens that of the file like open_parent() if `folder` is -1. */
static int duplicate_parent(
    int folder, const char *path, const char **name, struct ss_error *error) {
    if (folder < 0)
        return open_parent(path, name, error);
    *name = strrchr(path, '/') + 1;
    int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? ss_paths_fail(path, error) : copy;
}

/* Opens a folder in another one. `path` is for messages. */
static int enter(int parent, const char *name, const char *path, struct ss_error *error) {
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder < 0 ? fail_to_read(path, error) : folder;
}

static int sync_file(int parent, const char *name, const char *path, struct ss_error *error) {
    SS_OWNED(close)
    int file = openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return fail_to_read(path, error);
    return fsync(file) < 0 ? ss_paths_fail(path, error) : 0;
}

static int sync_folder(int folder, const char *path, struct ss_error *error) {
    return fsync(folder) < 0 ? ss_paths_fail(path, error) : 0;
}

int ssbatch_disk_make_folder(const char *path, mode_t mode, struct ss_error *error) {
    const char *name;
    SS_OWNED(close) int parent = open_parent(path, &name, error);
    if (parent < 0)
        return -1;
    if (mkdirat(parent, name, mode) < 0 && errno != EEXIST)
        return ss_paths_fail(path, error);
    return sync_folder(parent, path, error); /* the folder may exist but not be on disk yet */
}

/* An entry of a folder. */
struct entry {
    int folder;
    const char *name, *path; /* the path is for messages */
    struct stat status;
};

typedef int visitor(void *context, const struct entry *entry, struct ss_error *error);

/*
 * Calls `visit` for each entry of a folder. Skips files that are removed in the meantime, for
 * example by a container that is shutting down. Continues after a visitor that returns
 * SSBATCH_UNREADABLE, and returns that in the end.
 */
static int each_entry(
    int folder, const char *path, visitor *visit, void *context, struct ss_error *error) {
    int result = 0;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    SS_OWNED(closedir) DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (!entries) {
        result = fail_to_read(path, error);
        ss_owned_close(&again);
        return result;
    }

    for (struct dirent *found; (found = readdir(entries));) {
        char inner[SSBATCH_PATH_SIZE];
        struct entry entry = {.folder = folder, .name = found->d_name, .path = inner};
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
            continue;
        if (ssbatch_disk_path(inner, path, found->d_name, error) < 0)
            return -1;
        if (fstatat(folder, entry.name, &entry.status, AT_SYMLINK_NOFOLLOW) < 0) {
            if (errno == ENOENT)
                continue;
            return fail_to_read(inner, error);
        }

        int visited = visit(context, &entry, error);
        if (visited == SSBATCH_UNREADABLE)
            result = visited;
        else if (visited < 0)
            return visited;
    }
    return result;
}

static int sync_tree(int folder, const char *path, bool *unreadable, struct ss_error *error);

static int sync_inner(const struct entry *entry, bool *unreadable, struct ss_error *error) {
    SS_OWNED(close) int folder = enter(entry->folder, entry->name, entry->path, error);
    return folder < 0 ? folder : sync_tree(folder, entry->path, unreadable, error);
}

/*
 * Syncs a file or folder. Links, pipes and sockets have no contents; the sync of their folder
 * suffices.
 */
static int sync_entry(void *unreadable, const struct entry *entry, struct ss_error *error) {
    struct ss_error failure = {0};
    if (!S_ISDIR(entry->status.st_mode) && !S_ISREG(entry->status.st_mode))
        return 0;
    int synced = S_ISDIR(entry->status.st_mode)
                     ? sync_inner(entry, unreadable, &failure)
                     : sync_file(entry->folder, entry->name, entry->path, &failure);
    if (synced == SSBATCH_UNREADABLE)
        *(bool *)unreadable = true;
    else if (synced < 0 && (faccessat(entry->folder, entry->name, F_OK, 0) == 0 || errno != ENOENT))
        return ss_error_fail(error, "%s", failure.message);
    return 0;
}

static int sync_tree(int folder, const char *path, bool *unreadable, struct ss_error *error) {
    int status = each_entry(folder, path, sync_entry, unreadable, error);
    return status < 0 ? status : sync_folder(folder, path, error);
}

int ssbatch_disk_sync_tree(const char *path, struct ss_error *error) {
    const char *name;
    bool unreadable = false;
    SS_OWNED(close) int parent = open_parent(path, &name, error);
    SS_OWNED(close) int folder = parent < 0 ? -1 : enter(parent, name, path, error);
    if (folder < 0 || sync_tree(folder, path, &unreadable, error) < 0)
        return -1;
    return unreadable && syncfs(folder) < 0 ? ss_paths_fail(path, error) : 0;
}

int ssbatch_disk_move(const char *from, const char *to, bool syncs, struct ss_error *error) {
    const char *old, *new;
    SS_OWNED(close) int source = open_parent(from, &old, error);
    SS_OWNED(close) int target = source < 0 ? -1 : open_parent(to, &new, error);
    if (target < 0)
        return -1;
    if (renameat(source, old, target, new) < 0)
        return ss_paths_fail(to, error);
    return syncs ? sync_folder(target, to, error) : 0;
}

int ssbatch_disk_unlink(int folder, const char *name, const char *path, struct ss_error *error) {
    if (unlinkat(folder, name, 0) == 0)
        return sync_folder(folder, path, error);
    return errno == ENOENT ? 0 : ss_paths_fail(path, error);
}

int ssbatch_disk_write(
    int folder, const char *name, const char *path, const char *text, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open_below(&file, folder, name) < 0)
        return ss_paths_fail(path, error);
    fputs(text, file.stream);
    if (ss_whole_file_commit(&file) < 0)
        return ss_paths_fail(path, error);
    return sync_folder(folder, path, error);
}

bool ssbatch_disk_is_own(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

int ssbatch_disk_open_private(
    const char *path, const struct ss_trust *trust, bool makes, struct ss_error *error) {
    const char *name;
    char folder[SSBATCH_PATH_SIZE];
    struct stat status;
    SS_OWNED(close) int parent = open_parent(path, &name, error);
    if (parent < 0)
        return -1;

    snprintf(folder, sizeof folder, "%.*s", (int)(name - path - (name > path + 1)), path);
    if (ss_state_check_parent(parent, trust, folder, error) < 0)
        return -1;
    if (makes && mkdirat(parent, name, 0700) < 0)
        return ss_paths_fail(path, error);

    SS_OWNED(close)
    int opened = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0 || fstat(opened, &status) < 0)
        return ss_paths_fail(path, error);
    if (status.st_uid != geteuid() || status.st_mode & (S_IRWXG | S_IRWXO))
        return ss_error_fail(error, "%s: not private to this user: use another --ram-folder", path);
    return ss_owned_take(&opened);
}

/*
 * Adds permissions of the owner to a file or folder of this user. Root needs none, but others
 * cannot empty a read-only folder, even their own.
 */
static void add_permissions(int parent, const char *name, mode_t needed) {
    char path[40];
    struct stat status;
    SS_OWNED(close) int file = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0 || status.st_uid != geteuid() ||
        (status.st_mode & needed) == needed || S_ISLNK(status.st_mode))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (chmod(path, (status.st_mode & 07777) | needed) < 0)
        return; /* the operation that needs it fails, and says why */
}

/* Returns the ID of the mount that holds a folder, -1 if unknown. */
static int mount_of(int folder) {
    char info[64], line[128];
    int id = -1;
    snprintf(info, sizeof info, "/proc/self/fdinfo/%d", folder);
    SS_OWNED(fclose) FILE *stream = fopen(info, "re");
    while (stream && id < 0 && fgets(line, sizeof line, stream))
        sscanf(line, "mnt_id: %d", &id);
    return id;
}

static bool is_mount(int folder, int parent) {
    int above = mount_of(parent), here = mount_of(folder);
    return above >= 0 && here >= 0 && above != here;
}

static int remove_tree(int parent, const char *name, const char *path, struct ss_error *error);

/* Continues after a failure: the folder, which is then not empty, cannot be removed either. */
static int remove_entry(void *context, const struct entry *entry, struct ss_error *error) {
    (void)context;
    remove_tree(entry->folder, entry->name, entry->path, error);
    return 0;
}

static int remove_file(int parent, const char *name, const char *path, struct ss_error *error) {
    return unlinkat(parent, name, 0) < 0 && errno != ENOENT ? ss_paths_fail(path, error) : 0;
}

static int remove_tree(int parent, const char *name, const char *path, struct ss_error *error) {
    struct stat status;
    struct ss_error first = {0};
    int visited = -1;

    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : ss_paths_fail(path, error);
    if (!S_ISDIR(status.st_mode))
        return remove_file(parent, name, path, error);

    add_permissions(parent, name, S_IRWXU);
    SS_OWNED(close) int folder = enter(parent, name, path, &first);
    if (folder >= 0 && is_mount(folder, parent)) {
        errno = EBUSY;
        return ss_paths_fail(path, error);
    }

    if (folder >= 0)
        visited = each_entry(folder, path, remove_entry, NULL, &first);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    return visited < 0 || first.status ? ss_error_fail(error, "%s", first.message)
                                       : ss_paths_fail(path, error);
}

int ssbatch_disk_remove_tree(const char *path, struct ss_error *error) {
    const char *name;
    struct ss_error why = {0};
    SS_OWNED(close) int parent = open_parent(path, &name, &why);
    if (parent < 0)
        return errno == ENOENT ? 0 : ss_error_fail(error, "%s", why.message);
    return remove_tree(parent, name, path, error);
}

/* Two folders; the paths are for messages. */
struct copying {
    int from, to;
    const char *to_path;
};

/* Makes a new file: an earlier copy may be read-only. */
static int copy_file(const struct copying *copying, const struct entry *entry, const char *to,
    struct ss_error *error) {
    struct stat status;
    SS_OWNED(close)
    int in = openat(entry->folder, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0 || fstat(in, &status) < 0)
        return fail_to_read(entry->path, error);
    if (!S_ISREG(status.st_mode))
        return 0; /* it has just been replaced */

    if (unlinkat(copying->to, entry->name, 0) < 0 && errno != ENOENT)
        return ss_paths_fail(to, error);

    SS_OWNED(close)
    int out = openat(copying->to, entry->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
        (status.st_mode | S_IRUSR) & 0777);
    if (out < 0)
        return ss_paths_fail(to, error);
    return ss_streams_copy(in, out, INT64_MAX) < 0 ? ss_paths_fail(to, error) : 0;
}

/* Keeps the owner of another user's link: links of ours are trusted and followed. */
static int copy_link(const struct copying *copying, const struct entry *entry, const char *to,
    struct ss_error *error) {
    char target[SSBATCH_PATH_SIZE];
    ssize_t length = readlinkat(entry->folder, entry->name, target, sizeof target - 1);
    if (length < 0)
        return ss_paths_fail(entry->path, error);

    target[length] = '\0';
    unlinkat(copying->to, entry->name, 0);
    if (symlinkat(target, copying->to, entry->name) < 0)
        return ss_paths_fail(to, error);

    if (ss_walk_is_trusted(entry->status.st_uid) ||
        fchownat(copying->to, entry->name, entry->status.st_uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) ==
            0)
        return 0;

    ss_paths_fail(to, error);
    unlinkat(copying->to, entry->name, 0);
    return -1;
}

static int copy_tree(int from_parent, const char *from_name, const char *from, int to_parent,
    const char *to_name, const char *to, struct ss_error *error);

static int copy_entry(void *context, const struct entry *entry, struct ss_error *error) {
    const struct copying *copying = context;
    char to[SSBATCH_PATH_SIZE];
    if (ssbatch_disk_path(to, copying->to_path, entry->name, error) < 0)
        return -1;

    if (S_ISREG(entry->status.st_mode)) {
        add_permissions(entry->folder, entry->name, S_IRUSR);
        return copy_file(copying, entry, to, error);
    }
    if (S_ISLNK(entry->status.st_mode))
        return copy_link(copying, entry, to, error);
    if (!S_ISDIR(entry->status.st_mode))
        return 0; /* a pipe or a socket is useless without its processes */

    /* The copy of a read-only folder is writable, because its files are still to be copied. */
    if (mkdirat(copying->to, entry->name, (entry->status.st_mode | S_IRWXU) & 0777) < 0 &&
        errno != EEXIST)
        return ss_paths_fail(to, error);
    return copy_tree(entry->folder, entry->name, entry->path, copying->to, entry->name, to, error);
}

/* Removes an entry of a copy that the original lacks, or has as another type of file. */
static int remove_other(void *context, const struct entry *entry, struct ss_error *error) {
    const struct copying *copying = context;
    struct stat now;
    if (fstatat(copying->from, entry->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? remove_tree(entry->folder, entry->name, entry->path, error)
                               : ss_paths_fail(entry->path, error);
    return (now.st_mode & S_IFMT) == (entry->status.st_mode & S_IFMT)
               ? 0
               : remove_tree(entry->folder, entry->name, entry->path, error);
}

static int copy_tree(int from_parent, const char *from_name, const char *from, int to_parent,
    const char *to_name, const char *to, struct ss_error *error) {
    add_permissions(from_parent, from_name, S_IRUSR | S_IXUSR);
    add_permissions(to_parent, to_name, S_IRWXU);

    SS_OWNED(close) int target = enter(to_parent, to_name, to, error);
    if (target < 0)
        return target;
    SS_OWNED(close) int source = enter(from_parent, from_name, from, error);
    if (source < 0)
        return source;

    struct copying copying = {source, target, to};
    if (each_entry(target, to, remove_other, &copying, error) < 0)
        return -1;
    return each_entry(source, from, copy_entry, &copying, error);
}

int ssbatch_disk_copy_tree(
    int from_folder, const char *from, int to_folder, const char *to, struct ss_error *error) {
    const char *from_name, *to_name;
    SS_OWNED(close) int from_parent = duplicate_parent(from_folder, from, &from_name, error);
    SS_OWNED(close)
    int to_parent = from_parent < 0 ? -1 : duplicate_parent(to_folder, to, &to_name, error);
    if (to_parent < 0)
        return -1;
    return copy_tree(from_parent, from_name, from, to_parent, to_name, to, error);
}
