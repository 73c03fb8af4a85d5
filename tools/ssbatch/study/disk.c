/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/streams.h"
#include "base/words.h"

/* Returns SSBATCH_UNREADABLE if permission is missing. */
static int fail_to_read(const char *path, struct ss_error *error) {
    int status = errno == EACCES ? SSBATCH_UNREADABLE : -1;
    ss_paths_fail(path, error);
    return status;
}

int ssbatch_disk_path(
    char path[SSBATCH_PATH], const char *folder, const char *name, struct ss_error *error) {
    if (snprintf(path, SSBATCH_PATH, "%s/%s", folder, name) < SSBATCH_PATH)
        return 0;
    return ss_error_fail(error, "%s: the path is too long", ss_words_show(name).text);
}

int ssbatch_disk_sync(const char *path, struct ss_error *error) {
    SS_OWNED(close) int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return fail_to_read(path, error);
    return fsync(file) < 0 ? ss_paths_fail(path, error) : 0;
}

static int sync_parent(const char *path, struct ss_error *error) {
    char parent[SSBATCH_PATH];
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    if (!slash)
        return ssbatch_disk_sync(".", error);
    slash[slash == parent] = '\0';
    return ssbatch_disk_sync(parent, error);
}

int ssbatch_disk_make_folder(const char *path, struct ss_error *error) {
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return ss_paths_fail(path, error);
    return sync_parent(path, error); /* the folder may exist but not be on disk yet */
}

typedef int visitor(
    const void *context, const char *path, const struct stat *status, struct ss_error *error);

/*
 * Skips files that are removed meanwhile, as by processes of a container that still ends. Continues
 * after a visitor that returns SSBATCH_UNREADABLE, and then returns that.
 */
static int each_entry(
    const char *path, visitor *visit, const void *context, struct ss_error *error) {
    int result = 0;
    SS_OWNED(closedir) DIR *folder = opendir(path);
    if (!folder)
        return fail_to_read(path, error);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inner[SSBATCH_PATH];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (ssbatch_disk_path(inner, path, entry->d_name, error) < 0)
            return -1;
        if (lstat(inner, &status) < 0) {
            if (errno == ENOENT)
                continue;
            return fail_to_read(inner, error);
        }
        int visited = visit(context, inner, &status, error);
        if (visited == SSBATCH_UNREADABLE)
            result = visited;
        else if (visited < 0)
            return visited;
    }
    return result;
}

static int sync_tree(const char *path, bool *unreadable, struct ss_error *error);

/*
 * Syncs a file or folder. Links, pipes and sockets have no contents; the sync of their folder
 * suffices.
 */
static int sync_entry(
    const void *context, const char *path, const struct stat *status, struct ss_error *error) {
    bool *const *unreadable = context;
    struct ss_error failure = {0};
    if (!S_ISDIR(status->st_mode) && !S_ISREG(status->st_mode))
        return 0;
    int synced = S_ISDIR(status->st_mode) ? sync_tree(path, *unreadable, &failure)
                                          : ssbatch_disk_sync(path, &failure);
    if (synced == SSBATCH_UNREADABLE)
        **unreadable = true;
    else if (synced < 0 && (access(path, F_OK) == 0 || errno != ENOENT))
        return ss_error_fail(error, "%s", failure.message);
    return 0;
}

static int sync_tree(const char *path, bool *unreadable, struct ss_error *error) {
    int status = each_entry(path, sync_entry, &unreadable, error);
    return status < 0 ? status : ssbatch_disk_sync(path, error);
}

int ssbatch_disk_sync_tree(const char *path, struct ss_error *error) {
    bool unreadable = false;
    if (sync_tree(path, &unreadable, error) < 0)
        return -1;
    if (!unreadable)
        return 0;
    SS_OWNED(close) int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 || syncfs(folder) < 0 ? ss_paths_fail(path, error) : 0;
}

int ssbatch_disk_rename(const char *from, const char *to, struct ss_error *error) {
    if (rename(from, to) < 0)
        return ss_paths_fail(to, error);
    return sync_parent(to, error);
}

int ssbatch_disk_unlink(const char *path, struct ss_error *error) {
    if (unlink(path) == 0)
        return sync_parent(path, error);
    return errno == ENOENT ? 0 : ss_paths_fail(path, error);
}

int ssbatch_disk_write(const char *path, const char *text, struct ss_error *error) {
    char temporary[SSBATCH_PATH + 8];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    SS_OWNED(fclose) FILE *file = fopen(temporary, "we");
    if (!file || fputs(text, file) == EOF || fflush(file) == EOF || fsync(fileno(file)) < 0)
        return ss_paths_fail(temporary, error);
    return ssbatch_disk_rename(temporary, path, error);
}

bool ssbatch_disk_is_own(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Continues after a failure: the folder, which is then not empty, cannot be removed either. */
static int remove_entry(
    const void *context, const char *path, const struct stat *status, struct ss_error *error) {
    (void)context;
    if (S_ISDIR(status->st_mode) && ssbatch_disk_remove_tree(path, error) < 0)
        return 0;
    if (!S_ISDIR(status->st_mode) && unlink(path) < 0 && errno != ENOENT)
        ss_paths_fail(path, error);
    return 0;
}

/*
 * Adds permissions of the owner to a file or folder of this user. Root needs none, but others
 * cannot empty a read-only folder, even their own.
 */
static void permit(const char *path, const struct stat *status, mode_t needed) {
    mode_t mode = status->st_mode & 07777;
    if (status->st_uid == geteuid() && (mode & needed) != needed &&
        fchmodat(AT_FDCWD, path, mode | needed, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* the operation that needs it fails, and says why */
}

/* Returns the ID of the mount that holds a folder, -1 if unknown. */
static int mount_of(const char *folder) {
    char info[64], line[128];
    int id = -1;
    SS_OWNED(close) int file = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(info, sizeof info, "/proc/self/fdinfo/%d", file);
    SS_OWNED(fclose) FILE *stream = file < 0 ? NULL : fopen(info, "re");
    while (stream && id < 0 && fgets(line, sizeof line, stream))
        sscanf(line, "mnt_id: %d", &id);
    return id;
}

static bool is_mount(const char *folder) {
    char parent[PATH_MAX + 8];
    snprintf(parent, sizeof parent, "%s/..", folder);
    int above = mount_of(parent), here = mount_of(folder);
    return above >= 0 && here >= 0 && above != here;
}

int ssbatch_disk_remove_tree(const char *path, struct ss_error *error) {
    struct stat status;
    struct ss_error first = {0};
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? 0 : ss_paths_fail(path, error);
    if (!S_ISDIR(status.st_mode))
        return unlink(path) < 0 && errno != ENOENT ? ss_paths_fail(path, error) : 0;
    if (is_mount(path)) {
        errno = EBUSY;
        return ss_paths_fail(path, error);
    }
    permit(path, &status, S_IRWXU);
    int visited = each_entry(path, remove_entry, NULL, &first);
    if (rmdir(path) == 0)
        return 0;
    return visited < 0 || first.status ? ss_error_fail(error, "%s", first.message)
                                       : ss_paths_fail(path, error);
}

/* Makes a new file: an earlier copy may be read-only. */
static int copy_file(const char *from, const char *to, mode_t mode, struct ss_error *error) {
    SS_OWNED(close) int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return fail_to_read(from, error);
    if (unlink(to) < 0 && errno != ENOENT)
        return ss_paths_fail(to, error);
    SS_OWNED(close) int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
    if (out < 0)
        return ss_paths_fail(to, error);
    return ss_streams_copy(in, out, INT64_MAX) < 0 ? ss_paths_fail(to, error) : 0;
}

static int copy_link(const char *from, const char *to, struct ss_error *error) {
    char target[SSBATCH_PATH];
    ssize_t length = readlink(from, target, sizeof target - 1);
    if (length < 0)
        return ss_paths_fail(from, error);
    target[length] = '\0';
    unlink(to);
    return symlink(target, to) < 0 ? ss_paths_fail(to, error) : 0;
}

static int copy_entry(
    const void *target, const char *path, const struct stat *status, struct ss_error *error) {
    char to[SSBATCH_PATH];
    if (ssbatch_disk_path(to, target, strrchr(path, '/') + 1, error) < 0)
        return -1;
    if (S_ISREG(status->st_mode)) {
        permit(path, status, S_IRUSR);
        return copy_file(path, to, status->st_mode | S_IRUSR, error);
    }
    if (S_ISLNK(status->st_mode))
        return copy_link(path, to, error);
    if (!S_ISDIR(status->st_mode))
        return 0; /* a pipe or a socket is useless without its processes */
    /* The files are yet to come, so the copy of a read-only folder is not read-only. */
    if (mkdir(to, (status->st_mode | S_IRWXU) & 0777) < 0 && errno != EEXIST)
        return ss_paths_fail(to, error);
    return ssbatch_disk_copy_tree(path, to, error);
}

/* Removes an entry of a copy that the original lacks, or has as another type of file. */
static int remove_other(
    const void *original, const char *path, const struct stat *status, struct ss_error *error) {
    char from[SSBATCH_PATH];
    struct stat now;
    if (ssbatch_disk_path(from, original, strrchr(path, '/') + 1, error) < 0)
        return -1;
    if (lstat(from, &now) < 0)
        return errno == ENOENT ? ssbatch_disk_remove_tree(path, error) : ss_paths_fail(from, error);
    return (now.st_mode & S_IFMT) == (status->st_mode & S_IFMT)
               ? 0
               : ssbatch_disk_remove_tree(path, error);
}

int ssbatch_disk_copy_tree(const char *from, const char *to, struct ss_error *error) {
    struct stat status;
    if (lstat(from, &status) == 0)
        permit(from, &status, S_IRUSR | S_IXUSR);
    if (lstat(to, &status) == 0)
        permit(to, &status, S_IRWXU);
    if (each_entry(to, remove_other, from, error) < 0)
        return -1;
    return each_entry(from, copy_entry, to, error);
}
