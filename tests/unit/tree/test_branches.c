/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests of branches on the board and of holds on them. tests/process tests which processes a hold
 * reaches.
 */

#include <sys/mman.h>

#include "own_board.h"
#include "pidfds.h"

TEST_WITH(claimed_branch_appears_on_the_board, open_board, close_board) {
    assert_int_equal(ss_branch_claim(board, 2, 4711, 123456789012, true), 0);
    assert_int_equal(ss_branch_claim(board, 0, 4712, 7, false), 1);
    assert_int_equal(board->branches_used, 2);
    assert_int_equal(branch_at(0)->owner, 3);
    assert_int_equal(branch_at(0)->pid, 4711);
    assert_that(branch_at(0)->started, ==, 123456789012);
    assert_int_equal(branch_at(0)->group, 1);
    assert_int_equal(branch_at(1)->owner, 1);
    assert_int_equal(branch_at(1)->group, 0);
    assert_int_equal(branch_at(2)->owner, 0);
}

TEST_WITH(reused_branch_slot_gets_a_new_serial, open_board, close_board) {
    uint32_t serials[4];
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(ss_branch_claim(board, 0, 100, 1, false), i);
        serials[i] = branch_at(i)->serial;
        assert_int_not_equal(serials[i], 0);
    }
    ss_branch_release(board, 1);
    ss_branch_release(board, 2);
    assert_int_equal(branch_at(1)->owner, 0);
    assert_int_equal(ss_branch_claim(board, 1, 200, 2, true), 1);
    assert_int_equal(ss_branch_claim(board, 1, 100, 1, false), 2);
    assert_int_equal(ss_branch_claim(board, 1, 100, 1, false), 4);
    assert_int_equal(board->branches_used, 5);
    assert_int_not_equal(branch_at(1)->serial, serials[1]);
    assert_int_not_equal(branch_at(2)->serial, serials[2]);
    assert_int_equal(branch_at(3)->serial, serials[3]);
}

TEST_WITH(board_has_a_fixed_number_of_slots, open_board, close_board) {
    for (uint32_t i = 0; i < SS_BOARD_BRANCHES_MAX; i++)
        assert_int_equal(ss_branch_claim(board, i % ROWS, 100, 1, false), i);
    uint32_t notified = board->rows[0].branch_changes;
    assert_int_equal(ss_branch_claim(board, 0, 100, 1, false), SS_BOARD_BRANCHES_MAX);
    assert_int_equal(board->branches_used, SS_BOARD_BRANCHES_MAX);
    assert_int_equal(board->rows[0].branch_changes, notified);
    const char *end = (const char *)branch_at(SS_BOARD_BRANCHES_MAX);
    assert_true(end <= (const char *)ss_board_modules(board));
    ss_branch_release(board, 77);
    assert_int_equal(ss_branch_claim(board, 0, 100, 1, false), 77);
}

TEST_WITH(holds_are_updated_from_the_board, open_board, close_board) {
    assert_int_equal(refresh(0), 0);
    assert_int_equal(holds->count, 0);
    for (uint32_t i = 0; i < 5; i++)
        ss_branch_claim(board, i == 3 ? 1 : 0, self, started, false);
    assert_int_equal(refresh(0), 0);
    assert_int_equal(holds->count, 4);
    assert_int_equal(refresh(0), 4);
    assert_int_equal(holds->count, 4);
    ss_branch_release(board, 1);
    ss_branch_claim(board, 0, self, started, false);
    ss_branch_claim(board, 0, self, started, false);
    /* Remaining holds keep their order, and new ones follow them. */
    assert_int_equal(refresh(0), 3);
    const uint32_t places[] = {0, 2, 4, 1, 5};
    assert_int_equal(holds->count, 5);
    assert_null(ss_holds_find(holds, 3));
    for (uint32_t i = 0; i < 5; i++) {
        assert_ptr_equal(ss_holds_find(holds, places[i]), &holds->list[i]);
        assert_int_equal(holds->list[i].slot, places[i]);
        assert_int_equal(holds->list[i].serial, branch_at(places[i])->serial);
        assert_int_equal(holds->list[i].row, 0);
        assert_int_equal(ss_hold_signal(&holds->list[i], 0), 0);
    }
}

TEST_WITH(executor_refreshes_its_holds_only_after_a_change, open_board, close_board) {
    struct ss_row *row = &board->rows[0];
    uint32_t fresh;
    assert_false(ss_holds_refresh(holds, board, 0, &fresh));
    ss_branch_claim(board, 1, self, started, false);
    assert_int_equal(row->branch_changes, 0);
    assert_int_equal(row->wake, 0);
    assert_false(ss_holds_refresh(holds, board, 0, &fresh));
    assert_int_equal(fresh, 0);
    ss_branch_claim(board, 0, self, started, false);
    assert_int_equal(row->branch_changes, 1);
    assert_int_equal(row->wake, 1);
    assert_true(ss_holds_refresh(holds, board, 0, &fresh));
    assert_int_equal(fresh, 0);
    assert_int_equal(holds->count, 1);
    assert_false(ss_holds_refresh(holds, board, 0, &fresh));
    assert_int_equal(fresh, 1);
    for (int i = 0; i < 2; i++) { /* the second one has no effect */
        ss_branch_release(board, 1);
        assert_int_equal(row->branch_changes, 2);
        assert_int_equal(row->wake, 2);
        assert_int_equal(ss_holds_refresh(holds, board, 0, &fresh), i == 0);
        assert_int_equal(holds->count, 0);
    }
}

/* The executor reports that it has continued the process; until then, a rescuer may have to. */
TEST_WITH(branch_that_left_is_continued_by_its_executor, open_board, close_board) {
    ss_branch_claim(board, 0, self, started, false);
    refresh(0);
    atomic_store(&branch_at(0)->has_left_group, 1);
    ss_branches_notify(board, 0);
    assert_int_not_equal(branch_at(0)->missed_serial, branch_at(0)->serial);
    refresh(0);
    assert_int_equal(holds->count, 0);
    expect_continuations(1);
    assert_int_equal(branch_at(0)->missed_serial, branch_at(0)->serial);
    ss_branches_notify(board, 0);
    refresh(SS_HOLDS_ALL);
    assert_int_equal(holds->count, 1);
}

TEST_WITH(guardian_holds_branches_of_all_rows, open_board, close_board) {
    for (uint32_t i = 0; i < 6; i++)
        ss_branch_claim(board, i % ROWS, self, started, false);
    refresh(SS_HOLDS_ALL);
    assert_int_equal(holds->count, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(holds->list[i].row, i % ROWS);
    /* Signals to one row are for that row alone. */
    ss_holds_signal(holds, 0, 1, SIGCONT);
    expect_continuations(2);
    ss_holds_signal_reversed(holds, 1, SIGCONT);
    expect_continuations(4);
    ss_holds_signal(holds, 4, SS_HOLDS_ALL, SIGCONT);
    expect_continuations(6);
    ss_holds_signal_reversed(holds, SS_HOLDS_ALL, SIGCONT);
    expect_continuations(12);
}

/* The executor may have stopped the process through another branch after a guardian's refresh. */
TEST_WITH(only_the_executor_continues_a_released_branch, open_board, close_board) {
    static struct ss_holds guardian;
    uint32_t fresh;
    ss_branch_claim(board, 0, self, started, false);
    ss_branch_claim(board, 0, self, started, false);
    refresh(0);
    ss_holds_refresh(&guardian, board, SS_HOLDS_ALL, &fresh);
    int process = holds->list[0].pidfd, other = guardian.list[0].pidfd;
    ss_branch_release(board, 0);
    ss_holds_refresh(&guardian, board, SS_HOLDS_ALL, &fresh);
    assert_int_equal(guardian.count, 1);
    expect_continuations(0);
    refresh(0);
    expect_continuations(1);
    assert_int_equal(holds->count, 1);
    errno = 0;
    assert_int_equal(close(process), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(close(other), -1);
    if (guardian.list[0].pidfd >= 0)
        close(guardian.list[0].pidfd);
}

/* A missed group is not stopped, although the guardian may hold it. */
TEST_WITH(executor_reports_a_group_it_cannot_hold, open_board, close_board) {
    need_pidfds();
    ss_branch_claim(board, 0, self, started, true);
    ss_branch_claim(board, 0, self, started + 1, true);
    ss_branch_claim(board, 0, self, started + 1, false);
    refresh(SS_HOLDS_ALL);
    assert_int_not_equal(branch_at(1)->missed_serial, branch_at(1)->serial);
    close_board(state);
    open_board(state);
    ss_branch_claim(board, 0, self, started, true);
    ss_branch_claim(board, 0, self, started + 1, true);
    ss_branch_claim(board, 0, self, started + 1, false);
    refresh(0);
    assert_int_not_equal(branch_at(0)->missed_serial, branch_at(0)->serial);
    assert_int_equal(branch_at(1)->missed_serial, branch_at(1)->serial);
    assert_int_not_equal(branch_at(2)->missed_serial, branch_at(2)->serial);
    /* The report does not apply to the next use of the slot. */
    ss_branch_release(board, 1);
    assert_int_equal(ss_branch_claim(board, 0, self, started, true), 1);
    refresh(0);
    assert_int_not_equal(branch_at(1)->missed_serial, branch_at(1)->serial);
}

/* The slot is released and claimed for the same process, first for the same row, then another. */
TEST_WITH(changed_slot_serial_causes_a_new_hold, open_board, close_board) {
    ss_branch_claim(board, 0, self, started, false);
    refresh(0);
    uint32_t serial = holds->list[0].serial;
    ss_branch_release(board, 0);
    assert_int_equal(ss_branch_claim(board, 0, self, started, false), 0);
    assert_int_equal(refresh(0), 0);
    assert_int_equal(holds->count, 1);
    assert_int_not_equal(holds->list[0].serial, serial);
    expect_continuations(1);
    ss_branch_release(board, 0);
    ss_branch_claim(board, 2, self, started, false);
    refresh(0);
    assert_int_equal(holds->count, 0);
}

#define PLACE 2048

static struct {
    char *memory; /* of the holds, with the entry index_of_slot[PLACE] at the start of `page` */
    char *page;   /* reading it calls begin_next_use() */
    size_t page_size, size;
} trap;

/* Uses the slot again, as the guardian does, up to the point where it writes the pid. */
static void begin_next_use(int number) {
    mprotect(trap.page, trap.page_size, PROT_READ | PROT_WRITE);
    ss_branch_release(board, PLACE);
    atomic_fetch_add(&branch_at(PLACE)->serial, 1);
}

static void fill_slot(pid_t pid, uint64_t start) {
    atomic_store(&branch_at(PLACE)->pid, pid);
    atomic_store(&branch_at(PLACE)->started, start);
    atomic_store(&branch_at(PLACE)->owner, 1);
    ss_branches_notify(board, 0);
}

static void set_trap(void) {
    size_t offset = offsetof(struct ss_holds, index_of_slot) + PLACE * sizeof *holds->index_of_slot;
    trap.page_size = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (offset + trap.page_size - 1) / trap.page_size * trap.page_size;
    trap.size = before + sizeof *holds;
    trap.memory = mmap(NULL, trap.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(trap.memory, MAP_FAILED);
    trap.page = trap.memory + before;
    free(holds);
    holds = (struct ss_holds *)(void *)(trap.page - offset);
    assert_int_equal(mprotect(trap.page, trap.page_size, PROT_NONE), 0);
}

/* holds->index_of_slot is read between the owner and the pid of a slot. */
TEST_WITH(slot_used_again_while_it_is_read_is_held_later, open_board, close_board) {
    struct sigaction action = {.sa_handler = begin_next_use}, before;
    atomic_store(&board->branches_used, PLACE + 1);
    fill_slot(INT32_MAX, started + 1);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    set_trap();
    refresh(0);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    assert_int_equal(branch_at(PLACE)->serial, 1);
    fill_slot(self, started);
    refresh(0);
    assert_int_equal(holds->count, 1);
    assert_int_equal(holds->list[0].pid, self);
    assert_int_equal(ss_hold_signal(&holds->list[0], 0), 0);
    ss_hold_close(&holds->list[0]);
    munmap(trap.memory, trap.size);
    holds = calloc(1, sizeof *holds);
}

UNIT_RUN
