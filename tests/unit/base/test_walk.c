/* SPDX-License-Identifier: Apache-2.0 */

/* Paths with parts that another user owns. tests/process/test_swaps.c changes them during walks. */

#include "base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>

#include "base/owned.h"
#include "tree.h"

/* Two other users. */
#define ALICE 65534
#define BOB   65533

static struct ss_error error;

static int begin_with_users(void **state) {
    (void)state;
    tree_new();
    tree_write("file", "text\n");
    error = (struct ss_error){0};
    tree_need_users();
    return 0;
}

static int open_path(const char *path, int flags) {
    error = (struct ss_error){0};
    return ss_walk_open_path(path, flags, &error);
}

/* Writes a text through the path, and fails unless the file then contains it. */
static void expect_to_reach(const char *path, const char *file) {
    SS_OWNED(close) int opened = open_path(path, O_WRONLY | O_TRUNC);
    assert_that(opened, >=, 0);
    assert_int_equal(write(opened, "new\n", 4), 4);
    tree_assert_file(file, "new\n");
}

static void expect_refusal(const char *path, const char *why) {
    assert_fails(open_path(path, O_WRONLY | O_TRUNC), error, why);
}

TEST(own_links_are_followed) {
    tree_new();
    tree_write("folder/file", "old\n");
    tree_link("folder/file", "relative");
    tree_link(tree_path("folder/file"), "absolute");
    tree_link("relative", "two");
    tree_link("folder", "home");
    tree_link("none", "dangling");
    expect_to_reach(tree_path("relative"), "folder/file");
    expect_to_reach(tree_path("absolute"), "folder/file");
    expect_to_reach(tree_path("two"), "folder/file");
    expect_to_reach(tree_path("home/new"), "folder/new");
    expect_to_reach(tree_path("home/../folder/.//file"), "folder/file");
    expect_to_reach(tree_path("dangling"), "none");
    assert_int_equal(chdir(tree_path("home")), 0);
    expect_to_reach("file", "folder/file");
    expect_to_reach("../two", "folder/file");
    assert_int_equal(chdir("/"), 0);
}

TEST(invalid_paths_are_refused) {
    static char path[5000];
    tree_new();
    tree_write("file", "");
    tree_link("b", "a");
    tree_link("a", "b");
    assert_int_equal(mkfifo(tree_path("pipe"), 0666), 0);
    expect_refusal(tree_path("pipe"), strerror(ENXIO)); /* opening does not wait for a reader */
    expect_refusal(tree_path("a"), strerror(ELOOP));
    expect_refusal(tree_path("a/b"), strerror(ELOOP));
    expect_refusal(tree_path("none/file"), strerror(ENOENT));
    expect_refusal(tree_path("file/file"), strerror(ENOTDIR));
    expect_refusal(tree_path("file/"), strerror(ENOTDIR));
    expect_refusal(tree_path("new/"), strerror(EISDIR));
    expect_refusal(tree_path("."), strerror(EISDIR));
    expect_refusal("/", strerror(EISDIR));
    expect_refusal("", strerror(ENOENT));
    memset(path, 'a', sizeof path - 1);
    expect_refusal(path, strerror(ENAMETOOLONG));
    path[300] = '\0';
    expect_refusal(path, strerror(ENAMETOOLONG));
}

/* The owner of the folder could redirect the program anyway, but only to files of their own. */
TEST_WITH(links_of_a_folders_owner_reach_only_their_files, begin_with_users, NULL) {
    tree_write("home/data/file", "old\n");
    tree_link("data/file", "home/link");
    tree_link("data", "home/folder");
    tree_link(tree_path("file"), "home/out");
    tree_link("..", "home/away");
    const char *const names[] = {
        "home", "home/data", "home/data/file", "home/link", "home/folder", "home/out", "home/away"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tree_give(names[i], ALICE);
    expect_to_reach(tree_path("home/link"), "home/data/file");
    expect_to_reach(tree_path("home/folder/file"), "home/data/file");
    expect_refusal(tree_path("home/out"), "is a link of ");
    expect_refusal(tree_path("home/away/file"), "is a link of ");
    expect_refusal(tree_path("home/away/new"), ": name its target");
    tree_assert_file("file", "text\n");
    assert_int_equal(access(tree_path("new"), F_OK), -1);
}

TEST_WITH(links_of_others_are_refused, begin_with_users, NULL) {
    static const mode_t modes[] = {01777, 0777, 0755, 01755};
    tree_write("shared/some", "");
    tree_link(tree_path("file"), "shared/link");
    tree_link(tree_path("shared/link"), "chain");
    tree_link("/dev/null", "shared/device");
    tree_link(".", "shared/folder");
    tree_give("shared/link", ALICE);
    tree_give("shared/device", ALICE);
    tree_give("shared/folder", ALICE);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        tree_set_mode("shared", modes[i]);
        expect_refusal(tree_path("shared/link"), "link is a link of ");
        expect_refusal(tree_path("chain"), "link is a link of ");
        expect_refusal(tree_path("shared/device"), "device is a link of ");
        expect_refusal(tree_path("shared/folder/some"), "folder is a link of ");
    }
    tree_give("shared", BOB);
    expect_refusal(tree_path("shared/link"), "link is a link of ");
    tree_assert_file("file", "text\n");
}

/* Unless the kernel protects hard links, another user can make one to any symbolic link. */
TEST_WITH(links_with_two_names_are_refused_where_others_may_write, begin_with_users, NULL) {
    tree_write("shared/some", "");
    tree_link(tree_path("file"), "link");
    assert_int_equal(link(tree_path("link"), tree_path("shared/link")), 0);
    expect_to_reach(tree_path("shared/link"), "file");
    tree_set_mode("shared", 01777);
    expect_refusal(tree_path("shared/link"), "link is a link with another name");
    tree_set_mode("shared", 0755);
    tree_give("shared", ALICE);
    expect_refusal(tree_path("shared/link"), "link is a link with another name");
    assert_int_equal(unlink(tree_path("link")), 0);
    expect_to_reach(tree_path("shared/link"), "file");
}

TEST_WITH(links_of_two_users_are_refused, begin_with_users, NULL) {
    tree_write("alice/some", "");
    tree_write("bob/file", "");
    tree_link("../bob/link", "alice/link");
    tree_link("file", "bob/link");
    tree_give("alice", ALICE);
    tree_give("alice/link", ALICE);
    tree_give("bob", BOB);
    tree_give("bob/link", BOB);
    tree_give("bob/file", BOB);
    expect_to_reach(tree_path("bob/link"), "bob/file");
    expect_refusal(tree_path("alice/link"), "is a link of ");
}

TEST_WITH(files_of_others_are_not_emptied, begin_with_users, NULL) {
    tree_write("shared/file", "text\n");
    tree_write("home/file", "text\n");
    tree_give("shared/file", ALICE);
    tree_give("home", ALICE);
    tree_give("home/file", ALICE);
    expect_refusal(tree_path("shared/file"), "it belongs to ");
    tree_assert_file("shared/file", "text\n");
    expect_to_reach(tree_path("home/file"), "home/file"); /* as under sudo */
    tree_give("home/file", BOB);
    expect_refusal(tree_path("home/file"), "it belongs to ");
}

TEST(files_with_two_names_are_not_emptied) {
    tree_new();
    error = (struct ss_error){0};
    tree_write("file", "text\n");
    assert_int_equal(link(tree_path("file"), tree_path("other")), 0);
    expect_refusal(tree_path("other"), "it has another name (a hard link)");
    tree_assert_file("file", "text\n");
}

static mode_t mode_of(int file) {
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    return status.st_mode & 07777;
}

/* Others may have opened it while they could write to it. */
static void expect_to_replace(const char *name, bool is_replaced) {
    struct stat before, after;
    const char *path = tree_path(name);
    mode_t mask = umask(0);
    SS_OWNED(close) int earlier = open(path, O_RDWR | O_CLOEXEC);
    SS_OWNED(close) int state = ss_walk_open_state(path, O_WRONLY | O_TRUNC, &error);
    umask(mask);
    assert_that(state, >=, 0);
    assert_int_equal(mode_of(state), is_replaced ? 0644 : 0640);
    assert_int_equal(fstat(earlier, &before), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino != after.st_ino, is_replaced);
}

TEST_WITH(others_cannot_write_to_state, begin_with_users, NULL) {
    tree_write("home/file", "");
    tree_set_mode("home/file", 0640);
    expect_to_replace("home/file", false);
    tree_set_mode("home/file", 0660);
    expect_to_replace("home/file", true);
    tree_set_mode("home/file", 0602);
    expect_to_replace("home/file", true);
    tree_give("home", ALICE);
    tree_give("home/file", ALICE);
    expect_to_replace("home/file", true);
    tree_give("home/file", BOB);
    assert_fails(ss_walk_open_state(tree_path("home/file"), O_WRONLY, &error), error, "belongs to");
}

TEST_WITH(pipes_of_others_in_shared_folders_are_refused, begin_with_users, NULL) {
    tree_write("shared/some", "");
    assert_int_equal(mkfifo(tree_path("shared/pipe"), 0666), 0);
    SS_OWNED(close) int reader = open(tree_path("shared/pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    tree_set_mode("shared", 01777);
    SS_OWNED(close) int own = open_path(tree_path("shared/pipe"), O_WRONLY);
    assert_that(own, >=, 0);
    assert_int_equal(fcntl(own, F_GETFL) & O_NONBLOCK, 0);
    tree_give("shared/pipe", ALICE);
    expect_refusal(tree_path("shared/pipe"), "it is a pipe of ");
    tree_set_mode("shared", 0777);
    expect_refusal(tree_path("shared/pipe"), "it is a pipe of ");
    tree_give("shared", ALICE);
    SS_OWNED(close) int theirs = open_path(tree_path("shared/pipe"), O_WRONLY);
    assert_that(theirs, >=, 0);
}

/* By the time of the removal, the path may lead to another folder of ours. */
TEST(opened_folder_is_removed_although_its_path_changed) {
    tree_new();
    tree_write("lab/record/n0/plan.json", "{}\n");
    tree_write("lab/record/fleet.csv", "node\n");
    tree_write("other/record/n0/plan.json", "ours\n");
    tree_link("../../other", "lab/record/link");
    tree_link("../../other/record/n0/plan.json", "lab/record/n0/link");
    const char *path = tree_path("lab/record");
    SS_OWNED(close) int folder = ss_walk_folder_path(path, O_RDONLY, &error);
    assert_that(folder, >=, 0);
    assert_int_equal(rename(tree_path("lab"), tree_path("moved")), 0);
    tree_link("other", "lab");
    ss_walk_remove_tree(folder, path);
    tree_assert_file("other/record/n0/plan.json", "ours\n");
    assert_int_equal(access(tree_path("moved/record/fleet.csv"), F_OK), -1);
    assert_int_equal(rmdir(tree_path("moved/record")), 0);

    tree_write("new/n0/samples.csv", "time\n");
    SS_OWNED(close) int other = ss_walk_folder_path(tree_path("new"), O_RDONLY, &error);
    ss_walk_remove_tree(other, tree_path("new"));
    assert_int_equal(access(tree_path("new"), F_OK), -1);
}

/* For process substitutions, and for containers in which /dev/stdout may not be opened again. */
TEST(own_descriptors_are_duplicated) {
    int ends[2];
    char path[64];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    SS_OWNED(close) int copy = open_path(path, O_WRONLY);
    assert_that(copy, >=, 0);
    assert_int_equal(write(copy, "x", 1), 1);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    expect_refusal(path, strerror(EBADF));
    close(ends[0]);
    close(ends[1]);

    tree_new();
    tree_write("file", "text\n");
    int file = open(tree_path("file"), O_WRONLY | O_APPEND | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    SS_OWNED(close) int again = open_path(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(again, "more\n", 5), 5);
    tree_assert_file("file", "text\nmore\n");
    close(file);
}

TEST_WITH(links_of_others_to_descriptors_are_refused, begin_with_users, NULL) {
    char path[64];
    SS_OWNED(close) int file = open(tree_path("file"), O_WRONLY | O_APPEND | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    tree_write("home/some", "");
    tree_link(path, "home/link");
    SS_OWNED(close) int copy = open_path(tree_path("home/link"), O_WRONLY);
    assert_that(copy, >=, 0);
    tree_give("home", ALICE);
    tree_give("home/link", ALICE);
    expect_refusal(tree_path("home/link"), "is a link of ");
}

TEST_WITH(links_below_an_open_folder_are_not_followed, begin_with_users, NULL) {
    tree_write("folder/some", "");
    tree_link("../file", "folder/link");
    SS_OWNED(close) int folder = open(tree_path("folder"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_fails(
        ss_walk_open_below(folder, "link", O_WRONLY | O_TRUNC, &error), error, "is a link");
    error = (struct ss_error){0};
    SS_OWNED(close) int file = ss_walk_open_below(folder, "new", O_WRONLY | O_TRUNC, &error);
    assert_that(file, >=, 0);
    assert_int_equal(access(tree_path("folder/new"), F_OK), 0);
    tree_assert_file("file", "text\n");
}

TEST_WITH(folders_are_made_and_opened, begin_with_users, NULL) {
    struct ss_walk walk;
    assert_int_equal(ss_walk_begin(&walk, tree_path("new/")), 0);
    SS_OWNED(close) int folder = ss_walk_folder(&walk, O_RDONLY | O_CREAT);
    ss_walk_end(&walk);
    assert_that(folder, >=, 0);
    assert_true(walk.was_created);
    assert_int_equal(ss_walk_begin(&walk, tree_path("new")), 0);
    SS_OWNED(close) int again = ss_walk_folder(&walk, O_RDONLY | O_CREAT);
    ss_walk_end(&walk);
    assert_that(again, >=, 0);
    assert_false(walk.was_created);
    assert_int_equal(ss_walk_folder_path(tree_path("none"), O_RDONLY, &error), -1);
    assert_int_equal(errno, ENOENT);
    tree_link("new", "link");
    SS_OWNED(close) int linked = ss_walk_folder_path(tree_path("link"), O_RDONLY, &error);
    assert_that(linked, >=, 0);
    tree_give("link", ALICE);
    error = (struct ss_error){0};
    assert_fails(
        ss_walk_folder_path(tree_path("link"), O_RDONLY | O_CREAT, &error), error, "is a link of ");
}

/* As for root on a network file system that maps root to nobody. */
TEST_WITH(new_folders_may_get_another_owner, begin_with_users, NULL) {
    tree_set_mode(".", 0777);
    setfsuid(ALICE);
    SS_OWNED(close)
    int folder = ss_walk_folder_path(tree_path("new"), O_RDONLY | O_CREAT | O_EXCL, &error);
    setfsuid(0);
    assert_that(folder, >=, 0);
    assert_int_equal(rmdir(tree_path("new")), 0);
}

UNIT_RUN
