/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "loop/ring.h"
#include "unit.h"

static struct ss_ring ring;

static int set_up(void **state) {
    ring = (struct ss_ring){0};
    return 0;
}

TEST_WITH(ring_intervals_are_read_in_order, set_up, NULL) {
    struct ss_interval interval;
    assert_false(ss_ring_take(&ring, &interval));
    uint64_t in = 0, out = 0;
    /* Writes more than fits, in portions, so the ring wraps around. */
    for (int portion = 1; portion < 200; portion += 7) {
        for (int i = 0; i < portion; i++)
            ss_ring_put(&ring, &(struct ss_interval){.begin = in++});
        while (ss_ring_take(&ring, &interval))
            assert_int_equal(interval.begin, out++);
    }
    assert_int_equal(in, out);
    assert_int_equal(ring.lost, 0);
}

/* The writer does not wait, and entries in the ring are not overwritten. */
TEST_WITH(ring_overflow_is_counted, set_up, NULL) {
    struct ss_interval interval;
    for (uint64_t i = 0; i < SS_RING_SLOTS + 3; i++)
        ss_ring_put(&ring, &(struct ss_interval){.begin = i});
    assert_int_equal(ring.lost, 3);
    for (uint64_t i = 0; i < SS_RING_SLOTS; i++) {
        assert_true(ss_ring_take(&ring, &interval));
        assert_int_equal(interval.begin, i);
    }
    assert_false(ss_ring_take(&ring, &interval));
    ss_ring_put(&ring, &(struct ss_interval){.begin = 7});
    assert_true(ss_ring_take(&ring, &interval));
}

#define MANY 200000

static void *put_many(void *context) {
    for (uint64_t i = 0; i < MANY; i++)
        ss_ring_put(&ring, &(struct ss_interval){.begin = i, .length = 2 * i, .planned = ~i});
    return NULL;
}

/* Each interval is either read whole and in order, or counted as lost, exactly once. */
TEST_WITH(ring_writer_and_reader_never_wait, set_up, NULL) {
    struct ss_interval interval;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, put_many, NULL), 0);
    uint64_t taken = 0, next = 0;
    while (taken + atomic_load(&ring.lost) < MANY) {
        if (!ss_ring_take(&ring, &interval))
            continue;
        assert_that(interval.begin, >=, next);
        assert_int_equal(interval.length, 2 * interval.begin);
        assert_int_equal(interval.planned, ~interval.begin);
        next = interval.begin + 1;
        taken++;
    }
    pthread_join(writer, NULL);
    assert_false(ss_ring_take(&ring, &interval));
}

UNIT_RUN
