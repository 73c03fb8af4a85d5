/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests which processes of an attached control group become branches. The group is a folder of
 * files, and its process is the parent of this one, which gets no signal.
 */

#include <unistd.h>

#include "tree.h"
#include "tree/branches.h"
#include "tree/group_scan.h"
#include "unit.h"

static struct ss_board *board;
static struct ss_group_scan scan;
static bool gone;

static bool is_gone(void *holder, uint32_t slot) {
    return gone;
}

static struct ss_branch *branch(void) {
    return ss_board_branches(board);
}

static int open_scan(void **state) {
    tree_new();
    tree_write("group/cgroup.procs", "");
    gone = false;
    board = ss_board_allocate(1, 0, false);
    assert_non_null(board);
    snprintf(board->group, sizeof board->group, "%s", tree_path("group"));
    return ss_group_scan_open(&scan, board, is_gone, NULL);
}

static int close_scan(void **state) {
    ss_group_scan_close(&scan);
    free(board);
    return 0;
}

/* Puts the process into a group, or removes it from there. */
static void set(const char *name, bool in) {
    char text[16] = "", path[64];
    if (in)
        snprintf(text, sizeof text, "%d\n", (int)getppid());
    snprintf(path, sizeof path, "%s/cgroup.procs", name);
    tree_write(path, text);
}

TEST_WITH(processes_of_all_groups_below_are_branches, open_scan, close_scan) {
    set("group/inner/most", true);
    assert_true(ss_group_scan_run(&scan));
    assert_int_equal(branch()->owner, 1);
    assert_int_equal(branch()->pid, getppid());
    assert_true(ss_group_scan_run(&scan));
    assert_int_equal(board->branches_used, 1);
    gone = true;
    set("group/inner/most", false);
    assert_true(ss_group_scan_run(&scan));
    assert_int_equal(branch()->owner, 0);
}

TEST_WITH(branch_of_a_process_that_left_stays_until_continued, open_scan, close_scan) {
    set("group", true);
    ss_group_scan_run(&scan);
    set("group", false);
    ss_group_scan_run(&scan);
    assert_int_equal(branch()->has_left_group, 1);
    set("group", true); /* it comes back before that */
    ss_group_scan_run(&scan);
    assert_int_equal(branch()->owner, 1);
    assert_int_equal(branch()->has_left_group, 1);
    atomic_store(&branch()->missed_serial, branch()->serial); /* as the executor does */
    ss_group_scan_run(&scan);
    assert_int_equal(branch()->owner, 1);
    assert_int_equal(branch()->has_left_group, 0);
}

TEST_WITH(processes_of_the_run_and_above_it_are_exempt, open_scan, close_scan) {
    board->master = getppid();
    set("group", true);
    ss_group_scan_run(&scan);
    board->master = 0;
    atomic_store(&board->ancestors[0], getppid());
    ss_group_scan_run(&scan);
    assert_int_equal(board->branches_used, 0);
    assert_int_equal(board->emptied, 0);
}

TEST_WITH(group_without_processes_has_ended, open_scan, close_scan) {
    set("group", true);
    ss_group_scan_run(&scan);
    set("group", false);
    ss_group_scan_run(&scan);
    assert_int_equal(board->emptied, 0); /* the process may have been on its way */
    ss_group_scan_run(&scan);
    assert_int_equal(board->emptied, 1);
}

/* Nothing is known of a group that cannot be read. */
TEST_WITH(unreadable_group_changes_nothing, open_scan, close_scan) {
    set("group", true);
    ss_group_scan_run(&scan);
    set("group", false);
    tree_write("group/inner/cgroup.procs/x", "");
    for (int i = 0; i < 3; i++)
        assert_false(ss_group_scan_run(&scan));
    assert_int_equal(branch()->has_left_group, 0);
    assert_int_equal(board->emptied, 0);
}

UNIT_RUN
