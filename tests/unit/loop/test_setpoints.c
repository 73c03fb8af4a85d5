/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <pthread.h>

#include "loop/setpoints.h"
#include "unit.h"

static void put(struct ss_setpoints *setpoints, uint64_t number) {
    ss_setpoints_put(setpoints, &(struct ss_setpoint_change){1000 + number, (double)number / 1024});
}

static void assert_taken(
    const struct ss_setpoints *setpoints, struct ss_setpoints_reader *reader, uint64_t number) {
    struct ss_setpoint_change change;
    assert_true(ss_setpoints_take(setpoints, reader, 0, &change));
    assert_int_equal(change.time, 1000 + number);
    assert_near(change.load, (double)number / 1024, 0);
}

TEST(each_change_is_taken_once_with_its_time) {
    struct ss_setpoints setpoints = {0};
    struct ss_setpoints_reader reader = {0};
    struct ss_setpoint_change change;
    assert_false(ss_setpoints_take(&setpoints, &reader, 0, &change));
    uint64_t in = 0, out = 0;
    /* More than fits, in portions, so that slots are used again. */
    for (int portion = 1; portion < 90; portion += 7) {
        for (int i = 0; i < portion; i++)
            put(&setpoints, in++);
        while (out < in)
            assert_taken(&setpoints, &reader, out++);
        assert_false(ss_setpoints_take(&setpoints, &reader, 0, &change));
    }
    assert_that(in, >, SS_SETPOINTS_KEPT);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 0);
    ss_setpoints_put(&setpoints, &(struct ss_setpoint_change){1, NAN});
    assert_true(ss_setpoints_take(&setpoints, &reader, 0, &change));
    assert_true(isnan(change.load));
}

TEST(overwritten_changes_are_counted) {
    struct ss_setpoints setpoints = {0};
    struct ss_setpoints_reader reader = {0};
    for (uint64_t i = 0; i < SS_SETPOINTS_KEPT + 3; i++)
        put(&setpoints, i);
    for (uint64_t i = 3; i < SS_SETPOINTS_KEPT + 3; i++)
        assert_taken(&setpoints, &reader, i);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 3);
    put(&setpoints, 7);
    assert_taken(&setpoints, &reader, 7);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 3);
}

/* A change whose writer was killed is neither taken half written nor forgotten. */
TEST(unfinished_change_is_counted) {
    struct ss_setpoints setpoints = {0};
    struct ss_setpoints_reader reader = {0};
    struct ss_setpoint_change change;
    atomic_fetch_add(&setpoints.changes, 1);
    assert_false(ss_setpoints_take(&setpoints, &reader, 0, &change));
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 1);
    for (uint64_t i = 0; i < SS_SETPOINTS_KEPT; i++)
        put(&setpoints, i);
    assert_taken(&setpoints, &reader, 0);
    assert_int_equal(reader.lost, 1);
}

static void put_unfinished(struct ss_setpoints *setpoints) {
    uint64_t number = atomic_fetch_add(&setpoints->changes, 1) + 1;
    atomic_store(&setpoints->slots[number % SS_SETPOINTS_KEPT].number, 0);
}

/* Each writer that was killed gets the patience of its own. */
TEST(unfinished_change_holds_up_later_ones_only_for_a_while) {
    struct ss_setpoints setpoints = {0};
    struct ss_setpoints_reader reader = {0};
    struct ss_setpoint_change change;
    ss_time now = 5 * SS_SECOND;
    put(&setpoints, 1);
    put_unfinished(&setpoints);
    put(&setpoints, 3);
    put_unfinished(&setpoints);
    put(&setpoints, 5);
    assert_taken(&setpoints, &reader, 1);
    assert_false(ss_setpoints_take(&setpoints, &reader, now, &change));
    now += SS_SETPOINTS_PATIENCE - 1;
    assert_false(ss_setpoints_take(&setpoints, &reader, now, &change));
    now++;
    assert_true(ss_setpoints_take(&setpoints, &reader, now, &change));
    assert_int_equal(change.time, 1003);
    assert_false(ss_setpoints_take(&setpoints, &reader, now, &change));
    now += SS_SETPOINTS_PATIENCE;
    assert_true(ss_setpoints_take(&setpoints, &reader, now, &change));
    assert_int_equal(change.time, 1005);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 2);
}

TEST(last_look_does_not_wait_for_unfinished_changes) {
    struct ss_setpoints setpoints = {0};
    struct ss_setpoints_reader reader = {0};
    struct ss_setpoint_change change;
    put_unfinished(&setpoints);
    put_unfinished(&setpoints);
    put(&setpoints, 3);
    assert_true(ss_setpoints_take(&setpoints, &reader, SS_TIME_NEVER, &change));
    assert_int_equal(change.time, 1003);
    assert_false(ss_setpoints_take(&setpoints, &reader, SS_TIME_NEVER, &change));
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 2);
}

#define MANY 20000

static void *put_many(void *context) {
    for (uint64_t i = 0; i < MANY; i++)
        put(context, i);
    return NULL;
}

/* Each change is either taken whole and in order, or counted as missed, exactly once. */
TEST(changes_are_taken_while_they_are_written) {
    static struct ss_setpoints setpoints;
    struct ss_setpoints_reader reader = {0};
    struct ss_setpoint_change change;
    pthread_t writer;
    uint64_t taken = 0;
    ss_time last = 0;
    assert_int_equal(pthread_create(&writer, NULL, put_many, &setpoints), 0);
    while (reader.seen < MANY) {
        if (!ss_setpoints_take(&setpoints, &reader, 0, &change))
            continue;
        assert_that(change.time, >, last);
        assert_near(change.load, (double)(change.time - 1000) / 1024, 0);
        last = change.time;
        taken++;
    }
    pthread_join(writer, NULL);
    assert_int_equal(taken + ss_setpoints_missed(&setpoints, &reader), MANY);
}

TEST(last_finished_change_is_found) {
    struct ss_setpoints setpoints = {0};
    assert_int_equal(ss_setpoints_last(&setpoints), 0);
    for (uint64_t i = 0; i <= 2 * SS_SETPOINTS_KEPT; i++)
        put(&setpoints, i);
    assert_int_equal(ss_setpoints_last(&setpoints), 1000 + 2 * SS_SETPOINTS_KEPT);
    put_unfinished(&setpoints);
    put_unfinished(&setpoints);
    assert_int_equal(ss_setpoints_last(&setpoints), 1000 + 2 * SS_SETPOINTS_KEPT);
    for (int i = 0; i < SS_SETPOINTS_KEPT; i++)
        put_unfinished(&setpoints);
    assert_int_equal(ss_setpoints_last(&setpoints), 0);
}

UNIT_RUN
