/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/board.h"
#include "modules.h"

#define MS SS_MILLISECOND

static void publish(struct ss_notice *notice, uint64_t first, uint64_t second) {
    uint64_t words[] = {first, second};
    ss_notice_publish(notice, words, 2);
}

static void assert_notice(const struct ss_notice *notice, uint64_t first, uint64_t second) {
    uint64_t words[2] = {0};
    assert_true(ss_notice_read(notice, words, 2));
    assert_int_equal(words[0], first);
    assert_int_equal(words[1], second);
}

TEST(latest_notice_is_read) {
    struct ss_notice notice = {0};
    uint64_t words[2];
    assert_false(ss_notice_read(&notice, words, 2));
    for (uint64_t i = 1; i < 100; i++) {
        publish(&notice, i, ~i);
        assert_notice(&notice, i, ~i);
    }
}

/* Begins ss_notice_publish() like a writer that dies or stalls in the middle. */
static struct ss_notice_copy *begin_writing(struct ss_notice *notice, uint64_t *ticket) {
    *ticket = atomic_fetch_add(&notice->tickets, 1) + 1;
    struct ss_notice_copy *copy = &notice->copies[*ticket % SS_NOTICE_COPIES];
    atomic_store(&copy->ticket, 0);
    atomic_store(&copy->words[0], 666);
    return copy;
}

TEST(dead_writer_leaves_the_previous_notice_valid) {
    struct ss_notice notice = {0};
    uint64_t ticket;
    begin_writing(&notice, &ticket);
    uint64_t words[2];
    assert_false(ss_notice_read(&notice, words, 2));
    publish(&notice, 1, 2);
    for (int dead = 0; dead < SS_NOTICE_COPIES - 1; dead++) {
        struct ss_notice_copy *copy = begin_writing(&notice, &ticket);
        assert_notice(&notice, 1, 2);
        /* The writer completed its copy, but died before it could make it the latest. */
        if (dead == 0)
            atomic_store(&copy->ticket, ticket);
        assert_notice(&notice, 1, 2);
    }
    publish(&notice, 3, 4);
    assert_notice(&notice, 3, 4);
}

/* A stalled writer corrupts the latest copy; the next notice repairs it. */
TEST(stalled_writer_does_not_replace_the_latest_notice) {
    struct ss_notice notice = {0};
    uint64_t ticket;
    struct ss_notice_copy *copy = begin_writing(&notice, &ticket);
    for (uint64_t i = 0; i < SS_NOTICE_COPIES; i++)
        publish(&notice, i, i);
    assert_notice(&notice, SS_NOTICE_COPIES - 1, SS_NOTICE_COPIES - 1);
    atomic_store(&copy->ticket, ticket);
    uint64_t words[2];
    assert_false(ss_notice_read(&notice, words, 2));
    publish(&notice, 7, 8);
    assert_notice(&notice, 7, 8);
}

TEST(board_words_hold_any_double) {
    const double values[] = {0, -0.0, 1.0 / 3, -1e300, INFINITY, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_that(ss_double_from_word(ss_word_from_double(values[i])), ==, values[i]);
    assert_true(isnan(ss_double_from_word(ss_word_from_double(NAN))));
}

TEST(claim_excludes_other_executors_until_it_expires) {
    static const ss_time begins[] = {0, 1000 * MS};
    for (size_t i = 0; i < 2; i++) {
        ss_claim claim = 0;
        ss_time now = begins[i];
        assert_true(ss_claim_take(&claim, now, 10 * MS));
        assert_false(ss_claim_take(&claim, now, 10 * MS));
        assert_false(ss_claim_take(&claim, now + 9 * MS, 10 * MS));
        if (now > 0)
            assert_false(ss_claim_take(&claim, now - 50 * MS, 10 * MS));
        assert_true(ss_claim_take(&claim, now + 11 * MS, 10 * MS));
        assert_false(ss_claim_take(&claim, now + 20 * MS, 10 * MS));
        ss_claim_release(&claim);
        assert_true(ss_claim_take(&claim, now + 20 * MS, 10 * MS));
    }
}

static struct ss_board *board;

/* Replaces the board with a new one. */
static void allocate(uint32_t instances, size_t modules) {
    free(board);
    board = ss_board_allocate(instances, modules, false);
    assert_non_null(board);
}

/* Replaces the board with one that all executors have joined. */
static void make_board(uint32_t instances) {
    allocate(instances, 100);
    for (uint32_t i = 0; i < instances; i++)
        ss_board_join(board, i);
}

TEST(new_board_is_empty) {
    allocate(3, 1000);
    assert_int_equal(board->magic, SS_BOARD_MAGIC);
    assert_int_equal(board->ready, 1);
    assert_int_equal(board->instances, 3);
    assert_int_equal(board->alive, 0);
    assert_int_equal(board->phase, SS_PHASE_STARTING);
    assert_that(board->control_start, ==, SS_TIME_NEVER);
    assert_true(isnan(ss_double_from_word(board->setpoint)));
    const char *modules = ss_board_modules(board);
    assert_int_equal((uintptr_t)modules % 64, 0);
    assert_that((uintptr_t)modules, >=, (uintptr_t)&board->rows[3]);
    assert_true(modules + 1000 <= (char *)board + board->size);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(modules[i], 0);
}

TEST(board_without_a_name_is_found_by_pid) {
    static const uint32_t forged[] = {3, 100000, UINT32_MAX};
    struct ss_error error = {0};
    uid_t owner;
    int descriptor;
    struct ss_board *created = ss_board_create(2, 64, false, &descriptor, &error);
    assert_non_null(created);
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/" SS_BOARD_PREFIX "%d.0", (int)getpid());
    assert_int_equal(access(name, F_OK), -1);
    struct ss_board *again = ss_board_attach(getpid(), &owner, &error);
    assert_non_null(again);
    assert_int_equal(owner, geteuid());
    atomic_store(&again->setpoint, ss_word_from_double(0.7));
    assert_near(ss_double_from_word(atomic_load(&created->setpoint)), 0.7, 0);
    ss_board_close(again);
    /* Parts beyond the end of the board are refused. */
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        created->instances = forged[i];
        assert_null(ss_board_attach(getpid(), &owner, &error));
    }
    created->instances = 2;
    created->branches_offset += 1 << 20;
    assert_null(ss_board_attach(getpid(), &owner, &error));
    created->branches_offset -= 1 << 20;
    /* A process that inherited the board did not create it. */
    created->master++;
    error = (struct ss_error){0};
    assert_null(ss_board_attach(getpid(), &owner, &error));
    assert_int_equal(error.status, SS_ERROR_FAILED);
    ss_board_close(created);
    close(descriptor);
    assert_null(ss_board_attach(getpid(), &owner, &error));
    ss_board_close(NULL);
}

TEST(rank_of_an_executor_counts_living_ones) {
    make_board(5);
    uint32_t membership = board->membership_changes;
    assert_int_equal(ss_board_rank(board, 0), 0);
    assert_int_equal(ss_board_rank(board, 4), 4);
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    ss_board_leave(board, 3, SS_LIFE_ENDED);
    assert_int_equal(board->alive, 3);
    assert_int_equal(board->membership_changes, membership + 2);
    assert_int_equal(ss_board_rank(board, 0), 0);
    assert_int_equal(ss_board_rank(board, 2), 1);
    assert_int_equal(ss_board_rank(board, 4), 2);
}

TEST(first_reason_for_leaving_is_kept) {
    make_board(2);
    ss_board_leave(board, 0, SS_LIFE_CLEARED);
    ss_board_leave(board, 0, SS_LIFE_ENDED);
    assert_int_equal(board->rows[0].life, SS_LIFE_CLEARED);
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    ss_board_leave(board, 1, SS_LIFE_CLEARED);
    assert_int_equal(board->rows[1].life, SS_LIFE_ENDED);
    assert_int_equal(board->alive, 0);
    /* Nobody has joined. */
    allocate(2, 0);
    ss_board_leave(board, 0, SS_LIFE_START_FAILED);
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    assert_int_equal(board->rows[0].life, SS_LIFE_START_FAILED);
    assert_int_equal(board->rows[1].life, SS_LIFE_NONE);
    assert_int_equal(board->membership_changes, 0);
}

TEST(trace_clock_stops_during_pauses) {
    make_board(1);
    assert_int_equal(ss_board_trace_time(board, 500), 0);
    atomic_store(&board->control_start, 1000);
    assert_int_equal(ss_board_trace_time(board, 999), 0);
    assert_int_equal(ss_board_trace_time(board, 1000), 0);
    assert_int_equal(ss_board_trace_time(board, 1500), 500);
    atomic_store(&board->paused, 200);
    assert_int_equal(ss_board_trace_time(board, 1500), 300);
    assert_int_equal(ss_board_trace_time(board, 1100), 0);
}

TEST(mean_output_covers_the_latest_peers) {
    make_board(4);
    assert_near(ss_board_mean_output(board, 0, 0.8, 2), 0.8, 0);
    ss_board_publish_output(board, 0, 0.8);
    assert_near(ss_board_mean_output(board, 0, 0.8, 2), 0.8, 0);
    ss_board_publish_output(board, 1, 0.1);
    ss_board_publish_output(board, 0, 0.8);
    assert_near(ss_board_mean_output(board, 0, 0.8, 2), (0.8 + 0.1) / 2, 1e-15);
    ss_board_publish_output(board, 2, 0.2);
    ss_board_publish_output(board, 3, 0.3);
    assert_near(ss_board_mean_output(board, 0, 0.8, 0), 0.8, 0);
    assert_near(ss_board_mean_output(board, 0, 0.8, 1), (0.8 + 0.3) / 2, 1e-15);
    assert_near(ss_board_mean_output(board, 0, 0.8, 2), (0.8 + 0.3 + 0.2) / 3, 1e-15);
    assert_near(ss_board_mean_output(board, 0, 0.8, 3), (0.8 + 0.3 + 0.2 + 0.1) / 4, 1e-15);
    assert_near(ss_board_mean_output(board, 0, 0.8, 9), (0.8 + 0.3 + 0.2 + 0.1) / 4, 1e-15);
    assert_int_equal(board->publications, 5);
    assert_int_equal(board->rows[0].publications, 2);
}

TEST(frequent_peer_counts_once_in_the_mean_output) {
    make_board(3);
    ss_board_publish_output(board, 1, 0.4);
    for (int i = 0; i < 100; i++)
        ss_board_publish_output(board, 2, i / 100.0);
    assert_near(ss_board_mean_output(board, 0, 0, 2), (0 + 0.99 + 0.4) / 3, 1e-15);
    ss_board_leave(board, 2, SS_LIFE_ENDED); /* departed executors do not count */
    assert_near(ss_board_mean_output(board, 0, 0.2, 1), (0.2 + 0.4) / 2, 1e-15);
    /* More outputs than the board stores. */
    make_board(3);
    ss_board_publish_output(board, 1, 0.4);
    for (int i = 0; i < SS_BOARD_PUBLISHERS_MAX; i++)
        ss_board_publish_output(board, 2, 0.5);
    assert_near(ss_board_mean_output(board, 0, 0, 2), 0.5 / 2, 1e-15);
}

TEST(publication_counter_may_wrap_around) {
    make_board(2);
    atomic_store(&board->publications, UINT32_MAX);
    ss_board_publish_output(board, 1, 0.4);
    ss_board_publish_output(board, 1, 0.6);
    assert_int_equal(board->publications, 1);
    assert_near(ss_board_mean_output(board, 0, 0.2, 1), (0.2 + 0.6) / 2, 1e-15);
}

UNIT_RUN
