/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_TREE_H
#define SHOWSTOPPER_TESTS_TREE_H

/*
 * A folder of files that a test writes, such as a recorded /proc. It is removed when the process
 * exits or makes the next folder.
 */

#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char tree_root[256];

static inline int tree_remove_one(
    const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void tree_remove(void) {
    if (*tree_root)
        nftw(tree_root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *tree_root = '\0';
}

/* Makes a new, empty folder and removes the previous one. */
static inline const char *tree_new(void) {
    const char *folder = getenv("TMPDIR");
    static int registered;
    if (!registered++)
        assert_int_equal(atexit(tree_remove), 0);
    tree_remove();
    snprintf(tree_root, sizeof tree_root, "%.200s/unit-tree.XXXXXX", folder ? folder : "/tmp");
    assert_non_null(mkdtemp(tree_root));
    return tree_root;
}

/* Returns the path of a file in the folder; valid for the next three calls. */
static inline const char *tree_path(const char *name) {
    static char paths[4][4096];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", tree_root, name);
    return path;
}

/* Writes a file and its parent folders; returns its path. */
static inline const char *tree_write_bytes(const char *name, const void *bytes, size_t size) {
    const char *path = tree_path(name);
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = folder + strlen(tree_root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(folder, 0777);
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *tree_write(const char *name, const char *text) {
    return tree_write_bytes(name, text, strlen(text));
}

static inline void tree_link(const char *target, const char *name) {
    assert_int_equal(symlink(target, tree_path(name)), 0);
}

static inline void tree_set_mode(const char *name, mode_t mode) {
    assert_int_equal(chmod(tree_path(name), mode), 0);
}

/* Makes a user the owner of a file; only root can. */
static inline void tree_give(const char *name, uid_t user) {
    assert_int_equal(lchown(tree_path(name), user, user), 0);
}

/* Writes beyond this size fail, as on a full disk; RLIM_INFINITY removes the limit. */
static inline void tree_limit_size(rlim_t size) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Skips the case unless it can make files of other users. */
static inline void tree_need_users(void) {
    SKIP_UNLESS(geteuid() == 0, "root: only root can make files of other users");
    SKIP_UNLESS(
        lchown(tree_path("."), 65534, 65534) == 0, "another-user: root cannot give it files");
    tree_give(".", 0);
}

static inline mode_t tree_mode(const char *name) {
    struct stat status;
    assert_int_equal(lstat(tree_path(name), &status), 0);
    return status.st_mode & 07777;
}

/* Fails unless the file contains exactly this text. */
static inline void tree_assert_file(const char *name, const char *text) {
    static char found[1 << 18];
    FILE *file = fopen(tree_path(name), "re");
    assert_non_null(file);
    size_t length = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    found[length] = '\0';
    assert_string_equal(found, text);
    assert_int_equal(length, strlen(text));
}

#endif
