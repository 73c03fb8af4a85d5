/* SPDX-License-Identifier: Apache-2.0 */

#include <pthread.h>

#include "loop/permits.h"
#include "modules.h"

/* Times in multiples of the unit are exact, so results must be exact. */
#define UNIT  UINT64_C(1024)
#define START (1000000 * UNIT)

static struct ss_permits permits;

/* Takes times in units, like the functions below. */
static void set(_Atomic uint32_t *own, ss_time now, bool runs) {
    ss_permits_set(&permits, own, now * UNIT, runs);
}

static struct ss_permission look(ss_time now) {
    struct ss_permission permission = {0};
    ss_permits_read(&permits, now * UNIT, &permission);
    return permission;
}

static void assert_permission(ss_time now, ss_time given, uint32_t running) {
    struct ss_permission permission = look(now);
    assert_int_equal(permission.given, given * UNIT);
    assert_int_equal(permission.running, running);
}

TEST(permitted_time_grows_while_an_instance_runs) {
    _Atomic uint32_t own = 0;
    permits = (struct ss_permits){0};
    set(&own, 40, false);
    assert_permission(50, 0, 0);
    set(&own, 100, true);
    assert_permission(100, 0, 1);
    assert_permission(120, 20, 1);
    assert_permission(150, 50, 1);
    set(&own, 150, false);
    assert_permission(150, 50, 0);
    assert_permission(900, 50, 0);
    set(&own, 1000, true);
    assert_permission(1004, 54, 1);
    set(&own, 1004, false);
    set(&own, 1006, false);
    assert_permission(1010, 54, 0);
    assert_int_equal(own, 0);
}

/* A clock that has run for 208 days exceeds the field for times. */
TEST(permitted_time_is_correct_after_the_clock_field_wraps) {
    const ss_time wrap = SS_PERMISSION_WRAPS / UNIT;
    for (ss_time times = 1; times <= 5; times++) {
        const ss_time end = times * wrap;
        _Atomic uint32_t owns[3] = {0};
        permits = (struct ss_permits){0};
        set(&owns[0], end - 100, true);
        set(&owns[1], end - 10, true);
        assert_permission(end - 10, 90, 2);
        assert_permission(end - 1, 99 + 9, 2);
        set(&owns[1], end, false);
        set(&owns[2], end, true);
        assert_permission(end, 100 + 10, 2);
        assert_permission(end + 10, 110 + 10 + 10, 2);
        set(&owns[0], end + 50, false);
        set(&owns[2], end + 50, false);
        assert_permission(end + 60, 150 + 10 + 50, 0);
    }
}

/* The permitted time wraps around to 0, which does not affect the difference of two readings. */
TEST(permitted_time_may_wrap_around) {
    enum { COUNT = 1000 };
    static _Atomic uint32_t owns[COUNT];
    const ss_time each = SS_PERMISSION_WRAPS / UNIT / COUNT;
    permits = (struct ss_permits){0};
    for (int i = 0; i < COUNT; i++)
        set(&owns[i], 1000, true);
    uint64_t before = look(1000 + each - 50).given;
    uint64_t after = look(1000 + each + 50).given;
    assert_that(after, <, before);
    assert_near(ss_permission_between(before, after), 100.0 * COUNT * UNIT, 0);
    assert_near(ss_permission_between(before, before), 0, 0);
    for (int i = 0; i < COUNT; i++)
        set(&owns[i], 1000 + each + 50, false);
    assert_near(ss_permission_between(before, look(7 * each).given), 100.0 * COUNT * UNIT, 0);
}

struct model {
    _Atomic uint32_t own;
    ss_time began;
    bool runs;
};

static void assert_model(const struct model *models, size_t count, ss_time given, ss_time now) {
    uint32_t running = 0;
    for (size_t i = 0; i < count; i++) {
        if (!models[i].runs)
            continue;
        given += now - models[i].began;
        running++;
    }
    assert_permission(now, given, running);
}

TEST(permitted_time_of_many_instances_is_exact) {
    enum { COUNT = 50 };
    static struct model models[COUNT];
    ss_time now = SS_PERMISSION_WRAPS / UNIT - 10000;
    ss_time given = 0;
    srand(1);
    permits = (struct ss_permits){0};
    for (int round = 0; round < 20000; round++) {
        now += (ss_time)(rand() % 3);
        struct model *model = &models[rand() % COUNT];
        if (model->runs && rand() % 3) {
            given += now - model->began;
            model->runs = false;
        } else {
            if (!model->runs)
                model->began = now;
            model->runs = true;
        }
        set(&model->own, now, model->runs);
        assert_model(models, COUNT, given, now);
        assert_model(models, COUNT, given, now + 30);
    }
}

TEST(each_permit_change_loses_less_than_a_unit) {
    _Atomic uint32_t own = 0;
    struct ss_permission permission;
    permits = (struct ss_permits){0};
    for (ss_time i = 0; i < 1000; i++) {
        ss_time now = START + i * 5000 + i * 7 % 1024;
        ss_permits_read(&permits, now, &permission);
        uint64_t before = permission.given;
        ss_permits_set(&permits, &own, now, true);
        ss_permits_read(&permits, now, &permission);
        assert_int_equal(permission.running, 1);
        ss_permits_set(&permits, &own, now + 2500, false);
        ss_permits_read(&permits, now + 2500, &permission);
        assert_near(ss_permission_between(before, permission.given), 2500, UNIT);
    }
    assert_near((double)permission.given, 2500.0 * 1000, 40 * UNIT);
}

#define THREADS 6
#define TURNS   30000

static pthread_barrier_t barrier;
static _Atomic uint32_t working;

static void *work(void *context) {
    const ss_time *step = context;
    _Atomic uint32_t own = 0;
    pthread_barrier_wait(&barrier);
    for (ss_time i = 0; i < TURNS; i++) {
        set(&own, 1000 + *step * 10 * i, true);
        set(&own, 1000 + *step * (10 * i + 3), true);
        set(&own, 1000 + *step * (10 * i + 7), false);
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/* Starts the threads; their clocks do not advance if `step` is 0. */
static void start(pthread_t *threads, ss_time *step) {
    permits = (struct ss_permits){0};
    atomic_store(&working, THREADS);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, step), 0);
    pthread_barrier_wait(&barrier);
}

static void join(pthread_t *threads) {
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&barrier);
}

TEST(readers_never_see_half_a_permit_change) {
    pthread_t threads[THREADS];
    ss_time step = 0; /* no time passes, so each reading must find no permitted time */
    start(threads, &step);
    uint64_t bad = 0;
    while (atomic_load(&working)) {
        struct ss_permission permission = look(1000);
        bad += permission.given != 0 || permission.running > THREADS;
    }
    join(threads);
    assert_int_equal(bad, 0);
    assert_permission(5000, 0, 0);
}

TEST(concurrent_permit_changes_lose_no_time) {
    pthread_t threads[THREADS];
    ss_time step = 1;
    start(threads, &step);
    join(threads);
    assert_permission(UINT64_C(9000000), UINT64_C(7) * TURNS * THREADS, 0);
}

UNIT_RUN
