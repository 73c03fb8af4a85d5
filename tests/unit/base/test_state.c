/* SPDX-License-Identifier: Apache-2.0 */

/* Journals, plans and locks that another user owns, may write to, or has another link to. */

#include "base/state.h"

#include <errno.h>
#include <fcntl.h>

#include "base/owned.h"
#include "tree.h"

#define ALICE 65534

/* A user whom this machine does not know, as on a file server. */
#define UNKNOWN 4000000000U

static const struct ss_trust nobody_else = {0};
static struct ss_error error;
static int folder = -1;

static int begin(void **state) {
    (void)state;
    error = (struct ss_error){0};
    folder = open(tree_new(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tree_write("state", "text\n");
    tree_set_mode("state", 0644);
    assert_int_equal(mkdir(tree_path("folder"), 0755), 0);
    return 0;
}

static int begin_with_users(void **state) {
    begin(state);
    tree_need_users();
    return 0;
}

static int end(void **state) {
    (void)state;
    close(folder);
    return 0;
}

static int open_file(int flags, const struct ss_trust *trust) {
    error = (struct ss_error){0};
    return ss_state_file(folder, "state", flags, trust, "state", &error);
}

static int open_folder(const struct ss_trust *trust) {
    error = (struct ss_error){0};
    return ss_state_folder(folder, "folder", trust, false, "folder", &error);
}

static void expect_file(const struct ss_trust *trust) {
    SS_OWNED(close) int opened = open_file(O_RDWR, trust);
    assert_that(opened, >=, 0);
}

TEST_WITH(files_that_others_may_write_are_refused, begin, end) {
    static const mode_t modes[] = {0664, 0646, 0666};
    expect_file(&nobody_else);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        tree_set_mode("state", modes[i]);
        assert_fails(open_file(O_RDWR | O_TRUNC, &nobody_else), error,
            "state: other users may write to it: check it, then run chmod go-w state");
    }
    tree_assert_file("state", "text\n");
}

TEST_WITH(files_with_two_names_are_refused, begin, end) {
    assert_int_equal(link(tree_path("state"), tree_path("other")), 0);
    assert_fails(open_file(O_RDWR | O_TRUNC, &nobody_else), error,
        "state has another name (a hard link): remove it");
    tree_assert_file("state", "text\n");
    assert_int_equal(unlink(tree_path("other")), 0);
    expect_file(&nobody_else);
}

/* Earlier versions created them with the mode that the umask permitted. */
TEST_WITH(own_folders_become_unwritable_for_others, begin, end) {
    tree_set_mode("folder", 0777);
    SS_OWNED(close) int opened = open_folder(&nobody_else);
    assert_that(opened, >=, 0);
    assert_int_equal(tree_mode("folder"), 0755);
}

TEST_WITH(folders_of_others_keep_their_mode, begin_with_users, end) {
    struct ss_trust trust = {0};
    tree_set_mode("folder", 0777);
    tree_give("folder", ALICE);
    assert_fails(open_folder(&nobody_else), error, "folder belongs to ");
    assert_int_equal(ss_trust_user(&trust, "65534", &error), 0);
    SS_OWNED(close) int opened = open_folder(&trust);
    assert_that(opened, >=, 0);
    assert_int_equal(tree_mode("folder"), 0777);
}

TEST_WITH(files_of_unknown_owners_are_refused, begin_with_users, end) {
    struct ss_trust trust = {.suggests_trust_owner = true};
    tree_give("state", UNKNOWN);
    assert_fails(open_file(O_RDONLY, &trust), error,
        "use sudo -u '#4000000000', or --trust-owner 4000000000");
    assert_fails(open_file(O_RDONLY, &nobody_else), error, "belongs to user 4000000000: make it");
    assert_int_equal(ss_trust_user(&trust, "4000000000", &error), 0);
    expect_file(&trust);
    tree_give("state", ALICE);
    assert_fails(open_file(O_RDONLY, &trust), error, "belongs to ");
}

TEST_WITH(links_and_special_files_are_refused, begin, end) {
    assert_int_equal(rename(tree_path("state"), tree_path("target")), 0);
    tree_link("target", "state");
    assert_fails(open_file(O_RDWR, &nobody_else), error, strerror(ELOOP));
    assert_int_equal(unlink(tree_path("state")), 0);
    assert_int_equal(mkfifo(tree_path("state"), 0600), 0);
    assert_fails(open_file(O_RDONLY, &nobody_else), error, "state is not a regular file");
    assert_int_equal(unlink(tree_path("state")), 0);
    assert_int_equal(open_file(O_RDONLY, &nobody_else), SS_STATE_ABSENT);
    assert_int_equal(error.status, 0);
}

static int check_start(const char *word, const struct ss_trust *trust) {
    char *words[] = {(char *)"sh", (char *)word, NULL};
    error = (struct ss_error){0};
    return ss_state_check_start(folder, words, trust, "folder", &error);
}

/* In a folder such as /tmp, others may have made any file of a recorded command. */
TEST_WITH(commands_with_files_of_other_users_do_not_start_again, begin_with_users, end) {
    static const char *const names[] = {"state", "./state", "folder/../state"};
    const struct ss_trust alice = {.has_user = true, .user = ALICE};
    SS_OWNED(close) int standard_input = dup(STDIN_FILENO);
    tree_set_mode(".", 01777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(check_start(names[i], &nobody_else), 0);
    assert_int_equal(check_start(tree_path("state"), &nobody_else), 0);

    tree_give("state", ALICE);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_fails(check_start(names[i], &nobody_else), error, "state belongs to ");
    assert_fails(check_start(tree_path("state"), &nobody_else), error, "state belongs to ");
    assert_int_equal(check_start("state", &alice), 0);
    assert_int_equal(check_start("missing", &nobody_else), 0);
    assert_int_equal(check_start("state/missing", &nobody_else), 0);
    assert_int_equal(dup2(open(tree_path("state"), O_RDONLY | O_CLOEXEC), STDIN_FILENO), 0);
    assert_int_equal(check_start("/dev/stdin", &nobody_else), 0);
    assert_int_equal(dup2(standard_input, STDIN_FILENO), 0);

    tree_set_mode(".", 0755);
    assert_int_equal(check_start("state", &nobody_else), 0);
    tree_set_mode(".", 0777);
    assert_fails(
        check_start("missing", &nobody_else), error, "folder: other users may write to it");
}

/* Its owner chooses which of our programs is executed, and may replace the link after the check. */
TEST_WITH(commands_with_links_of_other_users_do_not_start_again, begin_with_users, end) {
    tree_set_mode(".", 01777);
    tree_link("state", "link");
    assert_int_equal(check_start("link", &nobody_else), 0);
    tree_give("link", ALICE);
    assert_fails(check_start("link", &nobody_else), error, "link: link is a link of ");
    assert_fails(check_start(tree_path("link"), &nobody_else), error, "link is a link of ");
}

static ino_t inode_of(const char *name) {
    struct stat status;
    assert_int_equal(lstat(tree_path(name), &status), 0);
    return status.st_ino;
}

static void expect_lock(bool is_replaced) {
    ino_t before = inode_of("state");
    SS_OWNED(close) int lock = ss_lock_open(folder, "state", &nobody_else, "state", &error);
    assert_that(lock, >=, 0);
    assert_true(ss_lock_has_name(lock, folder, "state"));
    assert_int_equal(tree_mode("state"), 0600);
    assert_int_equal(inode_of("state") != before, is_replaced);
}

TEST_WITH(locks_that_others_may_open_are_replaced, begin, end) {
    SS_OWNED(close) int held = open(tree_path("state"), O_RDONLY | O_CLOEXEC);
    expect_lock(true); /* its mode is 0644 */
    assert_false(ss_lock_has_name(held, folder, "state"));
    expect_lock(false);
    assert_int_equal(link(tree_path("state"), tree_path("other")), 0);
    expect_lock(true);
    assert_int_equal(rename(tree_path("state"), tree_path("target")), 0);
    tree_link("target", "state");
    SS_OWNED(close) int lock = ss_lock_open(folder, "state", &nobody_else, "state", &error);
    assert_that(lock, >=, 0);
    assert_true(ss_lock_has_name(lock, folder, "state"));
    assert_int_not_equal(inode_of("state"), inode_of("target"));
}

TEST_WITH(locks_of_other_users_are_replaced, begin_with_users, end) {
    SS_OWNED(close) int held = open(tree_path("state"), O_RDONLY | O_CLOEXEC);
    tree_set_mode("state", 0600);
    tree_give("state", ALICE);
    expect_lock(true);
}

UNIT_RUN
