/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <pthread.h>

#include "loop/setpoints.h"
#include "unit.h"

static struct ss_setpoints setpoints;
static struct ss_setpoints_reader reader;
static struct ss_setpoint_change change; /* the one that was taken last */

static int set_up(void **state) {
    setpoints = (struct ss_setpoints){0};
    reader = (struct ss_setpoints_reader){0};
    return 0;
}

#define SETPOINTS_TEST(name) TEST_WITH(name, set_up, NULL)

static void put(uint64_t number) {
    ss_setpoints_put(
        &setpoints, &(struct ss_setpoint_change){1000 + number, (double)number / 1024});
}

static bool take(ss_time now) {
    return ss_setpoints_take(&setpoints, &reader, now, &change);
}

static void assert_taken(uint64_t number) {
    assert_true(take(0));
    assert_int_equal(change.time, 1000 + number);
    assert_near(change.load, (double)number / 1024, 0);
}

SETPOINTS_TEST(each_change_is_taken_once_with_its_time) {
    assert_false(take(0));
    uint64_t in = 0, out = 0;
    /* Writes more than fits, in portions, so that slots are reused. */
    for (int portion = 1; portion < 90; portion += 7) {
        for (int i = 0; i < portion; i++)
            put(in++);
        while (out < in)
            assert_taken(out++);
        assert_false(take(0));
    }
    assert_that(in, >, SS_SETPOINTS_SLOTS);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 0);
    ss_setpoints_put(&setpoints, &(struct ss_setpoint_change){1, NAN});
    assert_true(take(0));
    assert_true(isnan(change.load));
}

SETPOINTS_TEST(overwritten_changes_are_counted) {
    for (uint64_t i = 0; i < SS_SETPOINTS_SLOTS + 3; i++)
        put(i);
    for (uint64_t i = 3; i < SS_SETPOINTS_SLOTS + 3; i++)
        assert_taken(i);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 3);
    put(7);
    assert_taken(7);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 3);
}

/* A change whose writer was killed is neither taken half written nor forgotten. */
SETPOINTS_TEST(unfinished_change_is_counted) {
    atomic_fetch_add(&setpoints.changes, 1);
    assert_false(take(0));
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 1);
    for (uint64_t i = 0; i < SS_SETPOINTS_SLOTS; i++)
        put(i);
    assert_taken(0);
    assert_int_equal(reader.lost, 1);
}

static void put_unfinished(void) {
    uint64_t number = atomic_fetch_add(&setpoints.changes, 1) + 1;
    atomic_store(&setpoints.slots[number % SS_SETPOINTS_SLOTS].number, 0);
}

/* The wait starts anew for each killed writer. */
SETPOINTS_TEST(unfinished_change_holds_up_later_ones_only_for_a_while) {
    ss_time now = 5 * SS_SECOND;
    put(1);
    put_unfinished();
    put(3);
    put_unfinished();
    put(5);
    assert_taken(1);
    assert_false(take(now));
    now += SS_SETPOINTS_PATIENCE - 1;
    assert_false(take(now));
    now++;
    assert_true(take(now));
    assert_int_equal(change.time, 1003);
    assert_false(take(now));
    now += SS_SETPOINTS_PATIENCE;
    assert_true(take(now));
    assert_int_equal(change.time, 1005);
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 2);
}

SETPOINTS_TEST(final_check_does_not_wait_for_unfinished_changes) {
    put_unfinished();
    put_unfinished();
    put(3);
    assert_true(take(SS_TIME_NEVER));
    assert_int_equal(change.time, 1003);
    assert_false(take(SS_TIME_NEVER));
    assert_int_equal(ss_setpoints_missed(&setpoints, &reader), 2);
}

#define MANY 20000

static void *put_many(void *context) {
    for (uint64_t i = 0; i < MANY; i++)
        put(i);
    return NULL;
}

/* Each change is either taken whole and in order, or counted as missed, exactly once. */
SETPOINTS_TEST(changes_are_taken_while_they_are_written) {
    pthread_t writer;
    uint64_t taken = 0;
    ss_time last = 0;
    assert_int_equal(pthread_create(&writer, NULL, put_many, NULL), 0);
    while (reader.seen < MANY) {
        if (!take(0))
            continue;
        assert_that(change.time, >, last);
        assert_near(change.load, (double)(change.time - 1000) / 1024, 0);
        last = change.time;
        taken++;
    }
    pthread_join(writer, NULL);
    assert_int_equal(taken + ss_setpoints_missed(&setpoints, &reader), MANY);
}

SETPOINTS_TEST(last_finished_change_is_found) {
    assert_int_equal(ss_setpoints_last(&setpoints), 0);
    for (uint64_t i = 0; i <= 2 * SS_SETPOINTS_SLOTS; i++)
        put(i);
    assert_int_equal(ss_setpoints_last(&setpoints), 1000 + 2 * SS_SETPOINTS_SLOTS);
    put_unfinished();
    put_unfinished();
    assert_int_equal(ss_setpoints_last(&setpoints), 1000 + 2 * SS_SETPOINTS_SLOTS);
    for (int i = 0; i < SS_SETPOINTS_SLOTS; i++)
        put_unfinished();
    assert_int_equal(ss_setpoints_last(&setpoints), 0);
}

UNIT_RUN
