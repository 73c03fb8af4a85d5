/* SPDX-License-Identifier: Apache-2.0 */

/* Tests that a hold reaches no other process, whatever the board says and whenever it is read. */

#include <pthread.h>
#include <sys/wait.h>

#include "own_board.h"

static int signal_claimed(pid_t number, uint64_t start, bool group) {
    ss_branch_claim(board, 0, number, start, group);
    uint32_t fresh = refresh(0);
    assert_int_equal(fresh + 1, holds->count);
    return ss_hold_signal(&holds->list[fresh], SIGCONT);
}

TEST_WITH(pid_with_a_wrong_start_time_is_not_held, open_board, close_board) {
    assert_int_equal(signal_claimed(self, started, false), 0);
    expect_continuations(1);
    for (int group = 0; group < 2; group++) {
        assert_int_equal(signal_claimed(self, started + 1, group), -ESRCH);
        assert_int_equal(signal_claimed(self, started - 1, group), -ESRCH);
        assert_int_equal(signal_claimed(self, 0, group), -ESRCH);
        assert_int_equal(signal_claimed(0, started, group), -ESRCH);
        assert_int_equal(signal_claimed(0, 0, group), -ESRCH);
        assert_int_equal(signal_claimed(-1, 0, group), -ESRCH);
        assert_int_equal(signal_claimed(1, ss_platform_process_started(1), group), -ESRCH);
    }
    expect_continuations(1);
}

/* Holds by pid, as on kernels without pidfds. Sends only signal 0. */
TEST_WITH(hold_by_pid_checks_the_start_time, open_board, close_board) {
    struct ss_hold hold = {
        .pid = self, .started = started, .pidfd = -1, .by_pid = true, .group = false};
    assert_int_equal(ss_hold_signal(&hold, 0), 0);
    hold.started++;
    assert_int_equal(ss_hold_signal(&hold, 0), -ESRCH);
    hold.started = 0;
    const pid_t numbers[] = {0, -1, 1, -self, self, INT32_MAX};
    for (int i = 0; i < 12; i++) {
        hold.pid = numbers[i / 2];
        hold.group = i % 2;
        assert_int_equal(ss_hold_signal(&hold, 0), -ESRCH);
    }
    hold = (struct ss_hold){.pid = self, .started = started, .pidfd = -1};
    assert_int_equal(ss_hold_signal(&hold, 0), -ESRCH);
}

/* The slot is read at every point of a change between two uses. */
TEST_WITH(slot_read_during_a_change_signals_no_process, open_board, close_board) {
    uint64_t other = started + 1000;
    for (int written = 0; written < 4; written++) {
        memset(branch_at(0), 0, sizeof *branch_at(0));
        atomic_store(&board->branches_used, 0);
        ss_branch_claim(board, 0, self, started, false);
        ss_branch_release(board, 0);
        /* As if the next claim were for a process with another pid and start time. */
        struct ss_branch *branch = branch_at(0);
        atomic_fetch_add(&branch->serial, 1);
        if (written > 0)
            atomic_store(&branch->pid, INT32_MAX);
        if (written > 1)
            atomic_store(&branch->started, other);
        if (written > 2)
            atomic_store(&branch->group, 1);
        assert_int_equal(refresh(0), 0);
        assert_int_equal(holds->count, 0);
        /* The owner was read before the slot was released. */
        atomic_store(&branch->owner, 1);
        ss_branches_notify(board, 0);
        refresh(0);
        assert_int_equal(holds->count, 1);
        assert_int_equal(ss_hold_signal(&holds->list[0], 0), written ? -ESRCH : 0);
        ss_branch_release(board, 0);
        refresh(0);
        assert_int_equal(holds->count, 0);
    }
}

/* Joins the group of a child, which ends before the group can be opened. */
static pid_t join_leaderless_group(uint64_t *leader_started) {
    pid_t leader = fork();
    if (leader == 0) {
        pause();
        _exit(0);
    }
    assert_that(leader, >, 1);
    assert_int_equal(setpgid(leader, leader), 0);
    assert_int_equal(setpgid(0, leader), 0);
    *leader_started = ss_platform_process_started(leader);
    kill(leader, SIGKILL);
    assert_int_equal(waitpid(leader, NULL, 0), leader);
    return leader;
}

TEST_WITH(leaderless_group_is_signaled_only_if_a_known_member_lives, open_board, close_board) {
    uint64_t leader_started;
    pid_t leader = join_leaderless_group(&leader_started);
    ss_branch_claim(board, 0, leader, leader_started, true);
    refresh(0);
    assert_int_equal(ss_hold_signal(&holds->list[0], 0), -ESRCH);
    const struct {
        pid_t pid;
        uint64_t started;
        uint32_t row;
        int reached;
    } witnesses[] = {{0, 0, 0, 0}, {self, started + 1, 0, 0}, {getppid(), started, 0, 0},
        {self, started, 1, 0}, {self, started, 0, 1}};
    for (size_t i = 0; i < sizeof witnesses / sizeof *witnesses; i++) {
        atomic_store(&branch_at(0)->witness, witnesses[i].pid);
        atomic_store(&branch_at(0)->witness_started, witnesses[i].started);
        ss_holds_signal_leaderless(holds, board, witnesses[i].row, SIGCONT);
        expect_continuations(witnesses[i].reached);
    }
    ss_branch_release(board, 0); /* makes the hold outdated */
    ss_holds_signal_leaderless(holds, board, 0, SIGCONT);
    expect_continuations(1);
    assert_int_equal(setpgid(0, 0), 0);
}

static void signal_with_witness(uint32_t row, pid_t pid) {
    atomic_store(&branch_at(0)->witness, pid);
    atomic_store(&branch_at(0)->witness_started, ss_platform_process_started(pid));
    ss_holds_signal_leaderless(holds, board, row, SIGCONT);
}

/* Starts a child that stops, in this group, or in its own if 0. */
static pid_t start_stopped(pid_t group) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        pause();
        _exit(0);
    }
    assert_that(pid, >, 1);
    assert_int_equal(setpgid(pid, group), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static bool was_continued(pid_t pid) {
    int status;
    return waitpid(pid, &status, WCONTINUED | WNOHANG) == pid && WIFCONTINUED(status);
}

static void end_child(pid_t pid) {
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_WITH(leaderless_group_is_signaled_only_for_its_row_and_its_members, open_board, close_board) {
    uint64_t leader_started;
    pid_t leader = join_leaderless_group(&leader_started);
    pid_t member = start_stopped(leader), bystander = start_stopped(0);
    ss_branch_claim(board, 0, leader, leader_started, true);
    ss_branch_claim(board, 1, INT32_MAX, 1, true);
    refresh(SS_HOLDS_ALL);
    assert_int_equal(holds->count, 2);
    signal_with_witness(1, self);
    expect_continuations(0);
    assert_int_equal(setpgid(0, 0), 0);
    signal_with_witness(0, self); /* self has left the group */
    assert_false(was_continued(member));
    signal_with_witness(0, member);
    assert_true(was_continued(member));
    assert_false(was_continued(bystander));
    end_child(member);
    /* The caller signals a group with a leader at once. */
    member = start_stopped(bystander);
    ss_branch_release(board, 0);
    ss_branch_claim(board, 0, bystander, ss_platform_process_started(bystander), true);
    refresh(SS_HOLDS_ALL);
    signal_with_witness(0, member);
    assert_false(was_continued(member));
    end_child(member);
    end_child(bystander);
}

#define PLACES 8

static void *claim_and_release(void *nothing) {
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245 + 12345;
        uint32_t place = (seed >> 16) % PLACES;
        if (atomic_load(&branch_at(place)->owner))
            ss_branch_release(board, place);
        else
            ss_branch_claim(board, (seed >> 20) % ROWS, self,
                (seed >> 24) % 2 ? started : started + 1, (seed >> 25) % 2);
    }
    return nothing;
}

TEST_WITH(holds_match_the_board_after_concurrent_changes, open_board, close_board) {
    pthread_t guardian;
    for (uint32_t i = 0; i < PLACES; i++)
        ss_branch_claim(board, 0, self, started, false);
    assert_int_equal(pthread_create(&guardian, NULL, claim_and_release, NULL), 0);
    for (bool more = true; more;) {
        more = pthread_tryjoin_np(guardian, NULL) != 0;
        refresh(1);
        for (uint32_t i = 0; i < holds->count; i++)
            assert_true(holds->list[i].pidfd < 0 || holds->list[i].started == started);
    }
    uint32_t claimed = 0;
    for (uint32_t place = 0; place < PLACES; place++)
        claimed += branch_at(place)->owner == 2;
    assert_int_equal(holds->count, claimed);
    for (uint32_t i = 0; i < holds->count; i++) {
        const struct ss_hold *hold = &holds->list[i];
        assert_int_equal(hold->serial, branch_at(hold->slot)->serial);
        assert_that(hold->started, ==, branch_at(hold->slot)->started);
        assert_true(hold->by_pid || (hold->pidfd >= 0) == (hold->started == started));
    }
}

static void *notify_often(void *nothing) {
    for (int i = 0; i < 50000; i++)
        ss_branches_notify(board, 0);
    return nothing;
}

/* Rescuers can find every branch that the executor knows. */
TEST_WITH(board_version_changes_before_the_executor_is_notified, open_board, close_board) {
    pthread_t guardian;
    assert_int_equal(pthread_create(&guardian, NULL, notify_often, NULL), 0);
    while (pthread_tryjoin_np(guardian, NULL) != 0) {
        for (int i = 0; i < 1000; i++) {
            uint32_t notified = atomic_load(&board->rows[0].branch_changes);
            assert_that(atomic_load(&board->branch_changes), >=, notified);
        }
    }
    assert_int_equal(board->branch_changes, 50000);
}

UNIT_RUN
