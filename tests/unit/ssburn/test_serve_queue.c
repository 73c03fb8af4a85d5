/* SPDX-License-Identifier: Apache-2.0 */

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "unit.h"

#include "serve_queue.c"

static int items[20000];

static void open_queue(struct serve_queue *queue, size_t limit, size_t workers) {
    struct ss_error error = {0};
    assert_int_equal(serve_queue_open(queue, limit, workers, &error), 0);
}

static bool put(struct serve_queue *queue, int number) {
    return serve_queue_put(queue, &items[number]);
}

static int take(struct serve_queue *queue) {
    return (int)((int *)serve_queue_take(queue) - items);
}

/* Must also hold across the end of the ring. */
TEST(requests_are_served_in_order_of_arrival) {
    struct serve_queue queue;
    open_queue(&queue, 5, 1);
    int in = 0, out = 0;
    for (int i = 0; i < 100; i++) {
        while (put(&queue, in))
            in++;
        for (int j = 0; j < i % 5 + 1; j++) {
            assert_int_equal(take(&queue), out++);
            serve_queue_done(&queue);
        }
    }
    assert_int_equal(in, out + (int)queue.waiting);
    assert_that(out, >, 250);
    serve_queue_free(&queue);
}

/* An idle worker takes one request at once, which therefore does not count. */
TEST(request_queue_has_a_limit) {
    struct serve_queue queue;
    open_queue(&queue, 3, 2);
    for (int i = 0; i < 5; i++)
        assert_true(put(&queue, i));
    assert_false(put(&queue, 5));
    assert_int_equal(take(&queue), 0);
    assert_int_equal(take(&queue), 1);
    assert_false(put(&queue, 5));
    assert_int_equal(queue.waiting_max, 3);
    serve_queue_done(&queue);
    assert_true(put(&queue, 5));
    assert_false(put(&queue, 6));
    serve_queue_free(&queue);
}

TEST(without_a_queue_only_idle_workers_accept_requests) {
    struct serve_queue queue;
    open_queue(&queue, 0, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(put(&queue, i));
        assert_false(put(&queue, 9));
        assert_int_equal(take(&queue), i);
        assert_false(put(&queue, 9));
        serve_queue_done(&queue);
    }
    assert_int_equal(queue.waiting_max, 0);
    serve_queue_free(&queue);
}

TEST(closed_queue_is_drained) {
    struct serve_queue queue;
    open_queue(&queue, 3, 1);
    assert_true(put(&queue, 0));
    assert_true(put(&queue, 1));
    assert_null(serve_queue_drain(&queue));
    serve_queue_close(&queue);
    assert_false(put(&queue, 2));
    assert_null(serve_queue_take(&queue));
    assert_ptr_equal(serve_queue_drain(&queue), &items[0]);
    assert_ptr_equal(serve_queue_drain(&queue), &items[1]);
    assert_null(serve_queue_drain(&queue));
    serve_queue_settle(&queue);
    serve_queue_free(&queue);
}

struct gang {
    struct serve_queue queue;
    _Atomic int taken;
    _Atomic bool is_done;
    _Atomic int times[sizeof items / sizeof *items];
};

static void *work_until_closed(void *argument) {
    struct gang *gang = argument;
    int *item, last = -1;
    while ((item = serve_queue_take(&gang->queue))) {
        int number = (int)(item - items);
        /* Each worker must see increasing numbers. */
        gang->times[number] += number > last ? 1 : 100;
        last = number;
        gang->taken++;
        serve_queue_done(&gang->queue);
    }
    return NULL;
}

TEST(every_request_is_taken_exactly_once) {
    static struct gang gang;
    const int count = sizeof items / sizeof *items;
    pthread_t threads[4];
    open_queue(&gang.queue, 50, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_until_closed, &gang), 0);
    for (int i = 0; i < count; i++) {
        while (!put(&gang.queue, i))
            sched_yield();
    }
    while (gang.taken < count)
        sched_yield();
    serve_queue_close(&gang.queue);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        assert_int_equal(gang.times[i], 1);
    assert_in_range(gang.queue.waiting_max, 1, 50);
    assert_int_equal(gang.queue.busy, 0);
    serve_queue_free(&gang.queue);
}

static void *finish_slowly(void *argument) {
    struct gang *gang = argument;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    gang->is_done = true;
    serve_queue_done(&gang->queue);
    return NULL;
}

TEST(shutdown_waits_for_busy_workers) {
    static struct gang gang;
    pthread_t thread;
    open_queue(&gang.queue, 1, 1);
    assert_true(put(&gang.queue, 0));
    assert_int_equal(take(&gang.queue), 0);
    assert_int_equal(pthread_create(&thread, NULL, finish_slowly, &gang), 0);
    serve_queue_close(&gang.queue);
    serve_queue_settle(&gang.queue);
    assert_true(gang.is_done);
    pthread_join(thread, NULL);
    serve_queue_free(&gang.queue);
}

UNIT_RUN
